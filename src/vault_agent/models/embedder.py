"""Embeds the documents and queries of one model.

Queries have a deadline; documents are retried with growing waits. A request that keeps failing is
halved until the failing text is alone, and the other texts are embedded. Before a failure is
attributed to texts, the endpoint is asked for the probe text. If it fails at that too, the endpoint
is at fault, and we wait for it up to a limit.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final, cast

import anyio

from vault_agent.errors import Misconfigured, Unavailable
from vault_agent.model.vectors import VectorSpace
from vault_agent.models.built_in import served
from vault_agent.models.client import ModelClient, utf8
from vault_agent.models.faults import FATAL, EndpointFault, Kind
from vault_agent.models.vectors import (
    BUILT_IN_MODEL,
    EMBEDDING,
    PROBE,
    REPLY_BYTES_PER_TEXT,
    Embedded,
    vectors_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vault_agent.models.settings import EndpointSettings, Prefixes
    from vault_agent.models.vectors import Outcome, Vector, Vectors


# Attempts before a failure is attributed to the texts; one for other kinds.
_ATTEMPTS: Final = {
    Kind.UNREACHABLE: 6,
    Kind.BUSY: 8,
    Kind.DISCONNECTED: 2,
    Kind.SERVER_ERROR: 2,
    Kind.BAD_REPLY: 2,
}
# After these the endpoint may have been restarted, with another model.
_RESTARTED: Final = frozenset({Kind.UNREACHABLE, Kind.DISCONNECTED})
# After these a smaller request may succeed.
_TOO_MUCH: Final = frozenset({Kind.REJECTED, Kind.TOO_LONG})

# Times are in seconds.
_FIRST_WAIT: Final = 0.2
_LONGEST_WAIT: Final = 10.0
# Timeout of the first request, which may have to load the model.
_COLD: Final = 180.0
# Attempts at the first request while no server answers.
_REFUSALS: Final = 3
# If this many texts fail in a row, the endpoint is at fault.
_HOPELESS: Final = 48
# Texts of more characters are halved if the endpoint rejects them as too long; others fail.
_SHORTEST: Final = 64
# Texts in a request while a user searches: about half a second on a CPU.
_COURTEOUS: Final = 4
# How long after a query the user is assumed to be still searching.
_ATTENTION: Final = 20.0


class Embedder(ModelClient):
    """Turns texts into comparable unit vectors. An asynchronous context manager.

    Documents are exact inputs, as `settings.chunk_input` returns them. The prefix of a query is
    added here. Several tasks may embed documents at once.

    Most endpoints process one request at a time and in order. So while a user searches, requests
    with documents are small and sent one at a time, and a query waits for one of them at most.
    """

    def __init__(self, settings: EndpointSettings) -> None:
        """Check the endpoint and the model. Nothing is sent.

        Raises:
            Misconfigured: `CONFIG_INVALID` for an endpoint or model that would send text away.
        """
        if not settings.model.strip():
            raise Misconfigured("CONFIG_INVALID", "embedding.model must name a model.")
        super().__init__(
            EMBEDDING if settings.key is None else BUILT_IN_MODEL,
            settings.url,
            settings.model,
            allow_private=settings.allow_private,
            key=settings.key,
        )
        self.space: VectorSpace | None = None
        """None before the first probe."""
        self.is_prepared = False
        """Whether the space was checked, and no document has failed since by the endpoint."""
        self.settings = settings
        self.on_query: Callable[[], object] = lambda: None
        """Called before a query is sent, so that documents of another process give way."""
        self._preparing = anyio.Lock()
        self._most = settings.batch_size
        self._slots = anyio.Semaphore(settings.concurrency)
        self._turn = anyio.Lock()
        self._verifying = anyio.Lock()
        self._query_at = float("-inf")
        self._succeeded_at = float("-inf")
        self._troubled_since: float | None = None
        self._failed_in_a_row = 0

    # --- queries ----------------------------------------------------------------------------------

    async def embed_query(self, text: str) -> Vector:
        """Return the query's vector within the query deadline. Afterwards `space` is known.

        Raises:
            Unavailable: if the endpoint fails, or rejects the query.
        """
        return await self.answer(text, partial(self._embed_query, text))

    async def _embed_query(self, text: str) -> Vector:
        self.give_way()
        self.on_query()
        seconds = self.settings.query_timeout
        with anyio.move_on_after(seconds):
            if self.space is None:
                await self.probe(seconds)
            length = len(text)
            while True:
                try:
                    document = self.settings.prefixes.query + text[:length]
                    return cast("Vector", (await self._vectors([document], seconds))[0])
                except EndpointFault as fault:
                    length //= 2
                    if fault.kind is not Kind.TOO_LONG or not length:
                        raise
        raise EndpointFault(Kind.TIMED_OUT)

    async def recover(self) -> None:
        """Ask for the probe text. Vectors of queries are forgotten if the model has changed."""
        if not await self.probe(self.settings.timeout):
            self._replies.clear()

    # --- the space of the vectors -----------------------------------------------------------------

    async def probe(self, seconds: float) -> bool:
        """Update `space`, and return False if the model has changed since the last call.

        Only two equal replies change it, since one wrong reply does not mean another model.
        Differences as small as between two runs of one model do not change it either.

        Raises:
            EndpointFault: if the request fails, or two replies differ.
        """
        space = await self._find_space(seconds)
        if self.space is not None and self.space.matches(space):
            return True
        again = await self._find_space(seconds)
        if self.space is not None and self.space.matches(again):
            return True
        if not again.matches(space):
            raise EndpointFault(Kind.BAD_REPLY)
        is_first, self.space = self.space is None, space
        return is_first

    async def _find_space(self, seconds: float) -> VectorSpace:
        vectors = await self._vectors([PROBE], seconds, is_probe=True)
        probe = vectors[0].astype("<f4").tobytes()
        return VectorSpace(self.model, vectors.shape[1], *self.settings.prefixes, probe)

    async def _vectors(
        self, texts: Sequence[str], seconds: float, *, is_probe: bool = False
    ) -> Vectors:
        """Return the unit vectors of `texts`, shape (len(texts), dimension).

        Raises:
            EndpointFault: for any failure, also for vectors of another dimension than `space`.
        """
        dimension = None if is_probe or self.space is None else self.space.dimension
        return await self.ask(
            {"model": self.model, "input": [utf8(text) for text in texts]},
            partial(vectors_of, count=len(texts), dimension=dimension),
            timeout=seconds,
            extra_bytes=len(texts) * REPLY_BYTES_PER_TEXT,
        )

    # --- documents --------------------------------------------------------------------------------

    def give_way(self) -> None:
        """Let the queries of a user go first for a while."""
        self._query_at = time.monotonic()

    async def prepare(self) -> VectorSpace:
        """Return the space for a run.

        The first call, and the first after a failure, asks the endpoint for it. That waits for a
        model to load, but not for a server that is not running.

        Raises:
            Unavailable: if the endpoint does not work.
        """
        async with self._preparing:
            if not self.is_prepared:
                await self._reach(max(self.settings.timeout, _COLD), refusals=_REFUSALS)
                self.is_prepared = True
        return cast("VectorSpace", self.space)

    async def embed_documents(self, texts: Sequence[str]) -> list[Outcome]:
        """Return one outcome a text, in order.

        Raises:
            Unavailable: if the endpoint fails, not single texts.
        """
        await self.prepare()
        outcomes: list[Outcome] = []
        try:
            while len(outcomes) < len(texts):
                size = min(self._most, _COURTEOUS) if self._is_searched else self._most
                outcomes += await self._settle(texts[len(outcomes) : len(outcomes) + size])
        except Unavailable:
            self.is_prepared = False
            raise
        return outcomes

    @property
    def _is_searched(self) -> bool:
        return time.monotonic() - self._query_at < _ATTENTION

    async def _settle(self, texts: Sequence[str]) -> list[Outcome]:
        """Embed the texts of one request, or find out which of them fail."""
        faults: Counter[Kind] = Counter()
        while True:
            asked_at = time.monotonic()
            try:
                return await self._request(texts)
            except EndpointFault as error:
                fault = error
            if fault.kind in FATAL:
                raise self.unavailable(fault)
            faults[fault.kind] += 1
            if faults[fault.kind] >= _ATTEMPTS.get(fault.kind, 1):
                break
            await self._wait(fault, faults.total())
            if fault.kind in _RESTARTED:
                await self._verify(asked_at)
        if fault.kind not in _TOO_MUCH:
            await self._verify(asked_at)
        if len(texts) == 1:
            return [await self._settle_alone(texts[0], fault)]
        return await self._halve(texts, fault)

    async def _request(self, texts: Sequence[str]) -> list[Outcome]:
        async with self._slots, self._turn if self._is_searched else nullcontext():
            vectors = await self._vectors(texts, self.settings.timeout)
        self._succeeded()
        self._failed_in_a_row = 0
        return [Embedded(vector) for vector in vectors]

    async def _halve(self, texts: Sequence[str], fault: EndpointFault) -> list[Outcome]:
        middle = (len(texts) + 1) // 2
        outcomes = await self._settle(texts[:middle]) + await self._settle(texts[middle:])
        if fault.kind in _TOO_MUCH and all(
            isinstance(outcome, Embedded) and not outcome.truncated for outcome in outcomes
        ):
            # All texts succeeded, so there were too many in one request.
            self._most = min(self._most, middle)
        return outcomes

    async def _settle_alone(self, text: str, fault: EndpointFault) -> Outcome:
        """Return the outcome of a text that fails alone while the endpoint works."""
        if fault.kind is Kind.TOO_LONG and len(text) > _SHORTEST:
            (outcome,) = await self._settle([text[: len(text) // 2]])
            return replace(outcome, truncated=True) if isinstance(outcome, Embedded) else outcome
        self._failed_in_a_row += 1
        if self._failed_in_a_row >= _HOPELESS:
            raise self.unavailable(fault)
        return None

    async def _verify(self, since: float) -> None:
        """Wait until the endpoint has succeeded with any request after `since`."""
        async with self._verifying:
            if self._succeeded_at <= since and not await self._reach(self.settings.timeout):
                raise Unavailable(
                    EMBEDDING.code,
                    "The embedding endpoint now serves another model under the same name. Its"
                    " embeddings do not fit those of the index.",
                    {"reason": "changed"},
                )

    async def _reach(self, seconds: float, *, refusals: float = float("inf")) -> bool:
        """Ask for the probe text until the endpoint answers. Return whether its model is the same.

        A busy or slow endpoint is not counted as one of the `refusals`, after which it raises.
        """
        attempts = refused = 0
        while True:
            try:
                same = await self.probe(seconds)
            except EndpointFault as fault:
                attempts += 1
                refused += fault.kind not in (Kind.BUSY, Kind.TIMED_OUT)
                if fault.kind in FATAL or refused >= refusals:
                    raise self.unavailable(fault) from None
                await self._wait(fault, attempts)
            else:
                self._succeeded()
                return same

    def _succeeded(self) -> None:
        self._succeeded_at = time.monotonic()
        self._troubled_since = None

    async def _wait(self, fault: EndpointFault, attempt: int) -> None:
        """Wait before the next attempt, longer each time. Raise if `patience` would be exceeded."""
        now = time.monotonic()
        if self._troubled_since is None:
            self._troubled_since = now
        wait = min(_FIRST_WAIT * 2**attempt, _LONGEST_WAIT) * random.uniform(0.5, 1)  # noqa: S311 - jitter
        if fault.retry_after is not None:
            wait = max(wait, fault.retry_after)
        if now + wait > self._troubled_since + self.settings.patience:
            raise self.unavailable(fault)
        await anyio.sleep(wait)


@dataclass(frozen=True, slots=True)
class EndpointCheck:
    """The properties of a working endpoint."""

    model: str
    dimension: int
    seconds: float  # for one short text, with the model loaded
    prefixes: Prefixes


async def check_endpoint(settings: EndpointSettings) -> EndpointCheck:
    """Prepare the endpoint as a run does, then measure one query.

    Raises:
        Unavailable: `EMBEDDING_UNAVAILABLE`; the message says what to do.
        Misconfigured: `CONFIG_INVALID`, a wrong endpoint or model.
    """
    async with served(settings) as endpoint, Embedder(endpoint) as embedder:
        space = await embedder.prepare()
        started = time.perf_counter()
        await embedder.embed_query("one short question")
        seconds = time.perf_counter() - started
    return EndpointCheck(space.model, space.dimension, seconds, settings.prefixes)
