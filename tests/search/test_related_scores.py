"""Related notes: a query from distinctive terms, combined with links and folders."""

from __future__ import annotations

import pytest

from vault_agent.search.related import (
    LINK_WEIGHT,
    QUERY_TERMS,
    Voices,
    convex,
    count_terms,
    folder_nearness,
    fuse,
    linked_with_similar,
    related_query,
    shared_neighbours,
    whole_note,
)


def test_a_related_query_has_the_most_distinctive_terms():
    counts = count_terms("the zebra and the quagga: the zebra, 2024-05-06", "Quagga")
    query = related_query(counts, {"the": 900, "zebra": 30, "quagga": 20, "and": 800}, 1000)
    assert list(query.weights) == ["quagga", "zebra"]
    assert not query.tolerant


def test_very_rare_and_very_common_terms_are_not_searched():
    counts = count_terms("unique common shared", "")
    frequencies = {"uniqu": 1, "common": 400, "share": 5}
    assert set(related_query(counts, frequencies, 1000).weights) == {"share"}


def test_a_related_query_has_a_limited_number_of_terms_and_a_whole_note_more():
    words = [f"word{n}x" for n in range(200)]
    counts = count_terms(" ".join(words), "")
    frequencies = dict.fromkeys(counts, 5)
    assert len(related_query(counts, frequencies, 1000).weights) == QUERY_TERMS
    assert len(whole_note(counts, frequencies, 1000)) == 200


def test_a_shared_neighbour_counts_less_if_it_has_many_links():
    scores = shared_neighbours({10: {1, 2}, 20: {1, 3, 4, 5, 6}, 30: {1}})
    assert scores[2] > scores[3] == scores[4] > 0


def test_two_shared_neighbours_count_more_than_one():
    scores = shared_neighbours({10: {1, 2, 3}, 20: {1, 2, 4}})
    assert scores[2] > scores[3] == scores[4]


def test_a_note_that_several_similar_notes_link_counts_more():
    scores = linked_with_similar({1: 1.0, 2: 0.5, 3: 0.5}, {1: {8}, 2: {9}, 3: {9, 7, 6, 5}})
    assert scores[8] > scores[9] > scores[7] == scores[6] > 0
    fused = fuse(Voices({1: 1.0}, {}, scores, {}, {}))
    assert fused[8].score > fused[9].score > fused[7].score > 0


@pytest.mark.parametrize(
    ("path", "other", "nearness"),
    [
        ("a/b/x.md", "a/b/y.md", 1),
        ("a/b/x.md", "a/c/y.md", 0.5),
        ("a/b/x.md", "a/y.md", 0.5),
        ("a/x.md", "b/a/y.md", 0),
        ("x.md", "y.md", 0),
        ("a/x.md", "ab/y.md", 0),
    ],
)
def test_folders_are_near_if_their_paths_begin_alike(path: str, other: str, nearness: float):
    assert folder_nearness(path, other) == folder_nearness(other, path) == nearness


def test_text_counts_most_then_neighbours_then_the_folder():
    fused = fuse(Voices({1: 7.0, 4: 0.1}, {2: 3.0, 4: 0.1}, {}, {3: 1.0, 4: 0.5}, {3: 1}))
    assert fused[1].score > fused[2].score > fused[3].folder > 0


def test_a_folder_of_all_candidates_says_nothing():
    fused = fuse(Voices({1: 7.0, 2: 5.0}, {}, {}, {1: 1.0, 2: 1.0}, {}))
    assert fused[1].folder == fused[2].folder == 0
    fused = fuse(Voices({1: 7.0, 2: 7.0}, {}, {}, {1: 0.0, 2: 1.0}, {}))
    assert fused[2].score > fused[1].score


def test_a_neighbour_with_many_links_is_weak_evidence_even_if_it_is_the_best():
    weak = fuse(Voices({1: 7.0}, shared_neighbours({9: set(range(500))}), {}, {}, {}))
    clear = fuse(Voices({1: 7.0}, shared_neighbours({9: {2, 3}}), {}, {}, {}))
    assert clear[2].score > 3 * weak[2].score


def test_a_silent_voice_leaves_its_weight_to_the_others():
    assert fuse(Voices({1: 7.0}, {}, {}, {}, {}))[1].score == pytest.approx(1)
    both = fuse(Voices({1: 7.0}, {1: 2.0, 2: 1.0}, {}, {}, {}))
    assert both[1].score == pytest.approx(1)
    assert both[2].score == pytest.approx(1 / 8, abs=1e-6)


def test_text_or_links_are_enough_and_both_score_higher():
    fused = fuse(Voices({1: 0.5, 2: 0.5, 9: 1.0}, {}, {}, {}, {2: 1, 3: 4}))
    assert fused[2].score > fused[1].score == 0.5
    assert 0 < fused[3].score < LINK_WEIGHT


def test_a_link_never_lowers_a_score():
    fused = fuse(Voices({1: 0.9, 2: 1.0}, {}, {}, {}, {1: 1, 2: 99}))
    assert all(each.score >= 0.9 for each in fused.values())


def test_a_folder_alone_relates_nothing():
    assert fuse(Voices({}, {}, {}, {1: 1.0}, {})) == {}


def test_words_and_meaning_count_alike():
    assert convex({1: 8.0, 2: 4.0}, {1: 0.2, 3: 0.4}) == {1: 0.75, 2: 0.25, 3: 0.5}
