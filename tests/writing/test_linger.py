"""An editor that has a note open over our write, and saves: its text is never lost."""

from __future__ import annotations

import asyncio
import operator
import threading
from contextlib import ExitStack
from dataclasses import replace
from functools import partial

import pytest
from tests.support.clocks import PATIENCE
from tests.support.waiting import eventually_async
from tests.writing.opened import QUIET, Vault, lingering, save_by_rename, settled, write

from vault_agent.markdown.edit import append, spliced
from vault_agent.model.writing import SERVER, Right, VaultChange, WriteLimits, WriteTimes
from vault_agent.vault.replacing import Replacer
from vault_agent.writing.plan import Transaction


@pytest.fixture
def limits() -> WriteLimits:
    """Look at displaced files once they are hurried, however slow the computer is."""
    return lingering(PATIENCE)


def append_ours(note: bytes) -> bytes:
    return spliced(note, append(note, "ours\n"))


async def test_an_append_is_made_of_what_the_editor_saved(vault: Vault):
    file = vault.put("A.md", "one\n")
    with file.open("r+b") as editor:
        await vault.append("A.md", "ours\n")
        editor.write(b"one\nadded by a person\n")
    await settled(vault)
    assert vault.tree() == {"A.md": b"one\nadded by a person\nours\n"}
    assert vault.followed.count("A.md") == 2


@pytest.mark.parametrize(
    ("saved", "after"),
    [
        (b"one, edited\n", {"A.md": b"one, edited\nours\nours too\n"}),
        (
            b"one\nadded\n",
            {"A.md": b"one\nours\nours too\n", "A (conflict).md": b"one\nadded\n"},
        ),
    ],
)
async def test_two_edits_and_what_the_editor_saved_are_merged_or_both_kept(
    vault: Vault, saved: bytes, after: dict[str, bytes]
):
    file = vault.put("A.md", "one\n")
    with file.open("r+b") as editor:
        await vault.append("A.md", "ours\n")
        await vault.append("A.md", "ours too\n")
        editor.write(saved)
    await settled(vault)
    assert vault.tree() == after


async def test_an_editor_that_saves_again_and_again(vault: Vault):
    file = vault.put("A.md", "one\n")
    linger = vault.writer._executor.linger
    with file.open("r+b", buffering=0) as editor:
        await vault.append("A.md", "ours\n")
        [displaced] = linger._files
        for number in range(4):
            text = f"one\nsave {number}\n".encode()
            await eventually_async(lambda: linger.has(displaced.logged, 0))
            editor.seek(0)
            editor.write(text)
            with linger._lock:
                linger._files = [replace(each, due=0.0) for each in linger._files]
            await eventually_async(file.read_bytes, partial(operator.eq, text + b"ours\n"))
    await settled(vault)
    assert vault.tree() == {"A.md": b"one\nsave 3\nours\n"}


async def test_editors_that_save_into_some_of_many_notes_of_one_write(vault: Vault):
    names = [f"{number}.md" for number in range(250)]
    files = [vault.put(name, "one\n") for name in names]
    edits = [VaultChange.edit(name, b"one\n", b"one\nours\n", remake=append_ours) for name in names]
    transaction = Transaction("0.md", tuple(edits))
    with ExitStack() as stack:
        editors = [stack.enter_context(file.open("r+b")) for file in files[::10]]
        await vault.writer.transact(write("move", Right.MOVE), lambda: transaction)
        for editor in editors:
            editor.write(b"ONE\n")
    await settled(vault)
    saved = dict.fromkeys(names[::10], b"ONE\nours\n")
    assert vault.tree() == {**dict.fromkeys(names, b"one\nours\n"), **saved}
    assert {name for name in names if vault.followed.count(name) == 2} == saved.keys()


async def test_an_editor_that_saves_into_one_of_several_notes(vault: Vault):
    """Somebody has changed the note since the plan, so that its edit was made anew."""
    file = vault.put("A.md", "one\ntwo\n")
    edit = VaultChange.edit("A.md", b"one\n", b"one\nours\n", remake=append_ours)
    changes = (VaultChange.create("B.md", b"new\n"), edit)
    with file.open("r+b") as editor:
        await vault.writer.transact(write("move", Right.MOVE), lambda: Transaction("B.md", changes))
        assert file.read_bytes() == b"one\ntwo\nours\n"
        editor.write(b"ONE\ntwo\n")
    await settled(vault)
    assert vault.tree() == {"A.md": b"ONE\ntwo\nours\n", "B.md": b"new\n"}


async def test_a_save_during_one_of_several_edits_leaves_no_file(vault: Vault, monkeypatch):
    file = vault.put("A.md", "one\n")
    edit = VaultChange.edit("A.md", b"one\n", b"one\nours\n", remake=append_ours)
    put, saves = Replacer._put, iter([b"ONE\n", b"ONE!\n"])

    def disturbed(self, pair, old):
        if (saved := next(saves, None)) is not None:
            save_by_rename(file, saved)
        return put(self, pair, old)

    monkeypatch.setattr(Replacer, "_put", disturbed)
    transaction = Transaction("B.md", (VaultChange.create("B.md", b"new\n"), edit))
    await vault.writer.transact(write("move", Right.MOVE), lambda: transaction)
    await settled(vault)
    assert vault.tree() == {"A.md": b"ONE!\nours\n", "B.md": b"new\n"}


async def test_an_edit_that_cannot_be_made_again_is_kept_beside(vault: Vault):
    file = vault.put("A.md", "one\n")
    with file.open("r+b") as editor:
        await vault.overwrite("A.md", "all ours\n")
        editor.write(b"all theirs\n")
    await settled(vault)
    assert vault.tree() == {"A.md": b"all theirs\n", "A (conflict).md": b"all ours\n"}
    (_, copied, first) = await vault.writer.logged_writes()
    assert (copied.client, copied.agent, copied.operation) == (SERVER, "", "conflict")
    assert copied.changes[0].path == "A (conflict).md"
    assert "A (conflict).md" in vault.followed
    assert (await vault.undo(copied.write_id)).changed
    await settled(vault)
    assert vault.tree() == {"A.md": b"all theirs\n"}
    assert first.warning == "WRITE_CONFLICT"
    assert vault.writer.health().conflicts == 1
    assert vault.writer.health().conflict_paths == ("A.md",)


async def test_edits_of_other_lines_are_merged(vault: Vault):
    file = vault.put("A.md", "one\ntwo\nthree\n")
    with file.open("r+b") as editor:
        await vault.overwrite("A.md", "ONE\ntwo\nthree\n")
        editor.write(b"one\ntwo\nTHREE\n")
    await settled(vault)
    assert vault.tree() == {"A.md": b"ONE\ntwo\nTHREE\n"}


@pytest.mark.parametrize("meanwhile", [b"a third text\n", None])
async def test_a_note_that_is_another_or_gone_leaves_the_editors_text(
    vault: Vault, meanwhile: bytes | None
):
    file = vault.put("A.md", "one\n")
    with file.open("r+b") as editor:
        await vault.append("A.md", "ours\n")
        file.unlink() if meanwhile is None else file.write_bytes(meanwhile)
        editor.write(b"an edited text\n")
    await settled(vault)
    kept = {} if meanwhile is None else {"A.md": meanwhile}
    assert vault.tree() == {**kept, "A (conflict).md": b"an edited text\n"}


async def test_a_removed_note_that_an_editor_saves_is_kept(vault: Vault):
    file = vault.put("A.md", "one\n")
    with file.open("r+b") as editor:
        await vault.remove("A.md", permanent=True)
        editor.write(b"an edited text\n")
    await settled(vault)
    assert vault.tree() == {"A (conflict).md": b"an edited text\n"}


async def test_the_next_start_looks_at_what_was_displaced(closed: Vault):
    file = closed.put("A.md", "one\ntwo\n")
    async with closed.opened(close=False):
        await closed.append("A.md", "ours\n")
    [temporary] = closed.temporaries()
    (closed.root / temporary).write_bytes(b"one, edited\ntwo\n")
    async with closed.opened():
        await settled(closed)
        assert file.read_bytes() == b"one, edited\ntwo\nours\n"


@pytest.mark.fault(
    "Writing",
    "an editor saves into a displaced file, and the server stops at once",
    "closing looks at it: the text is in the note, with our edit",
)
async def test_closing_looks_at_what_was_displaced_and_does_not_wait_for_its_time(closed: Vault):
    file = closed.put("A.md", "one\n")
    async with closed.opened():
        with file.open("r+b") as editor:
            await closed.append("A.md", "ours\n")
            editor.write(b"one, edited by a person\n")
    assert closed.tree() == {"A.md": b"one, edited by a person\nours\n"}


@pytest.mark.parametrize(
    "limits", [replace(QUIET, times=WriteTimes(closing=0.0, look_pause=PATIENCE))]
)
async def test_a_look_that_is_cancelled_before_it_begins_is_made_at_the_end(closed: Vault):
    begun, goes_on = threading.Event(), threading.Event()

    def hold() -> None:
        begun.set()
        goes_on.wait()

    async with closed.opened() as writer:
        closed.put("A.md", "one\n")
        await closed.append("A.md", "two\n")
        writer._executor.linger.hurry()
        busy = asyncio.create_task(writer._looking.run(hold))
        await eventually_async(begun.is_set, bool)
        looking = asyncio.create_task(writer.look())
        await eventually_async(writer._looking._executor._work_queue.qsize, bool)
        looking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await looking
        goes_on.set()
        await busy
    assert closed.temporaries() == []
    assert closed.bytes("A.md") == b"one\ntwo\n"
