"""The parts of a note: links, chunks, and its file as found by a walk."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from vault_agent.model.warning import Warning


class LinkKind(StrEnum):
    """How a link was written."""

    WIKILINK = "wikilink"
    EMBED = "embed"
    MARKDOWN = "markdown"
    IMAGE = "image"
    FRONTMATTER = "frontmatter"


class Link(NamedTuple):
    """A link as written. `target` is the path or name without escapes; "" is the note itself."""

    kind: LinkKind
    target: str
    fragment: str | None = None  # heading path "A#B", or "^block"
    text: str | None = None
    line: int = 0  # 1-based line of the file
    column: int = 0  # 1-based, in characters
    span: tuple[int, int] | None = None  # of the target as written, in characters of the text
    chunk: int | None = None  # index of its chunk; None in frontmatter
    place: tuple[int, int] | None = None  # of all of it in the text of its chunk, in characters


class ExternalLink(NamedTuple):
    """A link to a web address, without its user info, query and fragment."""

    url: str
    text: str | None
    line: int
    column: int


class Anchor(NamedTuple):
    """A heading or block that a link's fragment can name."""

    level: int  # 1 to 6 for a heading, 0 for a block
    name: str  # as returned by `anchor_key`
    line: int


class PropertyType(StrEnum):
    """The type of a frontmatter value, by the way it is written."""

    TEXT = "text"
    NUMBER = "number"
    DATE = "date"
    BOOLEAN = "boolean"
    EMPTY = "empty"


class Property(NamedTuple):
    """One value of a frontmatter property. A list has one for each of its values."""

    name: str  # lower case; nested names are joined by dots
    type: PropertyType
    value: str


class Task(NamedTuple):
    """A list item with a check box."""

    symbol: str  # the character in the box; a space for an open task
    text: str  # the rest of the line as written
    line: int
    chunk: int | None


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of the body under one heading path. Chunks cover the body without gap or overlap."""

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
    """Everything that the index keeps of one note's text."""

    title: str
    chunks: tuple[Chunk, ...]
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    date: str | None = None
    created: str | None = None
    updated: str | None = None
    types: tuple[str, ...] = ()  # frontmatter `type`; of a wikilink, the name that it shows
    links: tuple[Link, ...] = ()
    external_links: tuple[ExternalLink, ...] = ()
    anchors: tuple[Anchor, ...] = ()
    properties: tuple[Property, ...] = ()
    tasks: tuple[Task, ...] = ()
    keys: tuple[str, ...] = ()  # by which links find it, see `text.names.keys_of`
    shown_texts: tuple[str, ...] = ()  # of each chunk, the text that a reader sees
    beside: tuple[str, ...] = ()  # names that a reader does not see: of hosts and linked files
    searched: tuple[str, ...] = ()  # values of properties that are searched as text
    warnings: tuple[Warning, ...] = ()


@dataclass(frozen=True, slots=True)
class NotePath:
    """The ID and the path of a note, with which many values begin."""

    note_id: str
    path: str


@dataclass(frozen=True, slots=True)
class TitledNote(NotePath):
    """The ID, the path and the title of a note."""

    title: str


class FileEntry(NamedTuple):
    """One file as found by a walk of the vault, without opening it.

    A tuple, not a dataclass: a run over an unchanged vault mostly creates and compares these, and
    tuples need a fifth of the time.
    """

    path: str  # vault-relative, "/", exactly as on disk (surrogateescape)
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
