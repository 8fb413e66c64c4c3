"""Words are found in their other spellings, and questions find the note that is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.search.opened import indexed
from tests.support.index_runs import Vault

from vault_agent.model.search import SearchQuery
from vault_agent.search.search import search_in
from vault_agent.store.current import Snapshot

pytestmark = pytest.mark.asyncio(loop_scope="module")  # that of `snapshot`

NOTES = {
    "apart.md": "Please back up the seeds.\n",
    "hyphen.md": "An e-mail, and a health check of the greenhouse.\n",
    "parts.md": "Call `renderSeedTray` or set `seed_tray_size`.\n",
    "compost map.md": "---\naliases: [MOC]\n---\nWhere the heaps are.\n",
    "watering.md": "Water in the morning.\n",
}
for number in range(5):
    NOTES[f"plan{number}.md"] = f"A backup of shelf {number} by email.\n"
    NOTES[f"rows{number}.md"] = f"Turn back the soil, then move up row {number}.\n"
    NOTES[f"sows{number}.md"] = f"What is it that a gardener in row {number} is to do?\n"


async def found(snapshot: Snapshot, query: str) -> list[str]:
    answer = await search_in(snapshot, SearchQuery(query, limit=20))
    return [hit.path for hit in answer.results]


BACKUPS = {"apart.md", *(f"plan{number}.md" for number in range(5))}


@pytest.mark.parametrize("query", ["backup", "backups", "back up", "back-up", "Back up"])
async def test_one_word_and_two_meet(snapshot: Snapshot, query: str):
    assert set((await found(snapshot, query))[: len(BACKUPS)]) == BACKUPS


@pytest.mark.parametrize("query", ["email", "e-mail", "e mail", "E-Mail"])
async def test_email_is_found_with_and_without_its_hyphen(snapshot: Snapshot, query: str):
    assert {"hyphen.md", "plan0.md"} <= set(await found(snapshot, query))


async def test_a_word_that_notes_write_as_two_is_not_unknown(snapshot: Snapshot):
    answer = await search_in(snapshot, SearchQuery("healthcheck", limit=20))
    assert [hit.path for hit in answer.results] == ["hyphen.md"]
    assert answer.unknown == ()


@pytest.mark.parametrize("query", ["seed tray", "rendering trays", "seed_tray", "renderSeedTray"])
async def test_names_of_programs_are_found_by_their_parts(snapshot: Snapshot, query: str):
    assert (await found(snapshot, query))[0] == "parts.md"


async def test_names_in_many_notes_do_not_make_their_parts_common(tmp_path: Path):
    vault = Vault(tmp_path)
    vault.write("Local backup.md", "A local backup on a disk.\n")
    vault.write("versions.md", "Keep your seeds in git as a backup.\n")
    for number in range(20):
        vault.write(f"bed {number}.md", f"Bed {number} has its plan on GitHub.\n")
    async with indexed(vault) as snapshot:
        assert (await found(snapshot, "git backup"))[0] == "versions.md"
        assert len(await found(snapshot, "git")) == 20  # those with the name follow
        assert await found(snapshot, "backup -hub") == ["Local backup.md", "versions.md"]


@pytest.mark.parametrize(
    "query",
    ["what is a MOC", "What's the MOC?", "moc", "was ist ein MOC", "qu'est-ce qu'une moc ?"],
)
async def test_a_question_finds_the_note_that_it_names(snapshot: Snapshot, query: str):
    assert (await found(snapshot, query))[0] == "compost map.md"


async def test_a_question_about_no_name_keeps_its_words(snapshot: Snapshot):
    assert (await found(snapshot, "what is it that a gardener"))[0].startswith("sows")


async def test_how_to_finds_the_note_of_that_name(snapshot: Snapshot):
    assert (await found(snapshot, "how to watering"))[0] == "watering.md"
