"""What a write changes: plans of edits, and the changes of several files that belong together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from vault_agent.markdown.edit import Splice, spliced

if TYPE_CHECKING:
    from vault_agent.model.warning import Warning
    from vault_agent.model.writing import VaultChange


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


def planned_by(plan: Plan, text: bytes) -> Planned:
    """Return the edit of a text. Raises what the plan raises."""
    planned = plan(text)
    return planned if isinstance(planned, Planned) else Planned(planned)


def text_after(plan: Plan, text: bytes) -> bytes:
    """Return a text after an edit. Raises what the plan raises."""
    return spliced(text, planned_by(plan, text).splices)


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
