"""Notes found by a name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Match = Literal["id", "path", "name", "alias", "title"]
"""How a name found a note. `name` is the end of a path, or a file's name."""


@dataclass(frozen=True, slots=True)
class NamedNote:
    """A note found by a name."""

    note_id: str
    path: str
    title: str
    match: Match


@dataclass(frozen=True, slots=True)
class Named:
    """The notes that a name means, and the place in the note if the name contains one."""

    notes: tuple[NamedNote, ...]
    has_more: bool = False
    line: int | None = None
    heading: str | None = None
