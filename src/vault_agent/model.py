"""The values that pass between the rooms: frozen, and free of I/O."""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


CHUNK_BITS = 20
"""A chunk's key is its note's rowid shifted by this much, plus its index."""


def identify(text: str) -> str:
    """Return the opaque identifier of a vault-relative path or a vault root: 32 hex digits.

    SHA-256, first 16 bytes. A name that is not UTF-8 keeps its bytes (surrogateescape), so that
    two different files never share an identifier.
    """
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]


MAX_WARNINGS = 100
"""How many a job keeps and a reply shows; the others are counted."""


@dataclass(frozen=True, slots=True)
class Warning:  # noqa: A001 - the field's word; the builtin of that name is never wanted here
    """Something the user should know, that did not stop the work."""

    code: str
    message: str
    details: Mapping[str, Any] = field(default_factory=dict)


# --- what a note is made of -------------------------------------------------------------------


class LinkKind(StrEnum):
    """How a link was written."""

    WIKILINK = "wikilink"
    EMBED = "embed"
    MARKDOWN = "markdown"
    IMAGE = "image"
    FRONTMATTER = "frontmatter"


@dataclass(frozen=True, slots=True)
class Link:
    """A link as written: `target` is the path or name part ("" for this note), unescaped."""

    kind: LinkKind
    target: str
    fragment: str | None = None  # heading path "A#B", or "^block"
    text: str | None = None
    line: int = 0  # 1-based line of the file


@dataclass(frozen=True, slots=True)
class Chunk:
    """A run of body text under one heading path; chunks tile the body without gap or overlap."""

    index: int
    heading_path: tuple[str, ...]
    text: str
    start_line: int  # 1-based, in the file
    end_line: int  # inclusive

    @property
    def heading(self) -> str | None:
        """The innermost heading, or None before the first."""
        return self.heading_path[-1] if self.heading_path else None


@dataclass(frozen=True, slots=True)
class ParsedNote:
    """Everything the index keeps of one note's text."""

    title: str
    aliases: tuple[str, ...]
    tags: tuple[str, ...]
    date: str | None
    created: str | None
    updated: str | None
    type: str | None  # frontmatter `type`: a filter, never shown
    headings: tuple[str, ...]
    chunks: tuple[Chunk, ...]
    links: tuple[Link, ...]
    warnings: tuple[Warning, ...] = ()


class FileEntry(NamedTuple):
    """What a walk of the vault sees of one file, without opening it.

    A tuple, not a dataclass: a run over an unchanged vault is little but making and comparing
    these, and tuples do both in a fifth of the time.
    """

    path: str  # vault-relative, "/", exactly as on disk (surrogateescape)
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int


@dataclass(frozen=True, slots=True)
class Metadata:
    """The frontmatter that may leave the server in a result."""

    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    date: str | None = None
    created: str | None = None
    updated: str | None = None
    attachment_count: int = 0


# --- search -----------------------------------------------------------------------------------


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
    RELATED_HYBRID = "related_hybrid"


@dataclass(frozen=True, slots=True)
class Filters:
    """What a candidate must satisfy before it is ranked."""

    paths: tuple[str, ...] = ()  # folder prefixes or globs; any of them
    tags: tuple[str, ...] = ()  # all of them; a tag includes those nested under it
    types: tuple[str, ...] = ()  # any of them
    after: str | None = None  # ISO dates, inclusive
    before: str | None = None


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A search as asked; `mode` None means the best that is usable."""

    query: str
    mode: Mode | None = None
    limit: int = 10
    filters: Filters = field(default_factory=Filters)
    explain: bool = False


@dataclass(frozen=True, slots=True)
class RelatedQuery:
    """A note or chunk ID, to find its like."""

    id: str
    mode: Mode | None = None
    limit: int = 10
    filters: Filters = field(default_factory=Filters)
    explain: bool = False


@dataclass(frozen=True, slots=True)
class Hit:
    """A ranked candidate: enough to decide whether to fetch it, never its whole text."""

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


@dataclass(frozen=True, slots=True)
class Answer:
    """The reply to a search or related query."""

    requested_mode: Mode | None
    used_mode: Mode
    limit: int
    hits: tuple[Hit, ...]
    warnings: tuple[Warning, ...] = ()


# --- explicit retrieval -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LinkSummary:
    """A note's link with what it resolves to; `ambiguous` where a tie had to be broken."""

    kind: LinkKind
    target: str
    fragment: str | None
    text: str | None
    line: int
    resolved: bool
    ambiguous: bool
    path: str | None  # vault-relative path of the note or attachment it resolves to
    note_id: str | None  # None for attachments and unresolved links


@dataclass(frozen=True, slots=True)
class NoteContent:
    """One note's original Markdown, as the file is now."""

    id: str
    path: str
    title: str
    metadata: Metadata
    content: str
    size: int  # bytes on disk
    etag: str
    links: tuple[LinkSummary, ...]
    attachments: tuple[LinkSummary, ...]
    warnings: tuple[Warning, ...] = ()


@dataclass(frozen=True, slots=True)
class ChunkContent:
    """One chunk, as it was indexed."""

    id: str
    note_id: str
    chunk_index: int
    path: str
    title: str
    heading_path: tuple[str, ...]
    start_line: int
    end_line: int
    metadata: Metadata
    content: str
    etag: str
    warnings: tuple[Warning, ...] = ()


@dataclass(frozen=True, slots=True)
class AttachmentInfo:
    """What is known of an attachment without reading it."""

    path: str
    name: str
    size: int
    media_type: str
    modified: str  # ISO 8601, UTC
    etag: str


# --- embeddings -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class VectorSpace:
    """What makes two vectors comparable; another space means that stored vectors are stale.

    `probe` is the unit vector (little-endian float32) of a fixed text: other weights under the
    same model name show there, and nowhere else.
    """

    model: str
    dimension: int
    query_prefix: str
    document_prefix: str
    probe: bytes

    def matches(self, other: VectorSpace) -> bool:
        """Whether vectors of both may be compared: all equal, and the probes' cosine over .999."""
        return (
            self.model == other.model
            and self.dimension == other.dimension
            and self.query_prefix == other.query_prefix
            and self.document_prefix == other.document_prefix
            and self.cosine(other) > 0.999
        )

    def cosine(self, other: VectorSpace) -> float:
        """Cosine of the two probe vectors; 0 where they cannot be compared."""
        if len(self.probe) != len(other.probe):
            return 0.0
        layout = f"<{len(self.probe) // 4}f"
        pairs = zip(
            struct.unpack(layout, self.probe), struct.unpack(layout, other.probe), strict=True
        )
        return float(sum(a * b for a, b in pairs))


# --- jobs -------------------------------------------------------------------------------------


class JobKind(StrEnum):
    """What a job does."""

    INDEX = "index"
    REINDEX = "reindex"


class JobState(StrEnum):
    """Where a job stands; the last four are final."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"

    @property
    def final(self) -> bool:
        """Whether the job has ended."""
        return self not in (JobState.QUEUED, JobState.RUNNING)


@dataclass(frozen=True, slots=True)
class PhaseProgress:
    """How far one phase is; `total` is None until it is known."""

    name: str  # scan, parse, store, embed
    done: int
    total: int | None


@dataclass(frozen=True, slots=True)
class JobSummary:
    """The account of a finished index job."""

    added: int = 0
    changed: int = 0
    removed: int = 0
    renamed: int = 0
    unchanged: int = 0
    chunks: int = 0
    links: int = 0
    unresolved_links: int = 0
    embedded: int = 0
    reused: int = 0
    embedding_failed: int = 0


@dataclass(frozen=True, slots=True)
class Job:
    """One tracked run, at one moment."""

    id: str
    kind: JobKind
    state: JobState
    created_at: str  # ISO 8601, UTC
    started_at: str | None = None
    finished_at: str | None = None
    phase: str | None = None
    phases: tuple[PhaseProgress, ...] = ()
    rate: float | None = None  # items of the current phase a second
    character_rate: float | None = None  # the same in characters, of phases that count them
    eta_seconds: float | None = None
    warnings: tuple[Warning, ...] = ()  # the first MAX_WARNINGS
    warning_count: int = 0
    summary: JobSummary | None = None
    error: Warning | None = None  # code and message of what ended it


# --- health -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Health:
    """What the server can do at this moment."""

    status: Literal["ok", "degraded", "error"]
    version: str
    index_available: bool
    index_stale: bool
    index_generation: int | None
    notes: int
    chunks: int
    embeddings_enabled: bool
    embeddings_available: bool
    embeddings_share: float  # of the chunks, 0 to 1
    running_job: str | None
    warnings: tuple[Warning, ...] = ()
