"""Related notes: which voices find them, and what `linked` leaves out."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.search.opened import opened
from tests.support.index_runs import Vault

from vault_agent.model.identifiers import identify
from vault_agent.model.modes import Linked, Reason
from vault_agent.model.search import Answer, Filters, RelatedQuery
from vault_agent.search.related import (
    LINK_WEIGHT,
    QUERY_TERMS,
    Voices,
    count_terms,
    fuse,
    linked_with_similar,
    related,
    related_query,
    shared_neighbours,
    whole_note,
)
from vault_agent.store.index import links

BREAD = "Kitchen/Bread.md"
NOTES = {
    BREAD: "Sourdough needs flour, water and a long rest. See [[Starter]], [[Baking|there]].\n",
    "Kitchen/Starter.md": "A sourdough starter is flour and water that ferment. #kitchen\n",
    "Kitchen/Rye.md": "A rye loaf is sourdough from dark flour, with a rest.\n",
    "Baking.md": "---\naliases: [Oven]\n---\nFull heat. #kitchen\n",
    "Pizza.md": "Tomatoes [[Oven]].\n",
    "Diary.md": "It rained in [[2024]]. I read about comets.\n",
    "Comets.md": "Ice far away.\n",
    "2024.md": "Snow.\n",
    "Empty.md": "",
}


@pytest.fixture
async def vault(tmp_path: Path) -> Vault:
    made = Vault(tmp_path)
    for path, text in NOTES.items():
        made.write(path, text)
    await made.index()
    return made


async def ask(vault: Vault, path: str, **more: object) -> Answer:
    async with opened(vault) as snapshot:
        return await related(snapshot, RelatedQuery(identify(path), **more))  # type: ignore[arg-type]


async def found(vault: Vault, path: str, **more: object) -> list[str]:
    return [hit.path for hit in (await ask(vault, path, **more)).results]


async def test_linked_notes_are_found_unless_they_are_left_out(vault: Vault):
    assert {"Kitchen/Starter.md", "Baking.md", "Kitchen/Rye.md"} <= {*await found(vault, BREAD)}
    assert await found(vault, BREAD, linked=Linked.EXCLUDE) == ["Kitchen/Rye.md", "Pizza.md"]
    assert {*await found(vault, BREAD, linked=Linked.ONLY)} == {"Kitchen/Starter.md", "Baking.md"}


async def test_a_link_counts_in_both_directions(vault: Vault):
    assert BREAD not in await found(vault, "Kitchen/Starter.md", linked=Linked.EXCLUDE)
    assert await found(vault, "Kitchen/Starter.md", linked=Linked.ONLY) == [BREAD]


@pytest.mark.fault(
    "Queries",
    "`linked=only` for a note without links",
    "no results, no search",
)
async def test_a_note_without_links_has_no_linked_notes(vault: Vault):
    assert await found(vault, "Kitchen/Rye.md", linked=Linked.ONLY) == []
    assert await found(vault, "Empty.md", linked=Linked.EXCLUDE) == []


async def test_a_shared_neighbour_relates_notes_without_common_words(vault: Vault):
    answer = await ask(vault, "Pizza.md", linked=Linked.EXCLUDE, explain=True)
    hit = answer.results[0]
    assert (hit.path, hit.reason) == (BREAD, Reason.RELATED_NEIGHBOURS)
    assert "neighbours" in hit.explanation["votes"]


async def test_the_reason_is_the_voice_that_gives_most(vault: Vault):
    reasons = {hit.path: hit.reason for hit in (await ask(vault, BREAD)).results}
    assert reasons["Kitchen/Rye.md"] is Reason.RELATED_LEXICAL
    reasons = {hit.path: hit.reason for hit in (await ask(vault, "Diary.md")).results}
    assert reasons["2024.md"] is Reason.RELATED_LINK


@pytest.mark.parametrize("linked", Linked)
async def test_filters_hold_for_every_voice(vault: Vault, linked: Linked):
    filters = Filters(paths=("Kitchen",))
    paths = await found(vault, BREAD, linked=linked, filters=filters)
    assert paths
    assert all(path.startswith("Kitchen/") for path in paths)


async def test_the_asked_note_is_never_related_to_itself(vault: Vault):
    vault.write("Self.md", "Sourdough, [[Self]], [[Baking]].\n")
    await vault.index()
    for linked in Linked:
        assert "Self.md" not in await found(vault, "Self.md", linked=linked)


async def circles(vault: Vault, *paths: str) -> dict[str, set[str]]:
    """Return the circles of some notes by path."""
    with vault.reader() as connection:
        rows = connection.execute("SELECT path, rowid FROM note").fetchall()
    rowids = dict(rows)
    names = {rowid: path for path, rowid in rowids.items()}
    number = vault.directory.current()
    assert number is not None
    with closing(sqlite3.connect(vault.directory.database(number))) as connection:
        read = links.circles(connection, [rowids[path] for path in paths])
    return {names[rowid]: {names[other] for other in others} for rowid, others in read.items()}


async def test_a_circle_has_links_in_both_directions(vault: Vault):
    assert await circles(vault, "Baking.md", BREAD) == {
        "Baking.md": {BREAD, "Pizza.md"},
        BREAD: {"Kitchen/Starter.md", "Baking.md"},
    }


@pytest.mark.fault(
    "Queries",
    "`related` of a note with very many links, or next to an index of everything",
    "at most 2,000 neighbours are looked at, those with the fewest links first, and "
    "3,000 links are read",
)
async def test_notes_with_very_many_links_are_not_walked(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(links, "MAX_LINKS", 3)
    vault.write("Index.md", "[[Bread]] [[Rye]] [[Baking]] [[Pizza]]\n")
    await vault.index()
    assert set(await circles(vault, "Index.md", "Kitchen/Starter.md")) == {"Kitchen/Starter.md"}


async def test_what_similar_notes_link_to_is_found(tmp_path: Path):
    vault = Vault(tmp_path)
    for name in ("a", "b", "c"):
        vault.write(f"{name}.md", f"Quinces ripen late, jelly {name}. See [[Orchard fruit]].\n")
    vault.write("new.md", "Quinces ripen late in jelly.\n")
    vault.write("Orchard fruit.md", "An overview.\n")
    vault.write("Else.md", "Nothing of it.\n")
    await vault.index()
    answer = await ask(vault, "new.md", explain=True)
    hit = next(hit for hit in answer.results if hit.path == "Orchard fruit.md")
    assert hit.reason is Reason.RELATED_NEIGHBOURS
    assert hit.explanation["votes"].keys() == {"similar"}


async def test_words_that_tell_nothing_are_not_marked_as_the_reason(tmp_path: Path):
    vault = Vault(tmp_path)
    vault.write("a.md", "The whole quince jelly is wrong, and does its own thing.\n")
    vault.write("b.md", "A quince jelly. The whole day was wrong. It does its own thing.\n")
    for number in range(20):
        vault.write(f"n{number}.md", f"Something else {number}.\n")
    await vault.index()
    (hit,) = [hit for hit in (await ask(vault, "a.md")).results if hit.path == "b.md"]
    marked = {hit.snippet[start:end] for start, end in hit.matches}
    assert marked == {"quince", "jelly"}


# --- scores ---------------------------------------------------------------------------------------


def test_a_related_query_has_the_most_distinctive_terms():
    counts = count_terms("the zebra and the quagga: the zebra, 2024-05-06", "Quagga")
    query = related_query(counts, {"the": 900, "zebra": 30, "quagga": 20, "and": 800}, 1000)
    assert list(query.term_weights) == ["quagga", "zebra"]
    assert not query.tolerant


def test_a_related_query_has_a_limited_number_of_terms_and_a_whole_note_more():
    words = [f"word{n}x" for n in range(200)]
    counts = count_terms(" ".join(words), "")
    frequencies = dict.fromkeys(counts, 5)
    assert len(related_query(counts, frequencies, 1000).term_weights) == QUERY_TERMS
    assert len(whole_note(counts, frequencies, 1000)) == 200


def test_a_note_that_several_similar_notes_link_counts_more():
    scores = linked_with_similar({1: 1.0, 2: 0.5, 3: 0.5}, {1: {8}, 2: {9}, 3: {9, 7, 6, 5}})
    assert scores[8] > scores[9] > scores[7] == scores[6] > 0
    fused = fuse(Voices({1: 1.0}, {}, scores, {}, {}))
    assert fused[8].score > fused[9].score > fused[7].score > 0


def test_text_counts_most_then_neighbours_then_the_folder():
    fused = fuse(Voices({1: 7.0, 4: 0.1}, {2: 3.0, 4: 0.1}, {}, {3: 1.0, 4: 0.5}, {3: 1}))
    assert fused[1].score > fused[2].score > fused[3].folder > 0


def test_a_neighbour_with_many_links_is_weak_evidence_even_if_it_is_the_best():
    weak = fuse(Voices({1: 7.0}, shared_neighbours({9: set(range(500))}), {}, {}, {}))
    clear = fuse(Voices({1: 7.0}, shared_neighbours({9: {2, 3}}), {}, {}, {}))
    assert clear[2].score > 3 * weak[2].score


def test_text_or_links_are_enough_and_both_score_higher():
    fused = fuse(Voices({1: 0.5, 2: 0.5, 9: 1.0}, {}, {}, {}, {2: 1, 3: 4}))
    assert fused[2].score > fused[1].score == 0.5
    assert 0 < fused[3].score < LINK_WEIGHT
