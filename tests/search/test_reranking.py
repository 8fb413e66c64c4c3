"""A reranker reorders the best results, explains it, and leaves them alone if it fails."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.search.opened import indexed
from tests.support.index_runs import Vault
from tests.support.local_model import LocalModel, status

from vault_agent.model.search import RERANKED, Answer, SearchQuery, Weights
from vault_agent.models.reranker import Reranker, RerankerSettings
from vault_agent.search.search import search_in
from vault_agent.store.current import Snapshot

NOTES = 35


@pytest.fixture
async def snapshot(tmp_path: Path) -> AsyncIterator[Snapshot]:
    vault = Vault(tmp_path)
    for number in range(NOTES):
        rest = " rain" * number  # the longer, the later
        vault.write(f"n{number:02}.md", f"## Part {number}\n\nfrost{rest} mark{number}\n")
    vault.write("a/frost.md", "of the garden frost")
    vault.write("b/frost.md", "of the window frost")
    async with indexed(vault) as opened:
        yield opened


@pytest.fixture
async def endpoint() -> AsyncIterator[LocalModel]:
    async with LocalModel(cancels=True) as running:
        yield running


@pytest.fixture
async def reranker(endpoint: LocalModel) -> AsyncIterator[Reranker]:
    async with Reranker(RerankerSettings(endpoint.rerank_url)) as running:
        yield running


async def pages(
    snapshot: Snapshot, reranker: Reranker | None, text: str = "frost rain", **options: object
) -> list[str]:
    """Return the paths of all pages of ten."""
    found: list[str] = []
    answer: Answer | None = None
    while answer is None or answer.has_more:
        query = SearchQuery(text, rerank=True, offset=len(found), **options)
        answer = await search_in(snapshot, query, reranker=reranker)
        found += [hit.path for hit in answer.results]
    return found


async def test_the_first_30_are_in_the_order_of_their_relevance(
    snapshot: Snapshot, reranker: Reranker, endpoint: LocalModel
):
    before = await pages(snapshot, None)
    endpoint.relevance = lambda _query, text: -len(text)
    after = await pages(snapshot, reranker)
    assert len(endpoint.reranked) == 1
    assert endpoint.reranked[0]["query"] == "frost rain"
    texts = dict(zip(before[:RERANKED], endpoint.reranked[0]["documents"], strict=True))
    assert texts["n07.md"] == f"n07\nPart 7\n\n## Part 7\n\nfrost{7 * ' rain'} mark7"
    assert after != before
    assert after[:RERANKED] == sorted(before[:RERANKED], key=lambda path: len(texts[path]))
    assert after[RERANKED:] == before[RERANKED:]


async def test_equal_relevance_changes_nothing(
    snapshot: Snapshot, reranker: Reranker, endpoint: LocalModel
):
    endpoint.relevance = lambda *_: 0.5
    assert await pages(snapshot, reranker) == await pages(snapshot, None)


async def test_a_note_whose_name_is_the_query_stays_in_front(
    snapshot: Snapshot, reranker: Reranker, endpoint: LocalModel
):
    endpoint.relevance = lambda _query, text: "window" in text or "mark7" in text
    found = await pages(snapshot, reranker, "frost")
    assert found[:3] == ["b/frost.md", "a/frost.md", "n07.md"]


async def test_an_explanation_has_the_relevance_and_the_place_before(
    snapshot: Snapshot, reranker: Reranker, endpoint: LocalModel
):
    endpoint.relevance = lambda _query, text: 0.98765 if "mark9" in text else 0.1
    query = SearchQuery("frost rain", rerank=True, explain=True)
    plain = (await search_in(snapshot, query)).results
    hits = (await search_in(snapshot, query, reranker=reranker)).results
    assert hits[0].path == "n09.md"
    assert hits[0].explanation["reranked"]["relevance"] == 0.9877
    place = int(hits[0].explanation["reranked"]["placeBefore"])
    assert place > 1
    assert hits[1].explanation["reranked"] == {"relevance": 0.1, "placeBefore": 1}
    assert [hit.score for hit in hits] == [hit.score for hit in plain]
    assert all("reranked" not in (hit.explanation or {}) for hit in plain)


async def test_the_weights_of_folders_count_after_it(
    snapshot: Snapshot, reranker: Reranker, endpoint: LocalModel
):
    endpoint.relevance = lambda _query, text: "window" in text
    weights = Weights({"b": 0.01})
    found = await pages(snapshot, reranker, weights=weights)
    assert found[-1] == "b/frost.md"


async def test_nothing_is_sent_for_operators_other_searches_and_single_results(
    snapshot: Snapshot, reranker: Reranker, endpoint: LocalModel
):
    for query in (
        SearchQuery("path:b", rerank=True),
        SearchQuery("mark9", rerank=True),
        SearchQuery("frost rain", rerank=True, match="all"),
        SearchQuery("frost rain"),
    ):
        assert (await search_in(snapshot, query, reranker=reranker)).results
    assert endpoint.reranked == []


async def test_a_reranker_that_fails_leaves_the_order_with_a_warning(
    snapshot: Snapshot, reranker: Reranker, endpoint: LocalModel
):
    endpoint.always = status(500)
    query = SearchQuery("frost rain", rerank=True)
    plain = await search_in(snapshot, query)
    answer = await search_in(snapshot, query, reranker=reranker)
    assert answer.results == plain.results
    (warning,) = answer.warnings
    assert warning.code == "RERANK_UNAVAILABLE"
    assert warning.message.startswith("These results are not reranked. The reranker fails with")
