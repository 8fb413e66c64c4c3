"""Queries, filters and ranked results."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from vault_agent.model.scope import EVERYTHING, Scope

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vault_agent.model.notes import Metadata
    from vault_agent.model.warning import Warning


class Mode(StrEnum):
    """How candidates are found."""

    LEXICAL = "lexical"
    EMBEDDING = "embedding"
    HYBRID = "hybrid"


class Reason(StrEnum):
    """Why a candidate is in the list."""

    LEXICAL_MATCH = "lexical_match"
    EMBEDDING_MATCH = "embedding_match"
    HYBRID_MATCH = "hybrid_match"
    RELATED_LEXICAL = "related_lexical"
    RELATED_EMBEDDING = "related_embedding"
    RELATED_LINK = "related_link"
    RELATED_NEIGHBOURS = "related_neighbours"
    RELATED_HYBRID = "related_hybrid"


class Linked(StrEnum):
    """Whether notes that are linked with the requested note can be related to it."""

    INCLUDE = "include"
    EXCLUDE = "exclude"
    ONLY = "only"


@dataclass(frozen=True, slots=True)
class Filters:
    """What a candidate must satisfy before it is ranked."""

    paths: tuple[str, ...] = ()  # folders, notes or globs; any of them
    tags: tuple[str, ...] = ()  # all of them; a tag includes those nested under it
    types: tuple[str, ...] = ()  # any of them
    properties: tuple[tuple[str, str], ...] = ()  # all names; any value of one name
    places: tuple[str, ...] = ()  # as `paths`, else parts of paths; any of them
    files: tuple[str, ...] = ()  # parts of file names, or globs; any of them
    about: tuple[str, ...] = ()  # paths, folders or names in the property `files`; any of them
    after: str | None = None  # ISO dates, inclusive
    before: str | None = None
    scope: Scope = EVERYTHING  # of the caller


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A search request. Mode None means the best available."""

    query: str
    mode: Mode | None = None
    limit: int = 10
    filters: Filters = field(default_factory=Filters)
    explain: bool = False
    every_word: bool = False  # whether each word must be in the note as it is written
    coverage: bool = False  # whether the answer says how much of the query one passage has
    offset: int = 0  # results of earlier pages
    revision: str | None = None  # of the index that they are from


@dataclass(frozen=True, slots=True)
class RelatedQuery:
    """A request for what is related to a note or chunk, by its ID."""

    id: str
    mode: Mode | None = None
    limit: int = 10
    filters: Filters = field(default_factory=Filters)
    explain: bool = False
    linked: Linked = Linked.INCLUDE


class Coverage(NamedTuple):
    """How much of a query the passage has that has most of it."""

    share: float  # of the different words as they are written, each by its rarity, 0 to 1
    words: int  # of the query, different ones
    passages: int  # of the vault


class Elsewhere(NamedTuple):
    """A note with the same content in another vault."""

    vault: str
    note_id: str


@dataclass(frozen=True, slots=True)
class Hit:
    """A ranked result. It suffices to decide whether to fetch the text, but never contains all."""

    id: str
    type: Literal["chunk", "note"]
    note_id: str
    chunk_index: int | None
    path: str
    title: str
    heading: str | None
    heading_path: tuple[str, ...]
    snippet: str
    matches: tuple[tuple[int, int], ...]  # ranges of the snippet, in characters
    score: float
    reason: Reason
    metadata: Metadata
    explanation: Mapping[str, Any] | None = None
    start_line: int | None = None  # of the chunk, in the note's file; None for a note
    end_line: int | None = None  # inclusive
    line: int | None = None  # of the match in the file, from 1; None for a match of the note's name
    vault: str | None = None  # its vault, in a search over several
    also: tuple[Elsewhere, ...] = ()  # the same note in other vaults


@dataclass(frozen=True, slots=True)
class UnknownWord:
    """A word of a query that is in no note, and the words that were searched instead."""

    word: str
    instead: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """The reply to a search or related query."""

    requested_mode: Mode | None
    used_mode: Mode
    limit: int
    hits: tuple[Hit, ...]
    warnings: tuple[Warning, ...] = ()
    indexed_at: str | None = None  # ISO 8601, UTC; only of an answer without hits
    has_more: bool = False
    revision: str = ""  # of the index
    truncated: bool = False  # whether only some of the candidates were looked at
    coverage: Coverage | None = None  # of a lexical search that was asked for it
    unknown: tuple[UnknownWord, ...] = ()
