"""News of a vault for clients: revisions, writes, jobs, watch, memory. The last 1,000 are kept."""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from vault_agent.model.health import Revision, WatchStatus
from vault_agent.model.jobs import Job
from vault_agent.model.memory import MemoryNews
from vault_agent.model.writing import LoggedWrite

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from vault_agent.indexing.protocol import RunResult


class Signal:
    """Wakes all tasks that wait for the next change of something.

    A change wakes no task that is busy. So a task compares what it has seen with the present state,
    and waits only if both are equal, without an `await` in between.
    """

    def __init__(self) -> None:
        self._next = asyncio.Event()

    def announce(self) -> None:
        """Wake all tasks that wait."""
        self._next.set()
        self._next = asyncio.Event()

    async def wait(self) -> None:
        """Wait for the next change."""
        await self._next.wait()


KEPT = 1_000

Item: TypeAlias = Revision | WatchStatus | Job | LoggedWrite | MemoryNews


class StreamItem(NamedTuple):
    """One item of news and its ID. `item` is None in place of items that are no longer kept."""

    id: str
    item: Item | None


def revision_of(run: RunResult) -> Revision:
    """Return the news of a run that has published."""
    done = run.summary
    touched = done.added + done.changed + done.removed + 2 * done.renamed
    return Revision(
        run.generation,
        run.revision,
        *(done.added, done.changed, done.removed, done.renamed),
        note_ids=run.note_ids,
        complete=len(run.note_ids) >= touched,
    )


class EventStream:
    """The news of one vault since it was opened. IDs are valid until it is closed."""

    def __init__(self) -> None:
        self._epoch = secrets.token_hex(4)
        self._count = 0
        self._kept: deque[Item] = deque(maxlen=KEPT)
        self._change = Signal()

    @property
    def last_id(self) -> str:
        """The ID of the newest item."""
        return f"{self._epoch}-{self._count}"

    def add(self, item: Item) -> None:
        """Add an item, and wake all followers."""
        self._count += 1
        self._kept.append(item)
        self._change.announce()

    async def follow(self, after: str | None = None) -> AsyncIterator[StreamItem]:
        """Yield the news after the item with the ID `after`, or from now on, without end.

        One `StreamItem` whose `item` is None takes the place of all that are no longer kept.
        """
        seen = self._count if after is None else self._number(after)
        while True:
            if seen is None or seen < self._count - len(self._kept):
                seen = self._count
                yield StreamItem(self.last_id, None)
            while seen < self._count:
                index = seen - self._count  # from the end
                seen += 1
                if index < -len(self._kept):  # lost while the follower was busy
                    seen = None
                    break
                yield StreamItem(f"{self._epoch}-{seen}", self._kept[index])
            if seen is not None and seen == self._count:
                await self._change.wait()

    def _number(self, item_id: str) -> int | None:
        epoch, _, number = item_id.partition("-")
        if epoch != self._epoch or not number.isascii() or not number.isdecimal():
            return None
        return int(number) if len(number) < 20 and int(number) <= self._count else None
