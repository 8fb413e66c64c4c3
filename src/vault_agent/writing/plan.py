"""Plans of writes: edits of a note, and the changes of several files that belong together.

A plan may parse the whole note, which anybody may have written. On a large note that is done in a
worker process, with an allowance of processor time, and before the write holds a lock. So it holds
up no other write, and ends when its caller is cancelled.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from vault_agent.errors import TooLarge
from vault_agent.markdown.edit import Splice, spliced
from vault_agent.system.workers import WorkerCrashed

if TYPE_CHECKING:
    from concurrent.futures import Future

    from vault_agent.model.warning import Warning
    from vault_agent.model.writing import VaultChange
    from vault_agent.system.workers import Allowance


class NeedsJob(Exception):
    """The write changes more files than may be changed at once. Nothing was changed."""


class Overtaken(Exception):
    """Another write was carried out after the plan was begun. Nothing was changed."""


@dataclass(frozen=True, slots=True)
class Planned:
    """An edit, and what the reply says about it."""

    splices: Sequence[Splice]
    section_hash: str | None = None  # of the section after the edit
    line: int | None = None  # of a task, from 1
    created: bool = False  # whether a section was made
    warnings: tuple[Warning, ...] = ()


Plan: TypeAlias = Callable[[bytes], Sequence[Splice] | Planned]
"""From the bytes of a note to an edit. Pure; it may run several times, and in another thread."""


def run_plan(plan: Plan, text: bytes) -> Planned:
    """Return the edit of a text. Raises what the plan raises."""
    planned = plan(text)
    return planned if isinstance(planned, Planned) else Planned(planned)


def text_after(plan: Plan, text: bytes) -> bytes:
    """Return a text after an edit. Raises what the plan raises."""
    return spliced(text, run_plan(plan, text).splices)


@dataclass(frozen=True, slots=True)
class Transaction:
    """Changes in the order in which they are carried out. All are done, or none.

    An edit after a move names the new path. `path` is the one that the reply names.
    """

    path: str
    changes: tuple[VaultChange, ...]
    created: bool = False
    moved_from: str | None = None
    warnings: tuple[Warning, ...] = ()


# --- work that parses a note ----------------------------------------------------------------------

_T = TypeVar("_T")

Work: TypeAlias = Callable[[bytes], _T]
"""A pure function of a note that a worker process can import: it is pickled."""


@dataclass(frozen=True)
class Costly(Generic[_T]):
    """A plan that parses the note. `planned` makes an edit of the note and the result of `work`."""

    work: Work[_T]
    planned: Callable[[bytes, _T], Sequence[Splice] | Planned]

    def __call__(self, note: bytes) -> Sequence[Splice] | Planned:
        """Return the edit of a note. All is done here, however large it is."""
        return self.planned(note, self.work(note))

    async def done_for(self, note: bytes, allowance: Allowance) -> Plan:
        """Return the plan with its work done for a note. Another note is worked on when it comes.

        Raises:
            TooLarge: `NOTE_TOO_LARGE`.
            VaultAgentError: what the work raises.
        """
        result = await _do_work(self.work, note, allowance)

        def plan(now: bytes) -> Sequence[Splice] | Planned:
            return self.planned(now, result if now == note else self.work(now))

        return plan


class NoteWork:
    """Does work on the notes of a plan that is made in a thread, which waits for the results.

    Without an allowance all of it is done in that thread.
    """

    def __init__(self, allowance: Allowance | None = None) -> None:
        self._allowance = allowance
        self._loop = None if allowance is None else asyncio.get_running_loop()
        self._waiting: list[Future[Any]] = []

    def all(self, tasks: Sequence[tuple[Work[_T], bytes]]) -> list[_T]:
        """Return the results of work on several notes, in their order.

        Raises:
            TooLarge: `NOTE_TOO_LARGE`.
            CancelledError: after `stop`.
        """
        allowance, loop = self._allowance, self._loop
        if allowance is None or loop is None:
            return [work(note) for work, note in tasks]
        large = {
            place: asyncio.run_coroutine_threadsafe(_do_work(work, note, allowance), loop)
            for place, (work, note) in enumerate(tasks)
            if not allowance.is_small(len(note))
        }
        self._waiting = list(large.values())
        try:
            return [
                large[place].result() if place in large else work(note)
                for place, (work, note) in enumerate(tasks)
            ]
        finally:
            self.stop()

    def stop(self) -> None:
        """End the work that is not done."""
        for future in self._waiting:
            future.cancel()


async def _do_work(work: Work[_T], note: bytes, allowance: Allowance) -> _T:
    try:
        return await allowance.run(len(note), work, note)
    except WorkerCrashed:
        raise TooLarge(
            "NOTE_TOO_LARGE",
            "Finding the place in this note takes more time or memory than one write may use.",
            remedy="Split the note, or append to it.",
        ) from None
