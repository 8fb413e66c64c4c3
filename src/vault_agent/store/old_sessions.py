"""Reads the two databases in which earlier versions kept sessions. They are never written."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


class OldSession(NamedTuple):
    """A session as it was kept: its row, its journal's, its events and the agent's sections."""

    session: Mapping[str, Any]
    journal: Mapping[str, Any] | None
    events: tuple[bytes, ...]
    sections: tuple[tuple[float, bytes], ...]


def read_old_sessions(record: Path, texts: Path) -> Iterator[OldSession]:
    """Yield the sessions of earlier versions. A database that cannot be read has none."""
    sessions = _rows(record, "SELECT * FROM session")
    journals = {row["session_id"]: row for row in _rows(record, "SELECT * FROM journal")}
    kept: dict[str, list[dict[str, Any]]] = {}
    for row in _rows(texts, "SELECT * FROM kept ORDER BY at, seq"):
        kept.setdefault(row["session_id"], []).append(row)
    for session in sessions:
        own = kept.get(session["id"], [])
        yield OldSession(
            session,
            journals.get(session["id"]),
            tuple(row["data"] for row in own if row["kind"] in {"prompt", "message"}),
            tuple((row["at"], row["data"]) for row in own if row["kind"] == "sections"),
        )


def _rows(path: Path, query: str) -> list[dict[str, Any]]:
    if not path.is_file():
        return []
    with suppress(sqlite3.Error), closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        db.row_factory = sqlite3.Row
        return [dict(row) for row in db.execute(query)]
    return []
