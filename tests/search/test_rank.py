"""Ranking: names first, one result per note, ties by path."""

from __future__ import annotations

from vault_agent.model.lexical import Candidates
from vault_agent.search.rank import OwnNames, rank, shortlist

WORDS = {"zebra": 3.0, "stripe": 3.0}


def key(rowid: int, index: int = 0) -> int:
    return rowid << 20 | index


def order(candidates: Candidates, **titles: str) -> list:
    names = {r: OwnNames(f"{r}.md", titles.get(f"n{r}", "other"), ()) for r in candidates.body}
    return rank(candidates, names, dict.fromkeys(candidates.text), limit=10)


def test_an_exact_name_ranks_first():
    found = Candidates(body={1: 9.0, 2: 1.0}, names={2: 1.0}, named={2}, information=WORDS)
    assert [p.rowid for p in order(found, n2="Zebra Stripes")] == [2, 1]


def test_a_similar_name_raises_a_note():
    found = Candidates(body={1: 5.0, 2: 4.0}, names={1: 1.0, 2: 1.0}, information=WORDS)
    places = order(found, n1="A zebra among many other animals", n2="Zebra stripes!")
    assert [p.rowid for p in places] == [2, 1]
    assert places[0].votes["name"] > places[1].votes["name"]


def whole(count: int) -> Candidates:
    """Return two notes: the first has the better names, the second all words in one chunk."""
    return Candidates(
        body={1: 4.0, 2: 4.0},
        names={1: 3.0},
        text={key(1): 4.0, key(2): 4.0},
        whole={key(2)},
        whole_count=count,
        information=WORDS,
    )


def test_a_chunk_with_all_words_is_meant_if_no_other_has_them():
    names = {1: OwnNames("1.md", "other", ()), 2: OwnNames("2.md", "other", ())}
    places = rank(whole(1), names, {}, limit=10)
    assert [p.rowid for p in places] == [2, 1]
    assert "whole" in places[0].votes


def test_names_decide_if_many_chunks_have_all_words():
    names = {1: OwnNames("1.md", "other", ()), 2: OwnNames("2.md", "other", ())}
    places = rank(whole(40), names, {}, limit=10)
    assert [p.rowid for p in places] == [1, 2]
    assert "names" in places[0].votes


def test_a_note_is_represented_by_its_best_chunk():
    text = {key(1, 0): 1.0, key(1, 7): 4.0}
    assert order(Candidates(body={1: 3.0}, text=text, information=WORDS))[0].key == key(1, 7)


def test_a_note_is_one_result_however_many_chunks_match():
    text = {key(1, 0): 9.0, key(1, 1): 8.9}
    places = order(Candidates(body={1: 5.0, 2: 1.0}, text=text, information=WORDS))
    assert [p.rowid for p in places] == [1, 2]


def test_ties_are_ordered_by_path_and_scores_are_between_0_and_1():
    places = order(Candidates(body={3: 2.0, 1: 2.0, 2: 2.0}, information=WORDS))
    assert [p.rowid for p in places] == [1, 2, 3]
    assert all(0 < p.score < 1 for p in places)


def test_score_explanations_contain_no_note_text():
    [place] = order(
        Candidates(
            body={1: 2.0},
            pairs={1: 1.0},
            text={key(1): 2.0},
            headed={key(1)},
            information=WORDS,
        )
    )
    assert set(place.votes) == {"body", "chunk", "pairs"}


def test_without_terms_all_scores_are_equal():
    places = rank(
        Candidates(body={1: 0.0, 2: 0.0}),
        {1: OwnNames("b.md", "b", ()), 2: OwnNames("a.md", "a", ())},
        {},
        limit=10,
    )
    assert [p.rowid for p in places] == [2, 1]
    assert {p.score for p in places} == {0.0}


def test_the_shortlist_has_the_best_texts_and_names():
    candidates = Candidates(
        body={rowid: float(rowid) for rowid in range(1, 101)},
        names={1: 2.0},
        text={key(2): 0.1},
        headed={key(2)},
        information=WORDS,
    )
    chosen = shortlist(candidates, 10)
    assert {1, 2, 100} <= set(chosen.rowids)
    assert 50 not in chosen.rowids
    assert chosen.keys == [key(2)]
