"""The graph's algorithms agree with networkx, and end on every kind of graph."""

from __future__ import annotations

import random
from itertools import pairwise

import networkx
import pytest

from vault_agent.indexing.cluster import CommunityMember, communities, labels
from vault_agent.model.adjacency import Adjacency
from vault_agent.search.graph import near, shortest_path

Edges = list[tuple[int, int, int]]


def made_of_groups(size: int, groups: int, seed: int) -> Edges:
    """Return edges that are mostly inside groups of equal size."""
    chance = random.Random(seed)
    edges = {}
    for _ in range(4 * size):
        source = chance.randrange(size)
        inside = chance.random() < 0.7
        target = chance.randrange(size) if not inside else source - source % groups
        target = min(size - 1, target + chance.randrange(groups))
        if source != target:
            edges[source, target] = chance.randint(1, 3)
    return [(source, target, weight) for (source, target), weight in edges.items()]


GRAPHS = {
    "groups": (300, made_of_groups(300, 20, 1)),
    "sparse": (200, made_of_groups(200, 50, 2)[::6]),
    "a cycle and a self-link": (4, [(0, 1, 1), (1, 2, 1), (2, 0, 1), (3, 3, 5)]),
    "two components": (5, [(0, 1, 2), (1, 0, 1), (2, 3, 1), (3, 4, 1)]),
    "a star": (50, [(0, each, 1) for each in range(1, 50)]),
    "no links": (38_430, []),
    "no notes": (0, []),
}
EVERY = pytest.mark.parametrize(("size", "edges"), GRAPHS.values(), ids=GRAPHS)


def graph_of(size: int, edges: Edges) -> Adjacency:
    links = [(source, target) for source, target, weight in edges for _ in range(weight)]
    return Adjacency.of(range(size), [each for each, _ in links], [each for _, each in links])


def reference(size: int, edges: Edges) -> networkx.DiGraph:
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(size))
    graph.add_edges_from((source, target) for source, target, _ in edges if source != target)
    return graph


@EVERY
def test_neighbours_are_those_of_the_edges(size: int, edges: Edges):
    graph, expected = graph_of(size, edges), reference(size, edges)
    assert graph.edges == expected.number_of_edges()
    assert list(zip(graph.pairs()[::2], graph.pairs()[1::2], strict=True)) == sorted(expected.edges)
    for note in range(min(size, 300)):
        assert list(graph.outgoing(note)) == sorted(expected.successors(note))
        assert list(graph.incoming(note)) == sorted(expected.predecessors(note))
        assert graph.degree(note) == len(graph.neighbours(note))


def test_links_between_two_notes_are_one_edge_with_a_weight():
    graph = Adjacency.of([10, 20], [10, 20, 10, 20], [20, 10, 20, 20])
    assert [list(graph.weighted(note)) for note in (0, 1)] == [[(1, 2)], [(0, 1)]]


@pytest.mark.fault(
    "Links and the graph",
    "a cycle, a note that links to itself, separate components, very many notes without a link",
    "paths, depths and communities end",
)
@EVERY
def test_communities_are_as_good_as_those_of_networkx(size: int, edges: Edges):
    found = communities(graph_of(size, edges))
    assert len(found.members) == size
    if not edges or size > 1_000:
        assert found.members == list(range(size))
        assert found.modularity == 0
        return
    graph = reference(size, edges).to_undirected()
    groups: dict[int, set[int]] = {}
    for note, community in enumerate(found.members):
        groups.setdefault(community, set()).add(note)
    measured = networkx.community.modularity(graph, groups.values())
    best = networkx.community.louvain_communities(graph, seed=1)
    assert found.modularity == pytest.approx(measured)
    assert found.modularity >= 0.98 * networkx.community.modularity(graph, best)
    sizes = [len(groups[community]) for community in range(len(groups))]
    assert sizes == sorted(sizes, reverse=True)


def test_equal_graphs_have_equal_communities():
    size, edges = GRAPHS["groups"]
    shuffled = random.Random(3).sample(edges, len(edges))
    assert communities(graph_of(size, edges)) == communities(graph_of(size, shuffled))


@EVERY
@pytest.mark.parametrize("directed", [True, False])
def test_paths_are_as_short_as_those_of_networkx(size: int, edges: Edges, directed: bool):
    graph, expected = graph_of(size, edges), reference(size, edges)
    expected = expected if directed else expected.to_undirected()
    chance = random.Random(4)
    for _ in range(20 if size else 0):
        start, end = chance.randrange(size), chance.randrange(size)
        try:
            length = networkx.shortest_path_length(expected, start, end)
        except networkx.NetworkXNoPath:
            assert shortest_path(graph, start, end, directed=directed) == []
            continue
        path = shortest_path(graph, start, end, directed=directed)
        assert (path[0], path[-1], len(path) - 1) == (start, end, length)
        assert all(expected.has_edge(*step) for step in pairwise(path))


def test_of_several_shortest_paths_the_first_is_returned():
    graph = graph_of(5, [(0, 3, 1), (0, 2, 1), (3, 4, 1), (2, 4, 1)])
    assert shortest_path(graph, 0, 4, directed=True) == [0, 2, 4]


@pytest.mark.fault(
    "Links and the graph",
    "a local graph that grows over its limit",
    "the nearest and best connected notes, with `truncated`",
)
def test_the_nearest_and_best_connected_notes_come_first():
    graph = graph_of(6, [(0, 1, 1), (0, 2, 1), (2, 3, 1), (4, 2, 1), (5, 3, 1)])
    assert near(graph, 0, depth=1, limit=10).distances == {0: 0, 2: 1, 1: 1}
    whole = near(graph, 0, depth=5, limit=10)
    assert whole.distances == {0: 0, 2: 1, 1: 1, 3: 2, 4: 2, 5: 3}
    assert not whole.truncated
    cut = near(graph, 0, depth=5, limit=4)
    assert (list(cut.distances), cut.truncated) == ([0, 2, 1, 3], True)


def named(path: str, *tags: str, degree: int = 1) -> CommunityMember:
    return CommunityMember(path, path.rpartition("/")[2].removesuffix(".md"), tags, degree)


@pytest.mark.parametrize(
    ("notes", "members", "names"),
    [
        # A folder that most of them are in, and few others: the deepest that says so.
        (["A/B/1.md", "A/B/2.md", "A/3.md", "A/4.md"], [0, 0, 1, 1], ["B", "A"]),
        # A folder of everything says nothing: the best-connected note does.
        (["A/1.md", "A/2.md", "A/3.md", "A/4.md", "A/5.md"], [0, 0, 1, 1, 2], ["1", "3"]),
        # A tag, as a folder.
        (["1.md#x", "2.md#x", "3.md", "4.md"], [0, 0, 1, 1], ["#x", "3"]),
        # A name is given once.
        (["P/A/1.md", "P/A/2.md", "Q/a/3.md", "Q/a/4.md"], [0, 0, 1, 1], ["A", "Q"]),
        (["A/1.md", "B/1.md", "C/1.md", "D/1.md"], [0, 0, 1, 1], ["1", "C/1.md"]),
    ],
)
def test_a_community_has_the_name_of_its_folder_tag_or_best_note(notes, members, names):
    assert labels(members, [named(*note.split("#")) for note in notes]) == names


def test_a_community_without_folder_has_the_title_of_its_best_connected_note():
    notes = [named("Rare zyx.md"), named("People.md", degree=9), named("Odd qwv.md")]
    assert labels([0, 0, 0], notes) == ["People"]
