"""The scan returns the nearest allowed vectors, in a stable order."""

import numpy as np
import pytest

from vault_agent.ranking.cosine import Scan, nearest, prominence

BLOCK = 512


def units(count, dimension, seed=1):
    """Return unit vectors in clusters, as for texts."""
    generator = np.random.default_rng(seed)
    centres = generator.standard_normal((count // 50 + 1, dimension))
    vectors = np.repeat(centres, 50, 0)[:count] + generator.standard_normal((count, dimension))
    vectors = vectors.astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def words(vectors):
    bits = np.packbits(vectors > 0, axis=-1, bitorder="little")
    padding = -bits.shape[-1] % 8
    return np.pad(bits, ((0, 0), (0, padding))).view("<u8")


def scan_of(vectors, alive=None):
    flat = words(vectors)
    blocks = -(-len(vectors) // BLOCK)
    flat = np.pad(flat, ((0, blocks * BLOCK - len(flat)), (0, 0)))
    planes = flat.reshape(blocks, BLOCK, -1).transpose(0, 2, 1).copy()
    return Scan(vectors, planes, np.ones(len(vectors), np.bool_) if alive is None else alive)


def exact(vectors, query, count, allowed=None):
    cosines = vectors @ query
    rows = np.arange(len(vectors)) if allowed is None else allowed
    return rows[np.lexsort((rows, -cosines[rows]))][:count]


def ask(scan, query, count, **options):
    return nearest(scan, query, words(query[None, :])[0], count, **options)


@pytest.mark.parametrize("count", [1, 10, 511, 4_000])
@pytest.mark.parametrize("dimension", [8, 64, 100])
def test_few_vectors_are_compared_exactly(count, dimension):
    vectors = units(count, dimension)
    found = ask(scan_of(vectors), vectors[0], 20)
    assert found.rows.tolist() == exact(vectors, vectors[0], 20).tolist()
    assert found.cosines[0] == pytest.approx(1)
    assert found.cosines.dtype == np.float32


def test_the_scan_of_many_vectors_misses_few():
    vectors = units(30_000, 128)
    scan = scan_of(vectors)
    queries = units(30_000, 128)[::1000] + 0.02
    shared = 0
    for query in queries:
        unit = (query / np.linalg.norm(query)).astype(np.float32)
        found = ask(scan, unit, 10).rows
        shared += len(set(found.tolist()) & set(exact(vectors, unit, 10).tolist()))
    assert shared / (10 * len(queries)) > 0.99


def test_unused_rows_are_never_found():
    vectors = units(10_000, 64)
    alive = np.zeros(len(vectors), np.bool_)
    alive[::3] = True
    found = ask(scan_of(vectors, alive), vectors[1], 5_000)
    assert len(found.rows) == alive.sum()
    assert alive[found.rows].all()


@pytest.mark.parametrize("allowed", [50, 6_000])
def test_a_restricted_search_is_complete(allowed):
    vectors = units(20_000, 64)
    among = np.sort(np.random.default_rng(2).choice(20_000, allowed, replace=False))
    found = ask(scan_of(vectors), vectors[7], 10, among=among)
    assert found.rows.tolist() == exact(vectors, vectors[7], 10, among).tolist()


def test_ties_break_by_row():
    vectors = np.tile(units(1, 64), (9_000, 1))
    assert ask(scan_of(vectors), vectors[0], 5).rows.tolist() == [0, 1, 2, 3, 4]


def test_a_search_without_vectors_has_no_results():
    vectors = np.empty((0, 64), np.float32)
    scan = Scan(vectors, np.empty((0, 1, BLOCK), np.uint64), np.empty(0, np.bool_))
    assert ask(scan, units(1, 64)[0], 5).rows.tolist() == []
    none = np.empty(0, np.int64)
    assert ask(scan_of(units(10, 64)), units(1, 64)[0], 5, among=none).rows.tolist() == []


def stands_out(vectors, query):
    return prominence(scan_of(vectors), query, float((vectors @ query).max()), 0.0)


def test_a_query_near_some_vectors_stands_out_and_a_random_one_does_not():
    vectors = units(3_000, 64)
    generator = np.random.default_rng(2)
    random = [each / np.linalg.norm(each) for each in generator.standard_normal((20, 64))]
    assert stands_out(vectors, vectors[7]) > 1.1
    assert np.mean([stands_out(vectors, each.astype(np.float32)) for each in random]) < 1


def test_equal_vectors_or_none_leave_nothing_to_compare():
    same = np.repeat(units(1, 64), 5, 0)
    assert stands_out(same, same[0]) > 1.1
    assert prominence(scan_of(same, np.zeros(5, np.bool_)), same[0], 0.5, 0.1) == float("inf")
