"""The record of notes that were opened after searches: a small file that is read as a whole."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from vault_agent.errors import IndexUnavailable
from vault_agent.model.search import Opening
from vault_agent.store.database import BUSY_SECONDS, script, set_aside, translated

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path


class OpeningStore:
    """Openings as rows of one file, which exists while there are any. All methods block.

    Every method raises `Failed`: `DISK_FULL`, `INDEX_IO_ERROR`. A damaged file is replaced.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> list[Opening]:
        """Return all openings, oldest first."""
        if not self._path.exists():
            return []
        try:
            with self._connected() as connection:
                rows = connection.execute(_ALL).fetchall()
        except IndexUnavailable:
            set_aside(self._path)
            return []
        return [
            Opening(at, scope, frozenset(terms.split()), path, weight)
            for at, scope, terms, path, weight in rows
        ]

    def add(self, opening: Opening, *, most: int, since: int) -> None:
        """Store an opening. The newest `most` are kept, and none from before `since`."""
        row = (*opening[:2], " ".join(sorted(opening.terms)), *opening[3:])
        with self._connected() as connection:
            connection.execute(_ADD, row)
            connection.execute(_LIMIT, (since, most))

    def remove(self, paths: Collection[str]) -> None:
        """Remove the openings of some notes."""
        with self._connected() as connection:
            connection.executemany(_REMOVE, [(path,) for path in paths])

    def move(self, paths: Mapping[str, str]) -> None:
        """Give the openings of notes that were moved their new paths."""
        with self._connected() as connection:
            connection.executemany(_MOVE, [(to, path) for path, to in paths.items()])

    def forget(self, before: int | None) -> None:
        """Remove the openings before a moment, or the file with all of them."""
        if before is None:
            with translated():
                for suffix in ("", "-journal"):
                    self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
            return
        with self._connected() as connection:
            connection.execute(_FORGET, (before,))

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection to the file, for one transaction."""
        with translated():
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
            with closing(sqlite3.connect(self._path, timeout=BUSY_SECONDS)) as connection:
                for pragma in ("journal_mode = TRUNCATE", "secure_delete = ON"):
                    connection.execute(f"PRAGMA {pragma}")
                connection.executescript(script("openings/openings.sql"))
                with connection:
                    yield connection


_ALL = "SELECT at, scope, terms, path, weight FROM opening ORDER BY seq"
_ADD = "INSERT INTO opening (at, scope, terms, path, weight) VALUES (?, ?, ?, ?, ?)"
_LIMIT = """
DELETE FROM opening WHERE at < ?
    OR seq NOT IN (SELECT seq FROM opening ORDER BY seq DESC LIMIT ?)
"""
_REMOVE = "DELETE FROM opening WHERE path = ?"
_MOVE = "UPDATE opening SET path = ? WHERE path = ?"
_FORGET = "DELETE FROM opening WHERE at < ?"
