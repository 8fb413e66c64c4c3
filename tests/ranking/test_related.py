"""Related notes: a query from distinctive terms, combined with links."""

from __future__ import annotations

from vault_agent.ranking.related import LINK_WEIGHT, QUERY_TERMS, count_terms, fuse, related_query


def test_a_related_query_has_the_most_distinctive_terms():
    counts = count_terms("the zebra and the quagga: the zebra, 2024-05-06", "Quagga")
    query = related_query(counts, {"the": 900, "zebra": 30, "quagga": 20, "and": 800}, 1000)
    assert list(query.weights) == ["quagga", "zebra"]
    assert not query.tolerant


def test_very_rare_and_very_common_terms_are_not_searched():
    counts = count_terms("unique common shared", "")
    frequencies = {"uniqu": 1, "common": 400, "share": 5}
    assert set(related_query(counts, frequencies, 1000).weights) == {"share"}


def test_a_related_query_has_a_limited_number_of_terms():
    words = [f"word{n}x" for n in range(500)]
    counts = count_terms(" ".join(words), "")
    assert len(related_query(counts, dict.fromkeys(counts, 5), 1000).weights) == QUERY_TERMS


def test_text_or_links_are_enough_and_both_score_higher():
    fused = fuse({1: 0.5, 2: 0.5}, {2: 1, 3: 4})
    assert fused[2].score > fused[1].score == 0.5
    assert 0 < fused[3].score < LINK_WEIGHT


def test_a_link_never_lowers_a_score():
    assert all(each.score >= 0.9 for each in fuse({1: 0.9, 2: 1.0}, {1: 1, 2: 99}).values())
