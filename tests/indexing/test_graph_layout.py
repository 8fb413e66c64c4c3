"""Positions for the drawing of the graph."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.support.clocks import assert_linear

from vault_agent.indexing.graph_layout import (
    Edges,
    Positions,
    place_nodes,
    read_positions,
    write_positions,
)


def graph(size: int, groups: int = 4, seed: int = 1) -> tuple[int, Edges, np.ndarray]:
    """Return a graph with most links inside its groups."""
    random = np.random.default_rng(seed)
    group = np.sort(random.integers(0, groups, size))
    sources = random.integers(0, size, 2 * size)
    near = np.clip(sources + random.integers(-9, 10, 2 * size), 0, size - 1)
    targets = np.where(random.random(2 * size) < 0.1, random.integers(0, size, 2 * size), near)
    return size, Edges(sources, targets, np.ones(2 * size, np.float32)), group


def distances(places: np.ndarray) -> np.ndarray:
    return np.sqrt(((places[:, None] - places[None]) ** 2).sum(axis=2))


def test_the_same_graph_has_the_same_picture():
    first, second = place_nodes(*graph(400)), place_nodes(*graph(400))
    assert first.dtype == np.float32
    assert (first == second).all()


@pytest.mark.parametrize("size", [0, 1, 2, 3, 50])
def test_small_graphs_and_graphs_without_links_are_laid_out(size: int):
    none = np.zeros(0, np.int64)
    places = place_nodes(size, Edges(none, none, np.zeros(0, np.float32)), np.zeros(size, np.int64))
    assert places.shape == (size, 2)
    assert np.isfinite(places).all()
    assert len({tuple(each) for each in places.tolist()}) == size


def test_linked_notes_are_near_and_groups_apart():
    size, edges, groups = graph(400)
    far = distances(place_nodes(size, edges, groups))
    assert far[edges.sources, edges.targets].mean() < 0.6 * far.mean()
    same = groups[:, None] == groups[None]
    assert far[same].mean() < 0.8 * far[~same].mean()


def test_notes_are_not_drawn_on_each_other():
    places = place_nodes(*graph(2_000, groups=20))
    far = distances(places)
    np.fill_diagonal(far, np.inf)
    assert np.median(far.min(axis=1)) > 3


def test_notes_with_the_same_links_do_not_gather_on_lines():
    size = 1_500
    ends = np.arange(2, size)
    edges = Edges(
        np.concatenate((np.zeros(size - 2, np.int64), np.ones(size - 2, np.int64))),
        np.concatenate((ends, ends)),
        np.ones(2 * size - 4, np.float32),
    )
    far = distances(place_nodes(size, edges, np.arange(size) % 3))
    np.fill_diagonal(far, np.inf)
    assert np.percentile(far.min(axis=1), 10) > 3


def test_one_note_with_thousands_of_links_is_in_the_middle_of_them():
    size = 3_000
    edges = Edges(np.zeros(size - 1, np.int64), np.arange(1, size), np.ones(size - 1, np.float32))
    places = place_nodes(size, edges, np.zeros(size, np.int64))
    assert np.isfinite(places).all()
    assert np.hypot(*places[0]) < 0.3 * np.hypot(*places.T).max()


def test_known_notes_stay_while_few_are_new():
    size, edges, groups = graph(1_000)
    before = place_nodes(size, edges, groups)
    known = before.copy()
    fresh = np.arange(0, size, 25)  # 4 %
    known[fresh] = np.nan
    after = place_nodes(size, edges, groups, known)
    kept = np.setdiff1d(np.arange(size), fresh)
    assert (after[kept] == before[kept]).all()
    assert np.isfinite(after).all()


def test_a_new_note_begins_at_the_middle_of_its_neighbours():
    size, edges, groups = graph(500)
    before = place_nodes(size, edges, groups)
    width = np.ptp(before, axis=0).max()
    more = Edges(
        np.append(edges.sources, [size, size]),
        np.append(edges.targets, [3, 4]),
        np.ones(len(edges.sources) + 2, np.float32),
    )
    known = np.vstack([before, [[np.nan, np.nan]]]).astype(np.float32)
    after = place_nodes(size + 1, more, np.append(groups, 0), known)
    assert np.hypot(*(after[size] - before[[3, 4]].mean(axis=0))) < 0.25 * width


def test_a_picture_that_is_mostly_known_stays_alike():
    size, edges, groups = graph(1_000)
    before = place_nodes(size, edges, groups)
    known = before.copy()
    known[::5] = np.nan
    after = place_nodes(size, edges, groups, known)
    moved = np.hypot(*(after - before).T)
    kept = np.arange(size) % 5 != 0
    assert np.median(moved[kept]) < 0.1 * np.ptp(before, axis=0).max()


def test_the_time_grows_with_the_number_of_notes():
    assert_linear(lambda times: graph(3_000 * times), lambda made: place_nodes(*made))


def test_positions_are_read_as_they_were_written(tmp_path: Path):
    file = tmp_path / "positions"
    handles = np.array([-(1 << 62), 7], np.int64)
    places = np.array([[0.5, -1], [2, 3e5]], np.float32)
    write_positions(file, Positions("7.12", handles, places))
    found = read_positions(file)
    assert found.revision == "7.12"
    assert (found.handles == handles).all()
    assert (found.places == places).all()


def test_damaged_positions_are_not_read(tmp_path: Path):
    file = tmp_path / "positions"
    assert read_positions(file) is None
    write_positions(file, Positions("1.1", np.arange(3), np.ones((3, 2), np.float32)))
    whole = file.read_bytes()
    for damage in (b"", whole[:10], whole[:-1], b"X" + whole[1:]):
        file.write_bytes(damage)
        assert read_positions(file) is None
    for number in (np.nan, np.inf, 1e20, -3e38):
        places = np.array([[number, 1]], np.float32)
        write_positions(file, Positions("1.1", np.arange(1), places))
        assert read_positions(file) is None
