"""Notes as HTML, for the web page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from vault_agent.model.warning import Warning


class LinkedFile(NamedTuple):
    """The file that a link leads to. `note_id` and `title` are those of a note."""

    path: str
    note_id: str | None = None
    title: str | None = None


class OutlineEntry(NamedTuple):
    """A heading. `id` is that of its element, and `line` is counted in the file."""

    level: int
    text: str
    id: str
    line: int


class PropertyValue(NamedTuple):
    """A value of the frontmatter, and the note that it links to, if any."""

    text: str
    note_id: str | None = None


class Property(NamedTuple):
    """A key of the frontmatter with its values. `is_list` says how they were written."""

    key: str
    values: tuple[PropertyValue, ...]
    is_list: bool


class Asset(NamedTuple):
    """A file that a note shows: its path in the vault, its address, and what it is."""

    path: str
    url: str
    kind: str  # image, audio, video or file


@dataclass(frozen=True, slots=True)
class RenderedNote:
    """A note as HTML that is safe to show."""

    note_id: str | None  # None for text that is not saved
    path: str
    title: str
    html: str
    outline: tuple[OutlineEntry, ...]
    properties: tuple[Property, ...]
    assets: tuple[Asset, ...]
    content_hash: str
    etag: str
    warnings: tuple[Warning, ...] = ()
