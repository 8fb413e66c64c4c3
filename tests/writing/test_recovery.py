"""What a crash has interrupted is finished at the next start, from the files and the log alone."""

from __future__ import annotations

import errno
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.support.waiting import eventually_async
from tests.writing.opened import Vault, move, save_by_rename, write

from vault_agent.errors import Failed
from vault_agent.model.identifiers import content_hash
from vault_agent.model.write_state import Right, WriteState
from vault_agent.model.writing import VaultChange
from vault_agent.writing.disk import Disk
from vault_agent.writing.transaction import Transaction


class Crash(BaseException):
    """The process ends here."""


@pytest.fixture
def crash(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, bool], None]:
    """Return what lets the change number `at` be the last one: before it, or right after it."""

    def chosen(at: int, after: bool) -> None:
        applied = Disk.apply
        count = 0

        def apply(self, root, change):
            nonlocal count
            count += 1
            if count == at and not after:
                raise Crash
            done = applied(self, root, change)
            if count == at:
                raise Crash
            return done

        monkeypatch.setattr(Disk, "apply", apply)
        monkeypatch.setattr("vault_agent.writing.journal.Journal._is_done", lambda *_: False)
        monkeypatch.setattr("vault_agent.store.writes.WriteLog.fail", lambda *_: None)

    return chosen


async def crashed(vault: Vault, monkeypatch: pytest.MonkeyPatch, work) -> None:
    """Write until the crash, and leave the log as a killed process does."""
    async with vault.opened(close=False):
        with pytest.raises(Crash):
            await work()
    monkeypatch.undo()


@pytest.mark.parametrize("after", [False, True])
async def test_an_edit_was_made_or_not(closed: Vault, crash, monkeypatch, after: bool):
    closed.put("A.md", "one\n")
    crash(1, after)
    await crashed(
        closed, monkeypatch, lambda: closed.append("A.md", "two\n", key="k", request=b"r")
    )
    assert len(closed.temporaries()) == after
    async with closed.opened():
        assert closed.tree() == {"A.md": b"one\ntwo\n" if after else b"one\n"}
        again = await closed.append("A.md", "two\n", key="k", request=b"r")
        assert again.replayed == after
        assert closed.bytes("A.md") == b"one\ntwo\n"


@pytest.mark.fault(
    "Writing",
    "a kill between the exchange and the look, with a save displaced",
    "the save gets its name back at the next start",
)
async def test_a_save_that_was_displaced_gets_its_name_back(closed: Vault, crash, monkeypatch):
    """The process was killed after the exchange, before it looked at what it had displaced."""
    closed.put("A.md", "one\n")
    crash(1, True)
    await crashed(closed, monkeypatch, lambda: closed.append("A.md", "two\n"))
    [displaced] = closed.temporaries()
    (closed.root / displaced).write_bytes(b"saved by a person\n")
    async with closed.opened():
        assert closed.tree() == {"A.md": b"saved by a person\n"}
        assert await closed.writing.writes() == []


async def test_a_newer_save_is_not_replaced_by_a_displaced_one(closed: Vault, crash, monkeypatch):
    file = closed.put("A.md", "one\n")
    crash(1, True)
    await crashed(closed, monkeypatch, lambda: closed.append("A.md", "two\n"))
    [displaced] = closed.temporaries()
    (closed.root / displaced).write_bytes(b"saved by a person\n")
    save_by_rename(file, b"saved later\n")
    async with closed.opened():
        assert closed.tree() == {
            "A.md": b"saved later\n",
            "A (conflict).md": b"saved by a person\n",
        }


async def test_an_older_save_is_kept_beside_a_newer_one_in_every_change(
    closed: Vault, crash, monkeypatch
):
    closed.put("A.md", "one\n")
    changes = (
        VaultChange.create("C.md", b"c\n"),
        VaultChange.edit("A.md", b"one\n", b"one\ntwo\n"),
    )
    crash(2, True)
    made = write("move", Right.EDIT)
    await crashed(
        closed,
        monkeypatch,
        lambda: closed.writing.transact(made, lambda: Transaction("C.md", changes)),
    )
    [displaced] = closed.temporaries()
    (closed.root / displaced).write_bytes(b"saved by a person\n")
    save_by_rename(closed.root / "A.md", b"saved later\n")
    async with closed.opened():
        assert closed.tree() == {
            "A.md": b"saved later\ntwo\n",
            "A (conflict).md": b"saved by a person\n",
            "C.md": b"c\n",
        }


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("permanent", [False, True])
async def test_a_removal_was_made_or_not(
    closed: Vault, crash, monkeypatch, after: bool, permanent: bool
):
    closed.put("A.md", "one\n")
    crash(1, after)
    await crashed(closed, monkeypatch, lambda: closed.remove("A.md", permanent=permanent))
    async with closed.opened():
        gone = {} if permanent else {".trash/A.md": b"one\n"}
        assert closed.tree() == (gone if after else {"A.md": b"one\n"})


@pytest.mark.parametrize("at", [1, 2, 3, 4])
@pytest.mark.parametrize("after", [False, True])
async def test_after_the_first_change_all_others_are_finished(
    closed: Vault, crash, monkeypatch, at: int, after: bool
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
    crash(at, after)
    made = write("move", Right.MOVE)
    await crashed(
        closed,
        monkeypatch,
        lambda: closed.writing.transact(made, lambda: Transaction("New", changes)),
    )
    async with closed.opened():
        states = [each.state for each in await closed.writing.writes()]
        if at == 1 and not after:
            assert (closed.tree(), states) == (before, [])
            return
        assert closed.tree() == {"New/A.md": b"a, moved\n", "B.md": b"[[New/A]]\n", "C.md": b"c\n"}
        assert states == [WriteState.DONE]


async def test_what_a_person_changed_meanwhile_is_merged_or_left(closed: Vault, crash, monkeypatch):
    closed.put("A.md", "a\nb\nc\n")
    closed.put("B.md", "[[A]]\n")
    changes = (
        VaultChange.create("C.md", b"c\n"),
        VaultChange.edit("A.md", b"a\nb\nc\n", b"A\nb\nc\n"),
        VaultChange.edit("B.md", b"[[A]]\n", b"[[C]]\n"),
    )
    crash(1, True)
    made = write("move", Right.EDIT)
    await crashed(
        closed,
        monkeypatch,
        lambda: closed.writing.transact(made, lambda: Transaction("C.md", changes)),
    )
    closed.put("A.md", "a\nb\nc, by a person\n")
    closed.put("B.md", "all new\n")
    async with closed.opened():
        [logged] = await closed.writing.writes()
        assert logged.warning == "RECOVERY_CONFLICT"
    assert closed.tree() == {
        "A.md": b"A\nb\nc, by a person\n",
        "B.md": b"all new\n",
        "C.md": b"c\n",
    }


async def test_unfinished_temporaries_are_removed(closed: Vault, crash, monkeypatch):
    closed.put("A.md", "one\n")
    crash(1, False)
    await crashed(closed, monkeypatch, lambda: closed.create("B.md", "two\n"))
    log = closed.journal().log
    [logged] = log.unfinished()
    log.close()
    half = (logged.changes[0].temporary or "").replace(".tmp", ".new")
    closed.put(half, "tw")
    async with closed.opened():
        assert closed.tree() == {"A.md": b"one\n"}


async def test_a_full_disk_in_the_middle_says_that_the_change_goes_on(vault: Vault, monkeypatch):
    vault.put("A.md", "a\n")
    vault.put("B.md", "[[A]]\n")
    applied = Disk.apply

    def apply(self, root, change):
        if change.kind == "edit":
            raise OSError(errno.ENOSPC, "full")
        return applied(self, root, change)

    changes = (move("A.md", "C.md", b"a\n"), VaultChange.edit("B.md", b"[[A]]\n", b"[[C]]\n"))
    monkeypatch.setattr(Disk, "apply", apply)
    with pytest.raises(Failed, match="finished as soon as there is room") as full:
        await vault.writing.transact(
            write("move", Right.MOVE), lambda: Transaction("C.md", changes, moved_from="A.md")
        )
    assert full.value.code == "DISK_FULL"
    assert "nothing was written" not in full.value.message
    monkeypatch.undo()
    await eventually_async(lambda: vault.bytes("B.md"), lambda held: held == b"[[C]]\n")
    assert vault.bytes("C.md") == b"a\n"


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
        states = [write.state for write in await closed.writing.writes()]
        assert states == [WriteState.DONE] * (1 + is_done)
        for write in await closed.writing.writes():
            await closed.undo(write.write_id)
        left = {path: text for path, text in closed.tree().items() if ".va-" not in path}
        assert left == {path: text for path, text in BEFORE.items() if path != "Done.md"}
