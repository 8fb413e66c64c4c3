"""Notes found by a name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from vault_agent.model.sent import Doc

Match = Literal["id", "path", "name", "alias", "title"]
"""How a name found a note. `name` is the end of a path, or a file's name."""


@dataclass(frozen=True, slots=True)
class NamedNote:
    """A note found by a name. `match` says how."""

    note_id: str
    path: str
    title: str
    match: Match


@dataclass(frozen=True, slots=True)
class NamedNotes:
    """The notes that a name means, at most ten, and the place in the note if it contains one."""

    notes: tuple[NamedNote, ...]
    has_more: bool = False
    line: Annotated[int | None, Doc("The line that the name contains, as in `Note.md:12`.")] = None
    heading: Annotated[str | None, Doc("The heading that a link contains.")] = None
    anchor: Annotated[
        str | None,
        Doc("The `id` of the heading or block in the rendered note, if a link contains one."),
    ] = None
