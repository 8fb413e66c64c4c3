"""One request to a reranker: a query with its passages, and a score for each."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import anyio

from vault_agent.models.address import check_model
from vault_agent.models.client import ModelClient
from vault_agent.models.faults import Fault, Kind
from vault_agent.models.rerank_replies import Form, request_of, scores_of
from vault_agent.models.unavailable import Service

if TYPE_CHECKING:
    from collections.abc import Sequence

RERANKER: Final = Service(
    "RERANK_UNAVAILABLE",
    section="rerank",
    name="The reranker",
    kind="a reranker",
    path="/v1/rerank",
    others={
        Kind.UNREACHABLE: "Nothing answers at {section}.endpoint; start the reranker there, or"
        " correct the address.",
        Kind.BUSY: "{name} is busy.",
        Kind.TIMED_OUT: "{name} does not answer in time; use a smaller model, or raise"
        " {section}.timeout_seconds.",
        Kind.SERVER_ERROR: "{name} fails with an internal error; see its log (llama.cpp: start it"
        " with --reranking).",
        Kind.TOO_LONG: "{name} rejects even short passages as too long; give it a larger batch or"
        " context (llama.cpp: -ub 2048).",
        Kind.MODEL_MISSING: "{name} does not have the model: load it there, or correct"
        " {section}.model.",
        Kind.ROUTE_MISSING: "The server has nothing at this path; {section}.endpoint usually ends"
        " in {path}, and in /rerank with text-embeddings-inference and Infinity.",
    },
)
_REPLY_BYTES: Final = 1 << 20  # some servers send the passages back
_REPLIES_KEPT: Final = 64
_SHORTEST: Final = 100
"""A passage of fewer characters is not cut."""
_LOADING_SECONDS: Final = 60.0
_CHECKED: Final = ("bread", "bread", "stone")
# Faults of one request; another one may succeed.
_OF_THE_REQUEST: Final = frozenset({Kind.REJECTED, Kind.TOO_LONG, Kind.BUSY})


@dataclass(frozen=True, slots=True)
class RerankSettings:
    """The endpoint, the model and the time limit of a search, in seconds."""

    url: str
    model: str = ""
    allow_private: bool = False
    timeout: float = 2.0


class Reranker(ModelClient):
    """A reranker behind an endpoint of a known form. An asynchronous context manager.

    One request at a time, since most servers work on one. After a fault of the endpoint, requests
    fail at once until a small one in the background succeeds.
    """

    def __init__(self, settings: RerankSettings) -> None:
        """Check the endpoint and the model. Nothing is sent.

        Raises:
            Misconfigured: `CONFIG_INVALID` for an endpoint or model that would send text away.
        """
        self._model = settings.model.strip()
        check_model(RERANKER.section, self._model, sends="the notes' text")
        self._timeout = settings.timeout
        super().__init__(
            RERANKER.section,
            settings.url,
            allow_private=settings.allow_private,
            recover=self._recover,
        )
        self._form = Form.JINA
        self._kept: OrderedDict[bytes, tuple[float, ...]] = OrderedDict()

    async def scores(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        """Return how relevant each text is to the query, on the model's scale, in their order.

        The same request soon again, such as for the next page, is answered from memory.

        Raises:
            Unavailable: `RERANK_UNAVAILABLE`; the message says what to do.
        """
        key = _key(query, texts)
        known = self._kept.get(key)
        if known is not None:
            self._kept.move_to_end(key)
            return known
        self._breaker.check()
        try:
            scores = await self._in_time(query, texts, self._timeout)
        except Fault as fault:
            error = RERANKER.unavailable(fault, self._model)
            if fault.kind not in _OF_THE_REQUEST:
                self._breaker.trip(error)
            raise error from None
        self._kept[key] = scores
        if len(self._kept) > _REPLIES_KEPT:
            self._kept.popitem(last=False)
        return scores

    async def check(self) -> None:
        """Let it score two short passages: first in the time that a model may take to load.

        Raises:
            Unavailable: `RERANK_UNAVAILABLE`; the message says what to do.
        """
        query, *texts = _CHECKED
        try:
            await self._in_time(query, texts, _LOADING_SECONDS)
        except Fault as fault:
            raise RERANKER.unavailable(fault, self._model) from None
        await self.scores(query, texts)

    async def _in_time(self, query: str, texts: Sequence[str], seconds: float) -> tuple[float, ...]:
        sent = False
        with anyio.move_on_after(seconds):
            async with self._turn:
                sent = True
                return await self._ask(query, texts, seconds)
        raise Fault(Kind.TIMED_OUT if sent else Kind.BUSY)

    async def _ask(self, query: str, texts: Sequence[str], seconds: float) -> tuple[float, ...]:
        """Ask in the form that the server takes, with passages as long as it takes."""
        length = max(map(len, texts), default=0)
        form = self._form
        while True:
            try:
                shortened = [text[:length] for text in texts]
                scores = await self._once(form, query, shortened, seconds)
            except Fault as fault:
                if fault.kind is Kind.REJECTED and form is self._form:
                    form = form.other
                elif fault.kind is Kind.TOO_LONG and length > _SHORTEST:
                    length //= 2
                else:
                    raise
            else:
                self._form = form
                return scores

    async def _once(
        self, form: Form, query: str, texts: Sequence[str], seconds: float
    ) -> tuple[float, ...]:
        body = request_of(form, self._model, query, texts)
        most = _REPLY_BYTES + 4 * len(body)
        reply = await self._poster.send(body, timeout=seconds, most=most)
        return scores_of(reply, len(texts))

    async def _recover(self) -> None:
        """Ask about one short passage, with a timeout long enough to load the model."""
        try:
            await self._once(self._form, "bread", ["Bread is baked."], _LOADING_SECONDS)
        except Fault as fault:
            if fault.kind not in _OF_THE_REQUEST:  # else the endpoint answers
                raise RERANKER.unavailable(fault, self._model) from None


def _key(query: str, texts: Sequence[str]) -> bytes:
    return hashlib.sha256("\0".join((query, *texts)).encode("utf-8", "surrogatepass")).digest()
