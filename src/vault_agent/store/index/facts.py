"""Reads of all notes what memory compares: types, tags, files and dates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import orjson

from vault_agent.model.identifiers import CHUNK_BITS
from vault_agent.store.database import fetch
from vault_agent.store.index import documents
from vault_agent.store.index.lists import FILE_TIME, UPDATED

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping


_ATTACHMENT: Final = "attachment"
"""The type that attachments have in memory, by which their owner may leave them out."""


class NoteFacts(NamedTuple):
    """A note, or an attachment. `updated` is ISO 8601, `hash` that of its file.

    The others are of its frontmatter.
    """

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
    rows = fetch(connection, _NOTES)
    named = fetch(connection, _PROPERTIES)
    values: dict[int, dict[str, list[str]]] = {}
    for rowid, name, value in named:
        values.setdefault(rowid, {}).setdefault(name, []).append(value)
    facts = []
    for rowid, path, title, chunk_count, metadata, digest, updated in rows:
        public = orjson.loads(metadata) if metadata else {}
        own = values.get(rowid, {})
        facts.append(
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
    return facts


def read_attachments(connection: sqlite3.Connection) -> list[NoteFacts]:
    """Return all attachments whose text is indexed, by path."""
    if not documents.exist(connection):
        return []
    rows = fetch(connection, _DOCUMENTS)
    return [
        NoteFacts(rowid, path, title, chunk_count, updated, _ATTACHMENT, (), hash=digest)
        for rowid, path, title, chunk_count, digest, updated in rows
    ]


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
_DOCUMENTS = f"""
SELECT rowid, path, title, chunk_count, hash, {FILE_TIME} FROM document ORDER BY path
"""
_PROPERTIES = f"""
SELECT key >> {CHUNK_BITS}, name, value FROM property
WHERE name IN {("files", *_SINGLE.values())} AND type <> 'empty' ORDER BY key
"""
