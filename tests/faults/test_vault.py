"""Vault or disk changes during a run lose no note and are reported."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.support.index_runs import MAX_NOTE_BYTES, Vault

from vault_agent.errors import Failed
from vault_agent.indexing.changes import compare
from vault_agent.indexing.index import index
from vault_agent.indexing.parse import FileToRead, ParsedFile
from vault_agent.indexing.protocol import UpdateIndex
from vault_agent.vault import read as reading
from vault_agent.vault.opening import CannotOpen, Cause, Descent
from vault_agent.vault.root import OpenedFile


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    made = Vault(tmp_path)
    made.write("Bread.md", "# Bread\n\nFlour, water. See [[Rye]].\n")
    made.write("folder/Rye.md", "# Rye\n\nSlower.\n")
    return made


async def test_notes_that_all_disappear_before_reading_are_kept(vault: Vault):
    """After the walk the vault may be emptied or unmounted."""
    await vault.index()
    held = await vault.dump()
    for file in vault.root.rglob("*.md"):
        file.write_text("changed")

    async def parse(tasks: list[FileToRead], repeated: frozenset[str] | None) -> list[ParsedFile]:
        for file in vault.root.rglob("*.md"):
            file.unlink()
        with vault.parsing() as read:
            return read(tasks, repeated)

    for rebuild in (False, True):
        with pytest.raises(Failed, match="VAULT_EMPTY"):
            await index(UpdateIndex(vault.spec(), rebuild=rebuild), parse, vault.heard)
        vault.write("Bread.md", "for the next walk to find")
    assert await vault.dump() == held


async def test_an_unlistable_folder_keeps_its_notes_and_attachments(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
):
    vault.write("folder/crumb.png", b"\x89PNG")
    vault.write("Links.md", "![[crumb.png]] and [[Rye]]")
    await vault.index()
    held = await vault.dump()
    listing = Descent.listing

    def deny(walk: Descent, path: str) -> Any:
        if path == "folder":
            raise CannotOpen(Cause.UNREADABLE)
        return listing(walk, path)

    monkeypatch.setattr(Descent, "listing", deny)  # root may list everything
    assert not compare(vault.spec()).stale
    vault.write("New.md", "new")
    assert (await vault.index()).removed == 0
    assert vault.heard.codes == ["FILE_UNREADABLE"]
    after = await vault.dump()
    assert {path: after[path] for path in held if path != "totals"} == {
        path: note for path, note in held.items() if path != "totals"
    }
    assert (await vault.links("Links.md"))["crumb.png"] == ("folder/crumb.png", False)


async def test_a_note_deleted_during_the_walk_does_not_affect_others(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
):
    vault.write("folder/Gone.md", "in a moment")
    await vault.index()
    listing = Descent.listing

    @contextmanager
    def meddle(walk: Descent, path: str) -> Iterator[Iterator[os.DirEntry[str]]]:
        with listing(walk, path) as entries:
            listed = list(entries)
            if path == "folder":
                (vault.root / "folder/Gone.md").unlink()
            yield iter(listed)

    monkeypatch.setattr(Descent, "listing", meddle)
    summary = await vault.index()
    assert (summary.removed, summary.unchanged) == (1, 2)
    assert vault.heard.codes == []


async def test_an_unreadable_note_keeps_its_index_entry(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
):
    """The file itself may not change when its drive or its permissions are back."""
    await vault.index()
    held = await vault.dump()
    vault.write("Bread.md", "changed")
    vault.write("New.md", "new")
    vault.write("Soon gone.md", "new")

    def fail(*_: object) -> bytes:
        raise OSError(errno.EIO, "a disk that fails")

    with monkeypatch.context() as failing:
        failing.setattr(reading, "_read", fail)
        for _ in range(2):
            await vault.index()
            assert vault.heard.codes == ["FILE_UNREADABLE"] * 3
            assert await vault.dump() == held
            assert not compare(vault.spec()).stale  # a run would change nothing
    (vault.root / "Soon gone.md").unlink()
    summary = await vault.index()
    assert (summary.added, summary.changed, summary.removed) == (1, 1, 0)
    assert vault.heard.codes == []
    assert not compare(vault.spec()).stale
    await vault.index()
    assert vault.heard.publications == 0


async def test_a_note_deleted_before_reading_is_removed(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
):
    await vault.index()
    vault.write("New.md", "new")

    def fail(*_: object) -> bytes:
        raise OSError(errno.EIO, "a disk that fails")

    with monkeypatch.context() as failing:
        failing.setattr(reading, "_read", fail)
        await vault.index()
    (vault.root / "New.md").unlink()
    assert compare(vault.spec()).stale
    await vault.index()
    assert not compare(vault.spec()).stale


async def test_a_short_read_is_repeated(vault: Vault, monkeypatch: pytest.MonkeyPatch):
    """A network drive may return fewer bytes than announced without reporting a change."""
    read, readings = reading._read, []

    def short_at_first(file: OpenedFile, limit: int) -> bytes:
        readings.append(read(file, limit))
        return readings[-1][: 2 if len(readings) == 1 else limit]

    monkeypatch.setattr(reading, "_read", short_at_first)
    await vault.index()
    held = await vault.dump()
    assert vault.heard.codes == []
    await vault.index(rebuild=True)
    assert await vault.dump() == held


@pytest.mark.parametrize("same", [False, True])
async def test_a_constantly_changing_note_is_read_again_by_the_next_run(
    vault: Vault, monkeypatch: pytest.MonkeyPatch, same: bool
):
    await vault.index()
    file = vault.root / "Bread.md"
    os.utime(file, (1, 1))
    read = reading._read

    def read_and_meddle(opened: OpenedFile, limit: int) -> bytes:
        data = read(opened, limit)
        if not same:
            file.write_bytes(data + b"more\n")
        os.utime(file, ns=(0, file.stat().st_mtime_ns + 1))
        return data

    with monkeypatch.context() as meddling:
        meddling.setattr(reading, "_read", read_and_meddle)
        await vault.index()
    assert vault.heard.codes == ["FILE_CHANGED_WHILE_READING"]
    assert compare(vault.spec()).stale
    assert (await vault.index()).changed == (not same)
    assert not compare(vault.spec()).stale
    [*_, chunk] = (await vault.dump())["Bread.md"][2]
    assert file.read_text().endswith(chunk[-1])


async def test_a_full_disk_is_reported_as_disk_full(vault: Vault, monkeypatch: pytest.MonkeyPatch):
    """For some files SQLite reports only an I/O error."""

    def fail(*_: object) -> None:
        raise OSError(errno.EIO, "no word of room")

    monkeypatch.setattr("vault_agent.store.fulltext.writer.sync_folder", fail)
    with pytest.raises(Failed, match="INDEX_IO_ERROR"):
        await vault.index()
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=0))
    with pytest.raises(Failed, match="DISK_FULL"):
        await vault.index()


@pytest.mark.long
async def test_the_write_ahead_log_stays_bounded_with_a_constant_reader(vault: Vault):
    await vault.index()
    log = vault.directory.database(1).with_name("index.db-wal")
    sizes = []
    with vault.reader() as connection:
        for run in range(6):
            for number in range(3):
                vault.write(f"Long {number}.md", f"turn {run} of many\n\n" * (MAX_NOTE_BYTES // 19))
            await vault.index()
            connection.execute("SELECT count(*) FROM note").fetchall()
            sizes.append(log.stat().st_size)
    assert max(sizes) < 10e6  # of 15 MB that were written
