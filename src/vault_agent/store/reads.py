"""What searches read of a revision. A combination of several revisions has the same methods."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from vault_agent.store.index import documents, links, lists, notes, text

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterable, Sequence
    from contextlib import AbstractContextManager

    from vault_agent.store.index.notes import StoredChunk, StoredNote


class Reads(ABC):
    """Reads rows of one revision. All methods block: use a thread."""

    @abstractmethod
    def connection(self) -> AbstractContextManager[sqlite3.Connection]:
        """Lend a read-only connection to the calling thread."""

    def vault_of(self, rowid: int) -> str | None:
        """Return the name of the vault that has a note, or None if there is only one."""
        del rowid
        return None

    def notes(self, rowids: Iterable[int]) -> dict[int, StoredNote]:
        """Return the notes and documents with these rowids. Missing ones are left out."""
        with self.connection() as connection:
            return documents.readable(connection, rowids)

    def headings(self, keys: Iterable[int]) -> dict[int, str | None]:
        """Return the innermost heading of each of these chunks."""
        with self.connection() as connection:
            return notes.headings(connection, keys)

    def chunks(self, keys: Iterable[int]) -> dict[int, StoredChunk]:
        """Return the chunks with these keys. Missing ones are left out."""
        with self.connection() as connection:
            return notes.chunks(connection, keys)

    def circles(
        self, rowids: Sequence[int], within: Collection[int] | None = None
    ) -> dict[int, set[int]]:
        """Return the notes linked with each of some notes, see `links.circles`."""
        with self.connection() as connection:
            return links.circles(connection, rowids, within)

    def bodies(self, rowids: Sequence[int]) -> list[bytes]:
        """Return the text of each of these notes, in their order; a missing note's is empty."""
        with self.connection() as connection:
            return text.bodies(connection, rowids)

    def updated(self, rowids: Iterable[int]) -> dict[int, str]:
        """Return when each of these notes was changed, see `lists.updated_of`."""
        with self.connection() as connection:
            return lists.updated_of(connection, rowids)

    def names(self) -> list[tuple[str, tuple[str, ...]]]:
        """Return every note's path with its aliases."""
        with self.connection() as connection:
            return notes.names(connection)
