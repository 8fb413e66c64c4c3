"""Notes as HTML, for the web page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

from vault_agent.model.sent import Internal, OneOf
from vault_agent.model.warning import Warning


class LinkedFile(NamedTuple):
    """The file that a link leads to. `note_id` and `title` are those of a note."""

    path: str
    note_id: str | None = None
    title: str | None = None


class OutlineEntry(NamedTuple):
    """A heading."""

    level: int
    text: str
    id: str
    """The ID of its element."""
    line: int
    """Counted in the file, from 1."""


class PropertyValue(NamedTuple):
    """A value of the frontmatter."""

    text: str
    note_id: str | None = None
    """The note that it links to."""


class ShownProperty(NamedTuple):
    """A key of the frontmatter with its values. `is_list` says how they were written."""

    key: str
    values: tuple[PropertyValue, ...]
    is_list: bool


class Asset(NamedTuple):
    """A file that the note shows: its path in the vault, its address, and what it is."""

    path: str
    url: str
    kind: Annotated[str, OneOf("image", "audio", "video", "file")]


@dataclass(frozen=True, slots=True)
class RenderedNote:
    """A note as HTML that is safe to show."""

    note_id: str | None
    """Null for text that is not saved."""
    path: str
    title: str
    updated: str | None
    """As in lists. Null for text that is not saved."""
    html: str
    outline: tuple[OutlineEntry, ...]
    properties: tuple[ShownProperty, ...]
    assets: tuple[Asset, ...]
    content_hash: str
    """SHA-256 of the file's bytes."""
    warnings: Internal[tuple[Warning, ...]] = ()


@dataclass(frozen=True, slots=True)
class Ticket:
    """A ticket for the web page."""

    ticket: str | None
    """Null if the server has no key."""
    seconds: int
    """How long it is valid. It can be used once."""


@dataclass(frozen=True, slots=True)
class PageSession:
    """A session of the web page."""

    token: str
    """Sent as `Authorization: Bearer`."""
    expires_at: int
    """When it ends, in seconds since 1970."""


@dataclass(frozen=True, slots=True)
class SessionsEnded:
    """That all sessions have ended."""

    ended: bool = True
