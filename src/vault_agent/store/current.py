"""The current generation: opened read-only, replaced without pausing a reader."""

from __future__ import annotations

import asyncio
import os
from contextlib import ExitStack, asynccontextmanager, contextmanager
from functools import partial
from queue import LifoQueue
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Self, TypeVar

from vault_agent.errors import IndexUnavailable, VaultAgentError
from vault_agent.model.scope import EVERYTHING
from vault_agent.store.database import connect_reader, translated
from vault_agent.store.failures import MappedFiles, is_damage
from vault_agent.store.fulltext.candidates import RevisionRows
from vault_agent.store.fulltext.reader import FulltextReader
from vault_agent.store.index.meta import (
    OTHER_FINGERPRINT,
    check_compatible,
    old_rows,
    read_meta,
    read_revision,
)
from vault_agent.system.cancelling import Threads, open_in_thread

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import (
        AsyncIterator,
        Callable,
        Iterator,
    )
    from contextlib import AbstractContextManager
    from pathlib import Path

    from vault_agent.model.scope import Scope
    from vault_agent.store.directory import IndexDirectory
    from vault_agent.store.index.meta import Meta
    from vault_agent.store.vectors import Matrix

READERS = 2
"""Connections of a snapshot. Its threads read for a tenth of their time, so they seldom wait."""
_SEARCH_THREADS = max(2, min(4, os.cpu_count() or 1))
"""Searches at once. The engine computes without the interpreter's lock, and ranking holds it, so
more threads would only wait for each other, and the event loop for all of them."""


_P = ParamSpec("_P")
_T = TypeVar("_T")


class SnapshotOutdated(Exception):
    """The database has changed since the snapshot was taken. Take a new snapshot and try again.

    Readers hold no transaction between statements, since SQLite's log would grow meanwhile. Rowids
    are never used again, so a changed row is missing; it is never another row.
    """


class Snapshot:
    """One revision of one generation with its vectors, open for reading.

    It is a context manager for each of its users. The last one closes it.
    """

    def __init__(
        self,
        meta: Meta,
        fulltext: FulltextReader,
        matrix: Matrix | None,
        readers: Readers,
        threads: Threads,
        *,
        scope: Scope = EVERYTHING,
    ) -> None:
        """Take what is open. `scope` is the part of the vault that the index is about.

        Paths in the index are those of the vault. Only where names are resolved, they are relative
        to the folder of an agent.
        """
        self.scope = scope
        self.meta = meta
        self.revision = f"{meta.generation}.{meta.revision}"
        """The generation and its revision, as replies name them."""
        self.fulltext = fulltext
        self.matrix = matrix
        self.threads = threads
        self._readers = readers
        self._users = 0

    def __enter__(self) -> Self:
        self._users += 1
        return self

    def __exit__(self, *_: object) -> None:
        self._users -= 1
        if self._users == 0:
            self._readers.close()
            self.fulltext.close()

    @property
    def embedded_share(self) -> float:
        """Share of the chunks that have a vector."""
        if not self.meta.chunks:
            return 1.0
        # After notes are removed, their vectors are published without them a moment later.
        return min(1.0, self.matrix.count / self.meta.chunks) if self.matrix is not None else 0.0

    def query(
        self,
        function: Callable[Concatenate[sqlite3.Connection, _P], _T],
        *arguments: _P.args,
        **options: _P.kwargs,
    ) -> _T:
        """Run a function of a read-only connection in the calling thread. Return its result.

        Raises:
            IndexUnavailable: `INDEX_INCOMPATIBLE` if the index is damaged.
        """
        with self.connection() as connection:
            return function(connection, *arguments, **options)

    async def read(
        self,
        function: Callable[Concatenate[sqlite3.Connection, _P], _T],
        *arguments: _P.args,
        **options: _P.kwargs,
    ) -> _T:
        """Do the same in a thread."""
        return await self.threads.run(lambda: self.query(function, *arguments, **options))

    async def read_unchanged(
        self,
        function: Callable[Concatenate[sqlite3.Connection, _P], _T],
        *arguments: _P.args,
        **options: _P.kwargs,
    ) -> _T:
        """Run a function in a thread with a connection that reads this revision only.

        Raises:
            SnapshotOutdated: if the database already has a later revision.
            IndexUnavailable: `INDEX_INCOMPATIBLE` if the index is damaged.
        """

        def work() -> _T:
            with self.unchanged() as connection:
                return function(connection, *arguments, **options)

        return await self.threads.run(work)

    def connection(self) -> AbstractContextManager[sqlite3.Connection]:
        """Lend a read-only connection to the calling thread.

        Raises:
            IndexUnavailable: `INDEX_INCOMPATIBLE` if a mapped file was truncated.
        """
        return self._readers.lend()

    @contextmanager
    def unchanged(self) -> Iterator[sqlite3.Connection]:
        """Lend the calling thread a connection that reads this revision only.

        Use it briefly, because SQLite's log grows meanwhile.

        Raises:
            SnapshotOutdated: if the database already has a later revision.
            IndexUnavailable: `INDEX_INCOMPATIBLE` if a mapped file was truncated.
        """
        with self.connection() as connection:
            try:
                with translated():
                    connection.execute("BEGIN")
                    if read_revision(connection) != (self.meta.generation, self.meta.revision):
                        raise SnapshotOutdated
                yield connection
            finally:
                if connection.in_transaction:
                    with translated():
                        connection.execute("ROLLBACK")


class CurrentIndex:
    """Serves the latest complete state of an index directory."""

    def __init__(
        self,
        directory: IndexDirectory,
        *,
        identity: str,
        fingerprint: str,
        vectors: Path | None = None,
        scope: Scope = EVERYTHING,
    ) -> None:
        """Take the identity of the vault, the fingerprint of its `IndexSpec`, and its vectors."""
        self._scope = scope
        self._directory = directory
        self._vectors = vectors
        self._identity = identity
        self._fingerprint = fingerprint
        self.latest: Snapshot | None = None
        """The current state, only for use without an `await`; to read, use `snapshot`."""
        self._held = ExitStack()  # the current snapshot
        self.refusal: VaultAgentError | None = None
        """The reason why an existing index is not served."""
        self.damaged: int | None = None
        """The generation that turned out to be damaged. It is not served again."""
        self._refreshing = asyncio.Lock()
        self._threads = Threads(_SEARCH_THREADS, "search")

    @property
    def meta(self) -> Meta | None:
        """The metadata of the current state, or None."""
        return self.latest.meta if self.latest else None

    @property
    def has_other_fingerprint(self) -> bool:
        """Whether the index was made by another version, or with other settings."""
        return self.refusal is not None and self.refusal.details == OTHER_FINGERPRINT

    async def refresh(self) -> None:
        """Open the newest complete state. Readers of the old one can finish."""
        async with self._refreshing:
            with translated():
                number = await asyncio.to_thread(self._directory.current)
            if number is None:
                self._replace(None, None)
                return
            if number == self.damaged:
                return  # even if a run that did not notice the damage has added a revision
            try:
                snapshot = await open_in_thread(partial(self._open, number))
            except IndexUnavailable as refusal:
                self.damaged = number if is_damage(refusal) else None
                self._replace(None, refusal)
            else:
                self.damaged = None
                self._replace(snapshot, None)

    async def refuse(self, refusal: VaultAgentError, generation: int) -> None:
        """Permanently stop serving a generation whose files are damaged."""
        async with self._refreshing:
            self.damaged = generation
            if self.latest is None or self.latest.meta.generation == generation:
                self._replace(None, refusal)

    def check(self) -> None:
        """Raise the reason why an existing index is not served, if there is one.

        Raises:
            IndexUnavailable: `INDEX_INCOMPATIBLE`.
        """
        if (refusal := self.refusal) is not None:
            raise refusal.again()

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Snapshot]:
        """Lend the current state.

        Raises:
            IndexUnavailable: `INDEX_NOT_FOUND` or `INDEX_INCOMPATIBLE`.
        """
        self.check()
        snapshot = self.latest
        if snapshot is None:
            raise IndexUnavailable("INDEX_NOT_FOUND", "There is no index yet.")
        with snapshot:
            yield snapshot

    async def close(self) -> None:
        """Close the current state, and end the threads of searches."""
        self._replace(None, None)
        self._threads.close()

    def _replace(self, snapshot: Snapshot | None, refusal: VaultAgentError | None) -> None:
        old = self._held.pop_all()
        if snapshot is not None:
            self._held.enter_context(snapshot)
        self.latest, self.refusal = snapshot, refusal
        old.close()

    def _open(self, number: int) -> Snapshot:
        """Open a generation. Blocking: call it in a thread."""
        with ExitStack() as stack:
            readers = Readers(self._directory.database(number), READERS)
            stack.callback(readers.close)
            with readers.lend() as connection:
                meta = read_meta(connection)
                check_compatible(meta, vault=self._identity, fingerprint=self._fingerprint)
                rows = RevisionRows(meta.next_rowid, old_rows(connection))
            fulltext = FulltextReader(
                self._directory.fulltext(number), rows, self._scope.base_folder
            )
            matrix = None
            if self._vectors is not None:
                from vault_agent.store.vectors import open_matrix  # imports numpy

                matrix = open_matrix(self._vectors, meta.identity)
            stack.pop_all()
        return Snapshot(meta, fulltext, matrix, readers, self._threads, scope=self._scope)


class Readers:
    """Read-only connections to a published database, which threads take in turns.

    A statement runs in the thread that asks. With aiosqlite it would run in another one, and each
    answer would take two changes of thread.
    """

    def __init__(self, path: Path, count: int) -> None:
        self._idle: LifoQueue[sqlite3.Connection] = LifoQueue()
        # The one file that SQLite maps for a reader: the index of its write-ahead log.
        self._files = MappedFiles([path.with_name(f"{path.name}-shm")])
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
        """Lend a connection to the calling thread. Waits for one.

        Raises:
            IndexUnavailable: `INDEX_INCOMPATIBLE` if a mapped file was truncated.
        """
        connection = self._idle.get()
        try:
            self._files.check()
            yield connection
        finally:
            self._idle.put(connection)
