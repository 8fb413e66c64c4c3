"""Opens SQLite connections, and translates their errors."""

from __future__ import annotations

import os
import re
import sqlite3
from contextlib import closing, contextmanager, suppress
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import orjson

from vault_agent.errors import IndexUnavailable, Unavailable
from vault_agent.store.failures import (
    damaged,
    disk_failed,
    disk_full,
    not_writable,
    system_failure,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from vault_agent.errors import VaultAgentError

Connection = sqlite3.Connection
"""The type of connections for other packages, which import no database."""

_READER_CACHE_KIB = 16_384
"""Page cache of a reader. Without memory mapping, the default of 2 MB costs a search 0.5 ms."""
_READER_PRAGMAS = ("query_only = ON", "mmap_size = 0", f"cache_size = -{_READER_CACHE_KIB}")
_WRITER_PRAGMAS = ("synchronous = FULL", "cache_size = -32768")
_BULK_PRAGMAS = (
    "page_size = 8192",  # measured: 4 % smaller than with 4096
    "journal_mode = OFF",
    "synchronous = OFF",
    "locking_mode = EXCLUSIVE",
    "cache_size = -65536",
)
BUSY_SECONDS = 5.0
"""Seconds that a statement waits for another connection's lock."""
_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_NOT_OUR_SCHEMA = ("no such ", "has no column", "unsupported file format")
_STATE_VERSION = 0
_NAME = re.compile(r"\b[A-Z][A-Z_]+\b")
_COLUMNS = """
SELECT t.name, c.name, c.type || iif(c."notnull", ' NOT NULL', '')
    || coalesce(' DEFAULT ' || c.dflt_value, '')
FROM sqlite_schema AS t JOIN pragma_table_info(t.name) AS c
WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'
"""
_NOT_ALLOWED = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM)
_DISK = {
    sqlite3.SQLITE_IOERR: "input/output error",
    sqlite3.SQLITE_CANTOPEN: "a file can't be opened",
    sqlite3.SQLITE_PROTOCOL: "its locks don't work",
    sqlite3.SQLITE_BUSY: "another program has locked it",
}


def script(name: str) -> str:
    """Return the SQL script `name` of this package."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def read_statements(name: str, **numbers: int) -> dict[str, str]:
    """Return the statements of a script by their names, which are in lines `-- name: NAME`.

    A name in capitals, of one of `numbers` or of an earlier statement, stands for its text.
    """
    texts = {name: str(number) for name, number in numbers.items()}
    for block in script(name).split("-- name: ")[1:]:
        title, *lines = block.split("\n")
        text = "\n".join(line for line in lines if not line.startswith("--")).strip()
        texts[title] = _NAME.sub(lambda word: texts.get(word[0], word[0]), text)
    return texts


def json_array(values: Iterable[object]) -> str:
    """Return values as one JSON parameter, for `json_each`.

    It holds any number of values: no limit on variables, one prepared statement.
    """
    return orjson.dumps(list(values)).decode()


@contextmanager
def translated() -> Iterator[None]:
    """Turn errors of SQLite and the disk into our errors. Other errors pass through."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        translation = _translate(error)
        if translation is None:
            raise
        raise translation from error
    except UnicodeDecodeError as error:
        raise damaged() from error  # SQLite's own message quotes a damaged schema
    except OSError as error:
        failure = system_failure(error.errno)
        if failure is None:
            raise
        raise failure from error


def fetch(
    connection: sqlite3.Connection, statement: str, values: Sequence[object] = ()
) -> list[Any]:
    """Return all rows of a statement. Errors are ours, see `translated`."""
    with translated():
        return connection.execute(statement, values).fetchall()


def migrate(connection: sqlite3.Connection, *names: str) -> None:
    """Give a state file the schema of the scripts `names`, and keep all of its rows.

    What is missing is added, and what only another version has stays. So a new column of a script
    is nullable or has a default. A change that older programs cannot live with raises
    `_STATE_VERSION`, and they refuse the file.

    Raises:
        IndexUnavailable: `INDEX_INCOMPATIBLE` if the file is damaged.
        Unavailable: `STATE_TOO_NEW`.
    """
    statements = "".join(map(script, names))
    with translated(), closing(sqlite3.connect(":memory:")) as fresh:
        if connection.execute("PRAGMA user_version").fetchone()[0] > _STATE_VERSION:
            raise Unavailable("STATE_TOO_NEW", "A newer vault-agent has written its state here.")
        fresh.executescript(statements)
        ours = _columns(fresh)
        theirs = _columns(connection)
        tables = {table for table, _ in theirs}
        try:
            for (table, name), column in ours.items():
                if table in tables and (table, name) not in theirs:
                    connection.execute(f"ALTER TABLE {table} ADD COLUMN {name} {column}")
            connection.executescript(statements)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_ERROR:  # it is no earlier schema of ours
                raise damaged() from error
            raise
        if any(theirs[place].endswith(" NOT NULL") for place in theirs.keys() - ours.keys()):
            raise damaged()  # no version has a column that our statements would leave empty


def _columns(connection: sqlite3.Connection) -> dict[tuple[str, str], str]:
    """Return the definition of each column, by table and name."""
    return {(table, name): column for table, name, column in connection.execute(_COLUMNS)}


def check_pages(connection: sqlite3.Connection) -> None:
    """Read every page of a database.

    Raises:
        IndexUnavailable: `INDEX_INCOMPATIBLE` if the database is damaged.
    """
    if fetch(connection, "PRAGMA quick_check(1)") != [("ok",)]:
        raise damaged()


def open_or_renew(path: Path, prepare: Callable[[sqlite3.Connection], None]) -> sqlite3.Connection:
    """Open a database outside the generations, and create it if it is missing.

    `prepare` creates its schema, and raises `IndexUnavailable` if the database is damaged. The file
    is then renamed and replaced by a new one. Any thread may use the connection, one at a time.
    """
    with translated():
        try:
            return open_prepared(path, prepare)
        except IndexUnavailable:
            set_aside(path)
            return open_prepared(path, prepare)


def open_prepared(path: Path, prepare: Callable[[sqlite3.Connection], None]) -> sqlite3.Connection:
    """Open a database outside the generations. `prepare` creates and checks its schema."""
    connection = _plain(path)
    try:
        with translated():
            prepare(connection)
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit what is written in the context, or nothing of it if an error is raised."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def set_aside(path: Path) -> None:
    """Rename a damaged database to `.damaged`, with its journals.

    Only the shared memory goes: SQLite makes it of the write-ahead log.
    """
    aside = path.with_suffix(".damaged")
    path.replace(aside)
    for suffix in ("-journal", "-wal"):
        journal, kept = (file.with_name(file.name + suffix) for file in (path, aside))
        kept.unlink(missing_ok=True)  # of a database that was set aside before
        if journal.exists():
            journal.rename(kept)
    path.with_name(f"{path.name}-shm").unlink(missing_ok=True)


def _translate(error: sqlite3.DatabaseError) -> VaultAgentError | None:
    code = int(getattr(error, "sqlite_errorcode", 0)) & 0xFF  # the primary result code
    # Python, not SQLite, finds invalid UTF-8, so that error has no code. Our statements fit our
    # schema, so an unknown table or column means that the schema is damaged.
    if (
        code in _DAMAGE
        or (not code and "decode to UTF-8" in str(error))
        or (code == sqlite3.SQLITE_ERROR and any(words in str(error) for words in _NOT_OUR_SCHEMA))
    ):
        return damaged()
    if code == sqlite3.SQLITE_FULL:
        return disk_full()
    if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_READONLY_DBMOVED:
        return disk_failed("it was moved or removed: stop the server and start it again")
    if code in _NOT_ALLOWED:
        return not_writable()
    return disk_failed(_DISK[code]) if code in _DISK else None


@contextmanager
def open_bulk(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a new database that is not read before it is published: no journal, no sync.

    After a crash the file is not the current one, so nothing is lost. The database is closed in WAL
    mode. A later change to WAL would need a journal for a moment; if the run were killed then,
    readers would find a journal that they may not roll back.
    """
    with translated():
        # Not left to SQLite, which does not report why it cannot create a file.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    with closing(_connect(path, "rw", _BULK_PRAGMAS)) as connection:
        yield connection
        connection.execute("PRAGMA journal_mode = WAL")


def open_writer(path: Path) -> AbstractContextManager[sqlite3.Connection]:
    """Open the current database for one incremental run (synced at commit)."""
    return closing(_connect(path, "rw", _WRITER_PRAGMAS))


def connect_reader(path: Path) -> sqlite3.Connection:
    """Return a read-only connection to a published database. Any thread may use it, one at a time.

    The file is not mapped into memory: a mapped file that is truncated kills the process.

    Raises:
        IndexUnavailable: `INDEX_INCOMPATIBLE` if the database is missing or damaged.
    """
    return _connect(path, "ro", _READER_PRAGMAS)


def open_reader(path: Path) -> AbstractContextManager[sqlite3.Connection]:
    """Open a published database read-only. See `connect_reader`."""
    return closing(connect_reader(path))


def _connect(path: Path, mode: str, pragmas: Iterable[str]) -> sqlite3.Connection:
    """Open a database in a mode of SQLite, `ro` or `rw`. The pragmas read the file."""
    with translated():
        if not path.exists():
            raise damaged()  # renamed since it is damaged, or removed
        connection = _plain(f"{path.absolute().as_uri()}?mode={mode}", uri=True)
        try:
            for pragma in pragmas:
                connection.execute(f"PRAGMA {pragma}")
        except BaseException:
            connection.close()
            raise
    return connection


def _plain(database: Path | str, *, uri: bool = False) -> sqlite3.Connection:
    """Return a connection in autocommit mode. Any thread may use it, one at a time."""
    return sqlite3.connect(
        database, uri=uri, isolation_level=None, timeout=BUSY_SECONDS, check_same_thread=False
    )
