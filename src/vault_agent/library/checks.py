"""What is looked at between the runs: has the vault changed, is the index whole.

Another process does the looking, in the background and never in a request's way. What comes of it
is a warning on every reply, or that what is damaged is no longer served.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import anyio

from vault_agent.errors import Busy, IndexUnavailable, explained
from vault_agent.indexing.protocol import Compared, Refused, Verified
from vault_agent.model.warning import Warning
from vault_agent.system.cancelling import in_thread, to_its_end

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from vault_agent.indexing.protocol import Answer
    from vault_agent.library.background import Background
    from vault_agent.store.current import CurrentIndex
    from vault_agent.store.layout import IndexDirectory

    Ask = Callable[[], Awaitable[Answer | None]]

STALE_CHECK_SECONDS = 30.0
_SECONDS_BETWEEN_TRIES = 0.5


class Checks:
    """The condition of an index and its vault, as far as it is known.

    `compare` and `verify` ask the indexing process, and return None where it did not answer.
    Nothing is compared while `busy`.
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
    ) -> None:
        self.stale = False
        self.incomplete = False  # the last run did not finish
        self._index = index
        self._directory = directory
        self._background = background
        self._ask_to_compare = compare
        self._ask_to_verify = verify
        self._busy = busy
        self._unreachable: Warning | None = None  # why the vault could not be read, lastly
        self._verifying = self._comparing = False
        self._next_comparison = 0.0

    def warnings(self) -> tuple[Warning, ...]:
        """Say what a reply from this index may lack."""
        warnings: list[Warning] = [self._unreachable] if self._unreachable else []
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
        """Forget what was wrong: a run has just seen the whole vault."""
        self.stale = self.incomplete = False
        self._unreachable = None
        self._next_comparison = 0.0

    def compare_now_and_then(self) -> None:
        """Have the vault compared with the index, unless that was done lately."""
        now = time.monotonic()
        if now < self._next_comparison or self._busy() or self._index.meta is None:
            return
        if not self._comparing:
            self._next_comparison = now + STALE_CHECK_SECONDS
            self._comparing = True
            self._background.spawn(self._compare)

    async def _compare(self) -> None:
        try:
            answer = await self._ask_to_compare()
        finally:
            self._comparing = False
        if answer is None or self._busy():
            return
        if isinstance(answer, Compared):
            self.stale, self._unreachable = answer.stale, None
        elif isinstance(answer, Refused) and answer.code == "VAULT_NOT_FOUND":
            self._unreachable = Warning(answer.code, answer.message)

    def verify_soon(self) -> None:
        """Have every page read once."""
        self._background.spawn(self.verify)

    async def verify(self) -> None:
        """Have every page read once: damage is refused and put aside, not served in part."""
        meta = self._index.meta
        if meta is None or self._verifying:
            return
        self._verifying = True
        try:
            answer = await self._ask_to_verify()
        finally:
            self._verifying = False
        # To their ends, also when the server stops: they open and close files.
        if isinstance(answer, Verified) and not answer.vectors_whole:
            await to_its_end(self._index.refresh())
        if isinstance(answer, Refused) and answer.code == "INDEX_INCOMPATIBLE":
            if self._index.meta != meta:  # a run has replaced what was looked at, and swept it up
                await self.verify()
                return
            await to_its_end(self._refuse(meta.generation, answer))
            await self._put_aside_after_runs()

    async def _refuse(self, generation: int, answer: Refused) -> None:
        refusal = IndexUnavailable(answer.code, answer.message, remedy="")
        await self._index.refuse(refusal, generation)
        await asyncio.to_thread(self._put_aside)

    async def _put_aside_after_runs(self) -> None:
        # The runs of other processes count too, so there is nothing to wait for but the lock.
        while True:
            if await in_thread(self._put_aside):
                return
            await anyio.sleep(_SECONDS_BETWEEN_TRIES)

    def _put_aside(self) -> bool:
        """Put the damaged generation aside; False while a run may have it open."""
        try:
            with self._directory.writing(wait=False):
                put_damaged_aside(self._index, self._directory)
        except Busy:
            return False
        return True


def put_damaged_aside(index: CurrentIndex, directory: IndexDirectory) -> None:
    """Put aside the generation that turned out to be damaged, if there is one.

    Only the holder of the writer's lock may call this: a run may have its files open.
    """
    if index.damaged is not None:
        directory.put_aside(index.damaged)
