"""What a write changes: plans of edits, and the changes of several files that belong together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from vault_agent.markdown.edit import Splice

if TYPE_CHECKING:
    from vault_agent.model.warning import Warning


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


@dataclass(frozen=True, slots=True)
class Edit:
    """New bytes for a file that exists.

    `before` are the bytes that the plan was made of. If somebody has changed the file since, `plan`
    makes the edit of the new bytes; without it, the edit is merged line by line, or the file is
    left alone.
    """

    path: str
    before: bytes
    after: bytes
    plan: Plan | None = None
    links: int = 0  # how many links it rewrites, for the reply


@dataclass(frozen=True, slots=True)
class Create:
    """A new file. Its folders are made. It never replaces a file."""

    path: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Move:
    """A file or a folder gets another path, in folders that are made. It never replaces one.

    `digest` is the SHA-256 of a file and `size` the number of its bytes; a folder has neither. The
    log keeps no bytes. A move between two spellings of one name is done in two steps.
    """

    path: str
    to: str
    digest: bytes | None = None
    size: int | None = None

    @property
    def is_folder(self) -> bool:
        """Whether a folder moves."""
        return self.digest is None


@dataclass(frozen=True, slots=True)
class Remove:
    """A file is removed. Its bytes stay in the log."""

    path: str
    before: bytes


@dataclass(frozen=True, slots=True)
class MakeFolder:
    """A new folder, with those above it."""

    path: str


@dataclass(frozen=True, slots=True)
class RemoveFolder:
    """An empty folder is removed."""

    path: str


Change: TypeAlias = Edit | Create | Move | Remove | MakeFolder | RemoveFolder


@dataclass(frozen=True, slots=True)
class Transaction:
    """Changes in the order in which they are carried out. All are done, or none.

    An `Edit` after a `Move` names the new path. `path` is the one that the reply names.
    """

    path: str
    changes: tuple[Change, ...]
    created: bool = False
    moved_from: str | None = None
    trash_path: str | None = None
    warnings: tuple[Warning, ...] = ()
