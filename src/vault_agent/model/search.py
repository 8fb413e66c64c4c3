"""Queries, filters and results of searches, also by a pattern, and excerpts for a prompt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

from vault_agent.model.fields import Cursor, FirstDay, LastDay, NoteOrChunkId, Query, Text, Texts
from vault_agent.model.modes import Linked, Mode, Reason
from vault_agent.model.notes import NotePath
from vault_agent.model.reading import Metadata
from vault_agent.model.sent import (
    TRIMMED,
    Between,
    Doc,
    IfAny,
    Internal,
    JsonKey,
    Length,
    ReadAs,
    Unreadable,
    Validator,
)
from vault_agent.model.warning import Warning


def _scalar(value: object) -> str:
    """Return a value of frontmatter as text; a number or a boolean as it is written there."""
    import json  # a command that only prints results needs none of it

    text = json.dumps(value) if isinstance(value, bool | int | float) else value
    if not isinstance(text, str):
        raise Unreadable("string_type", "must be text")
    return Length(0, 500).check(text.strip())


_PropertyValue = Annotated[Any, Validator(_scalar, {"type": "string", "maxLength": 500})]
_Properties = Annotated[
    tuple[tuple[str, str], ...],
    ReadAs(dict[Text, _PropertyValue]),
    Length(0, 50),
    Validator(lambda values: tuple(values.items())),
    Doc("Values of frontmatter properties. All must match. A list matches by any value"),
]


@dataclass(frozen=True, slots=True)
class Filters:
    """Conditions that every result satisfies, before it is ranked."""

    paths: Texts = ()
    """Folders or glob patterns, relative to the vault. One must match."""
    tags: Texts = ()
    """All must match. A tag includes those nested under it."""
    types: Texts = ()
    """Values of `type` in the frontmatter. One must match."""
    properties: _Properties = ()
    about_files: Annotated[Texts, JsonKey("files")] = ()
    """Paths, folders or file names in `files` of the frontmatter. One must match."""
    projects: Texts = ()
    """Values of `project`. One must match."""
    sessions: Texts = ()
    """Values of `session`. One must match."""
    statuses: Texts = ()
    """Values of `status`. One must match."""
    after: FirstDay = None
    before: LastDay = None
    path_parts: Internal[tuple[str, ...]] = ()  # as `paths`, else parts of paths; any of them
    file_patterns: Internal[tuple[str, ...]] = ()  # parts of file names, or globs; any of them

    @property
    def conditions(self) -> tuple[tuple[str, str], ...]:
        """Names of properties and values. All names must match, by any of their values."""
        return (
            *self.properties,
            *(("project", value) for value in self.projects),
            *(("session", value) for value in self.sessions),
            *(("status", value) for value in self.statuses),
        )


class Weights(NamedTuple):
    """How much more or less notes count by their place and age. By default, nothing changes."""

    folders: Mapping[str, float] = {}
    half_life: float = 0.0  # in days, of the advantage of new notes; 0: none


UNWEIGHTED = Weights()


MAX_RANKED = 200
"""Results of a search in all pages together."""

RERANKED = 30
"""The best results, which a reranker reorders. text-embeddings-inference takes 32 texts."""


MAX_VAULTS = 256
"""Vaults of one search. All of them are open at once."""
_VaultNames = Annotated[
    tuple[Annotated[str, TRIMMED, Length(1, 200)], ...],
    Length(0, MAX_VAULTS),
    Doc(
        "Vaults to search as one, such as `project:NAME` and `global`. If omitted, that of the"
        " path."
    ),
]
_Mode = Annotated[Mode | None, Doc("If omitted, the best available mode. The reply says which.")]
_Limit = Annotated[int, Between(1, 50), Doc("A JSON integer: 10, not 10.0.")]
_Explain = Annotated[bool, Doc("Show how each score is made.")]


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A request for the chunks and notes that fit words or their meaning."""

    query: Query
    """Any text. The length is counted after trimming."""
    mode: _Mode = None
    limit: _Limit = 10
    filters: Filters = field(default_factory=Filters)
    explain: _Explain = False
    vaults: _VaultNames = field(default=(), kw_only=True)
    match: Literal["best", "all"] = field(default="best", kw_only=True)
    """With `all`, each word must be in the note as a whole word."""
    cursor: Cursor = field(default=None, kw_only=True)
    coverage: Internal[bool] = False
    """Whether the answer says how much of the query one passage has."""
    weights: Internal[Weights] = UNWEIGHTED
    rerank: Internal[bool] = False  # whether the best are reordered, if there is a reranker
    offset: Internal[int] = 0  # results of earlier pages
    revision: Internal[str | None] = None  # of the index that they are from

    @property
    def end(self) -> int:
        """The number of results of this page and those before it."""
        return min(self.offset + self.limit, MAX_RANKED)

    @property
    def depth(self) -> int:
        """The number of results to rank. One more than the page shows whether another follows.

        Weights change the order of all that are ranked, a reranker that of the best, so these must
        be the same for each page.
        """
        if any(self.weights):
            return MAX_RANKED
        return max(min(self.end + 1, MAX_RANKED), RERANKED + 1 if self.rerank else 0)


@dataclass(frozen=True, slots=True)
class RelatedQuery:
    """A request for what is related to a note or chunk."""

    id: NoteOrChunkId
    """A note ID or a chunk ID."""
    mode: _Mode = None
    limit: _Limit = 10
    filters: Filters = field(default_factory=Filters)
    explain: _Explain = False
    linked: Linked = Linked.INCLUDE
    """Whether results may be linked with the note: `exclude` for suggestions."""
    vaults: _VaultNames = ()


class Match(NamedTuple):
    """How much of a query the passage of a note has that has most of it."""

    share: float  # of the different words as they are written, each by its rarity, 0 to 1
    content: int  # words that may name a subject


class Coverage(NamedTuple):
    """How much of a query the notes have that were found."""

    words: int  # of the query, different ones
    passages: int  # of the vault
    notes: Mapping[tuple[str | None, str], Match]  # by the vault as in hits, and the note's ID


class Elsewhere(NamedTuple):
    """A note with the same content in another vault."""

    vault: str
    note_id: str


@dataclass(frozen=True, slots=True)
class Hit:
    """A ranked result with enough data to decide whether to fetch it."""

    id: str
    type: Literal["chunk", "note"]
    note_id: str
    chunk_index: int | None
    path: str
    title: str
    heading: str | None
    heading_path: tuple[str, ...]
    start_line: int | None = field(default=None, kw_only=True)
    """The first line of the chunk in the note's file, from 1. Null for a note."""
    end_line: int | None = field(default=None, kw_only=True)
    """The last line, inclusive."""
    snippet: str
    matches: tuple[tuple[int, int], ...]
    """Ranges of the snippet that match, in characters, the end exclusive."""
    line: int | None = field(default=None, kw_only=True)
    """The line of the match in the note's file. Null if its name matches."""
    score: float
    """0 to 1."""
    reason: Reason
    metadata: Metadata
    explanation: Mapping[str, Any] | None = None
    kind: IfAny[str | None] = None
    """The kind of an attachment, such as `pdf`, or null for a note."""
    page: IfAny[int | None] = None
    """The page of a PDF, from 1."""
    vault: IfAny[str | None] = None
    """Its vault, in a search over several."""
    also: IfAny[tuple[Elsewhere, ...]] = ()
    """The same note in other vaults of the search."""


@dataclass(frozen=True, slots=True)
class UnknownWord:
    """A word of the query that is in no note."""

    position: int
    """The number of the word in the query, from 1. White space separates words."""
    instead: tuple[str, ...]
    """Similar words that were searched instead, at most three. Often forms of them."""


IndexedAt: TypeAlias = IfAny[
    Annotated[
        str | None,
        Doc(
            "When the last run had read all notes; ISO 8601, UTC. Only without results, and if"
            " changes of notes are not watched, or not looked for yet since the start."
        ),
    ]
]


@dataclass(frozen=True, slots=True)
class Answer:
    """The results of a search, best first."""

    requested_mode: Mode | None
    used_mode: Mode
    limit: int
    results: tuple[Hit, ...]
    warnings: Internal[tuple[Warning, ...]] = ()
    indexed_at: IndexedAt = None
    has_more: bool = False
    next_cursor: str | None = None
    truncated: bool = False
    """Whether only the best of the candidates were looked at."""
    unknown: IfAny[tuple[UnknownWord, ...]] = ()
    """Words of the query that are in no note. Left out if there are none."""
    revision: Internal[str] = ""  # of the index
    coverage: Internal[Coverage | None] = None  # of a lexical search that was asked for it

    @property
    def by_meaning_alone(self) -> bool:
        """Whether no result has any of the words, in a search by both."""
        reasons = {hit.reason for hit in self.results}
        return self.used_mode is Mode.HYBRID and reasons == {Reason.EMBEDDING_MATCH}


@dataclass(frozen=True, slots=True)
class GrepQuery:
    """A request for lines that match a pattern."""

    pattern: Annotated[str, Length(1, 1000)]
    """A regular expression in the syntax of RE2. It is matched line by line."""
    ignore_case: bool = False
    context: Annotated[int, Between(0, 3)] = 0
    """Lines to return before and after each matching line."""
    limit: Annotated[int, Between(1, 200)] = 50
    """Lines. A JSON integer: 10, not 10.0."""
    filters: Filters = field(default_factory=Filters)
    cursor: Cursor = None


class GrepPlace(NamedTuple):
    """Where a scan goes on: after this line of this note.

    `returned` lines of the note have been returned before.
    """

    note_id: str
    line: int
    returned: int


@dataclass(frozen=True, slots=True)
class GrepLine(NotePath):
    """A matching line, cut to 240 characters around its first match."""

    line: int
    """The line in the note's file, counted from 1."""
    text: str
    matches: tuple[tuple[int, int], ...]
    """Ranges of the text that match, in characters, the end exclusive."""
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    more_in_note: bool = False
    """Whether further lines of this note are left out."""


@dataclass(frozen=True, slots=True)
class GrepAnswer:
    """Matching lines, in the order of paths and lines."""

    lines: tuple[GrepLine, ...]
    incomplete: bool = False
    """Whether the time was over before all was searched."""
    has_more: bool = False
    next_cursor: str | None = None
    place: Internal[GrepPlace | None] = None  # where to go on, if there may be more
    share: Internal[float] = 1.0  # of the notes that was searched, 0 to 1
    warnings: Internal[tuple[Warning, ...]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextQuery:
    """A source of excerpts: a note by its name, or the results of a search."""

    kind: Literal["search", "read"] = "search"
    query: Query
    """A search's text, or a note's path, name, title or link."""
    limit: Annotated[int, Between(1, 20)] = 5
    """Results of a search."""
    path: Text | None = None
    """A folder or glob, for a search."""
    tags: Texts = ()
    """All must match, for a search."""
    section: Text | None = None
    """A heading, or headings as `A > B`, of a note that is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRequest:
    """A request for excerpts of notes."""

    queries: Annotated[tuple[ContextQuery, ...], Length(1, 20)]
    max_tokens: Annotated[int, Between(200, 32_000)] = 4_000
    """The most tokens of the section, as estimated."""


@dataclass(frozen=True, slots=True)
class ContextSource:
    """An excerpt of the section."""

    path: str
    lines: tuple[int, int]
    """The first and the last line, inclusive."""
    query: int
    """The number of its query, counted from 0."""
    tokens: int
    cut: bool


@dataclass(frozen=True, slots=True)
class Context:
    """A section of Markdown with excerpts of notes. It is empty if nothing was found."""

    section: str
    tokens: int
    """An estimate that is above the number of common tokenizers."""
    sources: tuple[ContextSource, ...]
    warnings: Internal[tuple[Warning, ...]] = ()
