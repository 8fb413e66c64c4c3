"""Temporary files of edits and deletions: one folder that git and Obsidian ignore, or beside."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from tests.support.clocks import PATIENCE
from tests.support.systems import linux, posix
from tests.writing.opened import Vault, lingering, separate_file_systems, settled

from vault_agent.model.writing import WriteLimits
from vault_agent.text.names import TEMP_FOLDER
from vault_agent.vault.folder import copy_attributes


@pytest.fixture
def limits() -> WriteLimits:
    """Let displaced files stay until the vault is closed."""
    return lingering(PATIENCE)


def git(vault: Vault, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=vault.root, capture_output=True, text=True, check=True
    )
    return done.stdout


async def change(vault: Vault, permanent: bool) -> None:
    """Change `Notes/A.md`, or remove it."""
    if permanent:
        await vault.remove("Notes/A.md", permanent=True)
    else:
        await vault.append("Notes/A.md", "two\n")


Kill = Callable[..., Awaitable[None]]


@posix("git of Windows looks at file modes in another way")
async def test_git_sees_no_temporary_file(closed: Vault, killed: Kill):
    git(closed, "init")
    closed.put("Notes/A.md", "one\n")
    closed.put("B.md", "b\n")
    git(closed, "add", ".")
    async with closed.opened():
        await closed.append("Notes/A.md", "two\n")
        await closed.remove("B.md", permanent=True)
        assert len(closed.temporaries()) == 2
        assert git(closed, "status", "--short") == "AD B.md\nAM Notes/A.md\n"
    closed.put("Notes/A.md", "one\n")
    await killed(lambda: change(closed, permanent=False))
    assert git(closed, "status", "--short") == "AD B.md\nAM Notes/A.md\n"


async def test_the_folder_comes_back_when_it_is_removed(vault: Vault):
    vault.put("A.md", "one\n")
    (vault.root / TEMP_FOLDER / ".gitignore").unlink()
    (vault.root / TEMP_FOLDER).rmdir()
    await vault.append("A.md", "two\n")
    assert (vault.root / TEMP_FOLDER / ".gitignore").read_text() == "*\n"
    assert vault.bytes("A.md") == b"one\ntwo\n"


@posix("modes of POSIX")
async def test_the_file_for_git_is_as_open_as_the_vault(closed: Vault):
    closed.root.chmod(0o750)
    async with closed.opened():
        pass
    assert stat.S_IMODE((closed.root / TEMP_FOLDER).stat().st_mode) == 0o750
    assert stat.S_IMODE((closed.root / TEMP_FOLDER / ".gitignore").stat().st_mode) == 0o640


@pytest.mark.fault(
    "Writing",
    "a kill between the exchange and the look, with a save displaced",
    "the save gets its name back at the next start",
)
@pytest.mark.parametrize("permanent", [False, True])
@pytest.mark.parametrize("is_beside", [False, True])
async def test_a_displaced_save_is_found_where_this_and_earlier_versions_leave_it(
    closed: Vault, killed: Kill, is_beside: bool, permanent: bool
):
    closed.put("Notes/A.md", "one\n")
    await killed(lambda: change(closed, permanent))
    [displaced] = map(closed.root.joinpath, closed.temporaries())
    assert displaced.parent.name == TEMP_FOLDER
    displaced.write_bytes(b"saved by a person\n")
    if is_beside:
        displaced.rename(closed.root / "Notes" / displaced.name)
    async with closed.opened():
        assert closed.tree() == {"Notes/A.md": b"saved by a person\n"}
        assert await closed.writer.logged_writes() == []


@pytest.mark.parametrize("permanent", [False, True])
async def test_a_displaced_save_outlives_the_folder_of_its_note(
    closed: Vault, killed: Kill, permanent: bool
):
    closed.put("Notes/A.md", "one\n")
    await killed(lambda: change(closed, permanent))
    [displaced] = map(closed.root.joinpath, closed.temporaries())
    displaced.write_bytes(b"saved by a person\n")
    (closed.root / "Notes/A.md").unlink(missing_ok=True)
    (closed.root / "Notes").rmdir()
    async with closed.opened():
        assert closed.tree() == {"Notes/A.md": b"saved by a person\n"}


@posix("its folders have descriptors")
@pytest.mark.fault(
    "Writing",
    "a folder of the vault on another file system",
    "the temporary file is beside the note; what an editor saves into it is kept",
)
async def test_a_folder_on_another_file_system_has_its_own_temporary_files(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
):
    file = vault.put("Mounted/A.md", "one\n")
    vault.put("Mounted/B.md", "b\n")
    separate_file_systems(monkeypatch, vault.root / "Mounted")
    with file.open("r+b") as editor:
        await vault.append("Mounted/A.md", "ours\n")
        editor.write(b"ONE\n")
    await vault.remove("Mounted/B.md", permanent=True)
    assert {path.rpartition("/")[0] for path in vault.temporaries()} == {"Mounted"}
    await settled(vault)
    assert vault.tree() == {"Mounted/A.md": b"ONE\nours\n"}


@linux("macOS copies attributes by one call")
def test_a_new_file_has_no_attribute_of_the_folder_for_temporary_files(tmp_path: Path):
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_text("")
    target.write_text("")
    os.setxattr(target, "user.inherited", b"1")
    os.setxattr(source, "user.own", b"1")
    with source.open() as old, target.open() as new:
        copy_attributes(old.fileno(), new.fileno())
        assert os.listxattr(new.fileno()) == ["user.own"]


async def test_nothing_is_written_where_the_folder_cannot_be_made(closed: Vault):
    closed.put("A.md", "one\n")
    closed.put(TEMP_FOLDER, "a file of a person\n")
    async with closed.opened():
        with pytest.raises(Exception, match="WRITE_UNSUPPORTED_HERE"):
            await closed.append("A.md", "two\n")
    assert closed.tree() == {"A.md": b"one\n", TEMP_FOLDER: b"a file of a person\n"}
