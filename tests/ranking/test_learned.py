"""What was opened after similar searches is raised, within bounds."""

from __future__ import annotations

import math
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_agent.model.search import Opened, Opening
from vault_agent.ranking.learned import ALIKE, MOST, learned, raised, terms_of
from vault_agent.ranking.rank import Ranked

SCORES = st.integers(0, 1_000_000).map(lambda score: score / 1_000_000)
PLACES = st.lists(st.tuples(SCORES, st.integers(0, 2)), max_size=12).map(
    lambda pairs: [
        Ranked(rowid, None, score, {}, fit=fit)
        for rowid, (score, fit) in enumerate(sorted(pairs, reverse=True), 1)
    ]
)
OPENED = st.dictionaries(
    st.integers(1, 12), st.builds(Opened, st.integers(1, 99), st.floats(0, 1)), max_size=6
)


def opening(text: str, path: str, weight: float = 1.0) -> Opening:
    return Opening(0, "", terms_of(text), path, weight)


def evidence(place: Ranked) -> float:
    return -math.log(1 - place.score) if place.score < 1 else math.inf


@given(PLACES, OPENED)
def test_nothing_is_passed_that_matches_clearly_better(
    places: list[Ranked], opened: dict[int, Opened]
):
    after = {place.rowid: number for number, place in enumerate(raised(places, opened))}
    for better, worse in combinations(places, 2):
        if after[worse.rowid] < after[better.rowid]:
            assert worse.fit >= better.fit
            # A score has six digits.
            least = Ranked(0, None, max(better.score - 1e-6, 0.0), {})
            assert evidence(worse) * MOST >= evidence(least)


@given(PLACES, OPENED)
def test_the_others_stay_in_their_order(places: list[Ranked], opened: dict[int, Opened]):
    now = raised(places, opened)
    assert sorted(place.rowid for place in now) == sorted(place.rowid for place in places)
    others = [place for place in now if place.rowid not in opened]
    assert others == [place for place in places if place.rowid not in opened]
    scores = [place.score for place in now]
    assert scores == sorted(scores, reverse=True)


@given(PLACES, OPENED)
def test_no_result_is_lowered_and_each_raised_one_says_why(
    places: list[Ranked], opened: dict[int, Opened]
):
    before = {place.rowid: (number, place) for number, place in enumerate(places, 1)}
    for place in raised(places, opened):
        number, old = before[place.rowid]
        assert place.score >= old.score
        if place.rowid in opened:
            assert place.learned["opened"] == opened[place.rowid].times
            assert place.learned["placeBefore"] == number
            assert 1 <= place.learned["factor"] <= MOST
        else:
            assert place.learned == {}


def test_a_second_passage_of_a_note_is_not_raised():
    places = [Ranked(1, 10, 0.6, {}), Ranked(2, 20, 0.5, {}), Ranked(2, 21, 0.45, {})]
    now = raised(places, {2: Opened(9, 1.0)})
    assert [place.key for place in now] == [20, 10, 21]


@pytest.mark.parametrize(
    ("text", "is_similar"),
    [
        ("sourdough starter feeding", True),
        ("the Starter for sourdoughs", True),  # stems, letter case and common words do not matter
        ("how to feed a sourdough starter", True),
        ("sourdough starter", True),
        ("sourdough feeding schedule", False),  # two of four words
        ("sourdough", False),
        ("starter motor noise", False),
        ("", False),
    ],
)
def test_searches_are_similar_by_more_than_half_of_their_words(text: str, is_similar: bool):
    known = [opening("feeding the sourdough starter", "Bread.md")]
    assert bool(learned(terms_of(text), known)) is is_similar
    assert ALIKE == 0.5


def test_a_note_that_is_opened_more_often_gains_more():
    def strength(count: int) -> float:
        openings = [opening("late frost", "a.md")] * count
        return learned(terms_of("late frost"), openings)["a.md"].strength

    gains = [strength(count) for count in range(1, 9)]
    assert gains == sorted(gains)
    assert 0 < gains[0] < gains[-1] < 1


def test_openings_of_other_notes_weaken_it():
    often = [opening("late frost", "a.md")] * 3
    others = [opening("late frost", f"{number}.md") for number in range(9)]
    terms = terms_of("late frost")
    assert learned(terms, often + others)["a.md"].strength < learned(terms, often)["a.md"].strength
