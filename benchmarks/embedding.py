"""Throughput of an embedding run compared with that of the endpoint alone.

    python benchmarks/embedding.py --endpoint URL --model MODEL [--texts N]     # a real endpoint
    python benchmarks/embedding.py --bookkeeping                                # no endpoint

A bare load generator measures the endpoint alone. It sends the same batches with the same number of
concurrent requests and ignores the replies. Both run in turn, several times, because the machine's
load varies. Bookkeeping is all the work except the endpoint's: 10,000 chunks are embedded by an
embedder that answers at once, then saved and published.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import tempfile
import time
from pathlib import Path

import aiohttp
import numpy as np

from vault_agent.embedding.client import EndpointSettings, HttpEmbedder
from vault_agent.embedding.embedder import Embedded
from vault_agent.embedding.prefixes import vector_key
from vault_agent.embedding.run import embed_all
from vault_agent.model.vectors import VectorSpace
from vault_agent.store.vectors.cache import open_vectors

WORDS = [
    "harbour",
    "ledger",
    "winter",
    "bicycle",
    "theory",
    "garden",
    "printer",
    "meeting",
    "river",
    "invoice",
    "lantern",
    "compiler",
    "orchard",
    "treaty",
    "violin",
    "basement",
    "protein",
    "journey",
    "cathedral",
    "battery",
    "recipe",
    "glacier",
    "witness",
]


def texts(count: int, seed: int) -> list[str]:
    """Return distinct texts of about 1,000 characters."""
    generator = random.Random(seed)
    return [f"{i} " + " ".join(generator.choices(WORDS, k=125)) for i in range(count)]


async def bare(settings: EndpointSettings, inputs: list[str]) -> float:
    """Send batches as fast as the endpoint accepts them; return texts per second."""
    size = settings.batch_size
    batches = iter([inputs[i : i + size] for i in range(0, len(inputs), size)])
    async with aiohttp.ClientSession() as session:

        async def send():
            for batch in batches:
                body = {"model": settings.model, "input": batch}
                async with session.post(settings.url, json=body) as response:
                    await response.read()

        started = time.perf_counter()
        await asyncio.gather(*(send() for _ in range(settings.concurrency)))
    return len(inputs) / (time.perf_counter() - started)


async def run(embedder, space, settings: EndpointSettings, inputs: list[str]) -> float:
    """Embed, save and publish as a job does; return the elapsed seconds."""
    with tempfile.TemporaryDirectory() as name:
        async with open_vectors(Path(name) / "vectors.db") as store:
            await store.use(space)
            started = time.perf_counter()
            keys = [vector_key(settings.model, text) for text in inputs]
            plan = await store.plan(np.arange(len(keys), dtype=np.int64) << 20, keys)

            async def save(arrived):
                plan.fill(arrived.keys, await store.save(arrived.keys, np.array(arrived.vectors)))

            documents = ((key, inputs[place]) for key, place in plan.missing)
            await embed_all(
                embedder,
                documents,
                save,
                batch_size=settings.batch_size,
                concurrency=settings.concurrency,
            )
            await store.publish(plan, Path(name) / "vectors.map")
            return time.perf_counter() - started


async def throughput(settings: EndpointSettings, count: int, rounds: int) -> None:
    """Print both throughputs and their ratio after each round."""
    ratios = []
    async with HttpEmbedder(settings) as embedder:
        space = await embedder.prepare()
        for number in range(rounds):
            plain = await bare(settings, texts(count, number))
            ours = count / await run(embedder, space, settings, texts(count, number))
            plain = (plain + await bare(settings, texts(count, number))) / 2
            ratios.append(ours / plain)
            print(f"bare {plain:.1f}, run {ours:.1f} texts/s: {ratios[-1]:.1%}", flush=True)
    print(f"median {statistics.median(ratios):.1%}")


class AtOnce:
    """An embedder that returns prepared vectors without a delay."""

    request_size = 8

    def __init__(self, dimension: int) -> None:
        self._vectors = np.random.default_rng(1).standard_normal((4096, dimension), np.float32)
        self._next = 0

    async def embed_documents(self, inputs):
        """Return an arbitrary vector for each input."""
        self._next += len(inputs)
        return [Embedded(self._vectors[(self._next + i) % 4096]) for i in range(len(inputs))]


async def bookkeeping(settings: EndpointSettings) -> None:
    """Print the time for 10,000 chunks without an endpoint."""
    for dimension in (384, 768):
        probe = np.eye(1, dimension, dtype="<f4").tobytes()
        space = VectorSpace("m", dimension, "", "", probe)
        seconds = await run(AtOnce(dimension), space, settings, texts(10_000, 0))
        print(f"10,000 chunks of {dimension}: {seconds:.2f} s")


def main() -> None:
    """Parse the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--endpoint", default="http://127.0.0.1:11434/v1/embeddings")
    parser.add_argument("--model", default="all-minilm")
    parser.add_argument("--texts", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--concurrency", type=int, default=2)
    parser.add_argument("--bookkeeping", action="store_true")
    arguments = parser.parse_args()
    settings = EndpointSettings(
        arguments.endpoint,
        arguments.model,
        batch_size=arguments.batch,
        concurrency=arguments.concurrency,
    )
    if arguments.bookkeeping:
        asyncio.run(bookkeeping(settings))
    else:
        asyncio.run(throughput(settings, arguments.texts, arguments.rounds))


if __name__ == "__main__":
    main()
