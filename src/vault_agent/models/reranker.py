"""Asks a local reranker how relevant passages are to a query: one score for each.

Servers take and send two forms. Jina's, `{"results": [{"index": 0, "relevance_score": 0.9}]}`, is
that of the servers of llama.cpp, vLLM, Infinity and LocalAI. text-embeddings-inference takes
`texts` instead of `documents`, and replies with a list of `{"index": 0, "score": 0.9}`.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import anyio
import orjson

from vault_agent.models.client import ModelClient, utf8
from vault_agent.models.faults import EndpointFault, Kind, ModelService

if TYPE_CHECKING:
    from collections.abc import Sequence

RERANKER: Final = ModelService.of("rerank")

_SHORTEST: Final = 100
"""A passage of fewer characters is not cut."""
_LOADING_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class RerankerSettings:
    """The endpoint, the model and the time limit of a search, in seconds."""

    url: str
    model: str = ""
    allow_private: bool = False
    timeout: float = 2.0


class Reranker(ModelClient):
    """A reranker behind an endpoint of a known form. An asynchronous context manager.

    One request at a time, since most servers work on one.
    """

    def __init__(self, settings: RerankerSettings) -> None:
        """Check the endpoint and the model. Nothing is sent.

        Raises:
            Misconfigured: `CONFIG_INVALID` for an endpoint or model that would send text away.
        """
        super().__init__(
            RERANKER, settings.url, settings.model, allow_private=settings.allow_private
        )
        self._timeout = settings.timeout
        self._turn = anyio.Lock()
        self._takes_texts = False  # the form of text-embeddings-inference

    async def scores(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        """Return how relevant each text is to the query, on the model's scale, in their order.

        Raises:
            Unavailable: `RERANK_UNAVAILABLE`; the message says what to do.
        """
        request = "\0".join((query, *texts)).encode("utf-8", "surrogatepass")
        return await self.answer(
            hashlib.sha256(request).digest(), partial(self._score, query, texts, self._timeout)
        )

    async def test(self) -> None:
        """Let it score two short passages: first in the time that a model may take to load.

        Raises:
            Unavailable: `RERANK_UNAVAILABLE`; the message says what to do.
        """
        texts = ("bread", "stone")
        try:
            await self._score("bread", texts, _LOADING_SECONDS)
        except EndpointFault as fault:
            raise self.unavailable(fault) from None
        await self.scores("bread", texts)

    async def recover(self) -> None:
        """Ask about one short passage. A server that rejects it is up."""
        try:
            await self._ask_in(
                "bread", ["Bread is baked."], _LOADING_SECONDS, takes_texts=self._takes_texts
            )
        except EndpointFault as fault:
            if fault.kind not in RERANKER.of_one_request:
                raise

    async def _score(self, query: str, texts: Sequence[str], seconds: float) -> tuple[float, ...]:
        has_asked = False
        with anyio.move_on_after(seconds):
            async with self._turn:
                has_asked = True
                return await self._ask_shortened(query, texts, seconds)
        raise EndpointFault(Kind.TIMED_OUT if has_asked else Kind.BUSY)

    async def _ask_shortened(
        self, query: str, texts: Sequence[str], seconds: float
    ) -> tuple[float, ...]:
        """Ask in the form that the server takes, with passages as long as it takes."""
        length = max(map(len, texts), default=0)
        takes_texts = self._takes_texts
        while True:
            try:
                shortened = [text[:length] for text in texts]
                scores = await self._ask_in(query, shortened, seconds, takes_texts=takes_texts)
            except EndpointFault as fault:
                if fault.kind is Kind.REJECTED and takes_texts is self._takes_texts:
                    takes_texts = not takes_texts
                elif fault.kind is Kind.TOO_LONG and length > _SHORTEST:
                    length //= 2
                else:
                    raise
            else:
                self._takes_texts = takes_texts
                return scores

    async def _ask_in(
        self, query: str, texts: Sequence[str], seconds: float, *, takes_texts: bool
    ) -> tuple[float, ...]:
        passages = [utf8(text) for text in texts]
        body: dict[str, Any] = {"query": utf8(query)}
        if takes_texts:
            body |= {"texts": passages, "truncate": True}
        else:
            # A server with one model needs no name of it.
            name = {"model": self.model} if self.model else {}
            body |= name | {"documents": passages, "top_n": len(passages)}
        parse = partial(scores_of, count=len(passages))
        echo = 4 * len(orjson.dumps(body))  # some servers send the passages back
        return await self.ask(body, parse, timeout=seconds, extra_bytes=echo)


def scores_of(body: bytes, count: int) -> tuple[float, ...]:
    """Return the score of each text, in the order of the request.

    Their scale is the model's: some servers send probabilities, others any number.

    Raises:
        EndpointFault: BAD_REPLY if a text has no score, or two.
    """
    try:
        reply: Any = orjson.loads(body)
        items = reply if isinstance(reply, list) else reply["results"]
        scores = {
            item["index"]: float(item["relevance_score" if "relevance_score" in item else "score"])
            for item in items
        }
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError):
        raise EndpointFault(Kind.BAD_REPLY) from None
    complete = len(items) == count and scores.keys() == set(range(count))
    if not complete or not all(map(math.isfinite, scores.values())):
        raise EndpointFault(Kind.BAD_REPLY)
    return tuple(scores[index] for index in range(count))
