"""A disk that is really full, or read-only, while notes are changed, and then is not."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from tests.faults import mover
from tests.support.waiting import eventually_async
from tests.writing.opened import QUIET, Vault, move, write

from vault_agent.app import open_app
from vault_agent.config.settings import Config
from vault_agent.errors import IndexUnavailable, VaultAgentError
from vault_agent.model.jobs import Job, JobKind, JobState
from vault_agent.model.search import SearchQuery
from vault_agent.model.writing import Right
from vault_agent.store.current import Snapshot
from vault_agent.store.failures import damaged
from vault_agent.vaults.open_vault import OpenVault
from vault_agent.writing.plan import Transaction

PAGE = 4096
NOTES = 200


@contextmanager
def mounted(folder: Path, size: str) -> Iterator[None]:
    """Mount a small file system on a folder."""
    folder.mkdir(exist_ok=True)
    made = ("mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder))
    try:
        done = subprocess.run(made, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        done = False
    if not done:
        pytest.skip("needs Linux and the right to mount")
    try:
        yield
    finally:
        subprocess.run(("umount", "-l", str(folder)), check=True)


def remount(folder: Path, how: str) -> None:
    subprocess.run(("mount", "-o", f"remount,{how}", str(folder)), check=True)


def filled(folder: Path, pages: int) -> Path:
    """Fill a disk, but for some pages. Return the file to remove again."""
    status = os.statvfs(folder)
    file = folder / ".filler"
    file.write_bytes(b"x" * ((status.f_bfree - pages) * PAGE))
    return file


def notes(vault: Vault) -> dict[str, bytes]:
    return {path: data for path, data in vault.tree().items() if path.endswith(".md")}


async def refused(work: object) -> str:
    try:
        await work  # type: ignore[misc]
    except VaultAgentError as error:
        return error.code
    return "done"


async def until_appended(vault: Vault, path: str) -> None:
    """Append to a note as soon as writes are accepted."""
    await eventually_async(
        lambda: refused(vault.append(path, "more\n")), lambda code: code == "done"
    )


@pytest.mark.fault(
    "Writing",
    "the disk gets full in the middle of a move (real file system)",
    "`DISK_FULL`, other writes `SERVER_BUSY`, and finished once there is room",
)
@pytest.mark.long
async def test_a_move_that_fills_the_disk_is_finished_once_there_is_room(tmp_path: Path):
    with mounted(tmp_path / "vault", "4m"):
        vault = Vault(tmp_path, QUIET)
        files = mover.made(NOTES)
        for path, data in files.items():
            vault.put(path, data)
        async with vault.opened():
            filler = filled(vault.root, 60)
            move = vault.writer.transact(write("move", Right.MOVE), partial(mover.moved, files))
            assert await refused(move) == "DISK_FULL"
            assert vault.writer.health().state == "recovering"
            assert await refused(vault.append("folder 0/0.md", "x")) == "SERVER_BUSY"
            filler.unlink()
            await until_appended(vault, "folder 0/0.md")
            assert vault.writer.health().state == "ready"
            moved = mover.after(files, mover.moved(files))
            moved["folder 0/0.md"] += b"more\n"
            assert notes(vault) == moved
        assert vault.temporaries() == []


@pytest.mark.fault(
    "Writing",
    "the disk is full before a move is logged",
    "refused, nothing changed, and the room that it took is free again",
)
@pytest.mark.long
async def test_a_move_that_is_refused_leaves_the_room_that_there_was(tmp_path: Path):
    """The bytes that it has kept before the disk was full are removed."""
    with mounted(tmp_path / "disk", "8m"):
        vault = Vault(tmp_path / "disk", QUIET)
        files = mover.made(NOTES)
        for path, data in files.items():
            vault.put(path, data)
        async with vault.opened():
            filled(tmp_path / "disk", NOTES)
            move = vault.writer.transact(write("move", Right.MOVE), partial(mover.moved, files))
            assert await refused(move) == "DISK_FULL"
            assert notes(vault) == files
            assert await refused(vault.append("folder 0/0.md", "more\n")) == "done"


@pytest.mark.fault(
    "Writing",
    "the vault becomes read-only while it is served",
    "403, no file changed; writes go on when it is not",
)
async def test_a_disk_that_becomes_read_only_refuses_writes_until_it_is_not(tmp_path: Path):
    with mounted(tmp_path / "vault", "4m"):
        vault = Vault(tmp_path, QUIET)
        vault.put("A.md", "a\n")
        vault.put(mover.HERE, "b\n")
        alone = move("A.md", "B.md", b"a\n")
        async with vault.opened():
            remount(vault.root, "ro")
            for work in (
                vault.append("A.md", "more\n"),
                vault.create("new/C.md", "c\n"),
                vault.create("C.md", "c\n"),
                vault.writer.transact(
                    write("move", Right.MOVE), lambda: Transaction("B.md", (alone,))
                ),
                vault.remove("A.md"),
                vault.remove("A.md", permanent=True),
                vault.writer.transact(
                    write("move", Right.MOVE),
                    lambda: mover.moved({mover.HERE: b"b\n"}),
                ),
            ):
                assert await refused(work) in ("FILE_NOT_WRITABLE", "FILE_NOT_WRITABLE")
                assert vault.writer.health().state == "ready"
            assert vault.tree() == {"A.md": b"a\n", mover.HERE: b"b\n"}
            remount(vault.root, "rw")
            await until_appended(vault, "A.md")
            assert vault.bytes("A.md") == b"a\nmore\n"
        assert vault.temporaries() == []


async def meet_damage(_: Snapshot) -> None:
    raise damaged()


async def newest_job(vault: OpenVault, kind: JobKind) -> Job:
    """Return the newest job once it is of a kind and has ended."""

    async def newest() -> Job:
        return (await vault.jobs.list())[0]

    return await eventually_async(newest, lambda job: job.kind is kind and job.state.final)


@pytest.mark.fault(
    "The index",
    "the disk is full while a damaged index is rebuilt by itself (real file system)",
    "the job fails with `DISK_FULL`; the next request or look rebuilds it",
)
@pytest.mark.parametrize("pages", [0, 40], ids=["no job is recorded", "the job fails"])
@pytest.mark.parametrize("watched", [False, True], ids=["a request", "a look"])
async def test_a_rebuild_that_met_a_full_disk_is_tried_again(
    tmp_path: Path, pages: int, *, watched: bool
):
    root = tmp_path / "vault"
    root.mkdir()
    for number in range(60):
        (root / f"{number}.md").write_text(f"# Note {number}\n\nflour\n" + "filler text\n" * 400)
    with mounted(tmp_path / "disk", "24m"):
        config = Config(
            vault={"root": root}, index={"dir": tmp_path / "disk"}, watch={"enabled": watched}
        )
        async with open_app(config) as app:
            vault = app.vaults.default
            await newest_job(vault, JobKind.INDEX)
            [engine] = (tmp_path / "disk").glob("**/fulltext/notes/meta.json")
            engine.write_bytes(b"garbage")
            filler = filled(tmp_path / "disk", pages)
            with pytest.raises(IndexUnavailable):
                await vault.reader.read(meet_damage)
            if pages:
                failed = await newest_job(vault, JobKind.REINDEX)
                assert (failed.error.code, failed.state) == ("DISK_FULL", JobState.FAILED)
            else:
                for _ in range(2):  # the second certainly comes after that of the rebuild
                    await eventually_async(
                        lambda: refused(vault.submit(JobKind.REINDEX)),
                        lambda code: code == "DISK_FULL",  # `INDEX_BUSY` while the rebuild begins
                    )
            filler.unlink()
            if watched:
                (root / "New.md").write_text("# New\n")
                await eventually_async(vault.health, lambda health: health.index.available)
            await eventually_async(lambda: finds(vault))
            rebuild = await newest_job(vault, JobKind.REINDEX)
            assert rebuild.state is JobState.SUCCEEDED


async def finds(vault: OpenVault) -> bool:
    try:
        return bool((await vault.search(SearchQuery("flour"))).results)
    except IndexUnavailable:
        return False
