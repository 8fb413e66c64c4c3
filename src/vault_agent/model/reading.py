"""Parts of a note's current text, as an agent reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple

from vault_agent.model.fields import AtLeastOne, FilePath, NoteId
from vault_agent.model.sent import Doc, Length, Unsent
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
    offset: Unsent[int | None] = None


@dataclass(frozen=True, slots=True)
class NotePart:
    """A page of a part of a note.

    `start_line` and `end_line` are those of the page, and `lines` is the number of lines of the
    whole note. `hash` is that of the note or of the section, on the page that completes it.
    """

    note_id: str
    path: str
    title: str
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
    end_line: Annotated[int, Doc("The last line of its section, with subsections.")]
    section_hash: Annotated[str, Doc("For `expectedHash` of changes to this section.")]


class OutlineBlock(NamedTuple):
    """A block with an ID."""

    block_id: str
    line: int
    end_line: int
    section_hash: Annotated[str, Doc("For `expectedHash` of changes to this block.")]


@dataclass(frozen=True, slots=True)
class NoteOutline:
    """The headings and blocks of a note's current file."""

    note_id: str
    path: str
    headings: tuple[OutlineHeading, ...]
    blocks: tuple[OutlineBlock, ...]
    content_hash: Unsent[str] = ""


@dataclass(frozen=True, slots=True)
class NoteFrontmatter:
    """The frontmatter and the tags of a note's current file."""

    note_id: str
    path: str
    frontmatter: Annotated[
        Mapping[str, Any],
        Doc("Values as YAML 1.2 reads them; dates as they are written."),
    ]
    tags: Annotated[tuple[str, ...], Doc("Those of the frontmatter, then those in the text.")] = ()
    content_hash: Unsent[str] = ""
