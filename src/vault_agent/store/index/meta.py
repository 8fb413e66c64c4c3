"""The metadata of a generation: its identity, settings, totals and repeated lines."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from vault_agent.errors import IndexUnavailable
from vault_agent.store.database import fetch
from vault_agent.store.failures import damaged

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

SCHEMA_VERSION = 13
"""SQLite's `user_version`. An index with another version is rebuilt."""
OTHER_FINGERPRINT = {"reason": "version"}
"""The details of a refusal that the next start ends with a rebuild."""


@dataclass(frozen=True, slots=True)
class Meta:
    """The metadata of a generation, updated in each run's transaction."""

    generation: int
    identity: int  # random, of this generation alone: a number may be used again
    revision: int  # counts the runs of one generation
    vault: str  # identity of the vault's root
    fingerprint: str  # hash of the settings that decide what is indexed and how
    next_rowid: int
    notes: int
    chunks: int
    links: int
    unresolved_links: int


def write_meta(connection: sqlite3.Connection, meta: Meta) -> None:
    """Write the metadata in the caller's transaction."""
    connection.executemany(
        "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        list(asdict(meta).items()),
    )


def read_meta(connection: sqlite3.Connection) -> Meta:
    """Read the metadata.

    Raises:
        IndexUnavailable: `INDEX_INCOMPATIBLE` if the schema has another version or is damaged.
    """
    [(version,)] = fetch(connection, "PRAGMA user_version")
    if version != SCHEMA_VERSION:
        raise _unusable("another version of vault-agent made it")
    try:
        return Meta(**dict(fetch(connection, "SELECT key, value FROM meta")))
    except TypeError:
        raise damaged() from None


def counts_notes(connection: sqlite3.Connection) -> bool:
    """Whether the metadata counts notes. Any version may have made the generation."""
    return bool(fetch(connection, "SELECT 1 FROM meta WHERE key = 'notes' AND value > 0"))


def read_revision(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return the generation and the revision, in the thread that asks."""
    rows = connection.execute("SELECT key, value FROM meta WHERE key IN ('generation', 'revision')")
    values = dict(rows.fetchall())
    return values["generation"], values["revision"]


def old_rows(connection: sqlite3.Connection) -> frozenset[int]:
    """Return the rows that the full text may still have, though their notes are gone."""
    return frozenset(rowid for (rowid,) in fetch(connection, "SELECT rowid FROM old_row"))


def check_compatible(meta: Meta, *, vault: str, fingerprint: str) -> None:
    """Raise `INDEX_INCOMPATIBLE` unless the generation is of this vault and these settings."""
    if meta.vault != vault:
        raise IndexUnavailable("INDEX_INCOMPATIBLE", "The index belongs to another vault.")
    if meta.fingerprint != fingerprint:
        raise _unusable("settings of the index, or the version of vault-agent, have changed")


def _unusable(reason: str) -> IndexUnavailable:
    """Return the error for an index that must be rebuilt because of `reason`."""
    what = f"The index can't be used: {reason}."
    return IndexUnavailable("INDEX_INCOMPATIBLE", what, OTHER_FINGERPRINT)


def repeated_lines(connection: sqlite3.Connection) -> frozenset[str]:
    """Return the lines that many notes have, such as footers. They are found by phrases only."""
    return frozenset(line for (line,) in fetch(connection, "SELECT line FROM repeated"))


def write_repeated_lines(connection: sqlite3.Connection, lines: Iterable[str]) -> None:
    """Add such lines, in the caller's transaction."""
    rows = [(line,) for line in sorted(lines)]
    connection.executemany("INSERT INTO repeated VALUES (?)", rows)
