"""Notes that a name means, and suggestions for what a person types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias, cast

from vault_agent.model.fields import NoteId, some_of
from vault_agent.model.notes import TitledNote
from vault_agent.model.sent import Between, Length

NameMatch = Literal["id", "path", "name", "alias", "title"]
"""How a name found a note. `name` is the end of a path, or a file's name."""


@dataclass(frozen=True, slots=True)
class NamedNote(TitledNote):
    """A note found by a name. `match` says how.

    Its `path` is relative to the folder of the agent that asks, unlike those of search results.
    """

    match: NameMatch


@dataclass(frozen=True, slots=True)
class NamedNotes:
    """The notes that a name means, at most ten, and the place in the note if it contains one."""

    notes: tuple[NamedNote, ...]
    has_more: bool = False
    line: int | None = None
    """The line that the name contains, as in `Note.md:12`."""
    heading: str | None = None
    """The heading that a link contains."""
    anchor: str | None = None
    """The `id` of the heading or block in the rendered note, if a link contains one."""


Kind: TypeAlias = Literal["note", "heading", "block", "tag", "folder", "attachment"]


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A suggestion."""

    kind: Kind
    label: str
    detail: str
    """The path of its note."""
    insert: str
    """The shortest text within `[[ ]]` that leads there; of a tag or a folder its name."""
    match: tuple[tuple[int, int], ...] = ()
    """Ranges of the label that match."""
    note_id: str | None = None
    path: str | None = None
    line: int | None = None
    type: str | None = None
    """Of a note, as its frontmatter or folder says."""


@dataclass(frozen=True, slots=True)
class Suggestions:
    """Suggestions, best first."""

    suggestions: tuple[Suggestion, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestQuery:
    """What was typed."""

    q: Annotated[str, Length(0, 200)] = ""
    """A part of a name. After `#` headings of the note before it, after `#^` its blocks. Without
    any, the last changed notes."""
    kinds: Annotated[str, some_of(Kind)] = "note"
    """Kinds of suggestions, separated by commas."""
    from_: NoteId | None = None
    """The note in which it is typed."""
    limit: Annotated[int, Between(1, 50)] = 20

    @property
    def chosen(self) -> tuple[Kind, ...]:
        """The kinds, each once."""
        return cast("tuple[Kind, ...]", tuple(dict.fromkeys(self.kinds.split(","))))


@dataclass(frozen=True, slots=True)
class TypeCount:
    """The number of notes of a type."""

    type: str | None
    count: int


@dataclass(frozen=True, slots=True)
class Stats:
    """Numbers of a vault at one revision."""

    revision: str
    notes: int
    types: tuple[TypeCount, ...]
    """The most frequent first; null has no type."""
    attachments: int
    links: int
    unresolved_links: int
    external_links: int
    tags: int
    open_tasks: int
    chunks: int
    indexed_at: str | None = None
    """When the last run had read all notes."""
    stale: bool = False
