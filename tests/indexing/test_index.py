"""The indexing run finds changes, leaves the rest unchanged, and publishes all or nothing."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from tests.support.index_runs import MAX_NOTE_BYTES, Vault
from tests.support.systems import posix

from vault_agent.errors import Busy, Failed, IndexUnavailable
from vault_agent.indexing.changes import compare
from vault_agent.indexing.parse import Batch, FileToRead, Outcome, batch_parser
from vault_agent.model.jobs import JobSummary
from vault_agent.model.scope import Scope
from vault_agent.model.search import Filters
from vault_agent.search.query import compile_query
from vault_agent.store.fulltext.reader import FulltextReader
from vault_agent.store.fulltext.writer import FulltextWriter
from vault_agent.store.index import notes as stored_notes
from vault_agent.vault.platform import folder_at
from vault_agent.vault.root import VaultRoot
from vault_agent.vault.scan import scan
from vault_agent.vaults.runs import sweep


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    made = Vault(tmp_path)
    made.write("Bread.md", "---\naliases: [Loaf]\n---\n# Bread\n\nFlour, water. See [[Starter]].\n")
    made.write("Starter.md", "# Starter\n\nBack to [[bread]] or [[Loaf]].\n\n![[jar.png]]\n")
    made.write("folder/Rye.md", "Rye needs [[Missing]] and [[Starter]].\n")
    made.write("jar.png", b"\x89PNG")
    return made


async def test_removed_notes_are_removed_from_full_text(vault: Vault):
    await vault.index()
    vault.write("Bread.md", "# Bread\n\nrewritten\n")
    (vault.root / "folder/Rye.md").unlink()
    (vault.root / "Starter.md").rename(vault.root / "Leaven.md")
    await vault.index()
    with vault.reader() as connection:
        held = {file.rowid for file in stored_notes.files(connection)}
    reader = FulltextReader(vault.directory.fulltext(1))
    assert reader.admitted(Filters()) == held
    assert reader.candidates(compile_query("flour"), Filters()).body.keys() == set()


async def test_the_first_run_indexes_everything(vault: Vault):
    summary = await vault.index()
    assert summary == JobSummary(added=3, chunks=3, links=6, unresolved_links=1)
    assert vault.heard.publications == 1
    assert vault.heard.phases[-1] == ("store", 6, 6)


@posix("modes of POSIX")
async def test_only_the_owner_can_read_the_index(vault: Vault):
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


async def test_only_changed_notes_are_counted_as_changed(vault: Vault):
    await vault.index()
    vault.write("Bread.md", "# Bread\n\nNow with rye.\n")
    vault.write("New.md", "new")
    (vault.root / "folder/Rye.md").unlink()
    summary = await vault.index()
    assert (summary.added, summary.changed, summary.removed, summary.unchanged) == (1, 1, 1, 1)


async def test_a_note_touched_on_the_same_day_is_unchanged_and_its_times_are_updated(vault: Vault):
    os.utime(vault.root / "Bread.md", (1, 1))
    await vault.index()
    os.utime(vault.root / "Bread.md", (2, 2))
    summary = await vault.index()
    assert (summary.changed, summary.unchanged) == (0, 3)
    assert not compare(vault.spec()).stale


@pytest.mark.fault(
    "The index",
    "new content with the same size and modification time; a clock set back",
    "noticed by inode and change time",
)
async def test_an_edit_that_keeps_size_and_time_is_detected(vault: Vault):
    file = vault.write("Bread.md", "old text")
    await vault.index()
    times = file.stat()
    file.write_text("new text")
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert (await vault.index()).changed == 1


async def test_rowids_are_never_reused(vault: Vault):
    """A reader of an older revision would otherwise mix its matches with another note."""
    given: set[int] = set()
    for number in range(3):
        vault.write("Last.md", f"turn {number}")
        await vault.index()
        with vault.reader() as connection:
            [row] = [f for f in stored_notes.files(connection) if f.entry.path == "Last.md"]
        assert row.rowid not in given
        given.add(row.rowid)
        (vault.root / "Last.md").unlink()
        await vault.index()


async def test_renames_are_detected_by_content(vault: Vault):
    await vault.index()
    (vault.root / "folder/Rye.md").rename(vault.root / "Rye bread.md")
    summary = await vault.index()
    assert (summary.renamed, summary.added, summary.removed) == (1, 0, 0)


async def test_links_resolve_to_names_aliases_and_attachments(vault: Vault):
    await vault.index()
    assert await vault.links("Starter.md") == {
        "bread": ("Bread.md", False),
        "Loaf": ("Bread.md", False),
        "jar.png": ("jar.png", False),
    }
    assert (await vault.links("folder/Rye.md"))["Missing"] == (None, False)


async def test_a_rebuild_keeps_the_old_index_until_it_is_complete(vault: Vault):
    await vault.index()
    await vault.index(rebuild=True)
    assert vault.directory.current() == 2
    await vault.index(rebuild=True)
    assert not vault.directory.generation(1).exists()


async def test_leftovers_of_a_killed_run_are_removed(vault: Vault):
    await vault.index()
    leftover = vault.directory.generation(2)
    leftover.mkdir()
    (leftover / "index.db").write_bytes(b"half")
    vault.write("New.md", "new")
    await vault.index()
    assert not leftover.exists()
    assert vault.directory.current() == 1


async def test_a_row_number_is_never_used_twice(vault: Vault, monkeypatch: pytest.MonkeyPatch):
    """The full text may be committed and SQLite not: its number is not free then."""
    await vault.index()

    def fail(*_: object) -> None:
        raise Failed("DISK_FULL", "Full.")

    with monkeypatch.context() as failing:
        failing.setattr("vault_agent.indexing.index.write_meta", fail)
        added = vault.write("Added.md", "quince")
        with pytest.raises(Failed):
            await vault.index()
        used = FulltextWriter(vault.directory.fulltext(1))
        used.close()
        added.unlink()
        (vault.root / "Starter.md").unlink()
        with pytest.raises(Failed):  # only removes, and so sweeps the full text
            await vault.index()
    vault.write("Added.md", "medlar")
    await vault.index()
    with vault.reader() as connection:
        assert max(file.rowid for file in stored_notes.files(connection)) >= used.next_rowid
    vault.verify()
    reader = FulltextReader(vault.directory.fulltext(1))
    assert reader.admitted(Filters()) == {file.rowid for file in notes_of(vault)}


def notes_of(vault: Vault) -> list[stored_notes.StoredFile]:
    with vault.reader() as connection:
        return stored_notes.files(connection)


def become_of_another_version(vault: Vault) -> None:
    with closing(sqlite3.connect(vault.directory.database(1))) as connection:
        connection.execute("PRAGMA user_version = 999")


async def test_a_suddenly_empty_vault_loses_nothing(vault: Vault):
    await vault.index()
    held = await vault.dump()
    for file in list(vault.root.rglob("*.md")):
        file.unlink()
    for rebuild in (False, True):
        with pytest.raises(Failed, match="VAULT_EMPTY"):
            await vault.index(rebuild=rebuild)
    assert await vault.dump() == held
    become_of_another_version(vault)
    with pytest.raises(Failed, match="VAULT_EMPTY"):
        await vault.index(rebuild=True)


async def test_an_empty_vault_can_be_indexed_before_its_first_note(tmp_path: Path):
    vault = Vault(tmp_path)
    assert await vault.index() == JobSummary()
    vault.write("First.md", "first")
    assert (await vault.index()).added == 1


async def test_two_runs_never_write_one_index_concurrently(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("vault_agent.store.directory.WRITER_WAIT_SECONDS", 0.1)
    vault.directory.create()
    with vault.directory.writing(), pytest.raises(Busy, match="INDEX_LOCKED"):
        await vault.index()
    await vault.index()


async def test_a_run_waits_briefly_for_another_writer(vault: Vault):
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


async def test_no_files_are_removed_while_another_process_writes(vault: Vault):
    vault.directory.create()
    half_written = vault.directory.generation(9)
    half_written.mkdir()
    with vault.directory.writing():
        sweep(vault.directory)
        assert half_written.exists()
    sweep(vault.directory)
    assert not half_written.exists()


async def test_an_index_with_other_exclusions_is_incompatible(vault: Vault):
    await vault.index()
    vault.exclude = ("folder/",)
    with pytest.raises(IndexUnavailable, match="INDEX_INCOMPATIBLE"):
        await vault.index()


@pytest.mark.parametrize(
    ("path", "target"), [("folder/Rye.md", "../Bread.md"), ("folder", "elsewhere")]
)
def test_a_worker_follows_no_link_out_of_the_folders_of_an_agent(
    vault: Vault, path: str, target: str
):
    vault.write("elsewhere/Rye.md", "Rye of somebody else.\n")
    vault.scope = Scope(("folder",))
    spec = vault.spec()
    with VaultRoot.open(spec.root, spec.exclusions) as root:
        [entry] = scan(root).notes
    (vault.root / path).rename(vault.root / "moved")
    (vault.root / path).symlink_to(target)
    batch = Batch(spec, folder_at(spec.root), [FileToRead(entry, None, 1)])
    [file] = batch_parser()(batch) or ()
    assert (file.outcome, file.rows, file.text) == (Outcome.NOT_INDEXABLE, None, None)
    assert [warning.code for warning in file.warnings] == ["SYMLINK_SKIPPED"]


async def test_an_index_with_another_text_version_is_incompatible(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
):
    await vault.index()
    monkeypatch.setattr("vault_agent.indexing.protocol.TEXT_VERSION", 0)
    with pytest.raises(IndexUnavailable, match="INDEX_INCOMPATIBLE"):
        await vault.index()


async def test_an_index_of_another_version_is_incompatible(vault: Vault):
    await vault.index()
    become_of_another_version(vault)
    with pytest.raises(IndexUnavailable, match="INDEX_INCOMPATIBLE"):
        await vault.index()
    assert (await vault.index(rebuild=True)).added == 3


async def test_broken_notes_cause_warnings_and_are_indexed_partly(vault: Vault):
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


async def test_a_note_that_grows_too_large_stays_without_chunks(vault: Vault):
    await vault.index()
    vault.write("Bread.md", b"x" * (MAX_NOTE_BYTES + 1))
    assert (await vault.index()).changed == 1
    assert (await vault.dump())["Bread.md"][2] == []
    assert (await vault.index()).unchanged == 3


@pytest.mark.parametrize("before", [b"", b"# It was a note"])
async def test_a_binary_file_causes_one_warning_and_no_staleness(vault: Vault, before: bytes):
    if before:
        vault.write("binary.md", before)
        await vault.index()
    vault.write("binary.md", b"\0" * 4096)
    await vault.index()
    assert vault.heard.codes == ["FILE_BINARY"]
    assert not compare(vault.spec()).stale
    await vault.index()
    assert vault.heard.codes == []
    assert vault.heard.publications == 0
    vault.write("binary.md", "# Now it is a note\n")
    assert compare(vault.spec()).stale
    assert (await vault.index()).added == 1
    (vault.root / "binary.md").write_bytes(b"\0" * 5000)
    assert (await vault.index()).removed == 1
    (vault.root / "binary.md").unlink()
    await vault.index()
    assert not compare(vault.spec()).stale


async def test_a_walk_detects_staleness(vault: Vault):
    await vault.index()
    assert not compare(vault.spec()).stale
    vault.write("New.md", "new")
    assert compare(vault.spec()).stale


async def test_an_intact_index_passes_verification(vault: Vault):
    await vault.index()
    vault.write("New.md", "new")
    await vault.index()
    vault.verify()


async def test_more_links_than_a_new_index_keeps_in_memory_are_resolved_too(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
):
    vault.write("A.md", "[[B]] [[nowhere]] ![[p.png]] ![[p.png]]")
    vault.write("B.md", "[[A]]")
    vault.write("p.png", b"")
    await vault.index(rebuild=True)
    expected = await vault.dump()
    monkeypatch.setattr("vault_agent.store.index.writer.MAX_WAITING", 1)
    await vault.index(rebuild=True)
    assert await vault.dump() == expected
    assert (await vault.links("A.md"))["p.png"] == ("p.png", False)
