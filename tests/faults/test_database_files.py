"""Only SQLite touches a database in use, in every process of the program."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from tests.product.endpoint import running_endpoint
from tests.product.program import Program

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="asks Linux what is open")

WATCHING = Path(__file__).parent / "watching"


def test_only_sqlite_opens_or_replaces_a_database_in_use(tmp_path: Path):
    """Covers a first index, a change, a rebuild, embeddings, damage and two starts."""
    report = tmp_path / "report"
    paths = [str(WATCHING), *filter(None, [os.environ.get("PYTHONPATH")])]
    program = Program(tmp_path)
    program.write("Bread.md", "# Bread\n\nFlour and water.\n")
    with running_endpoint(program):
        program.variables |= {"WATCH_REPORT": str(report), "PYTHONPATH": os.pathsep.join(paths)}
        try:
            program.start()
            program.index()
            program.write("Starter.md", "# Starter\n\nFeed it. [[Bread]]\n")
            program.index()
            program.index("reindex")
            assert program.search("flour").status == 200
            program.stop()
            for name in ("jobs.db", "vectors.db"):
                [damaged] = program.indexes.rglob(name)
                damaged.write_bytes(b"\xff" * 8192)
            program.start()
            assert program.search("flour").status == 200
            program.index()
            program.stop()
        finally:
            program.close()
    seen = set(report.read_text().splitlines())
    databases = ("index.db", "jobs.db", "vectors.db")
    assert seen == {f"SQLite opened {name}" for name in (*databases, ":memory:")}
