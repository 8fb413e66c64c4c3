"""Background checks between runs: whether the vault has changed and the index is intact.

The indexing process does the checks, so they do not delay requests. A check that finds a problem
adds a warning to every reply, or takes a damaged index out of service.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import anyio

from vault_agent.errors import Busy, IndexUnavailable, VaultAgentError, explained
from vault_agent.freshness.jobs import timestamp
from vault_agent.indexing.protocol import Compared, Refused
from vault_agent.model.warning import Warning
from vault_agent.system.cancelling import in_thread, to_its_end

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from vault_agent.freshness.background import Background
    from vault_agent.indexing.protocol import Answer
    from vault_agent.store.current import CurrentIndex
    from vault_agent.store.layout import IndexDirectory

    Ask = Callable[[], Awaitable[Answer | None]]

STALE_CHECK_SECONDS = 30.0
_SECONDS_BETWEEN_TRIES = 0.5


class Checks:
    """The known state of an index and its vault.

    `compare` and `verify` ask the indexing process. They return None if it did not answer.
    Nothing is compared while `busy` returns true, or while changes are noticed (`watched`).
    `written` returns None while this server's own writes are being indexed, and else a number that
    changes with them: what has changed during a comparison makes it void.
    """

    def __init__(
        self,
        index: CurrentIndex,
        directory: IndexDirectory,
        background: Background,
        *,
        compare: Ask,
        verify: Ask,
        busy: Callable[[], bool],
        watched: Callable[[], bool] = lambda: False,
        written: Callable[[], int | None] = lambda: 0,
    ) -> None:
        self._stale = False
        self.incomplete = False  # the last run did not finish
        self.indexed_at: str | None = None  # when the last run had read all notes; ISO 8601
        self._index = index
        self._directory = directory
        self._background = background
        self._ask_to_compare = compare
        self._ask_to_verify = verify
        self._busy = busy
        self._watched = watched
        self._written = written
        self._unreachable: Warning | None = None  # why the vault could not be read
        self._verifying = self._comparing = False
        self._next_comparison = 0.0

    @property
    def stale(self) -> bool:
        """Whether notes have changed since the last run, and nothing has noticed it."""
        return self._stale and not self._watched()

    def warnings(self) -> tuple[Warning, ...]:
        """Return the warnings for a reply from this index."""
        warnings: list[Warning] = []
        if self._unreachable and not self._watched():
            warnings.append(self._unreachable)
        if self.stale:
            warnings.append(
                Warning(
                    "INDEX_STALE",
                    explained(
                        "INDEX_STALE",
                        "Notes have changed since the last run.",
                        indexing=self._busy(),
                    ),
                )
            )
        if self.incomplete:
            warnings.append(
                Warning(
                    "INDEX_INCOMPLETE",
                    explained(
                        "INDEX_INCOMPLETE",
                        "The last index run did not finish.",
                        indexing=self._busy(),
                    ),
                )
            )
        return tuple(warnings)

    def run_succeeded(self) -> None:
        """Clear all warnings: a run has just read the whole vault."""
        self._stale = self.incomplete = False
        self._unreachable = None
        self._next_comparison = 0.0
        self.indexed_at = timestamp()

    def compare_if_due(self) -> None:
        """Start a comparison of vault and index, at most one in `STALE_CHECK_SECONDS`."""
        now = time.monotonic()
        if now < self._next_comparison or self._busy() or self._index.meta is None:
            return
        if self._watched() or self._written() is None:
            return
        if not self._comparing:
            self._next_comparison = now + STALE_CHECK_SECONDS
            self._comparing = True
            self._background.spawn(self._compare)

    async def _compare(self) -> None:
        written = self._written()
        try:
            answer = await self._ask_to_compare()
        finally:
            self._comparing = False
        if answer is None or self._busy():
            return
        if written is None or self._written() != written:
            self._next_comparison = 0.0
            return
        if isinstance(answer, Compared):
            self._stale, self._unreachable = answer.stale, None
        elif isinstance(answer, Refused) and answer.code == "VAULT_NOT_FOUND":
            self._unreachable = Warning(answer.code, answer.message)

    def verify_soon(self) -> None:
        """Start `verify` in the background."""
        self._background.spawn(self.verify)

    async def verify(self) -> None:
        """Read every page of the index once. A damaged index is set aside and no longer served."""
        meta = self._index.meta
        if meta is None or self._verifying:
            return
        self._verifying = True
        try:
            answer = await self._ask_to_verify()
        finally:
            self._verifying = False
        # Not cancelled when the server stops: it opens and closes files.
        if isinstance(answer, Refused) and answer.code == "INDEX_INCOMPATIBLE":
            if self._index.meta != meta:  # a run has replaced the index that was checked
                await self.verify()
                return
            await to_its_end(self._refuse(meta.generation, answer))
            await self._set_aside_after_runs()

    async def _refuse(self, generation: int, answer: Refused) -> None:
        refusal = IndexUnavailable(answer.code, answer.message, remedy="")
        await self._index.refuse(refusal, generation)
        await asyncio.to_thread(self._set_aside)

    async def _set_aside_after_runs(self) -> None:
        # Runs of other processes count too, so only the lock shows when they have ended.
        while True:
            if await in_thread(self._set_aside):
                return
            await anyio.sleep(_SECONDS_BETWEEN_TRIES)

    def _set_aside(self) -> bool:
        """Set the damaged generation aside; False while a run has it open or the disk fails."""
        try:
            with self._directory.writing(wait=False):
                set_damaged_aside(self._index, self._directory)
        except (Busy, OSError):
            return False
        return True


def set_damaged_aside(index: CurrentIndex, directory: IndexDirectory) -> None:
    """Set aside the generation that turned out to be damaged, if there is one.

    Only the holder of the writer's lock may call this: a run may have its files open.

    Raises:
        Busy: `INDEX_LOCKED` while vectors are being made for it.
    """
    if index.damaged is not None:
        with directory.embedding(wait=False):
            directory.set_aside(index.damaged)
        index.forget_damaged()


def sweep(index: CurrentIndex, directory: IndexDirectory) -> None:
    """Remove replaced and half-written files, unless another run has begun."""
    with suppress(VaultAgentError, OSError), directory.writing(wait=False):
        with suppress(OSError):
            set_damaged_aside(index, directory)
        number, served = directory.current(), index.meta
        directory.sweep(keep=number)
        if served is not None and served.generation == number:
            directory.sweep_fulltext(number, keep=served.revision)
