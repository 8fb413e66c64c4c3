"""The floors: the least work that each task needs. Each command prints wall and CPU seconds.

    python -m benchmarks floor fts VAULT DATABASE    read every note into one FTS5 table
    python -m benchmarks floor walk VAULT            stat every file, read none

Each runs in a separate process, so that the benchmark does not slow it down. The start of Python
is not counted.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path


def notes(vault: str):
    """Yield the path of every note."""
    for folder, _, names in os.walk(vault):
        for name in names:
            if name.endswith(".md"):
                yield os.path.join(folder, name)  # noqa: PTH118 - the fastest way


def fts(vault: str, database: str) -> None:
    """Read each file and insert its text into one FTS5 table, in one transaction."""
    Path(database).unlink(missing_ok=True)
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("CREATE VIRTUAL TABLE note USING fts5(path UNINDEXED, text)")
        connection.executemany(
            "INSERT INTO note VALUES (?, ?)",
            ((path, Path(path).read_text("utf-8", "replace")) for path in notes(vault)),
        )


def walk(vault: str) -> None:
    """Walk the vault and stat every note."""
    for path in notes(vault):
        os.stat(path)  # noqa: PTH116 - as above


if __name__ == "__main__":
    wall, cpu = time.perf_counter(), time.process_time()
    {"fts": fts, "walk": walk}[sys.argv[1]](*sys.argv[2:])
    print(time.perf_counter() - wall, time.process_time() - cpu)
