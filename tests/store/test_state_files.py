"""State files outside the index keep their rows over versions of the program, and over damage."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from importlib.resources import files
from pathlib import Path

import pytest

from vault_agent.errors import Unavailable
from vault_agent.model.writing import LoggedWrite, VaultChange
from vault_agent.store.database import migrate
from vault_agent.store.jobs import open_jobs
from vault_agent.store.vectors import open_vectors
from vault_agent.store.write_log import WriteLog

SCRIPTS = sorted(
    file.name for file in files("vault_agent.store").iterdir() if file.name.endswith(".sql")
)
"""The schema of every state file."""
BYTES = b"before", b"after"


def made(path: Path, name: str) -> sqlite3.Connection:
    """Make a state file with one row in each table."""
    connection = sqlite3.connect(path, isolation_level=None)
    migrate(connection, name)
    for table in tables(connection):
        columns = connection.execute(f"PRAGMA table_info({table})").fetchall()
        values = [{"TEXT": "a", "BLOB": b"a"}.get(kind, 1) for _, _, kind, *_ in columns]
        marks = ", ".join("?" * len(values))
        connection.execute(f"INSERT INTO {table} VALUES ({marks})", values)
    return connection


def tables(connection: sqlite3.Connection) -> list[str]:
    """Return the tables of a database."""
    statement = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    return [name for (name,) in connection.execute(statement)]


def differ(path: Path) -> None:
    """Give a state file what another version of the program may have given it."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        first = tables(connection)[0]
        connection.execute(f"CREATE INDEX extra ON {first} (1)")
        connection.execute(f"CREATE VIEW extra_view AS SELECT 1 AS one FROM {first}")
        for table in tables(connection):
            connection.execute(f"ALTER TABLE {table} ADD COLUMN extra TEXT DEFAULT 'later'")


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_state_file_of_a_later_version_keeps_its_rows(tmp_path: Path, name: str):
    made(tmp_path / "a.db", name).close()
    differ(tmp_path / "a.db")
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        migrate(connection, name)
        for table in tables(connection):
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (1,)


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_state_file_of_an_earlier_version_gets_what_it_lacks(tmp_path: Path, name: str):
    """It had no SQL index, and not the columns that may be empty."""
    with closing(made(tmp_path / "a.db", name)) as connection:
        wanted = schema(connection)
        for (index,) in connection.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL"
        ).fetchall():
            connection.execute(f"DROP INDEX {index}")
        for table in tables(connection):
            for _, column, _, required, default, key in connection.execute(
                f"PRAGMA table_info({table})"
            ).fetchall():
                if not key and (not required or default is not None):
                    connection.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
        migrate(connection, name)
        assert schema(connection) == wanted
        for table in tables(connection):
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (1,)


def schema(connection: sqlite3.Connection) -> set[tuple[str, str]]:
    """Return the names of columns and SQL indexes."""
    columns = {
        (table, row[1])
        for table in tables(connection)
        for row in connection.execute(f"PRAGMA table_info({table})")
    }
    indexes = connection.execute("SELECT tbl_name, name FROM sqlite_schema WHERE type = 'index'")
    return columns | set(indexes)


def test_a_state_file_that_older_programs_cannot_use_is_refused(tmp_path: Path):
    with closing(made(tmp_path / "a.db", "jobs.sql")) as connection:
        connection.execute("PRAGMA user_version = 1")
        with pytest.raises(Unavailable, match="STATE_TOO_NEW"):
            migrate(connection, "jobs.sql")


@pytest.mark.parametrize("kind", ["jobs", "vectors"])
async def test_no_opener_sets_another_version_aside(tmp_path: Path, kind: str):
    async def opened() -> None:
        if kind == "jobs":
            async with open_jobs(path):
                pass
        else:
            open_vectors(path).__exit__()

    path = tmp_path / f"{kind}.db"
    await opened()
    differ(path)
    await opened()
    assert list(tmp_path.glob("*.damaged")) == []


# --- the log of writes --------------------------------------------------------------------------


@pytest.fixture
def log_file(tmp_path: Path) -> Path:
    """Return a log with an unfinished write and the bytes before and after it."""
    path = tmp_path / "writes.db"
    log = WriteLog.open(path, tmp_path / "before")
    log.keep(BYTES)
    change = VaultChange.edit("A.md", *BYTES)
    log.begin(
        LoggedWrite(
            write_id="a", at=1, agent="", client="cli", operation="append", changes=(change,)
        )
    )
    log.close()
    return path


def kept(tmp_path: Path) -> int:
    return len(list((tmp_path / "before").iterdir()))


def test_an_upgrade_keeps_the_log_of_writes_and_its_bytes(log_file: Path, tmp_path: Path):
    differ(log_file)
    log = WriteLog.open(log_file, tmp_path / "before")
    log.expire(2, days=30, size=1 << 29)
    [unfinished] = log.unfinished()
    assert log.bytes_of(unfinished.changes[0].hash_before) == BYTES[0]
    assert kept(tmp_path) == 2
    log.close()


@pytest.mark.parametrize("damage", ["page", "header", "empty", "gone", "another schema"])
def test_a_damaged_log_of_writes_stays_with_its_bytes(log_file: Path, tmp_path: Path, damage: str):
    if damage == "page":
        with log_file.open("r+b") as file:
            file.seek(4096)
            file.write(b"\xff" * 4096)
    elif damage == "header":
        log_file.write_bytes(b"SQLite format 3\0" + b"damage" * 1000)
    elif damage == "empty":
        log_file.write_bytes(b"")
    elif damage == "gone":
        log_file.unlink()
    else:
        with closing(sqlite3.connect(log_file)) as connection:
            connection.execute("ALTER TABLE change RENAME COLUMN kind TO sort")
    held = log_file.read_bytes() if damage != "gone" else None
    with pytest.raises(Unavailable, match="WRITE_LOG_DAMAGED"):
        WriteLog.open(log_file, tmp_path / "before")
    assert kept(tmp_path) == 2
    assert list(tmp_path.glob("*.damaged")) == []
    if damage != "another schema":
        assert (log_file.read_bytes() if log_file.exists() else None) == held


def test_damage_that_shows_while_the_log_is_open_is_no_full_disk(log_file: Path, tmp_path: Path):
    log = WriteLog.open(log_file, tmp_path / "before")
    with closing(sqlite3.connect(log_file)) as connection:
        connection.execute("DROP TABLE change")
    with pytest.raises(Unavailable, match="WRITE_LOG_DAMAGED"):
        log.unfinished()
    log.close()
