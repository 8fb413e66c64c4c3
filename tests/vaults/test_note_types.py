"""In project and global vaults notes have types, and links find them by `id` and type."""

from __future__ import annotations

import orjson
import pytest
from tests.support.registered_vaults import KeptVaults, RegisteredVaults, indexed

from vault_agent.api import reading, search
from vault_agent.api.caller import OWNER, CallContext
from vault_agent.api.operation import perform
from vault_agent.api.reading import NoteRequest
from vault_agent.api.requests import parse_strings, parse_values
from vault_agent.config.vault_list import Role
from vault_agent.errors import NotFound
from vault_agent.model.identifiers import identify
from vault_agent.model.lists import ListQuery
from vault_agent.model.search import Filters, RelatedQuery, SearchQuery
from vault_agent.model.values import dump
from vault_agent.search import note_file
from vault_agent.search.lists import list_notes
from vault_agent.search.resolve import resolve
from vault_agent.vaults.open_vault import OpenVault

JOURNAL = """---
id: journal-2026-02-13-abc12345
title: Refactored cost tracker
status: complete
links: [cost-tracker]
files: [src/core/cost_tracker.rs, src/CostPanel.tsx]
project: synk
session: session-abc123
agent: claude-code
promoted: true
---
# Refactored cost tracker

Chose regex, see [[module-cost-tracker|the module]] and [[decision-2026-01-01-aaaaaa]].
"""
NOTES_OF_APP = {
    "journals/2026-02-13-session-abc12345.md": JOURNAL,
    "modules/cost-tracker.md": "# Cost tracker\n\nSee [[journal-2026-02-13-abc12345]].\n",
    "decisions/parsing.md": "---\nid: decision-2026-01-01-aaaaaa\n---\n# Parsing\n\nregex\n",
    "adr/0001-first.md": "# First\n\nregex\n",
    "bugs/crash.md": "---\ntype: runbook\nstatus: resolved\nfiles: src/core\n---\n# Crash\n",
    "notes/plain.md": "# Plain\n\n[[bug-crash]] [[runbook-crash]] [[Module-Cost-Tracker]]\n",
    "top.md": "# Top\n\nregex\n",
}


def fill(made: RegisteredVaults) -> tuple[str, str]:
    made.write(made.default, NOTES_OF_APP)
    made.project("app", NOTES_OF_APP)
    made.registered(Role.OTHER, "other", {"decisions/a.md": "# A\n", "b.md": "[[decision-a]]"})
    return "project:app", "other"


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> KeptVaults:
    return KeptVaults(tmp_path_factory.mktemp("types"), fill)


@pytest.fixture
def world(kept: KeptVaults) -> RegisteredVaults:
    return kept.restored()


async def targets(vault: OpenVault, path: str) -> list[str | None]:
    found = await vault.read_files(note_file.read_whole, identify(path), allow_large=False)
    return [link.path for link in found.links]


async def test_a_note_without_a_type_gets_that_of_its_folder(world: RegisteredVaults):
    async with world.app() as app:
        vault = await app.vaults.open("project:app")
        await indexed(vault)
        found = await vault.reader.read_with_warnings(list_notes, ListQuery(), None)
        assert {note.path: note.type for note in found.notes} == {
            "journals/2026-02-13-session-abc12345.md": "journal",
            "modules/cost-tracker.md": "module",
            "decisions/parsing.md": "decision",
            "adr/0001-first.md": "decision",
            "bugs/crash.md": "runbook",
            "notes/plain.md": "note",
            "top.md": "note",
        }
        decisions = SearchQuery("regex", filters=Filters(types=("decision",)))
        hits = (await vault.search(decisions)).results
        assert {hit.path for hit in hits} == {"decisions/parsing.md", "adr/0001-first.md"}
        states = {each.name: each.types for each in await app.vaults.states()}
        assert states["project:app"] == {
            "decision": 2,
            "note": 2,
            "journal": 1,
            "module": 1,
            "runbook": 1,
        }


async def test_other_vaults_keep_what_is_written(world: RegisteredVaults):
    async with world.app() as app:
        other = await app.vaults.open("other")
        await indexed(other)
        for vault, path in (
            (app.vaults.default, "decisions/parsing.md"),
            (other, "decisions/a.md"),
        ):
            found = await vault.reader.read_with_warnings(list_notes, ListQuery(), None)
            assert {note.path: note.type for note in found.notes}[path] is None
        assert await targets(other, "b.md") == [None]
        assert await targets(app.vaults.default, "notes/plain.md") == [None, None, None]


async def test_links_find_a_note_by_its_id_and_by_type_and_name(world: RegisteredVaults):
    journal = "journals/2026-02-13-session-abc12345.md"
    async with world.app() as app:
        vault = await app.vaults.open("project:app")
        await indexed(vault)
        assert await targets(vault, journal) == [
            "modules/cost-tracker.md",
            "modules/cost-tracker.md",
            "decisions/parsing.md",
        ]
        assert await targets(vault, "modules/cost-tracker.md") == [journal]
        assert await targets(vault, "notes/plain.md") == [
            None,  # its type is the written one, not that of the folder
            "bugs/crash.md",
            "modules/cost-tracker.md",
        ]
        named = await vault.reader.read(resolve, "[[module-cost-tracker]]", roots=vault.root_paths)
        assert [each.path for each in named.notes] == ["modules/cost-tracker.md"]
        shown = await vault.read_files(note_file.read_whole, identify(journal), allow_large=False)
        assert shown.metadata.aliases == ()


async def test_names_and_aliases_come_before_ids_and_types(world: RegisteredVaults):
    root = world.project(
        "names",
        {
            "notes/module-a.md": "# Named\n",
            "modules/a.md": "# A\n",
            "notes/alias.md": "---\naliases: [module-b]\n---\n# Alias\n",
            "modules/b.md": "# B\n",
            "notes/id.md": "---\nid: module-c\n---\n# Id\n",
            "modules/c.md": "# C\n",
            "links.md": "[[module-a]] [[module-b]] [[module-c]] [[module-d]]\n",
        },
    )
    async with world.app() as app:
        vault = await app.vaults.open("project:names")
        await indexed(vault)
        expected = ["notes/module-a.md", "notes/alias.md", "notes/id.md"]
        assert await targets(vault, "links.md") == [*expected, None]
        # A link follows a note that comes, changes its id, or goes.
        (root / "modules" / "d.md").write_text("# D\n")
        (root / "notes" / "id.md").write_text("# No id\n")
        (root / "notes" / "alias.md").unlink()
        await vault.runs.index_paths(["modules/d.md", "notes/id.md", "notes/alias.md"])
        expected = ["notes/module-a.md", "modules/b.md", "modules/c.md", "modules/d.md"]
        assert await targets(vault, "links.md") == expected


async def test_an_id_stands_for_a_note_id(world: RegisteredVaults):
    world.project("two", {"a.md": "---\nid: same\n---\n", "b.md": "---\nid: same\n---\n"})
    async with world.app() as app:
        vault = await app.vaults.open("project:app")
        await indexed(vault)
        call = CallContext(app, vault, OWNER)
        asked = parse_strings(NoteRequest, {"noteId": "id:journal-2026-02-13-abc12345"})
        found = await perform(reading.note, call, asked)
        assert found.reply.data.path == "journals/2026-02-13-session-abc12345.md"
        body = parse_values(RelatedQuery, {"id": "id:decision-2026-01-01-aaaaaa"})
        related = (await perform(search.related, call, body)).reply.data.results
        assert related
        assert "decisions/parsing.md" not in [each.path for each in related]
        with pytest.raises(NotFound, match="NOTE_NOT_FOUND"):
            await perform(reading.note, call, parse_strings(NoteRequest, {"noteId": "id:none"}))
    async with world.app() as app:
        vault = await app.vaults.open("project:two")
        await indexed(vault)
        call = CallContext(app, vault, OWNER)
        with pytest.raises(NotFound, match="NOTE_AMBIGUOUS") as refusal:
            await perform(reading.note, call, parse_strings(NoteRequest, {"noteId": "id:same"}))
        assert [each["path"] for each in refusal.value.details["notes"]] == ["a.md", "b.md"]


FILTERS: tuple[tuple[dict[str, str | tuple[str, ...]], set[str]], ...] = (
    ({"file": ("src/core/cost_tracker.rs",)}, {"journal"}),
    ({"file": ("src/core",)}, {"journal", "runbook"}),
    ({"file": ("CostPanel.tsx",)}, {"journal"}),
    ({"file": ("core/cost_tracker.rs",)}, {"journal"}),
    ({"file": ("tracker.rs",)}, set()),
    ({"file": ("cost_tracker.rs", "nothing")}, {"journal"}),
    ({"file": (".*",)}, set()),
    ({"status": ("complete", "resolved")}, {"journal", "runbook"}),
    ({"project": ("synk",), "agent": ("claude-code",)}, {"journal"}),
    ({"session": ("session-abc123",)}, {"journal"}),
    ({"promoted": "true"}, {"journal"}),
    ({"promoted": "false", "status": ("resolved", "complete")}, {"runbook"}),
)


async def test_lists_filter_by_the_fields_of_notes(world: RegisteredVaults):
    async with world.app() as app:
        vault = await app.vaults.open("project:app")
        await indexed(vault)
        for filters, expected in FILTERS:
            asked = parse_strings(ListQuery, filters)
            data = (await perform(search.notes, CallContext(app, vault, OWNER), asked)).reply.data
            assert {row.type for row in data.notes} == expected, filters
            assert data.total == len(expected)


async def test_a_row_has_the_fields_of_its_note(world: RegisteredVaults):
    async with world.app() as app:
        vault = await app.vaults.open("project:app")
        await indexed(vault)
        call, asked = CallContext(app, vault, OWNER), ListQuery(type=("journal",))
        (row,) = (await perform(search.notes, call, asked)).reply.data.notes
        assert row.id == "journal-2026-02-13-abc12345"
        assert (row.status, row.promoted) == ("complete", True)
        assert row.files == ("src/core/cost_tracker.rs", "src/CostPanel.tsx")
        assert row.vault == "project:app"
        call = CallContext(app, app.vaults.default, OWNER)
        plain = (await perform(search.notes, call, ListQuery(path=("top.md",)))).reply
        assert "vault" not in orjson.loads(dump(plain.data.notes[0]))


async def test_searches_filter_by_the_fields_of_notes(world: RegisteredVaults):
    async with world.app() as app:
        vault = await app.vaults.open("project:app")
        await indexed(vault)
        for filters, expected in (
            ({"files": ["cost_tracker.rs"]}, 1),
            ({"projects": ["synk"], "statuses": ["complete"]}, 1),
            ({"sessions": ["another"]}, 0),
            ({}, 4),
        ):
            body = parse_values(SearchQuery, {"query": "regex", "filters": filters})
            hits = (await vault.search(body)).results
            assert len({hit.path for hit in hits}) == expected, filters
        asked = RelatedQuery(identify("top.md"), filters=Filters(about_files=("src/core",)))
        assert len((await vault.related(asked)).results) <= 2
