"""Reads of all notes what memory compares: types, tags, files and dates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import orjson

from vault_agent.model.identifiers import CHUNK_BITS
from vault_agent.store.database import translated
from vault_agent.store.index.lists import UPDATED

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping


class NoteFacts(NamedTuple):
    """A note. `updated` is ISO 8601, `hash` that of its file; the others are of its frontmatter."""

    rowid: int
    path: str
    title: str
    chunk_count: int
    updated: str
    type: str | None
    tags: tuple[str, ...]
    files: tuple[str, ...] = ()
    identifier: str | None = None
    status: str | None = None
    memory: str | None = None
    session: str | None = None
    promoted_from: str | None = None
    hash: bytes = b""
    created: str | None = None


def read_facts(connection: sqlite3.Connection) -> list[NoteFacts]:
    """Return all notes by path."""
    with translated():
        rows = connection.execute(_NOTES).fetchall()
        named = connection.execute(_PROPERTIES).fetchall()
    values: dict[int, dict[str, list[str]]] = {}
    for rowid, name, value in named:
        values.setdefault(rowid, {}).setdefault(name, []).append(value)
    found = []
    for rowid, path, title, chunk_count, metadata, digest, updated in rows:
        public = orjson.loads(metadata) if metadata else {}
        own = values.get(rowid, {})
        found.append(
            NoteFacts(
                rowid,
                path,
                title,
                chunk_count,
                updated,
                public.get("type"),
                tuple(public.get("tags") or ()),
                tuple(own.get("files", ())),
                **{field: own[name][0] for field, name in _SINGLE.items() if name in own},
                hash=digest,
                created=public.get("created") or public.get("date"),
            )
        )
    return found


_SINGLE: Final[Mapping[str, Any]] = {  # field and property
    "identifier": "id",
    "status": "status",
    "memory": "memory",
    "session": "session",
    "promoted_from": "promoted_from",
}
_NOTES = f"""
SELECT rowid, path, title, chunk_count, metadata, hash, {UPDATED} FROM note ORDER BY path
"""
_PROPERTIES = f"""
SELECT key >> {CHUNK_BITS}, name, value FROM property
WHERE name IN {("files", *_SINGLE.values())} AND type <> 'empty' ORDER BY key
"""
