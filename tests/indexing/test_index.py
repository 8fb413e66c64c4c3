"""The indexing run: what changed is found, what did not is left alone, nothing is half done."""

from __future__ import annotations

import os
import random
import sqlite3
import threading
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from tests.index_runs import MAX_NOTE_BYTES, Vault

from vault_agent.errors import Busy, Failed, IndexUnavailable
from vault_agent.indexing.compare import is_stale
from vault_agent.indexing.verify import verify
from vault_agent.library.open_vault import OpenVault
from vault_agent.model.jobs import JobSummary
from vault_agent.model.search import Filters
from vault_agent.ranking.query import compile_query
from vault_agent.store.fulltext.reader import FulltextReader
from vault_agent.store.index import notes as reading

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    made = Vault(tmp_path)
    made.write("Bread.md", "---\naliases: [Loaf]\n---\n# Bread\n\nFlour, water. See [[Starter]].\n")
    made.write("Starter.md", "# Starter\n\nBack to [[bread]] or [[Loaf]].\n\n![[jar.png]]\n")
    made.write("folder/Rye.md", "Rye needs [[Missing]] and [[Starter]].\n")
    made.write("jar.png", b"\x89PNG")
    return made


async def test_what_is_gone_is_gone_from_full_text_too(vault: Vault):
    await vault.index()
    vault.write("Bread.md", "# Bread\n\nrewritten\n")
    (vault.root / "folder/Rye.md").unlink()
    (vault.root / "Starter.md").rename(vault.root / "Leaven.md")
    await vault.index()
    async with vault.reader() as connection:
        held = {file.rowid for file in await reading.files(connection)}
    reader = FulltextReader(vault.directory.fulltext(1, 2))
    assert reader.admitted(Filters()) == held
    assert reader.candidates(compile_query("flour"), Filters()).notes.keys() == set()
    reader.close()


async def test_the_first_run_indexes_everything(vault: Vault):
    summary = await vault.index()
    assert summary == JobSummary(added=3, chunks=3, links=6, unresolved_links=1)
    assert vault.heard.publications == 1
    assert vault.heard.phases[-1] == ("store", 6, 6)


async def test_only_its_owner_may_look_into_the_index(vault: Vault):
    vault.directory.create()
    await vault.index()
    for folder in (vault.directory.path, vault.directory.generation(1)):
        assert folder.stat().st_mode & 0o777 == 0o700


async def test_a_run_over_an_unchanged_vault_writes_nothing(vault: Vault):
    await vault.index()
    before = vault.directory.database(1).stat().st_mtime_ns
    summary = await vault.index()
    assert summary == JobSummary(unchanged=3, chunks=3, links=6, unresolved_links=1)
    assert vault.directory.database(1).stat().st_mtime_ns == before
    assert vault.heard.publications == 0


async def test_only_what_changed_is_counted_as_changed(vault: Vault):
    await vault.index()
    vault.write("Bread.md", "# Bread\n\nNow with rye.\n")
    vault.write("New.md", "new")
    (vault.root / "folder/Rye.md").unlink()
    summary = await vault.index()
    assert (summary.added, summary.changed, summary.removed, summary.unchanged) == (1, 1, 1, 1)


async def test_a_touched_note_is_unchanged_and_its_new_times_are_kept(vault: Vault):
    await vault.index()
    os.utime(vault.root / "Bread.md", (1, 1))
    summary = await vault.index()
    assert (summary.changed, summary.unchanged) == (0, 3)
    assert not await is_stale(vault.task())


async def test_an_edit_that_keeps_size_and_time_is_noticed(vault: Vault):
    file = vault.write("Bread.md", "old text")
    await vault.index()
    times = file.stat()
    file.write_text("new text")
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert (await vault.index()).changed == 1


async def test_a_number_that_a_note_has_had_is_never_given_to_another(vault: Vault):
    """A reader of an older revision would pair its matches with another note's text."""
    given: set[int] = set()
    for number in range(3):
        vault.write("Last.md", f"turn {number}")
        await vault.index()
        async with vault.reader() as connection:
            [row] = [f for f in await reading.files(connection) if f.entry.path == "Last.md"]
        assert row.rowid not in given
        given.add(row.rowid)
        (vault.root / "Last.md").unlink()
        await vault.index()


async def test_a_rename_is_recognised_by_content(vault: Vault):
    await vault.index()
    (vault.root / "folder/Rye.md").rename(vault.root / "Rye bread.md")
    summary = await vault.index()
    assert (summary.renamed, summary.added, summary.removed) == (1, 0, 0)


async def test_links_lead_to_names_aliases_and_attachments(vault: Vault):
    await vault.index()
    assert await vault.links("Starter.md") == {
        "bread": ("Bread.md", False),
        "Loaf": ("Bread.md", False),
        "jar.png": ("jar.png", False),
    }
    assert (await vault.links("folder/Rye.md"))["Missing"] == (None, False)


async def test_a_note_that_comes_resolves_the_links_that_waited_for_it(vault: Vault):
    await vault.index()
    vault.write("deep/Missing.md", "here")
    assert (await vault.index()).unresolved_links == 0
    assert (await vault.links("folder/Rye.md"))["Missing"] == ("deep/Missing.md", False)


async def test_a_note_that_goes_leaves_its_links_unresolved(vault: Vault):
    await vault.index()
    (vault.root / "Starter.md").unlink()
    await vault.index()
    assert (await vault.links("Bread.md"))["Starter"] == (None, False)


async def test_an_alias_that_is_taken_back_no_longer_resolves(vault: Vault):
    await vault.index()
    vault.write("Bread.md", "# Bread\n")
    await vault.index()
    assert (await vault.links("Starter.md"))["Loaf"] == (None, False)


async def test_of_two_notes_with_one_name_removing_both_is_noticed(vault: Vault):
    vault.write("a/Twin.md", "one")
    vault.write("b/Twin.md", "two")
    vault.write("Ask.md", "[[Twin]]")
    await vault.index()
    (vault.root / "a/Twin.md").unlink()
    (vault.root / "b/Twin.md").unlink()
    await vault.index()
    assert await vault.links("Ask.md") == {"Twin": (None, False)}


async def test_an_attachment_that_comes_or_goes_is_noticed(vault: Vault):
    await vault.index()
    (vault.root / "jar.png").unlink()
    await vault.index()
    assert (await vault.links("Starter.md"))["jar.png"] == (None, False)
    vault.write("pictures/jar.png", b"\x89PNG")
    await vault.index()
    assert (await vault.links("Starter.md"))["jar.png"] == ("pictures/jar.png", False)


async def test_many_small_runs_hold_what_one_rebuild_holds(vault: Vault):
    """Random edits, additions, removals and renames, each followed by an incremental run."""
    chance = random.Random(7)
    names = [f"{folder}Note {number}.md" for folder in ("", "x/", "x/y/") for number in range(6)]
    await vault.index()
    for round_ in range(12):
        for _ in range(3):
            file = vault.root / chance.choice(names)
            if file.exists() and chance.random() < 0.4:
                file.unlink()
                continue
            targets = " ".join(f"[[{chance.choice(names).removesuffix('.md')}]]" for _ in range(3))
            alias = (
                f"---\naliases: [A{chance.randrange(4)}]\n---\n" if chance.random() < 0.5 else ""
            )
            vault.write(
                file.relative_to(vault.root).as_posix(),
                f"{alias}# T{round_}\n\n{targets} [[A{chance.randrange(4)}]] [[note 1]]\n",
            )
        await vault.index()
        incremental = await vault.dump()
        await vault.index(rebuild=True)
        assert await vault.dump() == incremental


async def test_a_rebuild_stands_beside_the_old_one_until_it_is_complete(vault: Vault):
    await vault.index()
    await vault.index(rebuild=True)
    assert vault.directory.current() == 2
    await vault.index(rebuild=True)
    assert not vault.directory.generation(1).exists()


async def test_what_an_ended_run_left_behind_is_swept_up(vault: Vault):
    await vault.index()
    leftover = vault.directory.generation(2)
    leftover.mkdir()
    (leftover / "index.db").write_bytes(b"half")
    (vault.directory.fulltext(1, 2) / "notes").mkdir(parents=True)  # of the revision to come
    vault.write("New.md", "new")
    await vault.index()
    assert not leftover.exists()
    assert vault.directory.current() == 1


async def test_a_vault_that_is_suddenly_empty_loses_nothing(vault: Vault):
    await vault.index()
    held = await vault.dump()
    for file in list(vault.root.rglob("*.md")):
        file.unlink()
    for rebuild in (False, True):
        with pytest.raises(Failed, match="VAULT_EMPTY"):
            await vault.index(rebuild=rebuild)
    assert await vault.dump() == held


async def test_an_empty_vault_can_be_indexed_before_its_first_note(tmp_path: Path):
    vault = Vault(tmp_path)
    assert await vault.index() == JobSummary()
    vault.write("First.md", "first")
    assert (await vault.index()).added == 1


async def test_two_writers_of_one_index_never_meet(vault: Vault, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("vault_agent.store.layout.WRITER_WAIT_SECONDS", 0.1)
    vault.directory.create()
    with vault.directory.writing(), pytest.raises(Busy, match="INDEX_LOCKED"):
        await vault.index()
    await vault.index()


async def test_a_run_waits_for_a_writer_that_is_about_to_end(vault: Vault):
    vault.directory.create()
    holding = threading.Event()

    def write_for_a_moment() -> None:
        with vault.directory.writing():
            holding.set()
            time.sleep(0.3)

    writer = threading.Thread(target=write_for_a_moment)
    writer.start()
    holding.wait(10)
    await vault.index()
    writer.join()


async def test_nothing_is_swept_away_while_another_process_writes(vault: Vault):
    vault.directory.create()
    half_written = vault.directory.generation(9)
    half_written.mkdir()
    server: Any = SimpleNamespace(_directory=vault.directory)
    with vault.directory.writing():
        OpenVault._sweep(server)
        assert half_written.exists()
    OpenVault._sweep(server)
    assert not half_written.exists()


async def test_an_index_of_other_settings_is_not_touched_by_index_and_replaced_by_reindex(
    vault: Vault,
):
    await vault.index()
    vault.exclude = ("folder/",)
    with pytest.raises(IndexUnavailable, match="INDEX_INCOMPATIBLE"):
        await vault.index()
    assert (await vault.index(rebuild=True)).added == 2


async def test_an_index_whose_terms_are_made_in_another_way_is_incompatible(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
):
    await vault.index()
    monkeypatch.setattr("vault_agent.indexing.task.TEXT_VERSION", 0)
    with pytest.raises(IndexUnavailable, match="INDEX_INCOMPATIBLE"):
        await vault.index()


async def test_an_index_of_another_version_is_incompatible(vault: Vault):
    await vault.index()
    with sqlite3.connect(vault.directory.database(1)) as connection:
        connection.execute("PRAGMA user_version = 999")
    connection.close()
    with pytest.raises(IndexUnavailable, match="INDEX_INCOMPATIBLE"):
        await vault.index()
    assert (await vault.index(rebuild=True)).added == 3


async def test_broken_notes_are_warned_about_and_what_can_be_read_is(vault: Vault):
    vault.write("latin.md", "caf\xe9".encode("latin-1"))
    vault.write("binary.md", b"\0" * 4096)
    vault.write("yaml.md", "---\ntitle: [unclosed\n---\nbody text")
    vault.write("huge.md", b"x" * (MAX_NOTE_BYTES + 1))
    summary = await vault.index()
    assert sorted(vault.heard.codes) == [
        "FILE_BINARY",
        "FILE_NOT_UTF8",
        "FILE_TOO_LARGE_FOR_INDEXING",
        "FRONTMATTER_PARSE_FAILED",
    ]
    assert all(warning.details["path"] for warning in vault.heard.warnings)
    assert summary.added == 6
    held = await vault.dump()
    assert held["huge.md"][:3] == ("huge", held["huge.md"][1], [])
    assert held["yaml.md"][2][0][-1] == "body text"


async def test_a_note_that_grows_too_large_keeps_its_name_and_loses_its_chunks(vault: Vault):
    await vault.index()
    vault.write("Bread.md", b"x" * (MAX_NOTE_BYTES + 1))
    assert (await vault.index()).changed == 1
    assert (await vault.dump())["Bread.md"][2] == []
    assert (await vault.index()).unchanged == 3


@pytest.mark.parametrize("before", [b"", b"# It was a note"])
async def test_a_file_that_is_no_note_is_warned_of_once_and_makes_nothing_stale(
    vault: Vault, before: bytes
):
    if before:
        vault.write("binary.md", before)
        await vault.index()
    vault.write("binary.md", b"\0" * 4096)
    await vault.index()
    assert vault.heard.codes == ["FILE_BINARY"]
    assert not await is_stale(vault.task())
    await vault.index()
    assert vault.heard.codes == []
    assert vault.heard.publications == 0
    vault.write("binary.md", "# Now it is a note\n")
    assert await is_stale(vault.task())
    assert (await vault.index()).added == 1
    (vault.root / "binary.md").write_bytes(b"\0" * 5000)
    assert (await vault.index()).removed == 1
    (vault.root / "binary.md").unlink()
    await vault.index()
    assert not await is_stale(vault.task())


async def test_staleness_is_seen_by_a_walk(vault: Vault):
    await vault.index()
    assert not await is_stale(vault.task())
    vault.write("New.md", "new")
    assert await is_stale(vault.task())


async def test_an_intact_index_passes_verification(vault: Vault):
    await vault.index()
    vault.write("New.md", "new")
    await vault.index()
    await verify(vault.task())


@pytest.mark.parametrize("victim", ["index.db", "fulltext-1"])
async def test_damage_anywhere_in_the_index_is_found(vault: Vault, victim: str):
    for number in range(200):
        vault.write(f"many/{number}.md", f"# Note {number}\n\n" + "some words here " * 50)
    await vault.index()
    place = vault.directory.generation(1) / victim
    file = place if place.is_file() else max(place.rglob("*.term"), key=lambda f: f.stat().st_size)
    with file.open("r+b") as damaged:
        damaged.seek(file.stat().st_size // 2)
        damaged.write(b"\xff" * 4096)
    with pytest.raises(IndexUnavailable, match="INDEX_INCOMPATIBLE"):
        await verify(vault.task())
