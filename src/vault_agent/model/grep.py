"""Lines found by a regular expression."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from vault_agent.model.search import Filters

if TYPE_CHECKING:
    from vault_agent.model.warning import Warning


@dataclass(frozen=True, slots=True)
class GrepQuery:
    """A request for lines that match a pattern."""

    pattern: str
    ignore_case: bool = False
    context: int = 0  # lines before and after
    limit: int = 50
    filters: Filters = field(default_factory=Filters)


class Place(NamedTuple):
    """Where a scan goes on: after this line of this note. `path` is a note's key, see `place_key`.

    `found` lines of the note have been returned before.
    """

    path: str
    line: int
    found: int


@dataclass(frozen=True, slots=True)
class GrepLine:
    """A line that matches, cut around its first match."""

    note_id: str
    path: str
    line: int
    text: str
    matches: tuple[tuple[int, int], ...]  # ranges of `text`, in characters
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    more_in_note: bool = False  # whether further lines of the note are left out


@dataclass(frozen=True, slots=True)
class GrepAnswer:
    """The lines in order of path and line. `share` of the notes was searched, 0 to 1."""

    lines: tuple[GrepLine, ...]
    place: Place | None  # where to go on, if there may be more
    incomplete: bool
    share: float
    warnings: tuple[Warning, ...] = ()
