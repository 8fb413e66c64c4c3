"""Work that parses a whole note, which anybody may have written.

On a large note it does not run in the threads of writes. A thread that comes to it gives up with
`NotReady`; the work is done in a worker process, with an allowance of processor time, and then the
thread starts again. So it holds up no other write, and ends when its caller is cancelled.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from vault_agent.errors import TooLarge
from vault_agent.model.identifiers import content_hash
from vault_agent.system.workers import WorkerCrashed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vault_agent.system.allowance import Allowance
    from vault_agent.writing.transaction import Plan, Planned

    Task: TypeAlias = tuple["Work[Any]", bytes]

_T = TypeVar("_T")

Work: TypeAlias = Callable[[bytes], _T]
"""A pure function of a note that a worker process can import: it is pickled."""


@dataclass(frozen=True)
class Costly(Generic[_T]):
    """A plan that parses the note. `planned` makes an edit of the note and the result of `work`."""

    work: Work[_T]
    planned: Callable[[bytes, _T], Planned]

    def __call__(self, note: bytes) -> Planned:
        """Return the edit of a note. All is done here, however large it is."""
        return self.planned(note, self.work(note))


class NotReady(Exception):
    """Results of work on notes are needed. Nothing was done without them."""

    def __init__(self, results: Results, missing: Sequence[Task]) -> None:
        super().__init__()
        self._results, self._missing = results, missing

    async def make(self) -> None:
        """Make the results. Raises what the work raises, and `NOTE_TOO_LARGE`."""
        for work, note in self._missing:
            await self._results.make(work, note)


class Results:
    """Results of costly work for one write."""

    def __init__(self, allowance: Allowance) -> None:
        self._allowance = allowance
        self._made: dict[bytes, Any] = {}

    def of(self, work: Work[_T], note: bytes) -> _T:
        """Return the result of some work on a note.

        Raises:
            NotReady: if it must be made first.
        """
        return self.all([(work, note)])[0]

    def all(self, tasks: Sequence[tuple[Work[_T], bytes]]) -> list[_T]:
        """Return the results of work on several notes, in their order.

        Raises:
            NotReady: if some must be made first.
        """
        large = [task for task in tasks if not self._allowance.is_small(len(task[1]))]
        if missing := [task for task in large if _key(*task) not in self._made]:
            raise NotReady(self, missing)
        return [
            work(note) if self._allowance.is_small(len(note)) else self._made[_key(work, note)]
            for work, note in tasks
        ]

    def planned(self, plan: Plan) -> Plan:
        """Return a plan that takes the results of its costly work from here."""
        if not isinstance(plan, Costly):
            return plan
        return lambda note: plan.planned(note, self.of(plan.work, note))

    async def make(self, work: Work[Any], note: bytes) -> None:
        """Do some work on a note in a worker process, and keep the result. See `NotReady.make`."""
        try:
            result = await self._allowance.run(len(note), work, note)
        except WorkerCrashed:
            raise TooLarge(
                "NOTE_TOO_LARGE",
                "Finding the place in this note takes more time or memory than one write may use.",
                remedy="Split the note, or append to it.",
            ) from None
        self._made[_key(work, note)] = result


def _key(work: Work[Any], note: bytes) -> bytes:
    return pickle.dumps(work) + content_hash(note)
