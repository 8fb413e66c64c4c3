"""SQLite connections: how they are opened, and what their failures mean."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from importlib.resources import files
from typing import TYPE_CHECKING

import aiosqlite
import anyio

from vault_agent.errors import IndexUnavailable
from vault_agent.store.failures import damaged, disk_failed, disk_full, not_writable, system_failure
from vault_agent.store.mapped import MappedFiles

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
    from pathlib import Path

    from vault_agent.errors import VaultAgentError

Connection = aiosqlite.Connection
"""A connection by its name outside this package, which is the only one to know SQLite."""

_BUSY_SECONDS = 5.0
"""How long a statement waits for another connection's lock."""
_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_NOT_OUR_SCHEMA = ("no such ", "has no column", "unsupported file format")
_NOT_ALLOWED = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM)
_DISK = {
    sqlite3.SQLITE_IOERR: "input/output error",
    sqlite3.SQLITE_CANTOPEN: "a file can't be opened",
    sqlite3.SQLITE_PROTOCOL: "its locks don't work",
    sqlite3.SQLITE_BUSY: "another program has locked it",
}


def script(name: str) -> str:
    """Return the SQL script of this package called `name`."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


@contextmanager
def translated() -> Iterator[None]:
    """Turn what SQLite and the disk raise into our errors; anything else passes through."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        known = _translate(error)
        if known is None:
            raise
        raise known from error
    except UnicodeDecodeError as error:
        raise damaged() from error  # SQLite's own message quotes a damaged schema
    except OSError as error:
        failure = system_failure(error.errno)
        if failure is None:
            raise
        raise failure from error


async def make_schema(connection: Connection, name: str) -> None:
    """Run the script `name`, of statements that make what is not there yet.

    Raises:
        IndexUnavailable: `INDEX_INCOMPATIBLE` where the schema is not what the script makes.
    """
    statements = "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name"
    with translated():
        await connection.executescript(script(name))
        made = await connection.execute_fetchall(statements)
    with closing(sqlite3.connect(":memory:")) as fresh:
        fresh.executescript(script(name))
        if [tuple(row) for row in made] != fresh.execute(statements).fetchall():
            raise damaged()


async def check_pages(connection: Connection, *, indexes: bool = False) -> None:
    """Read every page of a database, and with `indexes` compare them with their tables.

    Raises:
        IndexUnavailable: `INDEX_INCOMPATIBLE` where it is damaged.
    """
    check = "integrity_check" if indexes else "quick_check"
    with translated():
        said = await connection.execute_fetchall(f"PRAGMA {check}(1)")
    if [tuple(row) for row in said] != [("ok",)]:
        raise damaged()


async def open_or_renew(path: Path, prepare: Callable[[Connection], Awaitable[None]]) -> Connection:
    """Open a database that is no part of a generation, making it where there is none.

    `prepare` makes its schema and raises `IndexUnavailable` where something in it is damaged: then
    the file is put aside, and a new one begun.
    """
    with translated():
        try:
            return await _prepared(path, prepare)
        except IndexUnavailable:
            put_aside(path)
            return await _prepared(path, prepare)


async def _prepared(path: Path, prepare: Callable[[Connection], Awaitable[None]]) -> Connection:
    connection = await connect(path)
    try:
        with translated():
            await prepare(connection)
    except BaseException:
        await connection.close()
        raise
    return connection


def put_aside(path: Path) -> None:
    """Rename a damaged database; its journals belong to its name and go."""
    path.replace(path.with_suffix(".damaged"))
    for suffix in ("-journal", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _translate(error: sqlite3.DatabaseError) -> VaultAgentError | None:
    code = int(getattr(error, "sqlite_errorcode", 0)) & 0xFF  # without its extension
    # Text that is no text carries no code: Python found that out, not SQLite. And our statements
    # name nothing that our schema does not have: then it is the schema that has changed.
    if (
        code in _DAMAGE
        or (not code and "decode to UTF-8" in str(error))
        or (code == sqlite3.SQLITE_ERROR and any(words in str(error) for words in _NOT_OUR_SCHEMA))
    ):
        return damaged()
    if code == sqlite3.SQLITE_FULL:
        return disk_full()
    if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_READONLY_DBMOVED:
        return disk_failed("it was moved or removed: restart the server")
    if code in _NOT_ALLOWED:
        return not_writable()
    return disk_failed(_DISK[code]) if code in _DISK else None


@asynccontextmanager
async def open_bulk(path: Path) -> AsyncIterator[aiosqlite.Connection]:
    """Open a new database that nobody reads until it is published: no journal, no sync.

    A crash leaves a file that was never named as current, so nothing is lost by it. It ends in WAL
    mode: changed to that later, it would have a journal for a moment, and a run that is killed then
    would leave it to readers, who may not roll it back.
    """
    with translated():
        # By ourselves, since SQLite does not say why it can't. There is no connection yet.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    async with _connect(path, mode="rw") as connection:
        for pragma in (
            "page_size = 8192",  # fewer, fuller pages for text; measured 4 % smaller than 4096
            "journal_mode = OFF",
            "synchronous = OFF",
            "locking_mode = EXCLUSIVE",
            "cache_size = -65536",
        ):
            await connection.execute_fetchall(f"PRAGMA {pragma}")
        yield connection
        await connection.execute_fetchall("PRAGMA journal_mode = WAL")


@asynccontextmanager
async def open_writer(path: Path) -> AsyncIterator[aiosqlite.Connection]:
    """Open the current database for the one incremental transaction (synced at commit)."""
    async with _connect(path, mode="rw") as connection:
        for pragma in ("synchronous = FULL", "cache_size = -32768"):
            await connection.execute_fetchall(f"PRAGMA {pragma}")
        yield connection


@asynccontextmanager
async def open_reader(path: Path) -> AsyncIterator[aiosqlite.Connection]:
    """Open a published database read-only.

    Read and not mapped: a mapped file that somebody cuts short ends the process.
    """
    async with _connect(path, mode="ro") as connection:
        for pragma in ("query_only = ON", "mmap_size = 0"):
            await connection.execute_fetchall(f"PRAGMA {pragma}")
        yield connection


def mapped_files(path: Path) -> MappedFiles:
    """Return the one file that SQLite maps for a reader: the index of the log."""
    return MappedFiles([path.with_name(f"{path.name}-shm")])


async def connect(database: Path | str, *, uri: bool = False) -> aiosqlite.Connection:
    """Return a connection without transactions of its own accord.

    A wait that fails or is cancelled ends with its thread: left alone, aiosqlite's would answer to
    a loop that may be closed by then, and die of it on standard error.
    """
    opening = asyncio.ensure_future(_opened(database, uri=uri))
    try:
        return await asyncio.shield(opening)
    except asyncio.CancelledError:
        # Shielded: anyio's cancellations come again and again.
        with anyio.CancelScope(shield=True), suppress(sqlite3.Error):
            await (await opening).close()
        raise


async def _opened(database: Path | str, *, uri: bool) -> aiosqlite.Connection:
    connection = aiosqlite.connect(database, uri=uri, isolation_level=None, timeout=_BUSY_SECONDS)
    try:
        return await connection
    except sqlite3.Error:
        await asyncio.to_thread(connection._thread.join)  # noqa: SLF001 - told to end already
        raise


@asynccontextmanager
async def _connect(path: Path, *, mode: str) -> AsyncIterator[aiosqlite.Connection]:
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    with translated():
        if not path.exists():
            raise damaged()  # it was put aside, or somebody took it away
        connection = await connect(uri, uri=True)
    try:
        yield connection
    except BaseException:
        # aiosqlite's thread outlives a cancelled await: stop what it runs, or close() waits for it.
        # Not otherwise: after an interrupt SQLite closes without its last checkpoint.
        await connection.interrupt()
        raise
    finally:
        await connection.close()
