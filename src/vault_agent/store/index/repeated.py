"""Lines that many notes of a generation have, such as footers. They are found by phrases only."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vault_agent.store.database import Connection


def read(connection: Connection) -> frozenset[str]:
    """Return the lines."""
    return frozenset(line for (line,) in connection.execute("SELECT line FROM repeated").fetchall())


def write(connection: Connection, lines: Iterable[str]) -> None:
    """Add lines, in the caller's transaction."""
    rows = [(line,) for line in sorted(lines)]
    connection.executemany("INSERT INTO repeated VALUES (?)", rows)
