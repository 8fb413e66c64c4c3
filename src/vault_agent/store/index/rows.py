"""Converts notes to rows that are ready to be stored, down to their keys.

The workers do this, so that the single writer runs no Python code for each row. Plain tuples also
cross a pipe many times faster than objects.
"""

from __future__ import annotations

from hashlib import blake2b
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from vault_agent.model.identifiers import CHUNK_BITS, identify
from vault_agent.model.reading import Metadata
from vault_agent.text.names import fold

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from vault_agent.model.notes import FileEntry, Link, ParsedNote

MAX_CHUNKS = 1 << CHUNK_BITS

MAX_SHOWN = 50
"""Limit of entries in a list of a note's public metadata."""
MAX_SHOWN_CHARS = 2_000
"""Limit of characters in such a list, all entries together."""
_MAX_DATE_CHARS = 100

PARTS = {
    "chunk": "key, heading_path, start_line, end_line, text",
    "link": "key, lookup, kind, target, fragment, text, line, col, chunk, first, past",
    "external_link": "key, url, text, line, col",
    "anchor": "key, level, name, line",
    "tag": "key, name, written",
    "property": "key, name, type, value",
    "task": "key, symbol, text, line, chunk",
}
"""The tables of a note's parts, with the columns that are filled when the note is read."""

Row = tuple[Any, ...]


class NoteRows(NamedTuple):
    """One note's rows: of the tables `note` and `name`, and of its parts in the order of PARTS."""

    note: Row
    names: list[Row]
    parts: tuple[list[Row], ...]


def to_rows(
    rowid: int,
    entry: FileEntry,
    content_hash: bytes,
    note: ParsedNote,
    *,
    names: Iterable[str],
    lookup_of: Callable[[str], str],
) -> NoteRows:
    """Convert a parsed note to rows under a rowid that was never used before.

    `names` are the names by which links find the note, and `lookup_of` returns the name in a link's
    target.
    """
    base = rowid << CHUNK_BITS
    handle = handle_of(entry.path)
    tags, cut = _shown(note.tags)
    metadata = {
        "type": note.types[0] if note.types else None,
        "tags": tags,
        "date": _cut(note.date),
        "created": _cut(note.created),
        "updated": _cut(note.updated),
        "cut": cut,
    }
    named = (*note.aliases, *note.keys)
    aliases = _json(named) if named else None
    public = _json({key: value for key, value in metadata.items() if value})
    parts: tuple[list[Row], ...] = (
        [
            (
                base | chunk.index,
                _json(chunk.heading_path) if chunk.heading_path else None,
                chunk.start_line,
                chunk.end_line,
                chunk.text,
            )
            for chunk in note.chunks
        ],
        _link_rows(base, note.links, lookup_of),
        [
            (key, link.url, link.text, link.line, link.column)
            for key, link in enumerate(note.external_links, base)
        ],
        [(key, *anchor) for key, anchor in enumerate(note.anchors, base)],
        [(key, fold(tag), tag) for key, tag in enumerate(note.tags, base)],
        [
            (key, name, kind.value, value)
            for key, (name, kind, value) in enumerate(note.properties, base)
        ],
        [
            (key, task.symbol, task.text, task.line, task.chunk)
            for key, task in enumerate(note.tasks, base)
        ],
    )
    stored_metadata = public if len(public) > len("{}") else None
    row = (
        rowid,
        handle,
        entry.path,
        note.title,
        entry.size,
        entry.mtime_ns,
        entry.ctime_ns,
        entry.inode,
        content_hash,
        aliases,
        stored_metadata,
        len(note.chunks),
    )
    return NoteRows(row, [(name_hash(name), handle) for name in names], parts)


def _link_rows(base: int, links: Iterable[Link], lookup_of: Callable[[str], str]) -> list[Row]:
    lookups: dict[str, int] = {}  # a note often has several links to one target
    rows: list[Row] = []
    for key, (kind, target, fragment, text, line, column, _, chunk, place) in enumerate(
        links, base
    ):
        first, past = place or (None, None)
        lookup = lookups.get(target)
        if lookup is None:
            lookup = lookups[target] = name_hash(lookup_of(target))
        rows.append(
            (key, lookup, kind.value, target, fragment, text, line, column, chunk, first, past)
        )
    return rows


def _shown(entries: Sequence[str]) -> tuple[tuple[str, ...], bool]:
    """Return the entries of a list that metadata shows, and whether others are cut."""
    if not entries:
        return (), False
    first = tuple(entries[:MAX_SHOWN])
    sizes = accumulate(map(len, first))
    first = first[: sum(size <= MAX_SHOWN_CHARS for size in sizes)]
    return first, len(first) < len(entries)


def _cut(date: str | None) -> str | None:
    return date[:_MAX_DATE_CHARS] if date else None


def keys_of(rowid: int) -> tuple[int, int]:
    """Return the range of keys of a note's parts: the first, and one past the last."""
    return rowid << CHUNK_BITS, (rowid + 1) << CHUNK_BITS


def handle_of(path: str) -> int:
    """Return the 64-bit handle of a vault-relative path."""
    return handle_of_id(identify(path))


def handle_of_id(note_id: str) -> int:
    """Return the 64-bit handle of a note ID: its first 8 bytes, as SQLite's signed integer."""
    return int.from_bytes(bytes.fromhex(note_id[:16]), "big", signed=True)


def name_hash(name: str) -> int:
    """Return the 64-bit hash by which links to `name` are looked up."""
    digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def metadata_from(aliases: Sequence[str], metadata: str | None, attachment_count: int) -> Metadata:
    """Return the public metadata of a note from its aliases and its columns."""
    fields: dict[str, Any] = orjson.loads(metadata) if metadata else {}
    first_aliases, cut = _shown(aliases)
    return Metadata(
        type=fields.get("type"),
        aliases=first_aliases,
        tags=tuple(fields.get("tags") or ()),
        date=fields.get("date"),
        created=fields.get("created"),
        updated=fields.get("updated"),
        attachment_count=attachment_count,
        truncated=cut or bool(fields.get("cut")),
    )


def read_list(column: str | None) -> tuple[str, ...]:
    """Return the texts of a column with a JSON array, which is NULL where there are none."""
    return tuple(orjson.loads(column)) if column else ()


def _json(value: object) -> str:
    return orjson.dumps(value).decode()
