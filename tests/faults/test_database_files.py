"""Only SQLite touches a database in use, in every process of the program."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.product.endpoint import running_endpoint
from tests.support.program import Program

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="asks Linux what is open")

WATCHING = Path(__file__).parent / "watching"


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    """Return a program whose processes report what opens databases, with an embedded index."""
    paths = [str(WATCHING), *filter(None, [os.environ.get("PYTHONPATH")])]
    made = Program(tmp_path)
    made.write("Bread.md", "# Bread\n\nFlour and water.\n")
    with running_endpoint(made):
        report = {"WATCH_REPORT": str(tmp_path / "report"), "PYTHONPATH": os.pathsep.join(paths)}
        made.variables |= report
        try:
            made.start()
            assert made.finish_first()["state"] == "succeeded"
            yield made
        finally:
            made.close()


def assert_only_sqlite_used_databases(program: Program) -> None:
    seen = set(Path(program.variables["WATCH_REPORT"]).read_text().splitlines())
    databases = ("index.db", "jobs.db", "vectors.db", ":memory:")
    assert seen == {f"SQLite opened {name}" for name in databases}


@pytest.mark.fault(
    "The index",
    "other code opens the database file in use, or replaces it under its name",
    "never happens: a rebuild uses a new folder beside the old one",
)
def test_only_sqlite_opens_or_replaces_a_database_in_use(program: Program):
    """Covers a first index, a change, a rebuild and embeddings."""
    program.write("Starter.md", "# Starter\n\nFeed it. [[Bread]]\n")
    program.index()
    program.index("reindex")
    assert program.search("flour").status == 200
    program.stop()
    assert_only_sqlite_used_databases(program)
