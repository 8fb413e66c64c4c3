"""The ways of writing where the strongest one does not exist, and disks that refuse."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.clocks import PATIENCE
from tests.support.systems import STRATEGIES, posix
from tests.support.waiting import eventually_async
from tests.writing.opened import Vault, lingering, save_by_rename

from vault_agent.errors import Conflict, Failed, Forbidden, InvalidRequest, Unavailable
from vault_agent.model.writing import WriteLimits
from vault_agent.vault import platform, replacing
from vault_agent.vault.folder import Folder
from vault_agent.vault.replacing import Way


def refuse(*_: object) -> None:
    raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))


@pytest.fixture
def limits() -> WriteLimits:
    """Look at displaced files once they are hurried, however slow the computer is."""
    return lingering(PATIENCE)


@pytest.fixture
def take_exchange(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return what takes the calls away that an exchange of files needs."""

    def take() -> None:
        monkeypatch.setattr("vault_agent.vault.folder.exchange", refuse)
        monkeypatch.setattr("vault_agent.vault.folder.rename_new", refuse)

    return take


@pytest.mark.fault(
    "Writing",
    "a file system without an exchange of files",
    "a rename between two comparisons, found at the start and at each write",
)
async def test_the_strongest_way_is_found_out_at_the_start(closed: Vault, take_exchange):
    take_exchange()
    async with closed.opened() as writes:
        assert writes.health().atomicity == "rename"
        await closed.create("New/A.md", "one\n")
        await closed.append("New/A.md", "two\n")
        with pytest.raises(Conflict, match="NOTE_EXISTS"):
            await closed.create("New/A.md", "three\n")
        gone = await closed.remove("New/A.md")
        await closed.undo(gone.write_id)
        await closed.remove("New/A.md", permanent=True)
        await closed.undo()
        await closed.undo((await closed.writer.logged_writes())[-2].write_id)
    assert closed.tree() == {"New/A.md": b"one\n"}


async def test_a_mount_without_an_exchange_is_found_out_at_the_write(vault: Vault, take_exchange):
    vault.put("A.md", "one\n")
    take_exchange()
    await vault.append("A.md", "two\n")
    assert vault.bytes("A.md") == b"one\ntwo\n"
    assert vault.writer.health().atomicity == "rename"


@pytest.mark.parametrize("save", ["in place", "rename"])
@pytest.mark.parametrize("way", Way)
async def test_a_save_between_our_read_and_our_write_stays(
    vault: Vault, take_exchange, monkeypatch, way: Way, save: str
):
    if way is Way.RENAME:
        take_exchange()
    file = vault.put("A.md", "one\n")
    make = replacing._make_temporary
    saves = iter([b"saved by a person\n"])

    def made(*arguments: object) -> None:
        make(*arguments)
        for text in saves:
            file.write_bytes(text) if save == "in place" else save_by_rename(file, text)

    monkeypatch.setattr(replacing, "_make_temporary", made)
    with pytest.raises(Conflict, match="WRITE_CONFLICT"):
        await vault.overwrite("A.md", "ours\n")
    assert vault.bytes("A.md") == b"saved by a person\n"
    await vault.append("A.md", "ours\n")
    assert vault.bytes("A.md") == b"saved by a person\nours\n"


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_writes_work_however_files_are_opened(
    closed: Vault, strategy: str, monkeypatch: pytest.MonkeyPatch
):
    if strategy == "portable":
        monkeypatch.setattr(platform, "has_descriptor_relative_calls", lambda: False)
    outside = closed.root.parent / "outside"
    outside.mkdir()
    closed.put("Real/A.md", "one\n")
    (closed.root / "Out").symlink_to(outside)
    async with closed.opened():
        await closed.append("Real/A.md", "two\n")
        await closed.create("Real/Deep/B.md", "new\n")
        with pytest.raises(InvalidRequest, match="INVALID_PATH"):
            await closed.create("Out/C.md", "new\n")
        await closed.remove("Real/A.md")
        await closed.undo()
    assert list(outside.iterdir()) == []
    assert closed.bytes("Real/A.md") == b"one\ntwo\n"
    assert closed.bytes("Real/Deep/B.md") == b"new\n"
    assert not closed.temporaries()


@pytest.mark.fault(
    "Writing",
    "a drive gives back other bytes",
    "`WRITE_NOT_VERIFIED`; the bytes before are kept",
)
async def test_a_drive_that_gives_back_other_bytes_is_told(vault: Vault, monkeypatch):
    vault.put("A.md", "one\n")
    vault.writer._executor.disk.durable = False
    good = await vault.append("A.md", "two\n")
    assert [each.code for each in good.warnings] == ["WRITE_NOT_DURABLE"]
    names = Folder.names
    with monkeypatch.context() as patched:
        patched.setattr(Folder, "names", lambda self: [*names(self), "A.md"])
        with pytest.raises(Failed, match="WRITE_NOT_VERIFIED"):
            await vault.append("A.md", "three\n")
    await eventually_async(lambda: vault.followed.count("A.md"), lambda count: count == 2)
    (last, _) = await vault.writer.logged_writes()
    assert last.warning == "WRITE_NOT_VERIFIED"
    await vault.undo(last.write_id)
    assert vault.bytes("A.md") == b"one\ntwo\n"


async def test_a_vault_that_cannot_be_written_says_so(closed: Vault, monkeypatch):
    monkeypatch.setattr(Folder, "make", refuse)
    async with closed.opened() as writes:
        assert writes.health().state == "unsupported"
        assert [each.code for each in writes.warnings()] == ["WRITE_UNSUPPORTED_HERE"]
        with pytest.raises(Unavailable, match="WRITE_UNSUPPORTED_HERE"):
            await closed.create("A.md", "one\n")


async def test_a_full_vault_is_written_once_there_is_room(closed: Vault, monkeypatch):
    make, is_full = Folder.make, [True]

    def full_once(self, *args):
        if is_full and is_full.pop():
            raise OSError(errno.ENOSPC, "full")
        return make(self, *args)

    monkeypatch.setattr(Folder, "make", full_once)
    async with closed.opened():
        await closed.create("A.md", "one\n")


def immutable(file: Path, change: str) -> bool:
    """Make a file immutable, or not. Return whether that worked."""
    return not subprocess.run(["chattr", change, file], check=False, capture_output=True).returncode


@pytest.mark.skipif(shutil.which("chattr") is None, reason="needs chattr")
async def test_an_immutable_file_stays(vault: Vault):
    file = vault.put("A.md", "one\n")
    if not immutable(file, "+i"):
        pytest.skip("the file system has no such flag, or it may not be set")
    try:
        for attempt in (vault.append("A.md", "x\n"), vault.remove("A.md")):
            with pytest.raises(Forbidden, match=r"FILE_NOT_WRITABLE|FILE_NOT_WRITABLE"):
                await attempt
    finally:
        immutable(file, "-i")
    assert vault.tree() == {"A.md": b"one\n"}


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root")
async def test_a_file_of_another_owner_in_a_sticky_folder_keeps_its_owner(vault: Vault):
    file = vault.put("Shared/A.md", "one\n")
    os.chown(file, 1234, 1234)
    file.parent.chmod(0o1777)
    await vault.append("Shared/A.md", "two\n")
    assert (file.stat().st_uid, file.stat().st_gid) == (1234, 1234)


@posix("pipes of POSIX")
async def test_what_is_no_file_is_not_written(vault: Vault):
    (vault.root / "Folder.md").mkdir()
    os.mkfifo(vault.root / "Pipe.md")
    for path in ("Folder.md", "Pipe.md"):
        with pytest.raises(Exception, match="NOTE_NOT_FOUND"):
            await vault.append(path, "x\n")
        with pytest.raises(Conflict, match="NOTE_EXISTS"):
            await vault.create(path, "x\n")
