"""What is looked at between the runs: has the vault changed, is the index whole.

Another process does the looking, in the background and never in a request's way. What comes of it
is a warning on every reply, or that what is damaged is no longer served.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from vault_agent.errors import IndexUnavailable, VaultAgentError, explained
from vault_agent.model.warning import Warning

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from vault_agent.store.current import CurrentIndex
    from vault_agent.store.layout import IndexDirectory

STALE_CHECK_SECONDS = 30.0


class Background:
    """Work that nobody waits for; where it fails, `health` shows what it would have changed."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Begin; needs a running loop."""
        task = asyncio.create_task(quietly(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Cancel what is under way and wait until it has let go."""
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def quietly(work: Coroutine[Any, Any, None]) -> None:
    """Run work whose failure must not disturb."""
    with suppress(VaultAgentError, OSError):
        await work


class Checks:
    """The condition of an index and its vault, as far as it is known.

    `ask` puts a short question to the idle indexing process, `compare` or `verify`, and returns its
    answer, or None where there is none. Nothing is compared while `busy`.
    """

    def __init__(
        self,
        index: CurrentIndex,
        directory: IndexDirectory,
        background: Background,
        *,
        ask: Callable[[str], Awaitable[dict[str, Any] | None]],
        busy: Callable[[], bool],
    ) -> None:
        self.stale = False
        self.incomplete = False  # the last run did not finish
        self._index = index
        self._directory = directory
        self._background = background
        self._ask = ask
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
        """Begin anew: a run has just seen the whole vault."""
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
            self._background.spawn(self._compare())

    async def _compare(self) -> None:
        try:
            answer = await self._ask("compare")
        finally:
            self._comparing = False
        if answer is None or self._busy():
            return
        if answer["event"] == "compared":
            self.stale, self._unreachable = answer["stale"], None
        elif answer["code"] == "VAULT_NOT_FOUND":
            self._unreachable = Warning(answer["code"], answer["message"])

    def verify_soon(self) -> None:
        """Have every page read once."""
        self._background.spawn(self.verify())

    async def verify(self) -> None:
        """Have every page read once: damage is refused and put aside, not served in part."""
        meta = self._index.meta
        if meta is None or self._verifying:
            return
        self._verifying = True
        try:
            answer = await self._ask("verify")
        finally:
            self._verifying = False
        if answer is None:
            return
        if answer["event"] == "verified" and not answer["vectors_whole"]:
            await self._index.refresh()
        if answer.get("code") == "INDEX_INCOMPATIBLE":
            if self._index.meta != meta:  # a run has replaced what was looked at, and swept it up
                await self.verify()
                return
            await self._index.refuse(IndexUnavailable(answer["code"], answer["message"], remedy=""))
            await asyncio.to_thread(self._directory.put_aside, meta.generation)
