"""Semantic searches over a real index and vectors of a fake model."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.support.index_runs import Vault
from tests.support.local_model import hashed_vector

from vault_agent.indexing.embed import embed
from vault_agent.model.modes import Mode, Reason
from vault_agent.model.search import Answer, SearchQuery
from vault_agent.models.embedder import Embedder
from vault_agent.search.search import search_in
from vault_agent.store.current import CurrentIndex


def vault_of(folder: Path, notes: dict[str, str]) -> Vault:
    made = Vault(folder)
    for title, text in notes.items():
        made.write(f"{title}.md", f"# {title}\n\n{text}\n")
    return made


@asynccontextmanager
async def served(vault: Vault) -> AsyncIterator[CurrentIndex]:
    """Open an index like a server."""
    index = vault.current(vectors=vault.directory.vectors)
    await index.refresh()
    try:
        yield index
    finally:
        await index.close()


async def ask(index: CurrentIndex, embedder: Embedder, query: str, mode: Mode) -> Answer:
    async with index.snapshot() as snapshot:
        return await search_in(snapshot, SearchQuery(query, mode=mode), embedder=embedder)


async def embed_all_of(vault: Vault, embedder: Embedder, settings) -> None:
    await embed(str(vault.directory.path), embedder, settings, vault.heard)


async def test_new_vectors_are_served_after_a_refresh(tmp_path, endpoint, settings):
    vault = vault_of(tmp_path, {"Bread": "Flour and water.", "Ink": "Black and blue."})
    await vault.index()
    async with Embedder(settings()) as embedder, served(vault) as index:
        async with index.snapshot() as before:
            assert before.embedded_share == 0
            await embed_all_of(vault, embedder, settings())
            await index.refresh()
            async with index.snapshot() as after:
                assert after.embedded_share == 1
            assert before.matrix is None  # a reader keeps its revision
        assert (await ask(index, embedder, "flour", Mode.HYBRID)).results
        vault.write("Tea.md", "# Tea\n\nGreen.\n")
        await vault.index()
        await index.refresh()
        assert (await ask(index, embedder, "green", Mode.LEXICAL)).results
        assert index.latest.embedded_share < 1


async def test_unknown_query_words_reduce_the_lexical_weight(tmp_path, endpoint, settings):
    notes = {"Sourdough": "Feed the starter and let it rise.", "Taxes": "The home office counts."}
    vault = vault_of(tmp_path, notes | {f"Other {n}": f"Something about {n}." for n in range(6)})
    await vault.index()
    question = "anybody knows how breads get baked at home"
    meant = hashed_vector("Sourdough\n\nFeed the starter and let it rise.")
    by_words = endpoint.vector
    endpoint.vector = lambda text: meant if text == question else by_words(text)
    async with Embedder(settings()) as embedder:
        await embed_all_of(vault, embedder, settings())
        async with served(vault) as index:
            lexical = await ask(index, embedder, question, Mode.LEXICAL)
            assert lexical.results[0].title == "Taxes"
            hybrid = await ask(index, embedder, question, Mode.HYBRID)
            assert hybrid.results[0].title == "Sourdough"


async def test_semantic_results_highlight_matching_words(tmp_path, endpoint, settings):
    text = "Nothing of interest here. " * 20 + "The lighthouse keeper wrote. " + "More. " * 60
    vault = vault_of(tmp_path, {"Log": text, "Ink": "Black and blue."})
    await vault.index()
    async with Embedder(settings()) as embedder:
        await embed_all_of(vault, embedder, settings())
        async with served(vault) as index:
            answer = await ask(index, embedder, "lighthouse keeper", Mode.EMBEDDING)
    [hit] = [hit for hit in answer.results if hit.title == "Log"]
    assert "lighthouse" in hit.snippet
    assert hit.matches


async def test_a_hit_by_meaning_alone_has_at_most_half_of_the_score(tmp_path, endpoint, settings):
    notes = {"Bread": "Flour and water.", "Ink": "Black and blue.", "Tea": "Green and flour."}
    vault = vault_of(tmp_path, notes)
    await vault.index()
    async with Embedder(settings()) as embedder, served(vault) as index:
        await embed_all_of(vault, embedder, settings())
        await index.refresh()
        nonsense = await ask(index, embedder, "zxqvurble", Mode.HYBRID)
        assert nonsense.results
        assert nonsense.by_meaning_alone
        assert [word.position for word in nonsense.unknown] == [1]
        near = await ask(index, embedder, "# Bread Flour and water.", Mode.EMBEDDING)
        both = await ask(index, embedder, "flour water", Mode.HYBRID)
    for answer in (nonsense, near):
        assert {hit.reason for hit in answer.results} == {Reason.EMBEDDING_MATCH}
        assert max(hit.score for hit in answer.results) <= 0.5
    scores = [hit.score for hit in both.results]
    assert scores == sorted(scores, reverse=True)
    assert both.results[0].score > 0.5
    assert not both.by_meaning_alone
