"""What is read of one note, chunk or attachment: all of it, or a part as an agent reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NamedTuple

from vault_agent.model.fields import AtLeastOne, FilePath, NoteId
from vault_agent.model.notes import LinkKind, NotePath, TitledNote
from vault_agent.model.sent import IfAny, Internal, JsonKey, Length
from vault_agent.model.warning import Warning

ReadingView = Literal["text", "outline", "properties"]


@dataclass(frozen=True, slots=True)
class PartQuery:
    """The part of a note that is wanted.

    `first_line` and `last_line` limit the text, and so does `section`: a heading, a path of
    headings (`A > B`), or a block (`^id`). `offset` continues an earlier page of the same part.
    The exact `path` finds a note that is not in the index yet. A page has `max_bytes` at most.
    """

    note_id: NoteId = ""
    path: FilePath | None = None
    view: ReadingView = "text"
    section: Annotated[str, Length(0, 1000)] | None = None
    first_line: Annotated[int, AtLeastOne] = 1
    last_line: Annotated[int, AtLeastOne] | None = None
    max_bytes: Annotated[int, AtLeastOne] = 24_000
    cursor: str | None = None
    offset: Internal[int | None] = None


@dataclass(frozen=True, slots=True)
class NotePart(TitledNote):
    """A page of a part of a note.

    `start_line` and `end_line` are those of the page, and `lines` is the number of lines of the
    whole note. Of `note_hash` and `section_hash`, the page that completes the part has one.
    """

    text: str
    start_line: int
    end_line: int
    lines: int
    etag: str  # of the note
    next_offset: int | None
    note_hash: str | None
    section_hash: str | None
    next_cursor: str | None = None
    warnings: tuple[Warning, ...] = ()


class OutlineHeading(NamedTuple):
    """A heading and its section."""

    heading_id: str
    level: int
    text: str
    heading_path: tuple[str, ...]
    line: int
    end_line: int
    """The last line of its section, with subsections."""
    section_hash: str
    """For `expectedHash` of changes to this section."""


class OutlineBlock(NamedTuple):
    """A block with an ID."""

    block_id: str
    line: int
    end_line: int
    section_hash: str
    """For `expectedHash` of changes to this block."""


@dataclass(frozen=True, slots=True)
class NoteOutline(NotePath):
    """The headings and blocks of a note's current file."""

    headings: tuple[OutlineHeading, ...]
    blocks: tuple[OutlineBlock, ...]
    content_hash: Internal[str] = ""


@dataclass(frozen=True, slots=True)
class NoteFrontmatter(NotePath):
    """The frontmatter and the tags of a note's current file."""

    frontmatter: Mapping[str, Any]
    """Values as YAML 1.2 reads them; dates as they are written."""
    tags: tuple[str, ...] = ()
    """Those of the frontmatter, then those in the text."""
    content_hash: Internal[str] = ""


@dataclass(frozen=True, slots=True)
class Metadata:
    """Selected frontmatter. Dates are as written in the note."""

    type: str | None = None
    """The first `type`. A wikilink is given as its note's name."""
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    date: str | None = None
    created: str | None = None
    updated: str | None = None
    attachment_count: int = 0
    truncated: bool = False
    """Whether aliases or tags are only the first of them."""


MARKDOWN = "text/markdown; charset=utf-8"
PLAIN = "text/plain; charset=utf-8"
"""Of the text of an attachment, as it was indexed."""


@dataclass(frozen=True, slots=True)
class LinkSummary:
    """A link as written, and its target. `ambiguous`: several files matched equally well."""

    kind: LinkKind
    target: str
    fragment: str | None
    text: str | None
    line: int
    resolved: bool
    ambiguous: bool
    path: str | None
    """Of the note or attachment that it leads to."""
    note_id: str | None
    """Null for attachments and unresolved links."""


@dataclass(frozen=True, slots=True)
class NoteContent:
    """One note: the original Markdown of its current file."""

    id: str
    path: str
    title: str
    metadata: Metadata
    content: str
    content_type: str = field(default=MARKDOWN, kw_only=True)
    size: int
    """Bytes of the file."""
    content_hash: str
    """SHA-256 of the file's bytes, in hex: `expectedHash` of changes. Also the ETag."""
    links: tuple[LinkSummary, ...]
    attachments: tuple[LinkSummary, ...]
    links_truncated: bool = False
    """Whether links and attachments are only the first 2,000 of them."""
    link_count: int = 0
    """Links and attachments, including those that are not listed."""
    pieces: int | None = None
    """With `piece`: how many there are."""
    warnings: Internal[tuple[Warning, ...]] = ()


@dataclass(frozen=True, slots=True)
class ChunkContent:
    """One chunk as it was indexed, without frontmatter."""

    id: str
    note_id: str
    chunk_index: int
    path: str
    title: str
    heading: str | None
    """The innermost heading, or null before the first."""
    heading_path: tuple[str, ...]
    start_line: int
    """The first line in the note's file, counted from 1."""
    end_line: int
    """The last line, inclusive."""
    metadata: Metadata
    content: str
    content_type: str
    size: int
    """Bytes of the content as UTF-8."""
    kind: IfAny[str | None] = None
    """The kind of an attachment, such as `pdf`, or null for a note."""
    page: IfAny[int | None] = None
    """The page of a PDF, from 1."""
    warnings: Internal[tuple[Warning, ...]] = ()


@dataclass(frozen=True, slots=True)
class AttachmentInfo:
    """The metadata of an attachment, known without reading it."""

    path: str
    name: str
    media_type: Annotated[str, JsonKey("contentType")]
    size: int
    modified: str
    """ISO 8601, UTC."""
    etag: Internal[str] = ""


@dataclass(frozen=True, slots=True)
class FolderContents:
    """What is in one folder besides notes, as it is on the disk."""

    folder: str
    """Empty for the vault itself."""
    folders: tuple[str, ...]
    """Paths of the folders in it, empty ones too."""
    attachments: tuple[AttachmentInfo, ...]
    truncated: bool
    """Whether only 5,000 of them are listed."""
