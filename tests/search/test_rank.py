"""Ranking: names first, one result per note, ties by path."""

from __future__ import annotations

import pytest

from vault_agent.model.lexical import Candidates
from vault_agent.search.rank import OwnNames, fuse, rank

WORDS = {"zebra": 3.0, "stripe": 3.0}


def key(rowid: int, index: int = 0) -> int:
    return rowid << 20 | index


def order(candidates: Candidates, **titles: str) -> list:
    names = {r: OwnNames(f"{r}.md", titles.get(f"n{r}", "other"), ()) for r in candidates.body}
    return rank(candidates, names, dict.fromkeys(candidates.text), limit=10)


def test_an_exact_name_ranks_first():
    found = Candidates(body={1: 9.0, 2: 1.0}, names={2: 1.0}, named={2}, term_information=WORDS)
    assert [p.rowid for p in order(found, n2="Zebra Stripes")] == [2, 1]


def test_a_similar_name_raises_a_note():
    found = Candidates(body={1: 5.0, 2: 4.0}, names={1: 1.0, 2: 1.0}, term_information=WORDS)
    places = order(found, n1="A zebra among many other animals", n2="Zebra stripes!")
    assert [p.rowid for p in places] == [2, 1]
    assert places[0].votes["name"] > places[1].votes["name"]


def with_all_words(count: int) -> Candidates:
    """Return two notes: the first has the better names, the second all words in one chunk."""
    return Candidates(
        body={1: 4.0, 2: 4.0},
        names={1: 3.0},
        text={key(1): 4.0, key(2): 4.0},
        all_words={key(2)},
        all_words_count=count,
        term_information=WORDS,
    )


def test_a_chunk_with_all_words_is_meant_if_no_other_has_them():
    names = {1: OwnNames("1.md", "other", ()), 2: OwnNames("2.md", "other", ())}
    places = rank(with_all_words(1), names, {}, limit=10)
    assert [p.rowid for p in places] == [2, 1]
    assert "whole" in places[0].votes


def test_names_decide_if_many_chunks_have_all_words():
    names = {1: OwnNames("1.md", "other", ()), 2: OwnNames("2.md", "other", ())}
    places = rank(with_all_words(40), names, {}, limit=10)
    assert [p.rowid for p in places] == [1, 2]
    assert "names" in places[0].votes


def test_a_note_is_one_result_however_many_chunks_match():
    text = {key(1, 0): 9.0, key(1, 1): 8.9}
    places = order(Candidates(body={1: 5.0, 2: 1.0}, text=text, term_information=WORDS))
    assert [p.rowid for p in places] == [1, 2]


def test_ties_are_ordered_by_path_and_scores_are_between_0_and_1():
    places = order(Candidates(body={3: 2.0, 1: 2.0, 2: 2.0}, term_information=WORDS))
    assert [p.rowid for p in places] == [1, 2, 3]
    assert all(0 < p.score < 1 for p in places)


def test_score_explanations_contain_no_note_text():
    [place] = order(
        Candidates(
            body={1: 2.0},
            pairs={1: 1.0},
            text={key(1): 2.0},
            headed={key(1)},
            term_information=WORDS,
        )
    )
    assert set(place.votes) == {"body", "chunk", "pairs"}


# --- fused scores ---------------------------------------------------------------------------------


def ranking(fused):
    return sorted(fused, key=lambda key: (-fused[key].score, key))


def test_results_of_both_sides_rank_above_results_of_one():
    fused = fuse(
        {"both": 9.0, "words": 9.5}, {"both": 0.79, "meaning": 0.8, "words": 0.1},
        ceiling=12, background=0.1, prominence=2,
    )  # fmt: skip
    assert ranking(fused)[0] == "both"


def test_scores_are_between_0_and_1_and_their_parts_add_up():
    fused = fuse(
        {"a": 9.0, "b": 3.0}, {"a": 0.8, "c": 0.5}, ceiling=12, background=0.1, prominence=2
    )
    assert fused["a"].score == pytest.approx(1)
    for each in fused.values():
        assert 0 <= each.score <= 1
        assert each.score == pytest.approx(each.lexical + each.embedding)
    assert (fused["c"].lexical, fused["b"].lexical > 0) == (0, True)


def test_vectors_that_disagree_with_clear_lexical_results_lose_weight():
    """A query for a rare name: lexical results are right, and the top vectors are noise."""
    lexical = {"right": 9.0, "near": 4.0}
    cosines = {"right": 0.32, "near": 0.3, **{f"noise{i}": 0.4 - i / 1000 for i in range(50)}}
    assert ranking(fuse(lexical, cosines, ceiling=10, background=0.3, prominence=2))[0] == "right"


def test_a_common_term_does_not_hide_semantic_results():
    """A paraphrase: the only shared term is in the wrong notes."""
    lexical = {"wrong": 0.3, "wrong too": 0.29}
    cosines = {"right": 0.7, "wrong": 0.2, "wrong too": 0.25}
    assert ranking(fuse(lexical, cosines, ceiling=10, background=0.15, prominence=2))[0] == "right"


def test_missing_vectors_do_not_lower_a_result():
    lexical = {"first, not embedded": 9.0, "second, embedded": 8.0, "third": 4.0}
    cosines = {"second, embedded": 0.6, "third": 0.7}
    fused = fuse(lexical, cosines, ceiling=12, background=0.2, prominence=2)
    assert ranking(fused)[0] == "first, not embedded"


@pytest.mark.fault(
    "Queries",
    "a model that does not know the language of the notes",
    "its nearest vector does not stand out, so meaning counts little",
)
def test_meaning_that_does_not_stand_out_loses_weight():
    lexical = {"words": 9.0, "both": 8.0}
    cosines = {"both": 0.8, "words": 0.7, "meaning": 0.75}
    gains = [
        fuse(lexical, cosines, ceiling=12, background=0.1, prominence=prominence)["both"].embedding
        for prominence in (0.5, 0.9, 1.2)
    ]
    assert gains == sorted(gains)
    assert gains[0] == 0 < gains[1] < gains[2]


def test_clear_lexical_evidence_lowers_the_weight_of_meaning():
    cosines = {"a": 0.8, "b": 0.6}
    by_meaning = [
        fuse({"a": best}, cosines, ceiling=10, background=0.1, prominence=2)["b"].score
        for best in (9.0, 15.0, 30.0)
    ]
    assert by_meaning == sorted(by_meaning, reverse=True)
    assert by_meaning[2] < by_meaning[0]


@pytest.mark.parametrize("ceiling", [0.0, 1.0])
def test_no_results_are_not_an_error(ceiling):
    assert fuse({}, {}, ceiling=ceiling, background=0.0, prominence=2) == {}
    assert fuse({}, {"a": 0.1}, ceiling=ceiling, background=0.1, prominence=2)["a"].score == 0
