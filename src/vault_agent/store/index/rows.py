"""Notes as rows: what a parser process sends, ready to be stored without further work.

Building rows where the parsing happens keeps the one writer free of per-row Python, and plain
tuples cross a pipe many times faster than objects.
"""

from __future__ import annotations

import zlib
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from vault_agent.model.identifiers import CHUNK_BITS, identify
from vault_agent.model.notes import Metadata

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from vault_agent.model.notes import Link, ParsedNote

MAX_CHUNKS = 1 << CHUNK_BITS

ChunkRow = tuple[int, str | None, int, int, str]
"""index, heading path, first line, last line, text."""

LinkRow = tuple[int, int, str, str, str | None, str | None, int]
"""ordinal, lookup, kind, target, fragment, text, line."""


class NoteRows(NamedTuple):
    """One note's rows but for its rowid, which the writer gives."""

    title: str
    aliases: str | None
    metadata: str | None
    chunks: list[ChunkRow]
    links: list[LinkRow]
    checksum: int


def to_rows(note: ParsedNote, lookup_of: Callable[[str], str]) -> NoteRows:
    """Lay a parsed note out as rows; `lookup_of` gives the name a link's target asks for."""
    metadata = {
        "tags": note.tags,
        "date": note.date,
        "created": note.created,
        "updated": note.updated,
    }
    aliases = _json(note.aliases) if note.aliases else None
    public = _json(metadata) if any(metadata.values()) else None
    chunks: list[ChunkRow] = [
        (
            chunk.index,
            _json(chunk.heading_path) if chunk.heading_path else None,
            chunk.start_line,
            chunk.end_line,
            chunk.text,
        )
        for chunk in note.chunks
    ]
    links = _link_rows(note.links, lookup_of)
    checksum = checksum_of(note.title, aliases, public, chunks, links)
    return NoteRows(note.title, aliases, public, chunks, links, checksum)


def checksum_of(
    title: str,
    aliases: str | None,
    metadata: str | None,
    chunks: Sequence[Sequence[Any]],
    links: Sequence[Sequence[Any]],
) -> int:
    """Return the CRC-32 of what a note's rows say: SQLite has none, and damage must show."""
    return zlib.crc32(orjson.dumps((title, aliases, metadata, chunks, links)))


def _link_rows(links: Iterable[Link], lookup_of: Callable[[str], str]) -> list[LinkRow]:
    return [
        (
            ordinal,
            name_hash(lookup_of(link.target)),
            link.kind.value,
            link.target,
            link.fragment,
            link.text,
            link.line,
        )
        for ordinal, link in enumerate(links)
    ]


def keys_of(rowid: int) -> tuple[int, int]:
    """Return the keys of a note's chunks, and of its links, as a range: first, past the last."""
    return rowid << CHUNK_BITS, (rowid + 1) << CHUNK_BITS


def handle_of(path: str) -> int:
    """Return the 64-bit handle of a vault-relative path."""
    return handle_of_id(identify(path))


def handle_of_id(note_id: str) -> int:
    """Return the 64-bit handle of a note ID: its first 8 bytes, as SQLite's signed integer."""
    return int.from_bytes(bytes.fromhex(note_id[:16]), "big", signed=True)


def name_hash(name: str) -> int:
    """Return the 64-bit hash under which links to `name` are found again."""
    digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def metadata_from(aliases: str | None, metadata: str | None, attachment_count: int) -> Metadata:
    """Rebuild the public metadata of a note from its columns."""
    fields: dict[str, Any] = orjson.loads(metadata) if metadata else {}
    return Metadata(
        aliases=tuple(orjson.loads(aliases)) if aliases else (),
        tags=tuple(fields.get("tags") or ()),
        date=fields.get("date"),
        created=fields.get("created"),
        updated=fields.get("updated"),
        attachment_count=attachment_count,
    )


def _json(value: object) -> str:
    return orjson.dumps(value).decode()
