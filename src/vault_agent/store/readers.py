"""Read-only connections for the threads that read an index."""

from __future__ import annotations

from contextlib import contextmanager
from queue import LifoQueue
from typing import TYPE_CHECKING

from vault_agent.store.database import connect_reader

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator
    from pathlib import Path


class Readers:
    """Read-only connections to a published database, which threads take in turns.

    A statement runs in the thread that asks. With aiosqlite it would run in another one, and each
    answer would take two changes of thread.
    """

    def __init__(self, path: Path, count: int) -> None:
        self._idle: LifoQueue[sqlite3.Connection] = LifoQueue()
        try:
            for _ in range(count):
                self._idle.put(connect_reader(path))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the connections. None may be lent."""
        while not self._idle.empty():
            self._idle.get().close()

    @contextmanager
    def lend(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection to the calling thread. Waits for one."""
        connection = self._idle.get()
        try:
            yield connection
        finally:
            self._idle.put(connection)
