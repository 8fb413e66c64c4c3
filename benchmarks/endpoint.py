"""An embedding endpoint with almost no cost, or with a chosen latency.

    python benchmarks/endpoint.py --port 8001 --dimension 768 [--latency 0.05 --at-once 2]

Vectors are created once and chosen by a hash of the text, so a reply costs a few microseconds a
text. With a latency the endpoint has a known capacity: it serves `at_once` requests at a time, each
for that long. `/answered` returns when how many texts were answered, in seconds of the machine's
monotonic clock.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
import zlib

import numpy as np
from aiohttp import web

KEPT = 4_096


class Endpoint:
    """Serves `/v1/embeddings`."""

    def __init__(self, dimension: int, latency: float, at_once: int) -> None:
        generator = np.random.default_rng(3)
        centres = generator.standard_normal((64, dimension))
        vectors = centres[generator.integers(0, 64, KEPT)]
        vectors += generator.standard_normal((KEPT, dimension))
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        self._vectors = [json.dumps(vector.astype(np.float32).tolist()) for vector in vectors]
        self._latency = latency
        self._turns = asyncio.Semaphore(at_once)
        self._answered: list[tuple[float, int]] = []

    async def embeddings(self, request: web.Request) -> web.Response:
        """Return one vector for each text, in order, after the latency."""
        texts = json.loads(await request.read())["input"]
        items = ",".join(
            f'{{"index":{i},"embedding":{self._vectors[zlib.crc32(text.encode()) % KEPT]}}}'
            for i, text in enumerate(texts)
        )
        if self._latency:
            async with self._turns:
                await asyncio.sleep(self._latency)
        self._answered.append((time.monotonic(), len(texts)))
        return web.Response(text=f'{{"data":[{items}]}}', content_type="application/json")

    async def answered(self, _request: web.Request) -> web.Response:
        """Return when how many texts were answered, and clear the list."""
        answered, self._answered = self._answered, []
        return web.json_response(answered)


def main() -> None:
    """Serve until the process is stopped."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--dimension", type=int, default=768)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds per request")
    parser.add_argument("--at-once", type=int, default=2)
    arguments = parser.parse_args()
    endpoint = Endpoint(arguments.dimension, arguments.latency, arguments.at_once)
    app = web.Application(client_max_size=64 << 20)
    app.router.add_post("/v1/embeddings", endpoint.embeddings)
    app.router.add_get("/answered", endpoint.answered)
    web.run_app(app, host="127.0.0.1", port=arguments.port, print=None)


if __name__ == "__main__":
    main()
