"""The scan returns the nearest allowed vectors, in a stable order."""

import numpy as np
import pytest

from vault_agent.search.semantic import nearest, prominence


def units(count, dimension, seed=1):
    """Return unit vectors in clusters, as for texts."""
    generator = np.random.default_rng(seed)
    centres = generator.standard_normal((count // 50 + 1, dimension))
    vectors = np.repeat(centres, 50, 0)[:count] + generator.standard_normal((count, dimension))
    vectors = vectors.astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def exact(vectors, query, count, allowed=None):
    cosines = vectors @ query
    rows = np.arange(len(vectors)) if allowed is None else allowed
    return rows[np.lexsort((rows, -cosines[rows]))][:count]


def ask(vectors, query, count, rows=None):
    return nearest(vectors @ query, np.arange(len(vectors)) if rows is None else rows, count)


@pytest.mark.parametrize("count", [1, 10, 511, 4_000])
@pytest.mark.parametrize("dimension", [8, 64, 100])
def test_vectors_are_compared_exactly(count, dimension):
    vectors = units(count, dimension)
    found = ask(vectors, vectors[0], 20)
    assert found.tolist() == exact(vectors, vectors[0], 20).tolist()


@pytest.mark.parametrize("allowed", [50, 6_000])
def test_a_restricted_search_is_complete(allowed):
    vectors = units(20_000, 64)
    among = np.sort(np.random.default_rng(2).choice(20_000, allowed, replace=False))
    found = ask(vectors, vectors[7], 10, among)
    assert found.tolist() == exact(vectors, vectors[7], 10, among).tolist()


def test_ties_break_by_row():
    vectors = np.tile(units(1, 64), (9_000, 1))
    assert ask(vectors, vectors[0], 5).tolist() == [0, 1, 2, 3, 4]


def test_a_search_without_vectors_has_no_results():
    vectors = np.empty((0, 64), np.float32)
    assert ask(vectors, units(1, 64)[0], 5).tolist() == []
    none = np.empty(0, np.int64)
    assert ask(units(10, 64), units(1, 64)[0], 5, none).tolist() == []


def stands_out(vectors, query):
    cosines = vectors @ query
    return prominence(cosines, np.arange(len(vectors)), float(cosines.max()), 0.0)


def test_a_query_near_some_vectors_stands_out_and_a_random_one_does_not():
    vectors = units(3_000, 64)
    generator = np.random.default_rng(2)
    random = [each / np.linalg.norm(each) for each in generator.standard_normal((20, 64))]
    assert stands_out(vectors, vectors[7]) > 1.1
    assert np.mean([stands_out(vectors, each.astype(np.float32)) for each in random]) < 1


def test_equal_vectors_or_none_leave_nothing_to_compare():
    same = np.repeat(units(1, 64), 5, 0)
    assert stands_out(same, same[0]) > 1.1
    assert prominence(same @ same[0], np.arange(0), 0.5, 0.1) == float("inf")
