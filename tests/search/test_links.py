"""Links, backlinks, mentions and reports of a small vault."""

from __future__ import annotations

import asyncio
import gc
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from tests.search.opened import indexed
from tests.support.index_runs import Vault

from vault_agent.errors import InvalidRequest, NotFound
from vault_agent.model.graph import GraphQuery, Page, TagBranch, TreeQuery
from vault_agent.model.identifiers import identify
from vault_agent.search import graph, lists
from vault_agent.search.links import backlinks, broken_links, broken_targets, links
from vault_agent.search.mentions import mentions
from vault_agent.store.current import READERS, SnapshotOutdated

PROSE = "The beds are covered early in the evening, before the ground gives its warmth away. "
FAULTS = ("note", "heading", "block", "attachment")


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    made = Vault(tmp_path)
    made.write(
        "Frost.md",
        "---\naliases: [Late frost]\ntags: [garden/beds, Weather]\nup: '[[Garden]]'\n---\n"
        "# Frost\n\nSee [[Fleece#Cotton|cover]] and [[Same]].\n\n"
        "![[gone.png]] [shop](https://user:pw@shop.example/a?key=secret#x) [[Nowhere]]\n"
        "[[Fleece#Wool]] [[#Frost]]\n",
    )
    made.write(
        "Fleece.md",
        f"# Fleece\n\n## Cotton\n\n{PROSE * 3}Use it with **[[Frost|frost warnings]]** in spring. "
        f"{PROSE * 3}\n\nAlso [[Frost]].\n",
    )
    made.write("Garden.md", f"#Garden/Beds #weather\n\n{PROSE}A late frost in May. {PROSE}\n")
    made.write("Diary.md", f"{PROSE}After the frost, `frost`, [frost](x.md) and #frost. {PROSE}\n")
    made.write("a/Same.md", "date: x\n")
    made.write("b/Same.md", "---\ncreated: 2024-01-02\ntype: place\n---\nx\n")
    return made


async def test_links_are_listed_in_the_order_of_the_file(vault: Vault):
    async with indexed(vault) as now:
        found = await links(now, identify("Frost.md"), Page(100), status=None, kinds=None)
    assert [(each.kind, each.target, each.status) for each in found.entries] == [
        ("frontmatter", "Garden", "resolved"),
        ("wikilink", "Fleece", "resolved"),
        ("wikilink", "Same", "ambiguous"),
        ("embed", "gone.png", "unresolved"),
        ("external", "https://shop.example/a", "external"),
        ("wikilink", "Nowhere", "unresolved"),
        ("wikilink", "Fleece", "resolved"),
        ("wikilink", "", "resolved"),
    ]
    assert [each.fragment_found for each in found.entries] == [
        *(None, True, None, None, None, None, False, True)
    ]
    assert found.entries[2].candidates == ("a/Same.md", "b/Same.md")
    assert (found.entries[1].path, found.entries[1].title) == ("Fleece.md", "Fleece")
    assert not found.more


@pytest.mark.parametrize("limit", [1, 2, 3, 7])
async def test_pages_of_links_join_without_gap_or_overlap(vault: Vault, limit: int):
    async with indexed(vault) as now:
        note = identify("Frost.md")
        whole = await links(now, note, Page(100), status=None, kinds=None)
        entries, page = [], Page(limit)
        while True:
            part = await links(now, note, page, status=None, kinds=None)
            entries += part.entries
            if not part.more:
                break
            page = Page(limit, part.ends[-1], part.revision)
    assert tuple(entries) == whole.entries


async def test_links_are_filtered_by_kind_and_status(vault: Vault):
    async def targets(status: str | None, kinds: tuple[str, ...] | None) -> list[str]:
        found = await links(now, identify("Frost.md"), Page(100), status=status, kinds=kinds)
        return [each.target for each in found.entries]

    async with indexed(vault) as now:
        assert await targets("unresolved", None) == ["gone.png", "Nowhere"]
        assert await targets("external", None) == ["https://shop.example/a"]
        assert await targets(None, ("embed", "external")) == ["gone.png", "https://shop.example/a"]
        assert await targets("resolved", ("embed",)) == []


async def test_backlinks_have_their_places_with_text(vault: Vault):
    async with indexed(vault) as now:
        found = await backlinks(now, identify("Frost.md"), Page(20), contexts=3)
    (fleece,) = found.entries  # not the note itself
    assert (fleece.path, fleece.count, found.total) == ("Fleece.md", 2, 1)
    first, second = fleece.places
    assert (first.line, first.heading, first.chunk_index) == (5, "Cotton", 0)
    ((start, end),) = first.matches
    assert first.snippet[start:end] == "frost warnings"
    assert "**" not in first.snippet
    assert "[[" not in first.snippet
    assert second.snippet[slice(*second.matches[0])] == "Frost"


@pytest.mark.parametrize(
    "text",
    ["a [b [c] d] e", "[late] frost", "x" * 1_200],
    ids=["two levels of brackets", "brackets", "long"],
)
async def test_the_whole_of_a_link_is_the_match(vault: Vault, text: str):
    vault.write("Odd.md", f"# Odd\n\nbefore [{text}](Frost.md) after\n")
    async with indexed(vault) as now:
        found = await backlinks(now, identify("Frost.md"), Page(20), contexts=3)
    [odd] = [note for note in found.entries if note.path == "Odd.md"]
    [place] = odd.places
    assert text[:200] in place.snippet[slice(*place.matches[0])]


async def test_a_link_in_the_frontmatter_has_a_place_without_text(vault: Vault):
    async with indexed(vault) as now:
        found = await backlinks(now, identify("Garden.md"), Page(20), contexts=3)
        none = await backlinks(now, identify("Garden.md"), Page(20), contexts=0)
    (place,) = found.entries[0].places
    assert (place.line, place.chunk_index, place.snippet) == (4, None, "")
    assert none.entries[0].places == ()


async def test_an_attachment_has_backlinks(vault: Vault):
    vault.write("media/plan.png", "not looked at")
    vault.write("Plans.md", "# Plans\n\nThe first one: ![[plan.png]]\n")
    async with indexed(vault) as now:
        found = await backlinks(now, identify("media/plan.png"), Page(20), contexts=3)
        with pytest.raises(NotFound):
            await backlinks(now, identify("media/gone.png"), Page(20), contexts=3)
    assert [(each.path, each.count) for each in found.entries] == [("Plans.md", 1)]
    assert found.entries[0].places[0].line == 3


async def test_mentions_leave_out_links_code_and_tags(vault: Vault):
    async with indexed(vault) as now:
        found = await mentions(now, identify("Frost.md"), limit=20, linked=False)
        linked = await mentions(now, identify("Frost.md"), limit=20, linked=True)
    assert [(each.path, each.count) for each in found.entries] == [
        ("Diary.md", 1),
        ("Garden.md", 1),
    ]
    (place,) = found.entries[1].places
    assert place.snippet[slice(*place.matches[0])] == "late frost"
    assert place.line == 3
    assert [each.path for each in linked.entries if each.linked] == []


@pytest.mark.fault(
    "Note contents",
    "a title of one or two characters, of digits, a placeholder, or a word that is everywhere",
    "not looked for as a mention; `MENTIONS_LIMITED` names it",
)
async def test_names_that_are_too_short_or_too_common_are_reported(vault: Vault):
    vault.write("It.md", "# The\n")
    for number in range(30):
        vault.write(f"many/{number}.md", "the same word\n")
    async with indexed(vault) as now:
        found = await mentions(now, identify("It.md"), limit=20, linked=False)
    assert found.entries == ()
    (warning,) = found.warnings
    assert warning.code == "MENTIONS_LIMITED"
    assert warning.details["skippedNames"] == ["It", "The"]


async def test_missing_notes_and_old_cursors_are_refused(vault: Vault):
    async with indexed(vault) as now:
        with pytest.raises(NotFound):
            await backlinks(now, "0" * 32, Page(1), contexts=0)
        with pytest.raises(InvalidRequest) as refused:
            await backlinks(now, identify("Frost.md"), Page(1, (0,), "9.9"), contexts=0)
    assert refused.value.code == "CURSOR_EXPIRED"


@pytest.mark.fault(
    "Links and the graph",
    "the index changes while links are read",
    "one revision is read, never two mixed; the read is repeated",
)
async def test_a_newer_revision_is_not_mixed_with_an_older_one(vault: Vault):
    async with indexed(vault) as now:
        vault.write("New.md", "[[Frost]]\n")
        await vault.index()
        with pytest.raises(SnapshotOutdated):
            await backlinks(now, identify("Frost.md"), Page(1), contexts=0)


@pytest.mark.fault(
    "Links and the graph",
    "a client disconnects while links are read",
    "the transaction of its connection ends, and later reads work",
)
async def test_a_cancelled_read_leaves_its_connection_usable(vault: Vault):
    async with indexed(vault) as now:
        note = identify("Frost.md")
        for steps in range(40):
            reading = asyncio.create_task(backlinks(now, note, Page(20), contexts=3))
            for _ in range(steps):
                await asyncio.sleep(0)
            reading.cancel()
            with suppress(asyncio.CancelledError):
                await reading
            for _ in range(READERS):
                assert (await backlinks(now, note, Page(20), contexts=3)).total == 1


async def test_broken_links_are_listed_by_path_and_by_target(vault: Vault):
    vault.write("z.md", "[[nowhere]] [[Nowhere]] [a](a/)\n")
    async with indexed(vault) as now:
        whole = await graph.Graphs().of(now)
        found = await broken_links(now, whole, Page(100), FAULTS)
        assert [(each.path, each.line, each.fault, each.target) for each in found.entries] == [
            ("Diary.md", 1, "note", "x.md"),
            ("Frost.md", 10, "attachment", "gone.png"),
            ("Frost.md", 10, "note", "Nowhere"),
            ("Frost.md", 11, "heading", "Fleece"),
            ("z.md", 1, "note", "nowhere"),
            ("z.md", 1, "note", "Nowhere"),
        ]
        ambiguous = await broken_links(now, whole, Page(100), ("ambiguous",))
        assert ambiguous.entries[0].candidates == ("a/Same.md", "b/Same.md")
        wanted = await broken_targets(now, whole, Page(1), FAULTS)
    assert (wanted.entries[0].target, wanted.entries[0].count) == ("Nowhere", 3)
    assert (wanted.entries[0].notes, wanted.more, wanted.total) == (2, True, 4)


async def test_the_graph_has_columns_and_objects(vault: Vault):
    async with indexed(vault) as now:
        whole = await graph.Graphs().of(now)
        asked = GraphQuery(unresolved=True)
        found = graph.to_columns(whole, await graph.read_rows(now, asked), asked, None)
        as_objects = replace(asked, format="objects")
        plain = graph.to_objects(whole, await graph.read_rows(now, as_objects), as_objects)
        few = GraphQuery(tags=("weather",), limit=1)
        cut = graph.to_columns(whole, await graph.read_rows(now, few), few, None)
    nodes = found["nodes"]
    assert nodes["title"] == [
        "Diary",
        "Fleece",
        "Frost",
        "Garden",
        "Same",
        "Same",
        "Nowhere",
        "x.md",
    ]
    assert nodes["id"][-2:] == [None, None]
    assert [found["folders"][each] for each in nodes["folder"][:6]] == ["", "", "", "", "a", "b"]
    assert (nodes["type"][5], found["types"], nodes["day"][5]) == (0, ["place"], 19724)
    assert found["tags"] == ["frost", "garden/beds", "Weather"]
    assert nodes["tags"][3] == nodes["tags"][2]
    assert found["edges"] == [0, 7, 1, 2, 2, 1, 2, 3, 2, 4, 2, 6]
    assert found["weights"] == [1, 2, 2, 1, 1, 1]
    assert found["counts"] == {"notes": 6, "edges": 4, "orphans": 2, "unresolved": 3}
    assert (cut["nodes"]["title"], cut["truncated"], cut["edges"]) == (["Frost"], True, [])
    assert (plain["nodes"][2]["label"], plain["nodes"][2]["connectionCount"]) == ("Frost", 3)


async def test_tags_and_folders_are_trees_with_counts(vault: Vault):
    def shown(branch) -> tuple:
        below = [shown(each) for each in branch.children]
        return name_of(branch), branch.count, branch.total, below

    def name_of(branch) -> str:
        return branch.tag if isinstance(branch, TagBranch) else branch.folder

    async with indexed(vault) as now:
        tags = await lists.tag_tree(now, TreeQuery("", depth=20, limit=1_000))
        below = await lists.tag_tree(now, TreeQuery("GARDEN/", depth=20, limit=1_000))
        one = await lists.tag_tree(now, TreeQuery("", depth=1, limit=1))
        folders = await lists.folder_tree(now, TreeQuery("", depth=20, limit=1_000))
    assert [shown(each) for each in tags.tags] == [
        ("frost", 1, 1, []),
        ("Garden", 0, 2, [("Garden/Beds", 2, 2, [])]),
        ("Weather", 2, 2, []),
    ]
    assert (tags.untagged, tags.truncated) == (3, False)
    assert [each.tag for each in below.tags] == ["Garden/Beds"]
    assert ([each.tag for each in one.tags], one.truncated) == (["frost"], True)
    assert [shown(each) for each in folders.folders] == [("a", 1, 1, []), ("b", 1, 1, [])]
    assert folders.count == 4


@pytest.mark.fault(
    "Links and the graph",
    "100,000 tags",
    "objects are made only for the tags that are shown",
)
def test_a_tree_of_very_many_tags_makes_no_object_for_each():
    rows = [(f"t{number}/x", f"t{number}/x", number // 12) for number in range(20_000)]
    collections = []
    gc.collect()
    gc.callbacks.append(lambda phase, _: collections.append(phase))
    try:
        branches, truncated = lists._tree(TagBranch, rows, TreeQuery("", 5, 100))
    finally:
        gc.callbacks.pop()
    assert (len(branches), truncated) == (100, True)
    # The collector runs once for some hundreds of new objects.
    assert len(collections) < 10
