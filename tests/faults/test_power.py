"""Published or saved data is synced first, so that a power cut does not lose it.

A note's new text, its old text and the log are synced before the note changes, and its name after.

Each test follows one run call by call, whether Python, SQLite or the full-text engine makes it.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.faults.disk import build, compiler
from tests.faults.failing_writes import OPERATIONS
from tests.faults.power import Volatile, calls_of

pytestmark = pytest.mark.skipif(compiler() is None, reason="needs Linux and a C compiler")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the library that records calls."""
    return build(tmp_path_factory.mktemp("tracing"))


@pytest.mark.fault(
    "The index",
    "the power fails",
    "a published index and its vectors were synced to disk before publication",
)
@pytest.mark.parametrize(
    ("scenario", "number"), [("first", 1), pytest.param("reindex", 2, marks=pytest.mark.long)]
)
def test_a_generation_is_synced_before_it_becomes_current(
    library: Path, tmp_path: Path, scenario: str, number: int
):
    volatile = Volatile()
    published = 0
    for call, path in calls_of(library, tmp_path, scenario):
        if (call, path) == ("rename", "index/current"):
            published += 1
            assert volatile.below(f"index/generation-{number}/") == set()
            assert volatile.unfinished(path).isdisjoint(volatile.content)
        volatile.take(call, path)
    assert published == 1
    assert volatile.below("index/current", f"index/generation-{number}") == set()


def test_full_text_is_synced_before_its_transaction(library: Path, tmp_path: Path):
    volatile = Volatile()
    written, added = 0, False
    for call, path in calls_of(library, tmp_path, "incremental"):
        added = added or (call == "open" and path.endswith(".term"))
        if path == "index/generation-1/index.db-wal" and call.startswith("pwrite"):
            written += 1
            assert added
            assert volatile.below("index/generation-1/fulltext") == set()
        volatile.take(call, path)
    assert written
    assert volatile.below("index/generation-1/") == set()


def test_vectors_are_synced_before_their_transaction(library: Path, tmp_path: Path):
    volatile = Volatile()
    saved = recorded = 0
    for call, path in calls_of(library, tmp_path, "embed"):
        saved += path == "index/vectors/1.rows" and call.startswith(("write", "pwrite"))
        if saved and path == "index/vectors.db-wal" and call.startswith("pwrite"):
            recorded += 1
            assert volatile.below("index/vectors/") == set()
        volatile.take(call, path)
    assert saved
    assert recorded


@pytest.mark.fault(
    "Writing",
    "the power fails in a write",
    "text, old text and log were synced before the note changed, its name before the reply",
)
@pytest.mark.parametrize(
    "operation",
    [
        name if name in ("overwrite", "move") else pytest.param(name, marks=pytest.mark.long)
        for name in sorted(OPERATIONS)
    ],
)
def test_a_write_is_synced_before_a_note_changes_and_before_its_reply(
    library: Path, tmp_path: Path, operation: str
):
    volatile = Volatile()
    changes = 0
    # Of these the log is enough to finish what a power cut interrupts. Of the others, the text
    # after is kept too, but only a later look at what was displaced needs it.
    may_be_lost = 0 if operation in ("move", "undo") else 1
    for call, path in calls_of(library, tmp_path, operation):
        if call.startswith("rename") and path.startswith("vault/"):
            changes += 1
            assert {each for each in volatile.content if each.startswith("vault/")} <= {path}
            if changes == 1:
                assert "data/writes.db-wal" not in volatile.content
                assert len(volatile.below("data/writes/before/")) <= may_be_lost
        volatile.take(call, path)
    assert changes
    assert {path for path in volatile.below("vault/") if "/.va-" not in path} == set()
