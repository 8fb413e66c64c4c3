"""What a crash has interrupted is finished at the next start, from the files and the log alone."""

from __future__ import annotations

import errno
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from tests.support.waiting import eventually_async
from tests.writing.opened import Vault, move, save_by_rename, write

from vault_agent.errors import Conflict, VaultAgentError
from vault_agent.model.identifiers import content_hash
from vault_agent.model.writing import Right, VaultChange, WriteState
from vault_agent.vault.folder import Folder
from vault_agent.writing.disk import Disk
from vault_agent.writing.finish import numbered
from vault_agent.writing.plan import Transaction


@pytest.mark.parametrize("after", [False, True])
async def test_an_edit_was_made_or_not(closed: Vault, killed, after: bool):
    closed.put("A.md", "one\n")
    await killed(lambda: closed.append("A.md", "two\n", key="k", request_hash=b"r"), after=after)
    assert len(closed.temporaries()) == after
    async with closed.opened():
        assert closed.tree() == {"A.md": b"one\ntwo\n" if after else b"one\n"}
        again = await closed.append("A.md", "two\n", key="k", request_hash=b"r")
        assert again.replayed == after
        assert closed.bytes("A.md") == b"one\ntwo\n"


@pytest.mark.parametrize(("after", "saved"), [(False, False), (True, False), (True, True)])
@pytest.mark.parametrize(
    "change",
    [
        VaultChange.edit("a/A.md", b"one\n", b"two\n"),
        VaultChange.remove("a/A.md", b"one\n"),
        move("a/A.md", "C.md", b"one\n"),
        VaultChange.make_folder("a/b"),
    ],
)
async def test_a_link_in_place_of_a_folder_stops_no_write(
    closed: Vault, killed, change, after, saved
):
    closed.put("a/A.md", "one\n")
    made, planned = write("move", Right.MOVE), Transaction("a/A.md", (change,))
    await killed(lambda: closed.writer.transact(made, lambda: planned), after=after)
    displaced = [closed.put(path, "saved by a person\n") for path in closed.temporaries() if saved]
    (closed.root / "a").rename(closed.root.parent / "a")
    (closed.root / "a").symlink_to(closed.root.parent / "a")
    async with closed.opened():
        await closed.create("B.md", "b\n")
        assert (closed.tree().get("A (conflict).md") == b"saved by a person\n") is bool(displaced)


@pytest.mark.parametrize("at", [1, 2])
@pytest.mark.parametrize("newer", [b"saved later\n", None])
@pytest.mark.parametrize("after", [b"one\ntwo\n", None])
async def test_a_displaced_save_is_kept_beside_what_has_its_name_now(
    closed: Vault, killed, at: int, newer: bytes | None, after: bytes | None
):
    file = closed.put("A.md", "one\n")
    edit = VaultChange.edit("A.md", b"one\n", after) if after else None
    change = edit or VaultChange.remove("A.md", b"one\n")
    made = write("move", Right.MOVE)
    planned = Transaction("A.md", (VaultChange.create("C.md", b"c\n"), change)[2 - at :])
    await killed(lambda: closed.writer.transact(made, lambda: planned), at=at)
    [displaced] = closed.temporaries()
    closed.put(displaced, "saved by a person\n")
    files = {"A (conflict).md": b"saved by a person\n"} | ({"C.md": b"c\n"} if at == 2 else {})
    if newer is not None:
        save_by_rename(file, newer)
        files["A.md"] = newer + (b"two\n" if at == 2 and after else b"")
    else:
        file.unlink(missing_ok=True)
        file.mkdir()
    async with closed.opened():
        assert closed.tree() == files


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("permanent", [False, True])
async def test_a_removal_was_made_or_not(closed: Vault, killed, after: bool, permanent: bool):
    closed.put("A.md", "one\n")
    await killed(lambda: closed.remove("A.md", permanent=permanent), after=after)
    async with closed.opened():
        gone = {} if permanent else {".trash/A.md": b"one\n"}
        assert closed.tree() == (gone if after else {"A.md": b"one\n"})


@pytest.mark.parametrize("at", [1, 2, 3, 4])
@pytest.mark.parametrize("after", [False, True])
async def test_after_the_first_change_all_others_are_finished(
    closed: Vault, killed, at: int, after: bool
):
    closed.put("Old/A.md", "a\n")
    closed.put("B.md", "[[Old/A]]\n")
    before = closed.tree()
    changes = (
        VaultChange.move("Old", "New"),
        VaultChange.edit("New/A.md", b"a\n", b"a, moved\n"),
        VaultChange.edit("B.md", b"[[Old/A]]\n", b"[[New/A]]\n"),
        VaultChange.create("C.md", b"c\n"),
    )
    made = write("move", Right.MOVE)
    await killed(
        lambda: closed.writer.transact(made, lambda: Transaction("New", changes)),
        at=at,
        after=after,
    )
    async with closed.opened():
        states = [each.state for each in await closed.writer.logged_writes()]
        if at == 1 and not after:
            assert (closed.tree(), states) == (before, [])
            return
        assert closed.tree() == {"New/A.md": b"a, moved\n", "B.md": b"[[New/A]]\n", "C.md": b"c\n"}
        assert states == [WriteState.DONE]


async def test_what_a_person_changed_meanwhile_is_merged_or_left(closed: Vault, killed):
    closed.put("A.md", "a\nb\nc\n")
    closed.put("B.md", "[[A]]\n")
    changes = (
        VaultChange.create("C.md", b"c\n"),
        VaultChange.edit("A.md", b"a\nb\nc\n", b"A\nb\nc\n"),
        VaultChange.edit("B.md", b"[[A]]\n", b"[[C]]\n"),
    )
    made = write("move", Right.EDIT)
    await killed(lambda: closed.writer.transact(made, lambda: Transaction("C.md", changes)))
    closed.put("A.md", "a\nb\nc, by a person\n")
    closed.put("B.md", "all new\n")
    async with closed.opened():
        [logged] = await closed.writer.logged_writes()
        assert logged.warning == "RECOVERY_CONFLICT"
    assert closed.tree() == {
        "A.md": b"A\nb\nc, by a person\n",
        "B.md": b"all new\n",
        "C.md": b"c\n",
    }


async def test_unfinished_temporaries_are_removed(closed: Vault, killed):
    closed.put("A.md", "one\n")
    await killed(lambda: closed.create("B.md", "two\n"), after=False)
    log = closed.executor().log
    [logged] = log.unfinished()
    log.close()
    half = (logged.changes[0].temporary or "").replace(".tmp", ".new")
    closed.put(half, "tw")
    async with closed.opened():
        assert closed.tree() == {"A.md": b"one\n"}


@pytest.mark.parametrize("failure", [errno.ENOSPC, errno.EIO, errno.ESTALE])
@pytest.mark.parametrize("kind", ["edit", "move"])
async def test_a_failure_amid_a_change_ends_it_once_and_for_all(
    vault: Vault, monkeypatch, kind: str, failure: int
):
    vault.put("A.md", "a\n")
    vault.put("B.md", "[[A]]\n")
    applied, plans = Disk.apply, []

    def apply(self, root, change):
        done = applied(self, root, change) if "move" in (kind, change.kind) else None
        if change.kind == kind:
            raise OSError(failure, "failed")
        return done

    changes = (move("A.md", "C.md", b"a\n"), VaultChange.edit("B.md", b"[[A]]\n", b"[[C]]\n"))
    monkeypatch.setattr(Disk, "apply", apply)
    with pytest.raises(VaultAgentError, match="made, or finished as soon as") as error:
        await vault.writer.transact(
            write("move", Right.MOVE), lambda: plans.append(1) or Transaction("C.md", changes)
        )
    code = "DISK_FULL" if failure == errno.ENOSPC else "FILE_NOT_WRITABLE"
    assert (error.value.code, plans) == (code, [1])
    assert "nothing was written" not in error.value.message
    monkeypatch.undo()
    await eventually_async(lambda: vault.bytes("B.md"), lambda held: held == b"[[C]]\n")
    assert vault.bytes("C.md") == b"a\n"


async def test_a_note_that_is_saved_while_it_moves_stays(vault: Vault, monkeypatch):
    vault.put("A.md", "a\n")
    monkeypatch.setattr(Folder, "hash", Mock(side_effect=OSError(errno.ESTALE, "changing")))
    changes = (move("A.md", "C.md", b"a\n"),)
    with pytest.raises(Conflict, match="WRITE_CONFLICT"):
        await vault.writer.transact(write("move", Right.MOVE), lambda: Transaction("C.md", changes))
    assert vault.tree() == {"A.md": b"a\n"}


def test_a_copy_beside_a_long_name_has_one_that_fits():
    long = numbered(f"a/{'é' * 126}.md", " (conflict)")
    assert long == f"a/{'é' * 120} (conflict).md"


# --- logs of earlier versions -------------------------------------------------------------------

HALF_DONE = json.loads(Path(__file__).with_name("half_done.json").read_text())
"""Vaults and logs that version 0.0.9 has left when it was killed before a change, or after it. One
file was then `prepared`, and decided by itself; several were `committed`, and always finished."""
BEFORE = {"Done.md": b"done\n", "Old/A.md": b"a\n", "B.md": b"[[Old/A]]\n"}
AFTER = {
    "edit": BEFORE | {"B.md": b"[[Old/A]]\nmore\n"},
    "create": BEFORE | {"New/N.md": b"new\n"},
    "trash": {"Done.md": b"done\n", "Old/A.md": b"a\n", ".trash/B.md": b"[[Old/A]]\n"},
    "remove": {"Done.md": b"done\n", "Old/A.md": b"a\n"},
    "several": {
        "Done.md": b"done\n",
        "New/A.md": b"a, moved\n",
        "B.md": b"[[New/A]]\n",
        "C.md": b"c\n",
    },
}


@pytest.mark.parametrize("case", HALF_DONE["cases"], ids=lambda case: case["case"])
async def test_what_an_earlier_version_has_half_done_is_finished_or_undone(
    closed: Vault, case: dict[str, Any]
):
    for path, text in case["files"].items():
        closed.put(path, text)
    bytes_before = closed.data / "writes/before"
    bytes_before.mkdir(parents=True)
    for text in case["bytes"]:
        (bytes_before / content_hash(text.encode()).hex()).write_text(text)
    with closing(sqlite3.connect(closed.data / "writes.db")) as connection:
        connection.executescript("\n".join((*HALF_DONE["schema"], *case["log"])))
    kind, _, when = case["case"].split()
    is_done = when == "after" or kind == "several"
    async with closed.opened():
        assert closed.tree() == (AFTER[kind] if is_done else BEFORE)
        states = [write.state for write in await closed.writer.logged_writes()]
        assert states == [WriteState.DONE] * (1 + is_done)
        for write in await closed.writer.logged_writes():
            await closed.undo(write.write_id)
        left = {path: text for path, text in closed.tree().items() if ".va-" not in path}
        assert left == {path: text for path, text in BEFORE.items() if path != "Done.md"}
