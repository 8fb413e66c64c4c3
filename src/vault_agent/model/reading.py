"""Parts of a note's current text, as an agent reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from vault_agent.model.scope import EVERYTHING, Scope

if TYPE_CHECKING:
    from vault_agent.model.warning import Warning

ReadingView = Literal["text", "outline", "properties"]


@dataclass(frozen=True, slots=True)
class PartQuery:
    """The part of a note that is wanted.

    `first_line` and `last_line` limit the text, and so does `section`: a heading, a path of
    headings (`A > B`), or a block (`^id`). `offset` continues an earlier page of the same part.
    """

    view: ReadingView = "text"
    section: str | None = None
    first_line: int = 1
    last_line: int | None = None
    offset: int | None = None
    scope: Scope = EVERYTHING  # of the caller


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
    warnings: tuple[Warning, ...] = ()
