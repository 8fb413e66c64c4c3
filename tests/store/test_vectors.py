"""Saved vectors are kept, and searches use exactly the saved ones."""

import errno
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from vault_agent.errors import Failed
from vault_agent.model.vectors import VectorSpace
from vault_agent.store.database import set_aside
from vault_agent.store.vectors import open_matrix, open_vectors

DIMENSION = 72
GENERATION = 5
GENERATOR = np.random.default_rng(3)


def units(count, dimension=DIMENSION):
    vectors = GENERATOR.standard_normal((count, dimension)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def space(**changes):
    probe = np.eye(1, DIMENSION, dtype="<f4").tobytes()
    return replace(VectorSpace("m", DIMENSION, "", "", probe), **changes)


def keys(count, start=0):
    return [i.to_bytes(16) for i in range(start, start + count)]


def chunk_keys(count):
    return (np.arange(count, dtype=np.int64) + 1) << 20


@pytest.fixture
def database(tmp_path):
    return tmp_path / "vectors.db"


def reopen(database):
    return open_matrix(database, GENERATION)


def test_saved_vectors_are_found_by_the_next_run(database):
    with open_vectors(database) as store:
        store.use(space())
        plan = store.plan(chunk_keys(5), keys(5))
        assert [key for key, _ in plan.missing] == keys(5)
        store.save(keys(3), units(3))
    with open_vectors(database) as store:
        store.use(space())
        plan = store.plan(chunk_keys(5), keys(5))
        assert [key for key, _ in plan.missing] == keys(2, 3)


def test_a_published_matrix_has_every_chunks_vector(database):
    vectors = units(10)
    with open_vectors(database) as store:
        store.use(space())
        plan = store.plan(chunk_keys(12)[::-1].copy(), keys(12))
        plan.fill(keys(10), store.save(keys(10), vectors))
        store.publish(plan, GENERATION)
    matrix = reopen(database)
    assert matrix.space == space()
    assert matrix.count == 10
    having, rows = matrix.find(chunk_keys(12)[::-1])
    assert having.tolist() == chunk_keys(12)[::-1][:10].tolist()
    assert np.allclose(matrix.centre, vectors.mean(axis=0), atol=1e-6)
    assert np.array_equal(matrix.vectors[rows], vectors)
    found, scores = matrix.chunks_of(rows, np.arange(10, dtype=np.float32))
    assert found.tolist() == chunk_keys(12)[::-1][:10].tolist()
    assert scores.tolist() == list(range(10))


def test_chunks_with_the_same_text_share_a_vector(database):
    with open_vectors(database) as store:
        store.use(space())
        plan = store.plan(chunk_keys(4), [b"a" * 16, b"b" * 16, b"a" * 16, b"a" * 16])
        assert len(list(plan.missing)) == 2
        plan.fill([b"a" * 16, b"b" * 16], store.save([b"a" * 16, b"b" * 16], units(2)))
        store.publish(plan, GENERATION)
    matrix = reopen(database)
    found, scores = matrix.chunks_of(np.array([1, 0]), np.array([0.5, 0.4], np.float32))
    assert found.tolist() == chunk_keys(4)[[1, 0, 2, 3]].tolist()
    assert scores.tolist() == pytest.approx([0.5, 0.4, 0.4, 0.4])


def test_an_open_matrix_does_not_change(database):
    first = units(5)
    with open_vectors(database) as store:
        store.use(space())
        plan = store.plan(chunk_keys(9), keys(9))
        plan.fill(keys(5), store.save(keys(5), first))
        store.publish(plan, GENERATION)
        before = reopen(database)
        plan.fill(keys(4, 5), store.save(keys(4, 5), units(4)))
        store.publish(plan, GENERATION)
        after = reopen(database)
    assert (before.count, after.count) == (5, 9)
    assert np.array_equal(before.vectors, first)


@pytest.mark.parametrize(
    "other",
    [
        {"model": "n"},
        {"query_prefix": "q: "},
        {"document_prefix": "d: "},
        {"dimension": 8, "probe": bytes(32)},
        {"probe": np.eye(1, DIMENSION, 1, dtype="<f4").tobytes()},
    ],
)
def test_vector_spaces_share_no_vectors(database, other):
    with open_vectors(database) as store:
        store.use(space())
        store.save(keys(3), units(3))
        store.use(space(**other))
        assert len((store.plan(chunk_keys(3), keys(3))).waiting) == 3
        store.use(space())
        assert not (store.plan(chunk_keys(3), keys(3))).waiting


def test_a_slightly_different_probe_is_the_same_space(database):
    probe = np.zeros(DIMENSION, "<f4")
    probe[:2] = np.cos(0.01), np.sin(0.01)
    with open_vectors(database) as store:
        store.use(space())
        store.save(keys(3), units(3))
        store.use(space(probe=probe.tobytes()))
        assert not (store.plan(chunk_keys(3), keys(3))).waiting


def test_fresh_vectors_replace_the_old_ones_once_they_are_complete(database):
    with open_vectors(database) as store:
        store.use(space())
        store.save(keys(3), units(3))
        store.use(space(), fresh=True)
        plan = store.plan(chunk_keys(3), keys(3))
        assert len(plan.waiting) == 3
        plan.fill(keys(3), store.save(keys(3), units(3)))
        store.tidy(plan, GENERATION)
    assert len(list(database.with_suffix("").iterdir())) == 1
    assert reopen(database).count == 3


def test_unused_vectors_are_kept_up_to_a_third(database):
    vectors = units(6000)
    with open_vectors(database) as store:
        store.use(space())
        store.save(keys(6000), vectors)
        few = store.plan(chunk_keys(5000), keys(5000))
        store.tidy(few, GENERATION)
        assert not (store.plan(chunk_keys(6000), keys(6000))).waiting
        some = store.plan(chunk_keys(3000), keys(3000, 1500))
        store.tidy(some, GENERATION)
        assert len((store.plan(chunk_keys(6000), keys(6000))).waiting) == 3000
        plan = store.plan(chunk_keys(3001), keys(3001, 1500))
        plan.fill(keys(1, 4500), store.save(keys(1, 4500), vectors[4500:4501]))
        store.publish(plan, GENERATION)
    matrix = reopen(database)
    assert len(matrix.vectors) == 3001
    assert np.array_equal(matrix.vectors[matrix.find(chunk_keys(3001))[1]], vectors[1500:4501])


def test_a_mapped_row_is_never_reused(database):
    with open_vectors(database) as store:
        store.use(space())
        plan = store.plan(chunk_keys(4), keys(4))
        plan.fill(keys(4), store.save(keys(4), units(4)))
        store.publish(plan, GENERATION)
    with open_vectors(database) as store:
        store.use(space())
        store._connection.execute("DELETE FROM vector WHERE row = 3")
    with open_vectors(database) as store:
        store.use(space())
        assert store.save(keys(1, 9), units(1)) == 4


def save_four(database):
    """Save and publish four vectors, and return them and their file."""
    vectors = units(4)
    with open_vectors(database) as store:
        store.use(space())
        store.save(keys(4), vectors)
        store.publish(store.plan(chunk_keys(4), keys(4)), GENERATION)
    [rows] = database.with_suffix("").glob("*.rows")
    return vectors, rows


def test_rows_that_were_cut_off_are_embedded_again(database):
    _, rows = save_four(database)
    with rows.open("r+b") as file:
        file.truncate(3 * DIMENSION * 4 + 5)
    assert reopen(database) is None
    with open_vectors(database) as store:
        store.use(space())
        plan = store.plan(chunk_keys(4), keys(4))
        assert [key for key, _ in plan.missing] == keys(1, 3)
        assert store.published(GENERATION) is None


def test_a_vector_that_was_not_written_is_not_recorded(database, monkeypatch):
    with open_vectors(database) as store:
        store.use(space())
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", fail)
            with pytest.raises(OSError, match="no room"):
                store.save(keys(4), units(4))
        assert len(store.plan(chunk_keys(4), keys(4)).waiting) == 4


def fail(*_):
    raise OSError(errno.ENOSPC, "no room")


def test_a_row_that_was_not_recorded_is_of_no_text(database, monkeypatch):
    """A power cut may keep a row of a file and lose the statement that refers to it."""
    vectors, _ = save_four(database)
    with open_vectors(database) as store:
        store.use(space())
        store.save(keys(4, 4), units(4))
        store._connection.execute("DELETE FROM vector WHERE row >= 4")
    with open_vectors(database) as store:
        store.use(space())
        plan = store.plan(chunk_keys(8), keys(8))
        assert [key for key, _ in plan.missing] == keys(4, 4)
    assert np.array_equal(reopen(database).vectors, vectors)


def test_an_interrupted_copy_loses_no_vector(database, monkeypatch):
    monkeypatch.setattr("vault_agent.store.vectors._UNUSED_LEAST", 1)
    vectors, _ = save_four(database)
    with open_vectors(database) as store:
        store.use(space())
        monkeypatch.setattr(os, "fsync", fail)
        with pytest.raises(Failed, match="DISK_FULL"):
            store.tidy(store.plan(chunk_keys(1), keys(1)), GENERATION)
        monkeypatch.undo()
        assert not store.plan(chunk_keys(4), keys(4)).waiting
    assert np.array_equal(reopen(database).vectors, vectors)


def test_vectors_of_an_earlier_version_are_taken_over(database):
    vectors, rows = save_four(database)
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("DROP TABLE published")
        connection.execute("ALTER TABLE space ADD COLUMN ready INTEGER NOT NULL DEFAULT 1")
        connection.execute("ALTER TABLE space ADD COLUMN synced INTEGER NOT NULL DEFAULT 4")
        connection.execute("ALTER TABLE vector ADD COLUMN crc INTEGER NOT NULL DEFAULT 7")
        connection.execute("CREATE TABLE failure (space INTEGER, key BLOB, reason TEXT NOT NULL)")
        copied = "model, dimension, query_prefix, document_prefix, probe"
        connection.execute(
            f"INSERT INTO space (id, {copied}, ready) SELECT 2, {copied}, 0 FROM space"
        )
    with open_vectors(database) as store:
        store.use(space())
        plan = store.plan(chunk_keys(4), keys(4))
        assert not plan.waiting
        store.tidy(plan, GENERATION)
    matrix = reopen(database)
    assert np.array_equal(matrix.vectors[matrix.find(chunk_keys(4))[1]], vectors)
    assert rows.exists()
    assert not database.with_suffix(".damaged").exists()


@pytest.mark.fault(
    "The index",
    "a page of the database of vectors is damaged, or a file of vectors is cut off",
    "those vectors are not used; the next run makes them again",
)
@pytest.mark.parametrize(
    "damage",
    [
        lambda database: database.unlink(),
        lambda database: database.write_bytes(b"\xff" * 8192),
        lambda database: next(database.with_suffix("").iterdir()).unlink(),
        lambda database: os.truncate(next(database.with_suffix("").iterdir()), 9),
    ],
)
def test_damaged_vectors_are_not_opened(database, damage):
    save_four(database)
    damage(database)
    assert reopen(database) is None


def test_a_generation_uses_nothing_that_was_published_for_another(database):
    save_four(database)
    assert open_matrix(database, GENERATION + 1) is None


def test_a_damaged_database_is_set_aside_and_its_rows_are_not_used(database):
    with open_vectors(database) as store:
        store.use(space())
        store.save(keys(4), units(4))
    database.write_bytes(b"\xff" * 8192)
    with open_vectors(database) as store:
        store.use(space())
        assert len((store.plan(chunk_keys(4), keys(4))).waiting) == 4
    assert database.with_suffix(".damaged").exists()


def test_a_set_aside_database_keeps_its_write_ahead_log(database):
    journals = [
        database.with_name(f"vectors.db{suffix}") for suffix in ("-journal", "-wal", "-shm")
    ]
    for file in (database, *journals):
        file.write_bytes(b"which SQLite would take for the new database's")
    set_aside(database)
    assert sorted(file.name for file in database.parent.glob("vectors*.*")) == [
        "vectors.damaged",
        "vectors.damaged-journal",
        "vectors.damaged-wal",
    ]


def test_the_rows_of_a_database_that_was_set_aside_stay(database):
    with open_vectors(database) as store:
        store.use(space())
        store.save(keys(4), units(4))
    [rows] = database.with_suffix("").glob("*.rows")
    held = rows.read_bytes()
    database.write_bytes(b"\xff" * 8192)
    with open_vectors(database) as store:
        store.use(space())
        plan = store.plan(chunk_keys(4), keys(4))
        plan.fill(keys(4), store.save(keys(4), units(4)))
        store.tidy(plan, GENERATION)
    assert rows.read_bytes() == held


def test_a_matrix_may_be_empty(database):
    with open_vectors(database) as store:
        store.use(space())
        store.publish(store.plan(chunk_keys(0), []), GENERATION)
    matrix = reopen(database)
    assert matrix.count == 0


_SAVE_AND_TELL = """
import sys
import sqlite3
from contextlib import closing
from pathlib import Path
from tests.store.test_vectors import keys, space, units
from vault_agent.store.vectors import open_vectors

with open_vectors(Path(sys.argv[1])) as store:
    store.use(space())
    for start in range(0, 100_000, 16):
        store.save(keys(16, start), units(16))
        print(start + 16, flush=True)
"""


def test_a_kill_loses_no_saved_vector(database):
    for seconds in (0.05, 0.2):
        process = subprocess.Popen(
            [sys.executable, "-c", _SAVE_AND_TELL, database], stdout=subprocess.PIPE, text=True
        )
        process.stdout.readline()
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(seconds)
        process.kill()
        acknowledged = int(process.communicate()[0].split()[-1])
        with open_vectors(database) as store:
            store.use(space())
            plan = store.plan(chunk_keys(acknowledged), keys(acknowledged))
            assert not plan.waiting
            assert plan.rows.max() < 200_000
