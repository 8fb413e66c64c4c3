"""Embeds documents, and retries when the endpoint fails.

A failed request is retried with growing waits. Then it is halved until the failing text is alone,
and the other texts are embedded. Before a failure is attributed to texts, the endpoint is asked for
the probe text. If it fails at that too, the endpoint is at fault, and we wait for it up to a limit.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import anyio
import anyio.lowlevel

from vault_agent.models.embedding_errors import EMBEDDING, changed
from vault_agent.models.embedding_replies import vectors_of
from vault_agent.models.faults import FATAL, Fault, Kind
from vault_agent.models.outcomes import Embedded, Failure, Outcome, Reason

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vault_agent.model.vectors import VectorSpace
    from vault_agent.models.gate import Gate
    from vault_agent.models.probe import Probe
    from vault_agent.models.vectors import Endpoint

# Attempts before a failure is attributed to the texts; one for other kinds.
_ATTEMPTS: Final = {
    Kind.UNREACHABLE: 6,
    Kind.BUSY: 8,
    Kind.DISCONNECTED: 2,
    Kind.SERVER_ERROR: 2,
    Kind.BAD_REPLY: 2,
}
_OVERLOAD: Final = frozenset(
    {Kind.UNREACHABLE, Kind.BUSY, Kind.DISCONNECTED, Kind.SERVER_ERROR, Kind.TIMED_OUT}
)
# After these the endpoint may have been restarted, with another model.
_RESTARTED: Final = frozenset({Kind.UNREACHABLE, Kind.DISCONNECTED})
# After these a smaller request may succeed.
_TOO_MUCH: Final = frozenset({Kind.REJECTED, Kind.TOO_LONG})

_REASONS: Final = {
    Kind.REJECTED: Reason.REJECTED,
    Kind.TOO_LONG: Reason.REJECTED,
    Kind.BAD_REPLY: Reason.BAD_VECTOR,
    Kind.TIMED_OUT: Reason.TIMED_OUT,
}

_FIRST_WAIT: Final = 0.2
_LONGEST_WAIT: Final = 10.0
# Timeout of the first request, which may have to load the model.
_COLD: Final = 180.0
# If this many texts fail in a row, the endpoint is at fault.
_HOPELESS: Final = 48
# Texts of more characters are halved if the endpoint rejects them as too long; others fail.
_SHORTEST: Final = 64
# Texts in a request while a user searches: about half a second on a CPU.
_COURTEOUS: Final = 4


class Documents:
    """Embeds documents with one endpoint; several tasks may use it at once."""

    def __init__(
        self,
        endpoint: Endpoint,
        probe: Probe,
        gate: Gate,
        *,
        model: str,
        batch_size: int,
        timeout: float,
        patience: float,
    ) -> None:
        """Limit a request to `timeout` seconds, and a time without successes to `patience`."""
        self._endpoint = endpoint
        self._probe = probe
        self._gate = gate
        self._model = model
        self._most = batch_size
        self._timeout = timeout
        self._patience = patience
        self._verifying = anyio.Lock()
        self._succeeded_at = float("-inf")
        self._troubled_since: float | None = None
        self._failed_in_a_row = 0

    async def prepare(self) -> VectorSpace:
        """Return the space, after checking that the endpoint answers.

        Waits for a model to load, but not for a server that is not running.

        Raises:
            Unavailable: if the endpoint does not work.
        """
        attempts = refusals = 0
        while True:
            try:
                await self._probe.ask(max(self._timeout, _COLD))
            except Fault as fault:
                refusals += fault.kind not in (Kind.BUSY, Kind.TIMED_OUT)
                if fault.kind in FATAL or refusals >= 3:
                    raise EMBEDDING.unavailable(fault, self._model) from None
                attempts += 1
                await self._wait(fault, attempts)
            else:
                self._succeeded()
                assert self._probe.space is not None  # noqa: S101 - `ask` has set it
                return self._probe.space

    @property
    def request_size(self) -> int:
        """How many texts one request has at present."""
        return min(self._most, _COURTEOUS) if self._gate.searched_lately else self._most

    async def embed(self, texts: Sequence[str]) -> list[Outcome]:
        """Return one outcome a text, in order.

        Raises:
            Unavailable: if the endpoint does not work.
        """
        outcomes: list[Outcome] = []
        while len(outcomes) < len(texts):
            until = len(outcomes) + self.request_size
            outcomes += await self._settle(texts[len(outcomes) : until])
        return outcomes

    async def _settle(self, texts: Sequence[str]) -> list[Outcome]:
        """Embed the texts of one request, or find out which of them fail."""
        faults: Counter[Kind] = Counter()
        while True:
            asked_at = time.monotonic()
            try:
                return await self._request(texts)
            except Fault as error:
                fault = error
            if fault.kind in FATAL:
                raise EMBEDDING.unavailable(fault, self._model)
            faults[fault.kind] += 1
            if faults[fault.kind] >= _ATTEMPTS.get(fault.kind, 1):
                break
            await self._wait(fault, faults.total())
            if fault.kind in _RESTARTED:
                await self._verify(asked_at)
        if fault.kind not in _TOO_MUCH:
            await self._verify(asked_at)
        if len(texts) == 1:
            return [await self._alone(texts[0], fault)]
        return await self._halve(texts, fault)

    async def _request(self, texts: Sequence[str]) -> list[Outcome]:
        async with self._gate.slot():
            try:
                reply = await self._endpoint.send(texts, timeout=self._timeout)
            except Fault as fault:
                if fault.kind in _OVERLOAD:
                    self._gate.overloaded()
                if fault.retry_after:
                    self._gate.close(min(fault.retry_after, self._patience))
                raise
        # The endpoint is free, so let a waiting request go first, before this reply is decoded.
        await anyio.lowlevel.checkpoint()
        space = self._probe.space
        vectors = vectors_of(reply, len(texts), None if space is None else space.dimension)
        self._gate.succeeded()
        self._succeeded()
        self._failed_in_a_row = 0
        return [Embedded(vector) for vector in vectors]

    async def _halve(self, texts: Sequence[str], fault: Fault) -> list[Outcome]:
        middle = (len(texts) + 1) // 2
        outcomes = await self._settle(texts[:middle]) + await self._settle(texts[middle:])
        if fault.kind in _TOO_MUCH and all(
            isinstance(outcome, Embedded) and not outcome.truncated for outcome in outcomes
        ):
            # All texts succeeded, so there were too many in one request.
            self._most = min(self._most, middle)
        return outcomes

    async def _alone(self, text: str, fault: Fault) -> Outcome:
        """Return the outcome of a text that fails alone while the endpoint works."""
        if fault.kind is Kind.TOO_LONG and len(text) > _SHORTEST:
            (outcome,) = await self._settle([text[: len(text) // 2]])
            return replace(outcome, truncated=True) if isinstance(outcome, Embedded) else outcome
        self._failed_in_a_row += 1
        if self._failed_in_a_row >= _HOPELESS:
            raise EMBEDDING.unavailable(fault, self._model)
        return Failure(_REASONS.get(fault.kind, Reason.SERVER_ERROR))

    async def _verify(self, since: float) -> None:
        """Wait until the endpoint has succeeded with any request after `since`."""
        async with self._verifying:
            attempt = 0
            while self._succeeded_at <= since:
                try:
                    if not await self._probe.ask(self._timeout):
                        raise changed()
                except Fault as fault:
                    if fault.kind in FATAL:
                        raise EMBEDDING.unavailable(fault, self._model) from None
                    attempt += 1
                    await self._wait(fault, attempt)
                else:
                    self._succeeded()

    def _succeeded(self) -> None:
        self._succeeded_at = time.monotonic()
        self._troubled_since = None

    async def _wait(self, fault: Fault, attempt: int) -> None:
        """Wait before the next attempt, longer each time. Raise if `patience` would be exceeded."""
        now = time.monotonic()
        if self._troubled_since is None:
            self._troubled_since = now
        wait = min(_FIRST_WAIT * 2**attempt, _LONGEST_WAIT) * random.uniform(0.5, 1)  # noqa: S311 - jitter
        if fault.retry_after is not None:
            wait = max(wait, fault.retry_after)
        if now + wait > self._troubled_since + self._patience:
            raise EMBEDDING.unavailable(fault, self._model)
        await anyio.sleep(wait)
