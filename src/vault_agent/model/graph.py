"""Links of a note, reports on links, and the graph that they form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from vault_agent.model.scope import EVERYTHING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vault_agent.model.notes import Link
    from vault_agent.model.scope import Scope
    from vault_agent.model.warning import Warning

Entry = TypeVar("Entry")

MAX_NODES = 50_000
"""The most notes in the whole graph: the best connected."""
MAX_CANDIDATES = 5
"""The most paths listed for an ambiguous link."""


class TreeQuery(NamedTuple):
    """A request for a tree of tags or folders: those that begin with `prefix`, so many levels deep.

    With `by_count`, those with the most notes come first on each level, and else they are by name.
    """

    prefix: str
    depth: int
    limit: int
    by_count: bool = False
    scope: Scope = EVERYTHING


class Finding(NamedTuple):
    """A link that leads nowhere or is ambiguous. Findings sort by path, line and column."""

    path: str
    line: int
    column: int
    fault: str  # note, heading, block, attachment, ambiguous
    kind: str
    target: str
    fragment: str | None
    candidates: tuple[str, ...] = ()  # at most five paths, only if ambiguous

    @classmethod
    def of(cls, path: str, link: Link, fault: str, candidates: Sequence[str]) -> Finding:
        """Return the finding for a link of the note at `path`."""
        return cls(
            path,
            link.line,
            link.column,
            fault,
            link.kind,
            link.target,
            link.fragment,
            tuple(candidates[:MAX_CANDIDATES]) if fault == "ambiguous" else (),
        )


@dataclass(frozen=True, slots=True)
class Page:
    """Which part of a list is asked for."""

    limit: int
    start: tuple[int, ...] = ()  # from a cursor; () is the beginning
    revision: str | None = None  # that the cursor belongs to


@dataclass(frozen=True, slots=True)
class Listed(Generic[Entry]):
    """A part of a list. `ends` has the start of the next part after each entry."""

    revision: str
    entries: tuple[Entry, ...]
    ends: tuple[tuple[int, ...], ...]
    more: bool  # whether entries follow
    total: int | None = None
    warnings: tuple[Warning, ...] = ()


@dataclass(frozen=True, slots=True)
class NoteLink:
    """A link of a note, with where it leads."""

    kind: str  # a `LinkKind`, or external
    target: str
    fragment: str | None
    fragment_found: bool | None  # None without a fragment, or if it is not known
    text: str | None
    line: int
    column: int
    status: str  # resolved, ambiguous, unresolved, external
    note_id: str | None = None
    path: str | None = None
    title: str | None = None
    candidates: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """Where a note is linked or mentioned. `matches` are ranges of the snippet."""

    line: int
    heading: str | None
    chunk_index: int | None  # None in the frontmatter
    snippet: str
    matches: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Backlink:
    """A note that links to another or mentions it, with the first places."""

    note_id: str
    path: str
    title: str
    count: int
    places: tuple[Place, ...]
    linked: bool = True  # whether it links to the note; only of mentions it may be False


@dataclass(frozen=True, slots=True)
class GraphNote:
    """A note in a report on the graph."""

    note_id: str
    path: str
    title: str
    incoming: int  # notes
    outgoing: int
    score: float | None = None
    type: str | None = None


@dataclass(frozen=True, slots=True)
class LocalGraph:
    """The notes near a note, the nearest first, and the links between them."""

    revision: str
    notes: tuple[GraphNote, ...]
    distances: tuple[int, ...]
    edges: tuple[tuple[int, int], ...]  # positions in `notes`
    weights: tuple[int, ...]
    truncated: bool
    warnings: tuple[Warning, ...] = ()


@dataclass(frozen=True, slots=True)
class Wanted:
    """A target to which links lead in vain, with how often and from how many notes."""

    target: str
    fault: str
    count: int
    notes: int


@dataclass(frozen=True, slots=True)
class Community:
    """A group of notes that are linked more with each other than with others."""

    id: int
    size: int
    label: str
    central: tuple[GraphNote, ...]


@dataclass(frozen=True, slots=True)
class Branch:
    """A tag or a folder with its counts, and what is below it."""

    name: str  # complete, such as `project/alpha`
    count: int  # notes with just this one
    total: int  # notes with this one or below it, each once
    children: tuple[Branch, ...]
