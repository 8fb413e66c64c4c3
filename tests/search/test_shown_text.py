"""Searches find notes by what a reader sees, not by the footers and badges that all notes have."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
import pytest_asyncio
from tests.search.opened import indexed, opened
from tests.support.index_runs import Vault

from vault_agent.model.search import Hit, SearchQuery
from vault_agent.search.search import search_in
from vault_agent.store.current import Snapshot

pytestmark = pytest.mark.asyncio(loop_scope="module")  # that of `snapshot`

TOOLS = ("rake", "spade", "hoe", "shears", "trowel", "barrow")
WORK = ("clears leaves", "turns beds", "loosens crust", "trims hedges", "lifts bulbs", "moves soil")


def tool_note(name: str, says: str) -> str:
    """Return a note with badges before its text and a footer below, as exports have them."""
    address = f"https://forge.example/tools/{name}-2"
    return (
        f"---\naliases: [My {name}]\n---\n"
        f"![Orchard badge](https://badges.example/orchard/{name}?style=git-orchard)\n\n"
        f"# {name}\n\nTool: [Orchard page]({address}) by [[maker of {name}|Ada]]\n\n{says}\n\n"
        '%% Git backup of the orchard %%\n\n## This note\n\n<span class="git-backup">'
        f'[Prune it]({address}.md "git-edit") | [Copy the note](https://raw.example/{name})</span>\n'
    )


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def snapshot(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Snapshot]:
    vault = Vault(tmp_path_factory.mktemp("vault"))
    for number in range(400):
        kind = number % len(TOOLS)
        name = f"{TOOLS[kind]}{number}"
        vault.write(f"tools/{name}.md", tool_note(name, f"It {WORK[kind]} in plot p{number}."))
    vault.write("tools/keeper.md", tool_note("keeper", "Git backup for a vault of notes."))
    vault.write("prune.md", "# Winter\n\nPrune the old orchard trees in frost.\n")
    async with indexed(vault):
        pass
    vault.write("later.md", tool_note("later", "It came when the others were indexed."))
    await vault.index()
    async with opened(vault) as current:
        yield current


async def hits(snapshot: Snapshot, query: str, **more) -> Sequence[Hit]:
    return (await search_in(snapshot, SearchQuery(query, limit=10, **more))).results


async def found(snapshot: Snapshot, query: str, **more) -> list[str]:
    return [hit.path for hit in await hits(snapshot, query, **more)]


async def test_words_of_addresses_attributes_and_comments_find_nothing(snapshot: Snapshot):
    assert await found(snapshot, "git backup") == ["tools/keeper.md"]
    assert await found(snapshot, "style span edit") == []


async def test_a_described_note_is_first_though_all_notes_have_its_words(snapshot: Snapshot):
    assert (await found(snapshot, "prune orchard"))[0] == "prune.md"
    assert (await found(snapshot, "note about moves soil p11"))[0] == "tools/barrow11.md"


async def test_a_note_is_found_by_the_site_it_links_to_and_by_its_alias(snapshot: Snapshot):
    assert "tools/rake0.md" in await found(snapshot, "rake0-2")
    assert len(await found(snapshot, "forge.example")) == 10
    assert (await found(snapshot, "my spade7"))[0] == "tools/spade7.md"


async def test_the_target_of_a_link_with_a_text_finds_nothing(snapshot: Snapshot):
    assert await found(snapshot, "maker") == []


async def test_a_line_that_many_notes_have_is_found_as_a_phrase(snapshot: Snapshot):
    assert len(await found(snapshot, '"copy the note"')) == 10
    assert "later.md" in await found(snapshot, '"copy the note" later')
    assert len(await found(snapshot, "copy the note", match="all")) == 10


async def test_a_line_that_many_notes_have_counts_little_in_later_notes_too(snapshot: Snapshot):
    assert (await found(snapshot, "others indexed"))[0] == "later.md"
    assert "later.md" not in await found(snapshot, "orchard")


async def test_excerpts_have_no_addresses_or_markup(snapshot: Snapshot):
    for query in ("orchard page", "my rake0", "forge.example", "backup", "p11"):
        for hit in await hits(snapshot, query):
            for sign in ("://", "](", "<span", "%%", "class=", "badges.example"):
                assert sign not in hit.snippet


@pytest.mark.parametrize("count", [20, 50, 100])
async def test_a_footer_counts_next_to_nothing_in_a_small_vault_too(tmp_path: Path, count: int):
    vault = Vault(tmp_path)
    for number in range(count):
        vault.write(f"bed{number}.md", tool_note(f"bed{number}", f"It has row {number}."))
    vault.write("copying.md", "Copy your seeds for the neighbours.\n")
    async with indexed(vault) as snapshot:
        assert await found(snapshot, "copy seeds") == ["copying.md"]
        assert len(await found(snapshot, "note")) == 10  # no other text has the word
        assert (await hits(snapshot, "bed7"))[0].heading == "bed7"  # and not the footer


async def test_a_named_note_shows_its_first_section_with_a_text(tmp_path: Path):
    vault = Vault(tmp_path)
    badge = "![Badge of the rake](https://badges.example/rake)\n\n"
    vault.write("Rake.md", f"{badge}# Rake\n\nIt clears leaves.\n\n# More\n\nThe rake, a rake.\n")
    vault.write("Rakes.md", "# Rakes\n\n![](a.png)\n\n# Old\n\nThere are two of them here.\n")
    async with indexed(vault) as snapshot:
        for query, heading, snippet in (
            ("Rake.md", "Rake", "It clears leaves."),
            ("old rakes", "Old", "There are two of them here."),
            ("my rakes", "Old", "There are two of them here."),
        ):
            hit = (await hits(snapshot, query))[0]
            assert (hit.heading, hit.snippet) == (heading, snippet)
