"""Saved vectors are kept, and searches use exactly the saved ones."""

import asyncio
import errno
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from dataclasses import replace

import anyio
import numpy as np
import pytest

from vault_agent.model.vectors import VectorSpace
from vault_agent.store.database import set_aside
from vault_agent.store.vectors.cache import VectorStore, open_vectors
from vault_agent.store.vectors.matrix import BLOCK, RowFiles, open_matrix, signs

DIMENSION = 72  # not a multiple of 64
GENERATOR = np.random.default_rng(3)


async def failures_of(store: VectorStore) -> dict[bytes, str]:
    return dict(await store._connection.execute_fetchall("SELECT key, reason FROM failure"))


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


@pytest.fixture
def map_path(tmp_path):
    return tmp_path / "vectors.map"


def reopen(database, map_path):
    return open_matrix(map_path, database.with_suffix(""))


async def test_saved_vectors_are_found_by_the_next_run(database):
    async with open_vectors(database) as store:
        await store.use(space())
        plan = await store.plan(chunk_keys(5), keys(5))
        assert [key for key, _ in plan.missing] == keys(5)
        await store.save(keys(3), units(3))
    async with open_vectors(database) as store:
        await store.use(space())
        plan = await store.plan(chunk_keys(5), keys(5))
        assert [key for key, _ in plan.missing] == keys(2, 3)


async def test_a_published_matrix_has_every_chunks_vector(database, map_path):
    vectors = units(10)
    async with open_vectors(database) as store:
        await store.use(space())
        plan = await store.plan(chunk_keys(12)[::-1].copy(), keys(12))
        plan.fill(keys(10), await store.save(keys(10), vectors))
        await store.publish(plan, map_path)
    matrix = reopen(database, map_path)
    assert matrix.space == space()
    assert (matrix.count, matrix.total) == (10, 12)
    having, rows = matrix.find(chunk_keys(12)[::-1])
    assert having.tolist() == chunk_keys(12)[::-1][:10].tolist()
    assert np.allclose(matrix.centre, vectors.mean(axis=0), atol=1e-6)
    assert np.array_equal(matrix.vectors[rows], vectors)
    found, scores = matrix.chunks_of(rows, np.arange(10, dtype=np.float32))
    assert found.tolist() == chunk_keys(12)[::-1][:10].tolist()
    assert scores.tolist() == list(range(10))


async def test_chunks_with_the_same_text_share_a_vector(database, map_path):
    async with open_vectors(database) as store:
        await store.use(space())
        plan = await store.plan(chunk_keys(4), [b"a" * 16, b"b" * 16, b"a" * 16, b"a" * 16])
        assert len(list(plan.missing)) == 2
        plan.fill([b"a" * 16, b"b" * 16], await store.save([b"a" * 16, b"b" * 16], units(2)))
        await store.publish(plan, map_path)
    matrix = reopen(database, map_path)
    found, scores = matrix.chunks_of(np.array([1, 0]), np.array([0.5, 0.4], np.float32))
    assert found.tolist() == chunk_keys(4)[[1, 0, 2, 3]].tolist()
    assert scores.tolist() == pytest.approx([0.5, 0.4, 0.4, 0.4])


async def test_sign_planes_are_correct_across_blocks_and_restarts(database, map_path):
    parts = [units(BLOCK - 3), units(2), units(7), units(BLOCK)]
    done = 0
    for part in parts:
        async with open_vectors(database) as store:
            await store.use(space())
            await store.save(keys(len(part), done), part)
            done += len(part)
            plan = await store.plan(chunk_keys(done), keys(done))
            await store.publish(plan, map_path)
    matrix = reopen(database, map_path)
    expected = signs(np.vstack(parts))
    blocks, words, rows = matrix.planes.shape
    flat = matrix.planes.transpose(0, 2, 1).reshape(blocks * rows, words)
    assert np.array_equal(flat[:done], expected)
    assert np.array_equal(matrix.signs(parts[0][0]), expected[0])


async def test_an_open_matrix_does_not_change(database, map_path):
    first = units(5)
    async with open_vectors(database) as store:
        await store.use(space())
        plan = await store.plan(chunk_keys(9), keys(9))
        plan.fill(keys(5), await store.save(keys(5), first))
        await store.publish(plan, map_path)
        before = reopen(database, map_path)
        plan.fill(keys(4, 5), await store.save(keys(4, 5), units(4)))
        await store.publish(plan, map_path)
        after = reopen(database, map_path)
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
async def test_vector_spaces_share_no_vectors(database, other):
    async with open_vectors(database) as store:
        await store.use(space())
        await store.save(keys(3), units(3))
        await store.use(space(**other))
        assert len((await store.plan(chunk_keys(3), keys(3))).waiting) == 3
        await store.use(space())
        assert not (await store.plan(chunk_keys(3), keys(3))).waiting


async def test_a_slightly_different_probe_is_the_same_space(database):
    probe = np.zeros(DIMENSION, "<f4")
    probe[:2] = np.cos(0.01), np.sin(0.01)
    async with open_vectors(database) as store:
        await store.use(space())
        await store.save(keys(3), units(3))
        await store.use(space(probe=probe.tobytes()))
        assert not (await store.plan(chunk_keys(3), keys(3))).waiting


async def test_fresh_vectors_replace_the_old_ones_once_they_are_complete(database, map_path):
    async with open_vectors(database) as store:
        await store.use(space())
        await store.save(keys(3), units(3))
        await store.use(space(), fresh=True)
        plan = await store.plan(chunk_keys(3), keys(3))
        assert len(plan.waiting) == 3
        plan.fill(keys(3), await store.save(keys(3), units(3)))
        await store.tidy(plan, map_path)
    assert len(list(database.with_suffix("").iterdir())) == 2
    assert reopen(database, map_path).count == 3


async def test_failures_are_marked_until_they_succeed(database):
    async with open_vectors(database) as store:
        await store.use(space())
        await store.fail([(key, "rejected") for key in keys(3)])
        await store.save(keys(1), units(1))
        assert await failures_of(store) == dict.fromkeys(keys(2, 1), "rejected")


async def test_unused_vectors_are_kept_up_to_a_third(database, map_path):
    vectors = units(6000)
    async with open_vectors(database) as store:
        await store.use(space())
        await store.save(keys(6000), vectors)
        few = await store.plan(chunk_keys(5000), keys(5000))
        await store.tidy(few, map_path)
        assert not (await store.plan(chunk_keys(6000), keys(6000))).waiting
        some = await store.plan(chunk_keys(3000), keys(3000, 1500))
        await store.tidy(some, map_path)
        assert len((await store.plan(chunk_keys(6000), keys(6000))).waiting) == 3000
        plan = await store.plan(chunk_keys(3001), keys(3001, 1500))
        plan.fill(keys(1, 4500), await store.save(keys(1, 4500), vectors[4500:4501]))
        await store.publish(plan, map_path)
    matrix = reopen(database, map_path)
    assert len(matrix.vectors) == 3001
    assert np.array_equal(matrix.vectors[matrix.find(chunk_keys(3001))[1]], vectors[1500:4501])


async def test_rows_lost_in_a_power_cut_are_embedded_again(database, map_path):
    async with open_vectors(database) as store:
        await store.use(space())
        await store.save(keys(4), units(4))
    rows = next(database.with_suffix("").glob("*.rows"))
    with rows.open("r+b") as file:
        file.seek(2 * DIMENSION * 4)
        file.write(bytes(DIMENSION * 4))
        file.truncate(3 * DIMENSION * 4 + 5)
    async with open_vectors(database) as store:
        await store.use(space())
        plan = await store.plan(chunk_keys(4), keys(4))
        assert [key for key, _ in plan.missing] == keys(2, 2)


@pytest.mark.parametrize("killed", ["before the rows are dropped", "before a map is published"])
async def test_lost_rows_are_noticed_after_a_kill(database, map_path, monkeypatch, killed):
    async with open_vectors(database) as store:
        await store.use(space())
        plan = await store.plan(chunk_keys(4), keys(4))
        plan.fill(keys(4), await store.save(keys(4), units(4)))
        await store.publish(plan, map_path)
    with next(database.with_suffix("").glob("*.rows")).open("r+b") as file:
        file.truncate(2 * DIMENSION * 4)

    async def kill(*_):
        raise KeyboardInterrupt

    async with open_vectors(database) as store:
        if killed == "before the rows are dropped":
            monkeypatch.setattr(VectorStore, "_drop_damaged", kill)
            with pytest.raises(KeyboardInterrupt):
                await store.use(space())
            monkeypatch.undo()
        else:
            await store.use(space())
    async with open_vectors(database) as store:
        await store.use(space())
        assert not await store.vouches_for(reopen(database, map_path))
        plan = await store.plan(chunk_keys(4), keys(4))
        assert [key for key, _ in plan.missing] == keys(2, 2)
        await store.publish(plan, map_path)
    async with open_vectors(database) as store:
        await store.use(space())
        assert await store.vouches_for(reopen(database, map_path))


async def test_sign_planes_are_rebuilt_after_a_power_cut(database, map_path):
    vectors = units(4)
    async with open_vectors(database) as store:
        await store.use(space())
        await store.save(keys(4), vectors)
    next(database.with_suffix("").glob("*.planes")).write_bytes(b"")
    async with open_vectors(database) as store:
        await store.use(space())
        await store.publish(await store.plan(chunk_keys(4), keys(4)), map_path)
    [block] = reopen(database, map_path).planes
    assert np.array_equal(block.T[:4], signs(vectors))


async def test_a_vector_that_was_not_written_is_not_recorded(database, monkeypatch):
    def fail(*_):
        raise OSError(errno.ENOSPC, "no room")

    async with open_vectors(database) as store:
        await store.use(space())
        monkeypatch.setattr("vault_agent.store.vectors.matrix._write_at", fail)
        with pytest.raises(OSError, match="no room"):
            await store.save(keys(4), units(4))
        assert len((await store.plan(chunk_keys(4), keys(4))).waiting) == 4


async def test_a_mapped_row_is_never_reused(database, map_path):
    async with open_vectors(database) as store:
        await store.use(space())
        plan = await store.plan(chunk_keys(4), keys(4))
        plan.fill(keys(4), await store.save(keys(4), units(4)))
        await store.publish(plan, map_path)
    async with open_vectors(database) as store:
        await store.use(space())
        await store._connection.execute_fetchall("DELETE FROM vector WHERE row = 3")
    async with open_vectors(database) as store:
        await store.use(space())
        assert await store.save(keys(1, 9), units(1)) == 4


async def test_an_interrupted_copy_loses_no_vector(database, map_path, monkeypatch):
    monkeypatch.setattr("vault_agent.store.vectors.cache._UNUSED_LEAST", 1)
    append = RowFiles.append

    def fail_in_the_copy(files, vectors):
        if files.next_row == 0:
            raise OSError(errno.EIO, "cut off")
        return append(files, vectors)

    async with open_vectors(database) as store:
        await store.use(space())
        await store.save(keys(10), units(10))
        monkeypatch.setattr(RowFiles, "append", fail_in_the_copy)
        with pytest.raises(OSError, match="cut off"):
            await store.tidy(await store.plan(chunk_keys(3), keys(3)), map_path)
    async with open_vectors(database) as store:
        await store.use(space())
        assert not (await store.plan(chunk_keys(10), keys(10))).waiting


async def test_files_of_a_set_aside_database_are_not_written(database):
    async with open_vectors(database) as store:
        await store.use(space())
        await store.save(keys(4), units(4))
    [rows] = database.with_suffix("").glob("*.rows")
    held = rows.read_bytes()  # which a reader may have mapped
    database.write_bytes(b"\xff" * 8192)
    async with open_vectors(database) as store:
        await store.use(space())
        await store.save(keys(4), units(4))
    assert rows.read_bytes() == held


async def test_a_damaged_database_is_set_aside_and_its_rows_are_not_used(database):
    async with open_vectors(database) as store:
        await store.use(space())
        await store.save(keys(4), units(4))
    database.write_bytes(b"\xff" * 8192)
    async with open_vectors(database) as store:
        await store.use(space())
        assert len((await store.plan(chunk_keys(4), keys(4))).waiting) == 4
    assert database.with_suffix(".damaged").exists()


@pytest.mark.parametrize(
    "damage",
    [
        lambda path, _: path.unlink(),
        lambda path, _: path.write_bytes(path.read_bytes()[:-1]),
        lambda path, _: path.write_bytes(b""),
        lambda path, _: path.write_bytes(path.read_bytes().replace(b'"format":2', b'"format":9')),
        lambda path, _: path.write_bytes(path.read_bytes().replace(b'"files":1', b'"files":2')),
        lambda path, _: path.write_bytes(path.read_bytes()[:-4] + b"\xff\xff\xff\x00"),
        lambda path, _: path.write_bytes(path.read_bytes()[:-4] + b"\0\0\0\0"),  # another's row
        lambda _, folder: next(folder.glob("*.rows")).unlink(),
        lambda _, folder: next(folder.glob("*.planes")).write_bytes(b""),
    ],
)
async def test_a_damaged_matrix_is_not_opened(database, map_path, damage):
    async with open_vectors(database) as store:
        await store.use(space())
        plan = await store.plan(chunk_keys(4), keys(4))
        plan.fill(keys(4), await store.save(keys(4), units(4)))
        await store.publish(plan, map_path)
    assert reopen(database, map_path) is not None
    damage(map_path, database.with_suffix(""))
    assert reopen(database, map_path) is None


@pytest.mark.parametrize("wrong", ["format", "rows"])
async def test_a_valid_checksum_with_impossible_values_is_rejected(
    database, map_path, monkeypatch, wrong
):
    if wrong == "format":
        monkeypatch.setattr("vault_agent.store.vectors.matrix._FORMAT", 9)
    async with open_vectors(database) as store:
        await store.use(space())
        plan = await store.plan(chunk_keys(4), keys(4))
        plan.fill(keys(4), await store.save(keys(4), units(4)))
        if wrong == "rows":
            plan.rows[0] = 4
        await store.publish(plan, map_path)
    monkeypatch.undo()
    assert reopen(database, map_path) is None


async def test_a_database_with_another_schema_is_set_aside(database):
    async with open_vectors(database) as store:
        await store.use(space())
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("ALTER TABLE vector RENAME COLUMN crc TO checksum")
    connection.close()
    async with open_vectors(database) as store:
        await store.use(space())
        await store.save(keys(4), units(4))
    assert database.with_suffix(".damaged").exists()


async def test_a_set_aside_database_keeps_its_write_ahead_log(database):
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


async def test_the_rows_of_a_database_that_was_set_aside_stay(database, map_path):
    async with open_vectors(database) as store:
        await store.use(space())
        await store.save(keys(4), units(4))
    [rows] = database.with_suffix("").glob("*.rows")
    held = rows.read_bytes()
    database.write_bytes(b"\xff" * 8192)
    async with open_vectors(database) as store:
        await store.use(space())
        plan = await store.plan(chunk_keys(4), keys(4))
        plan.fill(keys(4), await store.save(keys(4), units(4)))
        await store.tidy(plan, map_path)
    assert rows.read_bytes() == held


async def test_saving_no_vectors_is_not_an_error(database):
    async with open_vectors(database) as store:
        await store.use(space())
        await store.save([], np.array([]))
        assert await failures_of(store) == {}


@pytest.mark.parametrize("native", [True, False])
async def test_a_cancelled_publication_writes_nothing_later(
    database, map_path, monkeypatch, native
):
    from vault_agent.store.vectors import cache as vectors

    begun, go_on, write_map = threading.Event(), threading.Event(), vectors.write_map

    def slow(*args, **kwargs):
        begun.set()
        go_on.wait(10)
        write_map(*args, **kwargs)

    async with open_vectors(database) as store:
        await store.use(space())
        plan = await store.plan(chunk_keys(5), keys(5))
        monkeypatch.setattr(vectors, "write_map", slow)
        scope = anyio.CancelScope()

        async def publish():
            with scope:
                await store.publish(plan, map_path)

        publishing = asyncio.create_task(publish())
        await asyncio.to_thread(begun.wait, 10)
        publishing.cancel() if native else scope.cancel()
        await asyncio.wait([publishing], timeout=0.1)
        ended_before_its_thread = publishing.done()
        go_on.set()
        await asyncio.wait([publishing])
        assert not ended_before_its_thread
        assert reopen(database, map_path).total == 5


async def test_an_empty_matrix_finds_nothing(database, map_path):
    async with open_vectors(database) as store:
        await store.use(space())
        await store.publish(await store.plan(chunk_keys(0), []), map_path)
    matrix = reopen(database, map_path)
    assert matrix.count == 0
    assert [part.tolist() for part in matrix.find(chunk_keys(3))] == [[], []]
    assert not matrix.centre.any()


_SAVE_AND_TELL = """
import asyncio, sys
from pathlib import Path
from tests.store.test_vectors import keys, space, units
from vault_agent.store.vectors.cache import open_vectors

async def main():
    async with open_vectors(Path(sys.argv[1])) as store:
        await store.use(space())
        for start in range(0, 100_000, 16):
            await store.save(keys(16, start), units(16))
            print(start + 16, flush=True)

asyncio.run(main())
"""


async def test_a_kill_loses_no_saved_vector(database):
    for seconds in (0.05, 0.2):
        process = subprocess.Popen(  # noqa: ASYNC220
            [sys.executable, "-c", _SAVE_AND_TELL, database], stdout=subprocess.PIPE, text=True
        )
        process.stdout.readline()
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(seconds)
        process.kill()
        acknowledged = int(process.communicate()[0].split()[-1])
        async with open_vectors(database) as store:
            await store.use(space())
            plan = await store.plan(chunk_keys(acknowledged), keys(acknowledged))
            assert not plan.waiting
            assert plan.rows.max() < 200_000
