"""Lines found by a regular expression."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, NamedTuple

from vault_agent.model.fields import Cursor
from vault_agent.model.search import Filters
from vault_agent.model.sent import Between, Doc, Length, Unsent
from vault_agent.model.warning import Warning


@dataclass(frozen=True, slots=True)
class GrepQuery:
    """A request for lines that match a pattern."""

    pattern: Annotated[
        str,
        Length(1, 1000),
        Doc("A regular expression in the syntax of RE2. It is matched line by line."),
    ]
    ignore_case: bool = False
    context: Annotated[
        int, Between(0, 3), Doc("Lines to return before and after each matching line.")
    ] = 0
    limit: Annotated[int, Between(1, 200), Doc("Lines. A JSON integer: 10, not 10.0.")] = 50
    filters: Filters = field(default_factory=Filters)
    cursor: Cursor = None


class Place(NamedTuple):
    """Where a scan goes on: after this line of this note. `path` is a note's key, see `note_key`.

    `found` lines of the note have been returned before.
    """

    path: str
    line: int
    found: int


@dataclass(frozen=True, slots=True)
class GrepLine:
    """A matching line, cut to 240 characters around its first match."""

    note_id: str
    path: str
    line: Annotated[int, Doc("The line in the note's file, counted from 1.")]
    text: str
    matches: Annotated[
        tuple[tuple[int, int], ...],
        Doc("Ranges of the text that match, in characters, the end exclusive."),
    ]
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    more_in_note: Annotated[bool, Doc("Whether further lines of this note are left out.")] = False


@dataclass(frozen=True, slots=True)
class GrepAnswer:
    """Matching lines, in the order of paths and lines."""

    lines: tuple[GrepLine, ...]
    incomplete: Annotated[bool, Doc("Whether the time was over before all was searched.")] = False
    has_more: bool = False
    next_cursor: str | None = None
    place: Unsent[Place | None] = None  # where to go on, if there may be more
    share: Unsent[float] = 1.0  # of the notes that was searched, 0 to 1
    warnings: Unsent[tuple[Warning, ...]] = ()
