"""Read-only connections for the threads of searches."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from queue import LifoQueue
from typing import TYPE_CHECKING, Self

from vault_agent.store.database import BUSY_SECONDS, READER_PRAGMAS, translated, uri_of
from vault_agent.store.failures import damaged

if TYPE_CHECKING:
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
                self._idle.put(_connect_here(path))
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

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


def _connect_here(path: Path) -> sqlite3.Connection:
    with translated():
        if not path.exists():
            raise damaged()  # renamed since it is damaged, or removed
        connection = sqlite3.connect(
            uri_of(path, mode="ro"),
            uri=True,
            isolation_level=None,
            timeout=BUSY_SECONDS,
            check_same_thread=False,
        )
        try:
            for pragma in READER_PRAGMAS:
                connection.execute(f"PRAGMA {pragma}")
        except BaseException:
            connection.close()
            raise
    return connection
