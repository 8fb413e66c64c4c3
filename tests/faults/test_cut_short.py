"""Index files are truncated while a server maps some of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.product.endpoint import running_endpoint
from tests.support.program import Program
from tests.support.waiting import eventually

from vault_agent.model.identifiers import identify

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a mapped file cannot be cut there")

WITNESSES = ("generation-*/fulltext/notes/*.term", "generation-*/index.db")
OTHERS = (
    "generation-*/fulltext/chunks/*.idx",
    "generation-*/index.db-shm",
    "vectors/*.rows",
    *(f"generation-*/fulltext/notes/*.{kind}" for kind in ("idx", "pos", "fieldnorm", "store")),
    *(f"generation-*/fulltext/chunks/*.{kind}" for kind in ("term", "pos", "fast", "fieldnorm")),
    "generation-*/index.db-wal",
    "vectors.db",
    "current",
)


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    with Program(tmp_path) as made, running_endpoint(made):
        for number in range(3):
            text = f"# Bread {number}\n\nFlour and water. [[Starter]]\n"
            made.write(f"Bread {number}.md", text)
        made.write("Starter.md", "# Starter\n\nFeed the sourdough. [[Bread 1]]\n")
        made.start()
        made.index()
        made.write("Rye.md", "# Rye\n\nA second revision, so that there is a log.\n")
        made.index()
        yield made


def ask_everything(program: Program) -> list[int]:
    """Send every request that reads the index and return the statuses."""
    replies = [
        *(program.search("sourdough flour bread", mode=mode) for mode in ("lexical", "hybrid")),
        program.search("sourdough sourdoguh", filters={"paths": ["*.md"]}),
        program.call("POST", "/related", {"id": identify("Starter.md")}),
        program.call("GET", f"/notes/{identify('Starter.md')}"),
        program.call("GET", "/health"),
    ]
    for reply in replies:
        assert reply.status == 200 or reply.code == "INDEX_INCOMPATIBLE", reply
    return [reply.status for reply in replies]


def repaired(program: Program) -> set[int]:
    """Return the statuses of every request, after the rebuild that the server has begun."""
    if (running := program.call("GET", "/health").data["runningJob"]) is not None:
        program.finish(running)
    return set(ask_everything(program))


@pytest.mark.fault(
    "The index",
    "a file of the index is truncated under a running server",
    "the next search is refused (`INDEX_INCOMPATIBLE`) or answered, and the server "
    "lives and rebuilds the index. Not covered: a "
    "truncation between the check of the size and the read ends the process",
)
@pytest.mark.parametrize("patterns", [WITNESSES, pytest.param(OTHERS, marks=pytest.mark.long)])
def test_a_server_survives_truncation_of_any_index_file(
    program: Program, patterns: tuple[str, ...]
):
    assert set(ask_everything(program)) == {200}
    server = program.server
    assert server is not None
    [folder] = (program.indexes / "indexes").iterdir()
    for pattern in patterns:
        file = max(folder.glob(pattern))
        os.truncate(file, 0)
        eventually(lambda: repaired(program), lambda statuses: statuses == {200})
        assert server.poll() is None, file.name
        if file.name == "current":
            program.index("reindex")
