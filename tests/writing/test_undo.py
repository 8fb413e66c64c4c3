"""Undo: every write can be taken back, and never over what somebody has written since."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.waiting import eventually_async
from tests.writing.opened import QUIET, Vault, lingering, move, write

from vault_agent.errors import Conflict, Forbidden, NotFound
from vault_agent.model.scope import Scope
from vault_agent.model.writing import Author, Right, VaultChange, WriteState
from vault_agent.text.names import TEMP_FOLDER
from vault_agent.writing.disk import Disk
from vault_agent.writing.plan import Transaction

AGENT = Author("scribe", "mcp:scribe")

sooner = pytest.mark.parametrize("limits", [lingering(0.05)])


async def test_every_write_can_be_undone_and_done_again(vault: Vault):
    vault.put("A.md", b"\xef\xbb\xbfone\r\n")
    before = vault.tree()
    for change in (
        lambda: vault.append("A.md", "two\n"),
        lambda: vault.overwrite("A.md", "other"),
        lambda: vault.create("B/C.md", "new"),
        lambda: vault.remove("A.md"),
        lambda: vault.remove("A.md", permanent=True),
    ):
        await change()
        after = {path: data for path, data in vault.tree().items() if ".va-" not in path}
        undone = await vault.undo()
        assert undone.operation == "undo"
        assert vault.bytes("A.md") == before["A.md"]
        assert not (vault.root / "B/C.md").exists()
        await vault.undo(undone.write_id)
        again = {path: data for path, data in vault.tree().items() if ".va-" not in path}
        assert again == after
        (last, *_) = await vault.writer.logged_writes(limit=1)
        await vault.undo(last.write_id)


@pytest.mark.parametrize("since", ["one\n", "secret\n"])
async def test_undo_tells_nothing_of_a_note_that_was_denied_since(vault: Vault, since: str):
    await vault.create("A.md", "one\n", author=AGENT)
    vault.put("A.md", since)
    with pytest.raises(Forbidden, match="WRITE_OUTSIDE_SCOPE"):
        await vault.undo(author=replace(AGENT, scope=Scope(deny=("A.md",))))


async def test_undo_goes_back_write_by_write(vault: Vault):
    vault.put("A.md", "0\n")
    for number in (1, 2, 3):
        await vault.append("A.md", f"{number}\n")
    await vault.undo()
    await vault.undo()
    assert vault.bytes("A.md") == b"0\n1\n"
    states = [
        each.state for each in await vault.writer.logged_writes() if each.operation == "append"
    ]
    assert states == [WriteState.UNDONE, WriteState.UNDONE, WriteState.DONE]


async def test_what_somebody_wrote_since_stays(vault: Vault):
    vault.put("A.md", "one\ntwo\n")
    await vault.append("A.md", "ours\n")
    vault.put("A.md", "one, changed\ntwo\nours\nand more\n")
    undone = await vault.undo()
    assert vault.bytes("A.md") == b"one, changed\ntwo\nand more\n"
    assert undone.changed


async def test_what_somebody_changed_in_our_text_is_not_undone(vault: Vault):
    vault.put("A.md", "one\n")
    await vault.append("A.md", "ours\n")
    vault.put("A.md", "one\nours, and theirs\n")
    with pytest.raises(Conflict, match="UNDO_CONFLICT"):
        await vault.undo()
    assert vault.tree().keys() - set(vault.temporaries()) == {"A.md"}
    dry = await vault.undo(copy=True, dry_run=True)
    assert (dry.path, dry.write_id) == ("A (before undo).md", None)
    copied = await vault.undo(copy=True)
    assert (copied.path, copied.created) == ("A (before undo).md", True)
    assert [(each.code, each.details) for each in copied.warnings] == [
        ("UNDO_CONFLICT", {"path": "A.md"})
    ]
    assert vault.bytes("A (before undo).md") == b"one\n"
    assert vault.bytes("A.md") == b"one\nours, and theirs\n"


async def test_the_copy_of_an_undo_is_a_write_like_others(vault: Vault):
    vault.put("A.md", "one\n")
    first = await vault.append("A.md", "ours\n")
    vault.put("A.md", "one\nours, and theirs\n")
    copied = await vault.undo(copy=True)
    assert "A (before undo).md" in vault.followed
    assert [each.write_id for each in vault.events] == [first.write_id, copied.write_id]
    again = await vault.undo(first.write_id, copy=True)
    assert (again.changed, again.path) == (False, "A (before undo).md")
    undone = await vault.undo()
    assert undone.changed
    assert vault.tree().keys() - set(vault.temporaries()) == {"A.md"}


async def test_the_copy_of_an_undo_needs_the_right_to_create(vault: Vault):
    vault.put("A.md", "one\n")
    agent = Author("agent", "mcp", rights=frozenset({Right.APPEND, Right.EDIT}))
    await vault.append("A.md", "ours\n", author=agent)
    vault.put("A.md", "one\nours, and theirs\n")
    with pytest.raises(Forbidden, match="WRITE_NOT_ALLOWED"):
        await vault.undo(copy=True, author=agent)
    assert vault.tree().keys() - set(vault.temporaries()) == {"A.md"}


async def test_a_new_note_that_somebody_changed_stays(vault: Vault):
    made = await vault.create("A.md", "ours\n")
    vault.put("A.md", "ours and theirs\n")
    with pytest.raises(Conflict, match="UNDO_CONFLICT"):
        await vault.undo(made.write_id)
    gone = await vault.remove("A.md")
    vault.put("A.md", "a new one\n")
    with pytest.raises(Conflict, match="UNDO_CONFLICT"):
        await vault.undo(gone.write_id)
    assert vault.bytes("A.md") == b"a new one\n"


@pytest.mark.parametrize("operation", ["create", "append", "remove"])
async def test_a_huge_file_is_not_read_to_undo_a_write(
    vault: Vault, operation: str, monkeypatch: pytest.MonkeyPatch
):
    if operation == "create":
        made = await vault.create("A.md", "ours\n")
    else:
        vault.put("A.md", "one\n")
        made = await (
            vault.append("A.md", "2")
            if operation == "append"
            else vault.remove("A.md", permanent=True)
        )
    with (vault.root / "A.md").open("wb") as file:
        file.truncate(5 << 30)  # it takes no room
    monkeypatch.setattr(Disk, "read", None)
    _, changed_since = await vault.writer.logged(made.write_id or "")
    assert changed_since
    with pytest.raises(Conflict, match="UNDO_CONFLICT") as caught:
        await vault.undo(made.write_id)
    if operation != "remove":
        assert "The file has been replaced by one of 5,368,709,120 bytes." in str(caught.value)
    assert (vault.root / "A.md").stat().st_size == 5 << 30


async def test_an_undo_without_any_write_offers_no_list(vault: Vault):
    with pytest.raises(NotFound) as caught:
        await vault.undo()
    assert str(caught.value) == "WRITE_NOT_FOUND: You have no write to take back."


@sooner
async def test_a_transaction_is_undone_as_a_whole(vault: Vault):
    vault.put("Old/A.md", "a\n")
    vault.put("B.md", "[[Old/A]]\n")
    before = vault.tree()
    changes = (
        VaultChange.make_folder("Empty"),
        VaultChange.move("Old", "New"),
        VaultChange.edit("New/A.md", b"a\n", b"a, moved\n"),
        VaultChange.edit("B.md", b"[[Old/A]]\n", b"[[New/A]]\n", links=1),
        VaultChange.create("C.md", b"c\n"),
    )
    made = write("move", Right.MOVE)
    moved = await vault.writer.transact(made, lambda: Transaction("New", changes, moved_from="Old"))
    assert (moved.path, moved.moved_from, moved.file_count) == ("New", "Old", 4)
    held = {path: data for path, data in vault.tree().items() if ".va-" not in path}
    assert held == {"New/A.md": b"a, moved\n", "B.md": b"[[New/A]]\n", "C.md": b"c\n"}
    await vault.undo()
    assert {path: data for path, data in vault.tree().items() if ".va-" not in path} == before
    assert not (vault.root / "Empty").exists()


async def test_searches_follow_a_folder_that_moves_back(vault: Vault):
    vault.put("Old/A.md", "a\n")
    vault.put("0 Canvas.canvas", "{}\n")
    changes = (
        VaultChange.edit("0 Canvas.canvas", b"{}\n", b"{ }\n"),
        VaultChange.move("Old", "New"),
    )
    made = write("move", Right.MOVE)
    await vault.writer.transact(made, lambda: Transaction("New", changes, moved_from="Old"))

    back = await vault.undo()
    assert (back.path, back.moved_from) == ("Old", "New")
    assert {"Old", "New"} <= set(vault.followed[-3:])

    again = await vault.undo(back.write_id)
    assert (again.path, again.moved_from) == ("New", "Old")


@pytest.mark.parametrize("limits", [lingering(1.0)])
async def test_what_is_displaced_in_a_folder_does_not_move_back_with_it(closed: Vault):
    note = closed.put("old/A.md", "[[old/A]]\n")

    def plan() -> Transaction:
        edit = VaultChange.edit("new/A.md", b"[[old/A]]\n", b"[[new/A]]\n")
        return Transaction("new", (VaultChange.move("old", "new"), edit), moved_from="old")

    async with closed.opened():
        await closed.writer.transact(write("move", Right.MOVE), plan)
        await eventually_async(closed.temporaries, lambda left: not left)
        with (closed.root / "new/A.md").open("ab") as editor:
            await closed.undo()
            editor.write(b"what a person saves late\n")
        await eventually_async(closed.temporaries, lambda left: not left)
    assert note.read_bytes() == b"[[old/A]]\nwhat a person saves late\n"


async def test_bytes_are_kept_only_so_long(tmp_path: Path):
    vault = Vault(tmp_path, replace(QUIET, undo_bytes=24))  # the two last ones
    vault.put("A.md", "0\n")
    async with vault.opened():
        made = [await vault.append("A.md", f"{number}\n") for number in range(4)]
    async with vault.opened():
        shown = await vault.writer.logged_writes()
        assert [each.undoable for each in shown] == [True, True, False, False]
        with pytest.raises(NotFound, match="UNDO_EXPIRED"):
            await vault.undo(made[1].write_id)
        await vault.undo(made[3].write_id)
    kept = {path.read_bytes() for path in (vault.data / "writes/before").iterdir()}
    assert b"0\n0\n" not in kept
    vault.limits = replace(QUIET, undo_bytes=0)
    async with vault.opened():
        assert not any(each.undoable for each in await vault.writer.logged_writes())
    assert list((vault.data / "writes/before").iterdir()) == []


async def test_with_no_days_nothing_is_kept(tmp_path: Path):
    vault = Vault(tmp_path, replace(QUIET, undo_days=0))
    vault.put("A.md", "secret canary\n")
    async with vault.opened():
        await vault.overwrite("A.md", "x\n")
        await vault.writer.close()
    async with vault.opened():
        pass
    assert list((vault.data / "writes/before").iterdir()) == []


async def test_bytes_can_be_forgotten(vault: Vault):
    vault.put("A.md", "0\n")
    first = await vault.append("A.md", "1\n")
    second = await vault.append("A.md", "2\n")
    assert await vault.writer.forget(write_id=first.write_id) == 1
    with pytest.raises(NotFound, match="UNDO_EXPIRED"):
        await vault.undo(first.write_id)
    assert await vault.writer.forget(older_than_days=1) == 0
    await vault.undo(second.write_id)
    assert await vault.writer.forget() == 2
    with pytest.raises(NotFound, match="WRITE_NOT_FOUND"):
        await vault.writer.forget(write_id="nothing")


async def folders(vault: Vault) -> set[str]:
    """Return the folders of a vault once all temporary files and empty folders are removed."""
    await eventually_async(vault.writer._executor.log.unswept, lambda left: not left)
    made = (path for path in vault.root.rglob("*") if path.is_dir())
    return {path.relative_to(vault.root).as_posix() for path in made} - {TEMP_FOLDER}


@pytest.mark.fault(
    "Writing",
    "a write is taken back that made folders",
    "they go once they are empty; one that somebody uses stays",
)
@sooner
async def test_folders_that_a_write_has_made_go_with_it(vault: Vault):
    vault.put("mine/A.md", "a\n")
    (vault.root / "mine/empty").mkdir()
    before = await folders(vault)
    made = await vault.create("mine/empty/new/deep/B.md", "b\n")
    await vault.undo(made.write_id)
    assert await folders(vault) == before
    await vault.remove("mine/A.md")
    await vault.undo()
    assert await folders(vault) == before

    def plan() -> Transaction:
        edit = VaultChange.edit("far/off/A.md", b"a\n", b"a, moved\n")
        return Transaction("far/off/A.md", (move("mine/A.md", "far/off/A.md", b"a\n"), edit))

    await vault.writer.transact(write("move", Right.MOVE), plan)
    undone = await vault.undo()
    assert await folders(vault) == before
    await vault.undo(undone.write_id)
    assert await folders(vault) == before | {"far", "far/off"}


@sooner
async def test_a_folder_that_somebody_uses_since_stays(vault: Vault):
    made = await vault.create("new/deep/B.md", "b\n")
    vault.put("new/theirs.md", "theirs\n")
    await vault.undo(made.write_id)
    assert await folders(vault) == {"new"}
    assert vault.bytes("new/theirs.md") == b"theirs\n"


async def test_an_agent_takes_back_its_own_writes_by_their_ids_and_a_person_all(vault: Vault):
    person, other = Author(client="cli"), Author(client="mcp:editor")
    made = {
        author: await vault.create(f"{author.client[-6:]}.md", "text\n", author=author)
        for author in (person, Author(client="web"), AGENT, other, Author(client="mcp:reader"))
    }
    for author in (AGENT, other):
        for maker in made.keys() - {author}:
            with pytest.raises(NotFound, match="WRITE_NOT_FOUND"):
                await vault.undo(made[maker].write_id, author=author)
        assert (await vault.undo(made.pop(author).write_id, author=author)).changed
    for written in made.values():
        assert (await vault.undo(written.write_id, author=person)).changed


async def test_undo_without_an_id_takes_back_only_the_callers_own_last_write(vault: Vault):
    vault.put("A.md", "a\n")
    vault.put("B.md", "b\n")
    cli = Author(client="cli")
    other = Author(client="mcp:editor")  # an agent in the set-up without `[agents]`
    await vault.append("A.md", "mine\n", author=cli)
    for author in (AGENT, other):
        theirs = await vault.append("B.md", f"of {author.client}\n", author=author)
    undone = await vault.undo(author=cli)
    assert undone.path == "A.md"
    (warning,) = undone.warnings
    assert warning.code == "UNDO_NOT_LAST"
    assert warning.details["writeId"] == theirs.write_id
    assert "mcp:editor" in warning.message
    assert vault.bytes("B.md") == b"b\nof mcp:scribe\nof mcp:editor\n"
    with pytest.raises(NotFound, match="WRITE_NOT_FOUND") as caught:
        await vault.undo(author=cli)
    assert caught.value.details["writeId"] == theirs.write_id
    await vault.append("A.md", "mine\n", author=cli)
    assert (await vault.undo(author=other)).path == "B.md"
    assert (await vault.undo(author=AGENT)).warnings == ()
    assert vault.bytes("B.md") == b"b\n"
    with pytest.raises(NotFound, match="WRITE_NOT_FOUND"):
        await vault.undo(author=other)
    assert vault.bytes("A.md") == b"a\nmine\n"


async def test_the_command_line_takes_back_what_the_page_of_the_same_person_wrote(vault: Vault):
    await vault.create("A.md", "a\n", author=Author(client="web"))
    undone = await vault.undo(author=Author(client="cli"))
    assert (undone.path, undone.warnings) == ("A.md", ())


async def test_an_agent_is_not_told_of_the_writes_of_others(vault: Vault):
    vault.put("A.md", "a\n")
    await vault.append("A.md", "ours\n", author=AGENT)
    await vault.create("Private.md", "theirs")
    assert (await vault.undo(author=AGENT)).warnings == ()
    with pytest.raises(NotFound, match="WRITE_NOT_FOUND") as caught:
        await vault.undo(author=AGENT)
    assert caught.value.details == {}
    assert "Private" not in caught.value.message


async def test_what_the_server_wrote_by_itself_is_taken_back_by_its_id_only(vault: Vault):
    vault.put("A.md", "a\n")
    await vault.append("A.md", "mine\n")
    journal = await vault.create("journals/Day.md", "a day\n", by_server=True)
    undone = await vault.undo()
    assert undone.path == "A.md"
    assert "by server: " in undone.warnings[0].message
    assert vault.bytes("journals/Day.md") == b"a day\n"
    assert [each.client for each in await vault.writer.logged_writes()][1:] == ["server", "http"]
    await vault.undo(journal.write_id)
    assert not (vault.root / "journals/Day.md").exists()


@pytest.mark.parametrize("operation", ["append", "create", "move", "delete"])
async def test_a_note_that_was_taken_back_has_not_been_changed_since(vault: Vault, operation: str):
    vault.put("A.md", "one\n")
    made = await {
        "append": lambda: vault.append("A.md", "two\n"),
        "create": lambda: vault.create("B.md", "new\n"),
        "move": lambda: vault.writer.transact(
            write("move", Right.MOVE),
            lambda: Transaction("B.md", (move("A.md", "B.md", b"one\n"),)),
        ),
        "delete": lambda: vault.remove("A.md"),
    }[operation]()
    await vault.undo(made.write_id)
    logged, changed_since = await vault.writer.logged(made.write_id or "")
    assert (logged.state, changed_since) == (WriteState.UNDONE, False)
    vault.put(logged.changes[0].path, "by a person\n")
    assert (await vault.writer.logged(made.write_id or ""))[1]
