"""Names are found as they are typed."""

from __future__ import annotations

import pytest
from tests.support.clocks import assert_linear

from vault_agent.search.complete import ENOUGH, NameIndex

NAMES = [
    "Garden", "The garden plan", "Late frost", "frost-alarm", "Design notes", "Kräuter",
    "日本語のノート", "Garden/Beds", "X", "", "a\nb", "Straße", "İstanbul",
]  # fmt: skip


def found(query: str) -> list[str]:
    return [NAMES[hit.number] for hit in NameIndex(NAMES).find(query)]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("garden", "Garden"), ("gard", "Garden"), ("plan", "The garden plan"),
        ("frost", "frost-alarm"), ("alarm", "frost-alarm"), ("rost", "Late frost"),
        ("dn", "Design notes"), ("notes des", "Design notes"), ("FROST ALARM", "frost-alarm"),
        ("frost_alarm", "frost-alarm"), ("kräu", "Kräuter"), ("ノート", "日本語のノート"),
        ("desing notes", "Design notes"), ("straße", "Straße"), ("a b", "a\nb"),
    ],
)  # fmt: skip
def test_the_best_name_comes_first(query: str, first: str):
    assert found(query)[0] == first


def test_ways_to_match_are_in_their_order():
    names = ["xab", "x ab", "abx", "ab", "a b"]
    hits = NameIndex(names).find("ab")
    assert [names[hit.number] for hit in hits] == ["ab", "abx", "x ab", "xab", "a b"]
    assert [hit.rank for hit in hits] == [0, 1, 2, 3, 4]


def test_of_names_that_match_equally_well_the_best_connected_come_first():
    names = ["Templify", "Templater", "Template of everything", "Templ"]
    hits = NameIndex(names, [2, 26, 30, 0]).find("templ")
    assert [names[hit.number] for hit in hits] == [
        "Templ", "Templater", "Templify", "Template of everything"
    ]  # fmt: skip


def test_a_sign_before_a_name_does_not_hide_it():
    names = ["plugins for graphs", "🗂️ Plugins", "_plugins of others", "@plugins"]
    hits = NameIndex(names).find("plugins")
    assert {names[hit.number] for hit in hits if hit.rank == 0} == {"🗂️ Plugins", "@plugins"}
    assert names[NameIndex(names).find("@plugins")[0].number] == "@plugins"


def test_the_matching_part_is_marked():
    (hit, *_) = NameIndex(["The garden plan"]).find("plan gard")
    assert [("The garden plan")[start:end] for start, end in hit.ranges] == ["gard", "plan"]


def test_without_a_query_the_names_come_in_their_order():
    assert found("") == NAMES
    assert found(" \n") == NAMES


def test_similar_names_are_searched_only_if_there_are_few_others():
    names = ["frost"] * ENOUGH + ["forst"]
    assert len(NameIndex(names).find("frost")) == ENOUGH
    assert len(NameIndex(names[1:]).find("frost")) == ENOUGH


@pytest.mark.parametrize("query", ["\n", "\n\n", "\0", "x" * 10_000, "\ud800", "%", "[", "é\u0301"])
def test_any_text_is_a_query(query: str):
    NameIndex(NAMES).find(query)
    assert NameIndex([]).find(query) == []


def test_the_time_grows_with_the_names():
    def make(times: int) -> NameIndex:
        return NameIndex([f"note {number} about frost" for number in range(5_000 * times)])

    assert_linear(make, lambda index: [index.find(query) for query in ("zz", "9 about", "q")])
