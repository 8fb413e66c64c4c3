"""Suggestions for what a person types: to open a note, or to complete a link or a tag."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from vault_agent.model.sent import Doc, OneOf

KINDS = ("note", "heading", "block", "tag", "folder", "attachment")


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A suggestion."""

    kind: Annotated[str, OneOf(*KINDS)]
    label: str
    detail: Annotated[str, Doc("The path of its note.")]
    insert: Annotated[
        str,
        Doc("The shortest text within `[[ ]]` that leads there; of a tag or a folder its name."),
    ]
    match: Annotated[tuple[tuple[int, int], ...], Doc("Ranges of the label that match.")] = ()
    note_id: str | None = None
    path: str | None = None
    line: int | None = None
    type: Annotated[str | None, Doc("Of a note, as its frontmatter or folder says.")] = None


@dataclass(frozen=True, slots=True)
class Suggestions:
    """Suggestions, best first."""

    suggestions: tuple[Suggestion, ...]


@dataclass(frozen=True, slots=True)
class SuggestQuery:
    """What was typed. `source` is the ID of the note in which it was typed, if any."""

    text: str
    kinds: tuple[str, ...]
    source: str | None
    limit: int


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
    types: Annotated[tuple[TypeCount, ...], Doc("The most frequent first; null has no type.")]
    attachments: int
    links: int
    unresolved_links: int
    external_links: int
    tags: int
    open_tasks: int
    chunks: int
    indexed_at: Annotated[str | None, Doc("When the last run had read all notes.")] = None
    stale: bool = False
