"""MentionFinder are whole names, written as prose."""

from __future__ import annotations

import pytest

from vault_agent.search.mentions import MentionFinder, name_of
from vault_agent.text.terms import folded_words


def found(names: list[str], text: str, longer: tuple[str, ...] = ()) -> list[str]:
    known = [name for each in names if (name := name_of(each)) is not None]
    others = [tuple(word for word, _, _ in folded_words(each)) for each in longer]
    return [text[start:end] for start, end in MentionFinder(known, others).find(text)]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("Graph view", "A graph view and GRAPH\nview", ["graph view", "GRAPH\nview"]),
        ("Graph view", "graph. View, graph\n\nview, a graph viewer", []),
        ("Graph", "graphs, path/graph, graph.md, #graph, a@graph.io, foo-graph", []),
        ("Graph", "Graph's, (graph), “graph”.", ["Graph", "graph", "graph"]),
        ("Café Noir", "cafe noir", ["cafe noir"]),
        ("What is it?", "What is it, then?", ["What is it"]),
        ("Search++", "search, Search++", ["Search"]),
        ("Node.js", "node.js, node js", ["node.js"]),
        ("C++ notes", "my C++ notes", ["C++ notes"]),
        ("東京", "今日は東京で", ["東京"]),
    ],
)
def test_a_name_counts_as_whole_words(name: str, text: str, expected: list[str]):
    assert found([name], text) == expected


@pytest.mark.parametrize("name", ["ab", "2023", "東", "{{title}}", "<% tp.title %>", "?!", ""])
def test_short_names_numbers_and_placeholders_are_not_looked_for(name: str):
    assert name_of(name) is None


def test_a_part_of_a_longer_name_is_no_mention():
    text = "graph, graph view, knowledge graph"
    assert found(["Graph"], text, ("Graph view", "Knowledge Graph")) == ["graph"]


def test_the_longest_name_of_the_note_counts_once():
    assert found(["Graph", "Graph view"], "the graph view") == ["graph view"]
