"""What a note is made of: links, chunks, metadata, and its file as a scan sees it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from vault_agent.model.warning import Warning


class LinkKind(StrEnum):
    """How a link was written."""

    WIKILINK = "wikilink"
    EMBED = "embed"
    MARKDOWN = "markdown"
    IMAGE = "image"
    FRONTMATTER = "frontmatter"


Span: TypeAlias = "tuple[int, int] | None"
"""A range of bytes of a note's file, the end exclusive; None where the file is not plain UTF-8."""


class Link(NamedTuple):
    """A link as written: `target` is the path or name part ("" for this note), unescaped."""

    kind: LinkKind
    target: str
    fragment: str | None = None  # heading path "A#B", or "^block"
    text: str | None = None
    line: int = 0  # 1-based line of the file
    column: int = 0  # 1-based, in characters
    span: Span = None  # of the target as written, without its fragment
    chunk: int | None = None  # index of the chunk it stands in; None in frontmatter


class ExternalLink(NamedTuple):
    """A link to a web address, of which user info, query and fragment are not kept."""

    url: str
    host: str  # lower case, without a port
    text: str | None
    line: int
    column: int
    span: Span  # of the whole address as written
    chunk: int | None


class Anchor(NamedTuple):
    """A heading or block that a link's fragment can name."""

    level: int  # 1 to 6 for a heading, 0 for a block
    name: str  # as `anchor_key` folds it
    line: int


class PropertyType(StrEnum):
    """What a frontmatter value is, by the way it is written."""

    TEXT = "text"
    NUMBER = "number"
    DATE = "date"
    BOOLEAN = "boolean"
    EMPTY = "empty"


class Property(NamedTuple):
    """One value of a frontmatter property; a list has one for each of its values."""

    name: str  # lower case; nested ones are joined by dots
    type: PropertyType
    value: str
    listed: bool  # whether it stands in a list
    line: int


class Task(NamedTuple):
    """A list item with a check box."""

    symbol: str  # the character in the box; a space where it is open
    text: str  # the rest of the line as written
    indent: int  # columns of white space before the list marker
    line: int
    span: Span  # of the whole line, without its line end
    chunk: int | None


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
    types: tuple[str, ...]  # frontmatter `type`, wikilinks by the name they show
    chunks: tuple[Chunk, ...]
    links: tuple[Link, ...]
    external_links: tuple[ExternalLink, ...] = ()
    anchors: tuple[Anchor, ...] = ()
    properties: tuple[Property, ...] = ()
    tasks: tuple[Task, ...] = ()
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

    type: str | None = None
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    date: str | None = None
    created: str | None = None
    updated: str | None = None
    attachment_count: int = 0
    truncated: bool = False  # whether aliases or tags are only the first of them
