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
    from collections.abc import Iterable, Sequence

    from vault_agent.system.allowance import Allowance
    from vault_agent.writing.transaction import Plan, Planned

    Task: TypeAlias = tuple["Work[Any]", bytes]

_K = TypeVar("_K")
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
        self._results, self.missing = results, missing

    async def make(self) -> None:
        """Make the results. Raises what the work raises, and `NOTE_TOO_LARGE`."""
        for work, note in self.missing:
            await self._results.make(work, note)


class Results:
    """Results of costly work for one write. Without an allowance all of it is done here."""

    def __init__(self, allowance: Allowance | None = None) -> None:
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
        allowance = self._allowance
        if allowance is None:
            return [work(note) for work, note in tasks]
        keys = [_key(*task) for task in tasks]
        missing = [task for task, key in zip(tasks, keys, strict=True) if key not in self._made]
        large = [task for task in missing if not allowance.is_small(len(task[1]))]
        if large:
            raise NotReady(self, large)
        for work, note in missing:
            self._made[_key(work, note)] = work(note)
        return [self._made[key] for key in keys]

    def for_each(self, work: Callable[[_K], _T], over: Iterable[_K]) -> dict[_K, _T]:
        """Return what `work` makes of each key.

        Raises:
            NotReady: with all that any of them needs.
        """
        made: dict[_K, _T] = {}
        missing: list[Task] = []
        for key in over:
            try:
                made[key] = work(key)
            except NotReady as needed:
                missing += needed.missing
        if missing:
            raise NotReady(self, missing)
        return made

    def planned(self, plan: Plan) -> Plan:
        """Return a plan that takes the results of its costly work from here."""
        if not isinstance(plan, Costly):
            return plan
        return lambda note: plan.planned(note, self.of(plan.work, note))

    async def make(self, work: Work[Any], note: bytes) -> None:
        """Do some work on a note in a worker process, and keep the result. See `NotReady.make`."""
        assert self._allowance is not None  # noqa: S101 - nothing is ever missing without one
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
