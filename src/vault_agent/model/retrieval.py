"""The content and metadata of one note, chunk or attachment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vault_agent.model.notes import LinkKind, Metadata
    from vault_agent.model.warning import Warning


MARKDOWN = "text/markdown; charset=utf-8"


@dataclass(frozen=True, slots=True)
class LinkSummary:
    """A note's link and its target. `ambiguous` if several files matched equally well."""

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
    """One note's original Markdown, read from the file."""

    id: str
    path: str
    title: str
    metadata: Metadata
    content: str
    size: int  # bytes on disk
    etag: str
    links: tuple[LinkSummary, ...]
    attachments: tuple[LinkSummary, ...]
    link_count: int = 0  # links and attachments, including those that are not listed
    warnings: tuple[Warning, ...] = ()

    @property
    def content_type(self) -> str:
        """The media type of the content."""
        return MARKDOWN

    @property
    def content_hash(self) -> str:
        """The SHA-256 of the file's bytes, in hex. It is the ETag too."""
        return self.etag

    @property
    def links_truncated(self) -> bool:
        """Whether the note has more links and attachments than are listed."""
        return len(self.links) + len(self.attachments) < self.link_count


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

    @property
    def heading(self) -> str | None:
        """The innermost heading, or None before the first."""
        return self.heading_path[-1] if self.heading_path else None

    @property
    def content_type(self) -> str:
        """The media type of the content."""
        return MARKDOWN

    @property
    def size(self) -> int:
        """The bytes of the content as UTF-8."""
        return len(self.content.encode())


@dataclass(frozen=True, slots=True)
class AttachmentInfo:
    """An attachment's metadata, known without reading it."""

    path: str
    name: str
    size: int
    media_type: str
    modified: str  # ISO 8601, UTC
    etag: str
