"""The content and metadata of one note, chunk or attachment."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from vault_agent.model.metadata import Metadata
from vault_agent.model.notes import LinkKind
from vault_agent.model.sent import Doc, IfAny, Named, Unsent
from vault_agent.model.warning import Warning

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
    path: Annotated[str | None, Doc("Of the note or attachment that it leads to.")]
    note_id: Annotated[str | None, Doc("Null for attachments and unresolved links.")]


@dataclass(frozen=True, slots=True)
class NoteContent:
    """One note: the original Markdown of its current file."""

    id: str
    path: str
    title: str
    metadata: Metadata
    content: str
    content_type: str = field(default=MARKDOWN, kw_only=True)
    size: Annotated[int, Doc("Bytes of the file.")]
    content_hash: Annotated[
        str,
        Doc("SHA-256 of the file's bytes, in hex: `expectedHash` of changes. Also the ETag."),
    ]
    links: tuple[LinkSummary, ...]
    attachments: tuple[LinkSummary, ...]
    links_truncated: Annotated[
        bool, Doc("Whether links and attachments are only the first 2,000 of them.")
    ] = False
    link_count: Annotated[
        int, Doc("Links and attachments, including those that are not listed.")
    ] = 0
    pieces: Annotated[int | None, Doc("With `piece`: how many there are.")] = None
    warnings: Unsent[tuple[Warning, ...]] = ()


@dataclass(frozen=True, slots=True)
class ChunkContent:
    """One chunk as it was indexed, without frontmatter."""

    id: str
    note_id: str
    chunk_index: int
    path: str
    title: str
    heading: Annotated[str | None, Doc("The innermost heading, or null before the first.")]
    heading_path: tuple[str, ...]
    start_line: Annotated[int, Doc("The first line in the note's file, counted from 1.")]
    end_line: Annotated[int, Doc("The last line, inclusive.")]
    metadata: Metadata
    content: str
    content_type: str
    size: Annotated[int, Doc("Bytes of the content as UTF-8.")]
    kind: IfAny[
        Annotated[str | None, Doc("The kind of an attachment, such as `pdf`. None for a note.")]
    ] = None
    page: IfAny[Annotated[int | None, Doc("The page of a PDF, from 1.")]] = None
    warnings: Unsent[tuple[Warning, ...]] = ()


@dataclass(frozen=True, slots=True)
class AttachmentInfo:
    """The metadata of an attachment, known without reading it."""

    path: str
    name: str
    media_type: Annotated[str, Named("contentType")]
    size: int
    modified: Annotated[str, Doc("ISO 8601, UTC.")]
    etag: Unsent[str] = ""


@dataclass(frozen=True, slots=True)
class FolderContents:
    """What is in one folder besides notes, as it is on the disk."""

    folder: Annotated[str, Doc("Empty for the vault itself.")]
    folders: Annotated[tuple[str, ...], Doc("Paths of the folders in it, empty ones too.")]
    attachments: tuple[AttachmentInfo, ...]
    truncated: Annotated[bool, Doc("Whether only 5,000 of them are listed.")]
