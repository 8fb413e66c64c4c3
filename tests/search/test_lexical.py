"""All words: each is in the note as it is written. Ranked results have pages."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.search.opened import indexed
from tests.support.index_runs import Vault

from vault_agent.errors import InvalidRequest
from vault_agent.model.modes import Mode
from vault_agent.model.search import MAX_RANKED, Filters, SearchQuery
from vault_agent.search.search import search_in
from vault_agent.store.current import Snapshot
from vault_agent.text.words import fold_words, whole_word

pytestmark = pytest.mark.asyncio(loop_scope="module")  # that of `snapshot`

NOTES = {
    "frost.md": "---\naliases: [Cold snap]\n---\n# Frost\n\nFleece.\n\n## B\n\nThe beds",
    "frosty.md": "# Frosty\n\nfleeced beds and frosts, frost-free\n",
    "cafe.md": "---\ntags: [drinks/hot]\n---\nA NAÏVE Café, ＡＢＣ and C++ at 8.30\n",
    "tokyo.md": "今日は東京で新しい図書館を見た。**late**\n> [frost](a.md)\n",
    "京東.md": "京東と図書\n",
}


async def found(snapshot: Snapshot, query: str, **more) -> list[str]:
    asked = SearchQuery(query, limit=50, match="all", **more)
    return [hit.path for hit in (await search_in(snapshot, asked)).results]


@pytest.mark.parametrize(
    ("query", "paths"),
    [
        ("fleece beds", ["frost.md"]),  # in two chunks
        ("fleeced", ["frosty.md"]),
        ("frosts", ["frosty.md"]),
        ("cold snap fleece", ["frost.md"]),
        ("FREE frost", ["frosty.md"]),
        ("cafe naive abc", ["cafe.md"]),
        ("caf", []),
        ("drinks/hot", ["cafe.md"]),
        ("c++", ["cafe.md"]),
        ("8.30", ["cafe.md"]),
        ("東京", ["tokyo.md"]),
        ("京", ["tokyo.md", "京東.md"]),
        ("図書館 late", ["tokyo.md"]),
        ('"late frost"', ["tokyo.md"]),
        ('"frost late"', []),
        ("fleec", []),
        ("fleece -beds", []),
        ("frost path:京東", []),
        ("path:京東", ["京東.md"]),
        ("!!!", []),
    ],
)
async def test_every_word_must_be_in_the_note(snapshot: Snapshot, query: str, paths: list[str]):
    assert sorted(await found(snapshot, query)) == paths


async def test_a_note_with_that_name_comes_first(snapshot: Snapshot):
    assert (await found(snapshot, "frost"))[0] == "frost.md"


async def test_the_result_is_the_chunk_with_most_words(snapshot: Snapshot):
    asked = SearchQuery("the beds", match="all")
    (hit,) = (await search_in(snapshot, asked)).results
    assert (hit.chunk_index, hit.heading_path) == (1, ("Frost", "B"))
    (hit,) = (await search_in(snapshot, SearchQuery("cold snap", match="all"))).results
    assert (hit.type, hit.chunk_index) == ("note", None)


async def test_filters_apply_to_all_words(snapshot: Snapshot):
    assert await found(snapshot, "beds", filters=Filters(paths=("frosty.md",))) == ["frosty.md"]


async def test_all_words_are_lexical(snapshot: Snapshot):
    with pytest.raises(InvalidRequest) as refused:
        await found(snapshot, "beds", mode=Mode.HYBRID)
    assert refused.value.code == "INVALID_MODE"


async def test_only_the_best_candidates_are_verified(snapshot: Snapshot, monkeypatch):
    monkeypatch.setattr("vault_agent.search.every_word.CANDIDATES", 1)
    answer = await search_in(snapshot, SearchQuery("fleeced", limit=5, match="all"))
    assert answer.truncated
    monkeypatch.undo()
    answer = await search_in(snapshot, SearchQuery("fleeced", limit=5, match="all"))
    assert not answer.truncated


@pytest.mark.parametrize("match", ["best", "all"])
async def test_pages_follow_each_other(tmp_path: Path, match: str):
    vault = Vault(tmp_path)
    for number in range(25):
        vault.write(f"{number:02}.md", f"# Note {number}\n\nfrost {'fleece ' * number}\n")
    async with indexed(vault) as snapshot:
        whole = await search_in(snapshot, SearchQuery("frost", limit=50, match=match))
        seen: list[str] = []
        revision = None
        for left in (True, True, False):
            asked = SearchQuery("frost", limit=10, match=match, offset=len(seen), revision=revision)
            page = await search_in(snapshot, asked)
            seen += [hit.path for hit in page.results]
            revision = page.revision
            assert (page.has_more, page.limit) == (left, 10)
        assert seen == [hit.path for hit in whole.results]
        with pytest.raises(InvalidRequest) as refused:
            await search_in(snapshot, SearchQuery("frost", offset=10, revision="0.0"))
        assert refused.value.code == "CURSOR_EXPIRED"


@pytest.mark.parametrize("match", ["best", "all"])
async def test_the_pages_end_after_the_last_ranked_result(tmp_path: Path, match: str):
    """More notes are verified than are ranked. They are no further page."""
    vault = Vault(tmp_path)
    for number in range(MAX_RANKED + 60):
        word = "frosts" if number % 7 == 0 else "frost"  # the same to the full text
        vault.write(f"{number:03}.md", f"# Note {number}\n\n{word}\n")
    async with indexed(vault) as snapshot:
        for offset, left in ((0, True), (MAX_RANKED - 50, False), (MAX_RANKED, False)):
            asked = SearchQuery("frost", limit=50, match=match, offset=offset)
            page = await search_in(snapshot, asked)
            assert page.has_more is left


@pytest.mark.parametrize(
    ("literal", "text", "there"),
    [
        ("cat", "a cat.", True),
        ("cat", "catalog", False),
        ("cat", "cat_x", False),
        ("ＣＡＴ", "cat社", True),
        ("(cat)", "cat", True),
        ("が", "か", False),
        ("ガ", "ｶﾞ", True),
        ("a b", "a \n b", True),
        ("a+", "a+b", True),
        ("straße", "STRASSE", True),
    ],
)
async def test_a_word_has_borders(literal: str, text: str, there: bool):
    word = whole_word(literal)
    assert (word.search(fold_words(text)) is not None) is there


async def test_a_result_has_its_lines_and_the_line_of_the_match(snapshot: Snapshot):
    """As with the other ways to match: a result is shown as `path:line`."""
    for match in ("best", "all"):
        query = SearchQuery("beds the", limit=1, match=match)
        (hit,) = (await search_in(snapshot, query)).results
        assert (hit.path, hit.start_line, hit.end_line, hit.line) == ("frost.md", 8, 10, 10)


async def test_a_result_by_its_name_alone_has_no_line(snapshot: Snapshot):
    (hit,) = (await search_in(snapshot, SearchQuery("snap", limit=1, match="all"))).results
    assert (hit.type, hit.start_line, hit.line) == ("note", None, None)
