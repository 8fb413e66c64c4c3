"""What was opened after similar searches reorders the results of a search, within bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.search.opened import indexed
from tests.support.index_runs import Vault

from vault_agent.model.search import RAISED, Filters, Opened, SearchQuery, Weights
from vault_agent.search.search import search

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from vault_agent.store.current import Snapshot

ALWAYS = Opened(99, 1.0)


@pytest.fixture
async def snapshot(tmp_path: Path) -> AsyncIterator[Snapshot]:
    vault = Vault(tmp_path)
    vault.write("Late frost.md", "about something else\n")
    vault.write("both.md", "late frost\n")
    for letter in "abc":
        vault.write(f"{letter}.md", "frost frost on the beds\n")
    vault.write("Archive/old.md", "frost frost on the beds\n")
    vault.write("other.md", "nothing of it\n")
    async with indexed(vault) as opened:
        yield opened


async def paths(snapshot: Snapshot, text: str, *opened: str, **options: object) -> list[str]:
    learned = {(None, path): ALWAYS for path in opened}
    found = await search(snapshot, SearchQuery(text, learned=learned, **options))
    return [hit.path for hit in found.hits]


async def test_a_note_whose_name_is_the_query_stays_first(snapshot: Snapshot):
    before = await paths(snapshot, "late frost")
    assert before[:2] == ["Late frost.md", "both.md"]
    assert await paths(snapshot, "late frost", "both.md", "c.md") == [
        *before[:2],
        "c.md",
        *(path for path in before[2:] if path != "c.md"),
    ]


async def test_a_passage_with_all_words_stays_before_those_without(snapshot: Snapshot):
    found = await paths(snapshot, "late frost", "c.md")
    assert found.index("both.md") < found.index("c.md") < found.index("a.md")


async def test_nothing_is_added_that_a_search_does_not_find(snapshot: Snapshot):
    assert "other.md" not in await paths(snapshot, "frost", "other.md")
    only = Filters(paths=("Archive",))
    assert await paths(snapshot, "frost", "a.md", filters=only) == ["Archive/old.md"]


async def test_it_comes_after_the_weights_of_folders(snapshot: Snapshot):
    old, new = "Archive/old.md", ["a.md", "b.md", "c.md"]
    assert await paths(snapshot, "frost on", old, limit=4) == [old, *new]
    weights = Weights({"Archive": 0.5})  # one and a half times a half is less than the whole
    found = await paths(snapshot, "frost on", old, weights=weights)
    assert found.index(old) > found.index("c.md")


async def test_searches_for_every_word_and_by_filters_alone_are_not_changed(snapshot: Snapshot):
    for options in ({"text": "frost beds", "every_word": True}, {"text": "path:**"}):
        text = str(options.pop("text"))
        assert await paths(snapshot, text, **options) == await paths(
            snapshot, text, "c.md", **options
        )


async def test_only_the_best_results_are_raised(tmp_path: Path):
    vault = Vault(tmp_path)
    for number in range(RAISED + 5):
        vault.write(f"n{number:02}.md", "frost\n")
    async with indexed(vault) as opened:
        options = {"limit": RAISED + 5}
        last, after = f"n{RAISED - 1:02}.md", f"n{RAISED:02}.md"
        assert (await paths(opened, "frost", last, **options))[0] == last
        assert (await paths(opened, "frost", after, **options))[RAISED] == after
