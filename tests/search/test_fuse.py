"""Lexical and semantic scores both count, and neither overrides a clear result of the other."""

import pytest

from vault_agent.search.rank import fuse


def order(fused):
    return sorted(fused, key=lambda key: (-fused[key].score, key))


def test_results_of_both_sides_rank_above_results_of_one():
    fused = fuse(
        {"both": 9.0, "words": 9.5}, {"both": 0.79, "meaning": 0.8, "words": 0.1},
        ceiling=12, background=0.1, prominence=2,
    )  # fmt: skip
    assert order(fused)[0] == "both"


def test_scores_are_between_0_and_1_and_their_parts_add_up():
    fused = fuse(
        {"a": 9.0, "b": 3.0}, {"a": 0.8, "c": 0.5}, ceiling=12, background=0.1, prominence=2
    )
    assert fused["a"].score == pytest.approx(1)
    for each in fused.values():
        assert 0 <= each.score <= 1
        assert each.score == pytest.approx(each.lexical + each.embedding)
    assert (fused["c"].lexical, fused["b"].lexical > 0) == (0, True)


def test_without_vectors_the_order_is_lexical():
    lexical = {"a": 3.0, "b": 2.0, "c": 1.0}
    assert order(fuse(lexical, {}, ceiling=9, background=0, prominence=2)) == ["a", "b", "c"]


def test_without_terms_the_order_is_semantic():
    fused = fuse({}, {"a": 0.2, "b": 0.7}, ceiling=9, background=0.1, prominence=2)
    assert order(fused) == ["b", "a"]
    assert fused["b"].score == pytest.approx(1)


def test_a_weak_lexical_match_gives_way_to_semantic_results():
    fused = fuse(
        {"small words": 1.0},
        {"meant": 0.6, "small words": 0.12},
        ceiling=10,
        background=0.1,
        prominence=2,
    )
    assert order(fused)[0] == "meant"


def test_vectors_that_disagree_with_clear_lexical_results_lose_weight():
    """A query for a rare name: lexical results are right, and the top vectors are noise."""
    lexical = {"right": 9.0, "near": 4.0}
    cosines = {"right": 0.32, "near": 0.3, **{f"noise{i}": 0.4 - i / 1000 for i in range(50)}}
    assert order(fuse(lexical, cosines, ceiling=10, background=0.3, prominence=2))[0] == "right"


def test_a_common_term_does_not_hide_semantic_results():
    """A paraphrase: the only shared term is in the wrong notes."""
    lexical = {"wrong": 0.3, "wrong too": 0.29}
    cosines = {"right": 0.7, "wrong": 0.2, "wrong too": 0.25}
    assert order(fuse(lexical, cosines, ceiling=10, background=0.15, prominence=2))[0] == "right"


def test_missing_vectors_do_not_lower_a_result():
    lexical = {"first, not embedded": 9.0, "second, embedded": 8.0, "third": 4.0}
    cosines = {"second, embedded": 0.6, "third": 0.7}
    fused = fuse(lexical, cosines, ceiling=12, background=0.2, prominence=2)
    assert order(fused)[0] == "first, not embedded"


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
