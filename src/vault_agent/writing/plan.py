"""Plans of writes: edits of a note, and the changes of several files that belong together.

A plan may parse the whole note, and anybody may have written its text. A large note is parsed in a
worker process, with limited time and memory, before the write takes a lock. The parsing delays no
other write, and ends when the caller of the write is cancelled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from vault_agent.errors import TooLarge
from vault_agent.markdown.edit import Splice, spliced
from vault_agent.system.workers import WorkerCrashed

if TYPE_CHECKING:
    from vault_agent.model.warning import Warning
    from vault_agent.model.writing import VaultChange
    from vault_agent.system.workers import TextWorkers


class NeedsJob(Exception):
    """The write changes more files than it may without being a job. Nothing was changed."""


class Overtaken(Exception):
    """Another write was carried out after the planning had begun. Nothing was changed."""


@dataclass(frozen=True, slots=True)
class Planned:
    """An edit, and what the reply says about it."""

    splices: Sequence[Splice]
    section_hash: str | None = None  # of the section after the edit
    line: int | None = None  # of a task, from 1
    created: bool = False  # whether a section was made
    warnings: tuple[Warning, ...] = ()


Plan: TypeAlias = Callable[[bytes], Sequence[Splice] | Planned]
"""Takes the bytes of a note, returns an edit. Pure. May run several times, and in any thread."""


def run_plan(plan: Plan, text: bytes) -> Planned:
    """Return the edit of a text. Raises what the plan raises."""
    planned = plan(text)
    return planned if isinstance(planned, Planned) else Planned(planned)


def text_after(plan: Plan, text: bytes) -> bytes:
    """Return a text after an edit. Raises what the plan raises."""
    return spliced(text, run_plan(plan, text).splices)


@dataclass(frozen=True, slots=True)
class Transaction:
    """Changes in the order in which they are carried out.

    If the first one is done, so are all others that are possible. An edit after a move names the
    new path. `path` is the one that the reply names.
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
    """A plan that parses the note: `to_edit(note, work(note))` is the edit.

    Without `to_edit`, the result of `work` is the edit.
    """

    work: Work[_T]
    to_edit: Callable[[bytes, Any], Sequence[Splice] | Planned] = lambda _, edit: edit

    def __call__(self, note: bytes) -> Sequence[Splice] | Planned:
        """Return the edit of a note. The work is done in this process, however large the note."""
        return self.to_edit(note, self.work(note))

    async def done_for(self, note: bytes, text_workers: TextWorkers) -> Plan:
        """Return the plan with its work done for these bytes of a note.

        If the note has other bytes when the plan runs, the work is done again, in that thread.

        Raises:
            TooLarge: `NOTE_TOO_LARGE`.
            VaultAgentError: what the work raises.
        """
        try:
            result = await text_workers.run(len(note), self.work, note)
        except WorkerCrashed:
            raise TooLarge(
                "NOTE_TOO_LARGE",
                "Finding the place in this note takes more time or memory than one write may use.",
                remedy="Split the note, or append to it.",
            ) from None

        def plan(now: bytes) -> Sequence[Splice] | Planned:
            return self.to_edit(now, result if now == note else self.work(now))

        return plan
