"""A program that serves models as a user has it: embeddings and reranking, with faults on request.

    async with LocalModel() as model:
        model.next(status(503), reset())   # the next two requests of embeddings, in turn
        model.always = status(500)         # every request
        model.poison["mercury"] = nan()    # every request of embeddings with this word in a text
        model.takes = "texts"              # reranks as TEI; "documents" is Jina's form
        model.longest = 500                # characters of a passage; a longer one is refused

Embeddings are OpenAI's form. Vectors are bags of hashed words, so texts that share words are near
each other, in every process. Relevance is the share of the query's words that a passage has.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import re
from collections import deque
from collections.abc import Awaitable, Callable
from functools import lru_cache

import numpy as np
from aiohttp import web
from tests.support.listening import Handler, Listening

Misbehaviour = Callable[[web.Request, dict], Awaitable[web.StreamResponse | None]]


@lru_cache(maxsize=100_000)
def _word(word: str, dimension: int) -> np.ndarray:
    seed = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest())
    return np.random.default_rng(seed).standard_normal(dimension)


def hashed_vector(text: str, dimension: int = 64) -> np.ndarray:
    """Return the unit vector of a bag of words. Texts that share words are similar."""
    words = re.findall(r"\w+", text.lower()) or [text]
    vector = np.sum([_word(word, dimension) for word in words], axis=0)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def words_shared(query: str, text: str) -> float:
    """Return the share of the query's words that the text has."""
    words = set(re.findall(r"\w+", query.lower()))
    return len(words & set(re.findall(r"\w+", text.lower()))) / max(1, len(words))


class LocalModel(Listening):
    """Serves `/v1/embeddings` and `/v1/rerank` on a free port of 127.0.0.1, and keeps requests."""

    def __init__(
        self, *, dimension=64, model="test-model", latency=0.0, at_once=8, port=0, cancels=False
    ):
        super().__init__("/v1/embeddings", port, cancels=cancels)
        self.dimension = dimension
        self.model = model
        self.latency = latency  # seconds a request
        self.salt = ""  # another value simulates another model of the same name
        self.always: Misbehaviour | None = None
        self.poison: dict[str, Misbehaviour] = {}
        self.max_batch: int | None = None
        self.max_words: int | None = None
        self.requests: list[list[str]] = []  # texts of each request that arrived
        self.in_flight = self.most_in_flight = 0
        self.relevance: Callable[[str, str], float] = words_shared
        self.takes = "documents"
        self.longest = 1 << 30
        self.reranked: list[dict] = []  # requests of reranking
        self._script: deque[Misbehaviour | None] = deque()
        self._turns = asyncio.Semaphore(at_once)
        self._handlers: set[asyncio.Task] = set()

    def routes(self) -> dict[str, Handler]:
        return {self.path: self._embed, "/v1/rerank": self._rerank}

    @property
    def rerank_url(self) -> str:
        return self.url.replace(self.path, "/v1/rerank")

    @property
    def asked(self) -> list[dict]:
        """Return the requests of reranking without the small ones of recovery."""
        return [body for body in self.reranked if body["query"] != "bread"]

    @property
    def texts(self) -> list[str]:
        """Return every text of every request, in order of arrival."""
        return [text for request in self.requests for text in request]

    def next(self, *misbehaviours: Misbehaviour | None) -> None:
        """Use one behaviour for each of the next requests. None means a good reply."""
        self._script.extend(misbehaviours)

    async def stop(self) -> None:
        """Close the port and all connections."""
        await super().stop()
        for handler in self._handlers:  # the runner leaves those that take too long
            handler.cancel()
        await asyncio.gather(*self._handlers, return_exceptions=True)

    def vector(self, text: str) -> np.ndarray:
        return hashed_vector(f"{text} {self.salt}".strip(), self.dimension)

    def reply(self, texts: list[str]) -> dict:
        data = [
            {"object": "embedding", "index": i, "embedding": (self.vector(text) * 1.7).tolist()}
            for i, text in enumerate(texts)
        ]
        return {"object": "list", "model": self.model, "data": data}

    async def _embed(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        texts = body["input"]
        self.requests.append(texts)
        self._handlers.add(handler := asyncio.current_task())
        handler.add_done_callback(self._handlers.discard)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            return await self._respond(request, body, texts)
        finally:
            self.in_flight -= 1

    async def _rerank(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.reranked.append(body)
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

    async def _respond(self, request, body, texts) -> web.StreamResponse:
        scripted = self._script.popleft() if self._script else None
        poisons = [act for word, act in self.poison.items() if any(word in t for t in texts)]
        for misbehave in (scripted, self.always, *poisons):
            if misbehave is not None:
                response = await misbehave(request, self.reply(texts))
                if response is not None:
                    return response
        if body["model"] != self.model:
            message = f'model "{body["model"]}" not found, try pulling it first'
            return _error(404, message)
        if self.max_batch and len(texts) > self.max_batch:
            return _error(422, f"batch size {len(texts)} > maximum allowed batch size")
        if self.max_words and any(len(text.split()) > self.max_words for text in texts):
            return _error(400, "the input length exceeds the context length")
        async with self._turns:
            await asyncio.sleep(self.latency)
        return web.json_response(self.reply(texts))


def _error(status_code: int, message: str, headers: dict | None = None) -> web.Response:
    body = {"error": {"message": message, "type": "error", "code": None}}
    return web.json_response(body, status=status_code, headers=headers)


def status(code: int, body: str | dict = "", retry_after: str | None = None) -> Misbehaviour:
    """Reply with a status and any body."""

    async def misbehave(_request, _reply):
        headers = {"Retry-After": retry_after} if retry_after is not None else {}
        if isinstance(body, dict):
            return web.json_response(body, status=code, headers=headers)
        return web.Response(status=code, text=body, headers=headers)

    return misbehave


def changed(change: Callable[[dict], object]) -> Misbehaviour:
    """Reply with a good reply that a function has changed or replaced."""

    async def misbehave(_request, reply):
        text = json.dumps(change(reply) or reply)  # NaN and Infinity as Python writes them
        return web.Response(text=text, content_type="application/json")

    return misbehave


def component(value: object) -> Misbehaviour:
    """Put a value into the first vector, for example NaN, a text or null."""
    return changed(lambda reply: reply["data"][0]["embedding"].__setitem__(0, value))


def nan() -> Misbehaviour:
    return component(float("nan"))


def zeros() -> Misbehaviour:
    return changed(
        lambda reply: reply["data"][-1].update(
            embedding=[0.0] * len(reply["data"][-1]["embedding"])
        )
    )


def one_less() -> Misbehaviour:
    return changed(lambda reply: reply["data"].pop() and None)


def reversed_order() -> Misbehaviour:
    """Reverse the order. The reply is valid because it has indices."""
    return changed(lambda reply: reply["data"].reverse())


def shorter(dimension: int = 8) -> Misbehaviour:
    def cut(reply):
        for item in reply["data"]:
            item["embedding"] = item["embedding"][:dimension]

    return changed(cut)


def data_null() -> Misbehaviour:
    return changed(lambda _reply: {"object": "list", "data": None})


def not_json() -> Misbehaviour:
    return status(200, "<html>it works</html>")


def redirect(url: str, code: int = 307) -> Misbehaviour:
    async def misbehave(_request, _reply):
        return web.Response(status=code, headers={"Location": url})

    return misbehave


def reset() -> Misbehaviour:
    """Cut the connection without a reply."""

    async def misbehave(request, _reply):
        request.transport.abort()
        return web.Response()

    return misbehave


def slow(seconds: float) -> Misbehaviour:
    """Wait, as for a model that loads, then send a good reply."""

    async def misbehave(_request, _reply):
        await asyncio.sleep(seconds)

    return misbehave


def half() -> Misbehaviour:
    """Announce a whole reply, send half of it, and cut the connection."""

    async def misbehave(request, reply):
        data = json.dumps(reply).encode()
        response = web.StreamResponse(headers={"Content-Length": str(len(data))})
        await response.prepare(request)
        await response.write(data[: len(data) // 2])
        request.transport.close()
        return response

    return misbehave


def endless(chunk: int = 1 << 20, count: int = 1 << 10, code: int = 200) -> Misbehaviour:
    """Reply with a gigabyte."""

    async def misbehave(request, _reply):
        response = web.StreamResponse(status=code)
        response.content_type = "application/json"
        await response.prepare(request)
        for _ in range(count):
            await response.write(b" " * chunk)
        return response

    return misbehave


def dripping() -> Misbehaviour:
    """Reply with single bytes for four seconds."""

    async def misbehave(request, _reply):
        response = web.StreamResponse()
        await response.prepare(request)
        for _ in range(80):
            await response.write(b" ")
            await asyncio.sleep(0.05)
        return response

    return misbehave


async def _serve(**options) -> None:
    async with LocalModel(**options) as endpoint:
        print(endpoint.url, flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--dimension", type=int, default=64)
    parser.add_argument("--model", default="test-model")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds a request")
    parser.add_argument("--at-once", type=int, default=8)
    asyncio.run(_serve(**vars(parser.parse_args())))
