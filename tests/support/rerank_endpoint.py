"""A real reranker's endpoint for tests: Jina's form and TEI's, with failures on request.

    async with RerankEndpoint() as endpoint:
        endpoint.relevance = lambda query, text: text.count(query)
        endpoint.always = status(500)      # every request, as the misbehaviours of `endpoint` do
        endpoint.takes = "texts"           # as text-embeddings-inference; "documents" is Jina's
        endpoint.longest = 500             # characters of a passage; a longer one is refused

It can run as a program too, and then says its address. Relevance is the share of the query's words
that a passage has.
"""

from __future__ import annotations

import argparse
import asyncio
import re
from typing import TYPE_CHECKING

from aiohttp import web
from tests.support.listening import Listening

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.endpoint import Misbehaviour


def words_shared(query: str, text: str) -> float:
    """Return the share of the query's words that the text has."""
    words = set(re.findall(r"\w+", query.lower()))
    return len(words & set(re.findall(r"\w+", text.lower()))) / max(1, len(words))


class RerankEndpoint(Listening):
    """Serves `/v1/rerank` on a free port of 127.0.0.1 and records requests."""

    def __init__(self, *, port: int = 0, latency: float = 0.0) -> None:
        super().__init__("/v1/rerank", port, cancels=True)
        self.relevance: Callable[[str, str], float] = words_shared
        self.takes = "documents"
        self.longest = 1 << 30
        self.latency = latency  # seconds a request
        self.always: Misbehaviour | None = None
        self.requests: list[dict] = []

    @property
    def asked(self) -> list[dict]:
        """Return the requests without the small ones of recovery."""
        return [each for each in self.requests if each["query"] != "bread"]

    async def answer_to(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.requests.append(body)
        if self.takes not in body:  # the words of TEI
            message = f"Failed to deserialize the JSON body: missing field `{self.takes}`"
            return web.Response(status=422, text=message)
        texts = body[self.takes]
        if any(len(text) > self.longest for text in texts):
            error = {"message": "input is too large to process", "code": 500}
            return web.json_response({"error": error}, status=500)
        name = "score" if self.takes == "texts" else "relevance_score"
        results = [
            {"index": index, name: self.relevance(body["query"], text)}
            for index, text in enumerate(texts)
        ]
        results.sort(key=lambda each: -each[name])
        reply = {"model": "m", "object": "list", "results": results}
        if self.always is not None:
            response = await self.always(request, reply)
            if response is not None:
                return response
        await asyncio.sleep(self.latency)
        return web.json_response(results if self.takes == "texts" else reply)


async def _serve(**options) -> None:
    async with RerankEndpoint(**options) as endpoint:
        print(endpoint.url, flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds a request")
    asyncio.run(_serve(**vars(parser.parse_args())))
