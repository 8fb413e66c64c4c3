"""What a note is made of: links, chunks, metadata, and its file as a scan sees it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from vault_agent.model.warning import Warning


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
