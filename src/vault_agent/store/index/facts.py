"""Reads of all notes what memory compares: types, tags, files and dates."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import orjson

from vault_agent.model.identifiers import CHUNK_BITS
from vault_agent.store.database import translated
from vault_agent.store.index.lists import UPDATED

if TYPE_CHECKING:
    import aiosqlite


class NoteFacts(NamedTuple):
    """A note. `updated` is ISO 8601; the others are of its frontmatter."""

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


async def read_facts(connection: aiosqlite.Connection) -> list[NoteFacts]:
    """Return all notes by path."""
    with translated():
        rows = await connection.execute_fetchall(_NOTES)
        named = await connection.execute_fetchall(_PROPERTIES)
    values: dict[int, dict[str, list[str]]] = {}
    for rowid, name, value in named:
        values.setdefault(rowid, {}).setdefault(name, []).append(value)
    found = []
    for rowid, path, title, chunk_count, metadata, updated in rows:
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
                *(own[name][0] if name in own else None for name in ("id", "status", "memory")),
            )
        )
    return found


async def path_of_session(connection: aiosqlite.Connection, session_id: str) -> str | None:
    """Return the path of the journal of a session, or None."""
    with translated():
        rows = await connection.execute_fetchall(_JOURNAL, (session_id,))
    return next((path for (path,) in rows), None)


_JOURNAL = f"""
SELECT note.path FROM property JOIN note ON note.rowid = property.key >> {CHUNK_BITS}
WHERE property.name = 'session' AND property.value = ?
    AND lower(json_extract(note.metadata, '$.type')) = 'journal'
ORDER BY note.path LIMIT 1
"""
_NOTES = f"SELECT rowid, path, title, chunk_count, metadata, {UPDATED} FROM note ORDER BY path"
_PROPERTIES = f"""
SELECT key >> {CHUNK_BITS}, name, value FROM property
WHERE name IN ('files', 'id', 'status', 'memory') AND type <> 'empty' ORDER BY key
"""
