"""The path that every write takes."""

from __future__ import annotations

import asyncio
import os
import re
import stat
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.clocks import PATIENCE
from tests.support.systems import posix
from tests.support.waiting import eventually_async
from tests.writing.opened import QUIET, Vault
from tests.writing.opened import write as write_of

from vault_agent.config.sections import WriteSettings
from vault_agent.errors import (
    Busy,
    Conflict,
    Failed,
    Forbidden,
    InvalidRequest,
    NotFound,
    TooLarge,
)
from vault_agent.model.identifiers import content_hash
from vault_agent.model.scope import Scope
from vault_agent.model.writing import Author, Right, WriteLimits, WriteState
from vault_agent.writing import notes
from vault_agent.writing.vault_writer import VaultWriter

AGENT = Author("scribe", "mcp:scribe")


def digest(data: bytes) -> str:
    return content_hash(data).hex()


async def test_a_note_is_created_and_edited(vault: Vault):
    made = await vault.create("Notes/A.md", "one\n")
    assert (made.created, made.changed, made.path) == (True, True, "Notes/A.md")
    assert made.diff == "--- /dev/null\n+++ Notes/A.md\n@@ -0,0 +1 @@\n+one\n"
    edited = await vault.append("Notes/A.md", "two\n")
    assert vault.bytes("Notes/A.md") == b"one\ntwo\n"
    assert (edited.hash_before, edited.hash_after) == (digest(b"one\n"), digest(b"one\ntwo\n"))
    assert (edited.bytes_before, edited.bytes_after, edited.spans) == (4, 8, 1)
    assert "+two\n" in edited.diff
    assert edited.index.indexed
    assert vault.followed == ["Notes/A.md", "Notes/A.md"]
    assert [each.operation for each in vault.events] == ["create", "append"]


@pytest.mark.parametrize("odd", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"])
async def test_a_diff_has_the_lines_of_the_note(vault: Vault, odd: str):
    vault.put("A.md", f"a{odd}b\nc\r")
    edited = await vault.append("A.md", "d\n")
    rows = edited.diff.split("\n")[2:]
    assert rows == ["@@ -1,2 +1,3 @@", f" a{odd}b", " c\r", "+d", ""]


async def test_no_temporary_file_stays(tmp_path: Path):
    vault = Vault(tmp_path)
    async with vault.opened():
        await vault.create("A.md", "one\n")
        await vault.append("A.md", "two\n")
        assert len(vault.temporaries()) == 1  # what was displaced, for a moment
    assert vault.temporaries() == []


async def test_a_dry_run_writes_nothing(vault: Vault):
    vault.put("A.md", "one\n")
    before = (vault.root / "A.md").stat()
    dry = await vault.append("A.md", "two\n", dry_run=True, key="k")
    assert (dry.changed, dry.write_id, dry.undoable) == (True, None, False)
    assert dry.diff.endswith(" one\n+two\n")
    assert (await vault.create("B/C.md", "x", dry_run=True)).created
    assert vault.tree() == {"A.md": b"one\n"}
    assert (vault.root / "A.md").stat() == before
    assert not (vault.root / "B").exists()
    assert await vault.writer.logged_writes() == []


async def test_what_changes_nothing_writes_nothing(vault: Vault):
    vault.put("A.md", "one\n")
    before = (vault.root / "A.md").stat()
    same = await vault.overwrite("A.md", "one\n", expected_hash=digest(b"one\n"))
    assert (same.changed, same.write_id, same.diff) == (False, None, "")
    assert (vault.root / "A.md").stat() == before


async def test_a_create_never_replaces(vault: Vault):
    vault.put("A.md", "mine\n")
    vault.put("Ordner/Ä.md", "mine\n")
    with pytest.raises(Conflict, match="NOTE_EXISTS"):
        await vault.create("A.md", "new")
    for twin in ("a.md", "ordner/ä.MD", "ORDNER/A\u0308.md"):
        with pytest.raises(Conflict, match="NAME_COLLISION") as caught:
            await vault.create(twin, "new")
        assert caught.value.details["path"] in ("A.md", "Ordner/Ä.md")
    vault.put(".Far.md.icloud", "")
    with pytest.raises(Conflict, match="NOTE_NOT_LOCAL"):
        await vault.create("Far.md", "new")
    made = await vault.create("ORDNER/B.md", "new")
    assert made.path == "Ordner/B.md"
    assert vault.bytes("A.md") == b"mine\n"


async def test_many_creates_of_one_name_make_one_note(vault: Vault):
    made = await asyncio.gather(
        *(vault.create("New/A.md", f"{number}\n") for number in range(20)), return_exceptions=True
    )
    assert sum(not isinstance(each, Exception) for each in made) == 1
    assert {each.code for each in made if isinstance(each, Conflict)} == {"NOTE_EXISTS"}


async def test_a_hash_that_does_not_match_is_refused(vault: Vault):
    vault.put("A.md", "one\n")
    with pytest.raises(Conflict, match="HASH_MISMATCH") as caught:
        await vault.append("A.md", "two\n", expected_hash=digest(b"other"))
    assert caught.value.details == {"currentHash": digest(b"one\n")}
    with pytest.raises(InvalidRequest, match="EXPECTED_HASH_REQUIRED"):
        await vault.overwrite("A.md", "two\n", hash_required=True)
    await vault.overwrite("A.md", "two\n", hash_required=True, expected_hash=digest(b"one\n")[:16])
    assert vault.bytes("A.md") == b"two\n"


async def test_a_missing_note_is_not_made(vault: Vault):
    vault.put("Folder.md/B.md", "x")
    vault.put("picture.png", "x")
    for path in ("A.md", "No/A.md", "Folder.md", "picture.png"):
        with pytest.raises(NotFound, match="NOTE_NOT_FOUND"):
            await vault.append(path, "text")
    assert not (vault.root / "No").exists()


@pytest.mark.parametrize(
    ("path", "error"),
    [
        (".obsidian/app.md", "WRITE_OUTSIDE_SCOPE: A name in the path begins with a dot"),
        (".trash/A.md", "WRITE_OUTSIDE_SCOPE: A name in the path begins with a dot"),
        ("Folder/.hidden/A.md", "WRITE_OUTSIDE_SCOPE: A name in the path begins with a dot"),
        ("node_modules/A.md", "PATH_EXCLUDED: .*the owner adds !node_modules/ to vault.exclude"),
        ("a/output/b/A.md", "PATH_EXCLUDED: .*the owner adds !output/ to vault.exclude"),
        ("private/A.md", "PATH_EXCLUDED: A pattern of vault.exclude leaves the path out"),
    ],
)
async def test_hidden_and_excluded_paths_are_refused_by_name(tmp_path: Path, path: str, error: str):
    vault = Vault(tmp_path, QUIET, "private/")
    async with vault.opened():
        vault.put(path, "mine\n")
        for attempt in (vault.append(path, "x"), vault.create(f"{path}2.md", "x")):
            with pytest.raises(Forbidden) as refused:
                await attempt
            assert re.match(error, f"{refused.value.code}: {refused.value.message}")
    assert vault.tree() == {path: b"mine\n"}


async def test_what_the_owner_includes_again_is_written(tmp_path: Path):
    vault = Vault(tmp_path, QUIET, "!output/")
    async with vault.opened():
        await vault.create("output/A.md", "x\n")
    assert vault.tree() == {"output/A.md": b"x\n"}


async def test_an_agent_learns_no_exclusion_outside_its_folders(tmp_path: Path):
    vault = Vault(tmp_path, QUIET, "private/")
    async with vault.opened():
        for path in ("private/A.md", "dist/A.md", "plain/A.md"):
            with pytest.raises(Forbidden, match="outside the folders that may be written"):
                await vault.create(path, "x", author=replace(AGENT, scope=Scope(("claude",))))


@pytest.mark.parametrize("limits", [replace(QUIET, folders=("claude", "Shared"))])
async def test_only_the_folders_of_the_settings_and_the_agent_are_written(vault: Vault):
    vault.put("A.md", "mine\n")
    with pytest.raises(Forbidden, match="WRITE_OUTSIDE_SCOPE"):
        await vault.append("A.md", "x")
    with pytest.raises(Forbidden, match="WRITE_OUTSIDE_SCOPE"):
        await vault.create("claudette/A.md", "x")
    await vault.create("Claude/A.md", "x")
    narrow = replace(AGENT, scope=Scope(("claude",), ("claude/Diary",)))
    await vault.append("Claude/A.md", "y", author=narrow)
    for path in ("Shared/A.md", "claude/diary.md", "claude/Diary/A.md"):
        with pytest.raises(Forbidden, match="WRITE_OUTSIDE_SCOPE"):
            await vault.create(path, "x", author=narrow)


async def test_only_the_rights_that_are_given_are_used(vault: Vault):
    vault.put("A.md", "mine\n")
    maker = replace(AGENT, rights=frozenset({Right.CREATE}))
    with pytest.raises(Forbidden, match="WRITE_NOT_ALLOWED") as caught:
        await vault.append("A.md", "x\n", author=maker)
    assert caught.value.details == {"right": "append"}


async def test_nothing_is_written_through_a_link(tmp_path: Path):
    vault = Vault(tmp_path, replace(QUIET, folders=("Open",)))
    vault.put("Open/A.md", "one\n")
    vault.put("Closed/B.md", "mine\n")
    outside = tmp_path / "outside.md"
    outside.write_text("mine\n")
    (vault.root / "Open/Link.md").symlink_to("A.md")
    (vault.root / "Open/Away.md").symlink_to("../Closed/B.md")
    (vault.root / "Open/Out.md").symlink_to(outside)
    (vault.root / "Open/Folder").symlink_to("../Closed")
    async with vault.opened():
        for path in ("Open/Link.md", "Open/Away.md", "Open/Out.md"):
            with pytest.raises(NotFound):
                await vault.append(path, "x\n")
        with pytest.raises(Forbidden, match="WRITE_OUTSIDE_SCOPE"):
            await vault.append("Open/Folder/B.md", "x\n")
        with pytest.raises(InvalidRequest, match="INVALID_PATH"):
            await vault.create("Open/Folder/New.md", "x\n")
        with pytest.raises(Conflict, match="NOTE_EXISTS"):
            await vault.create("Open/Out.md", "x\n")
    assert (vault.root / "Open/Link.md").is_symlink()
    assert vault.bytes("Open/A.md") == b"one\n"
    assert outside.read_text() == "mine\n"
    assert vault.bytes("Closed/B.md") == b"mine\n"


@pytest.mark.fault(
    "Writing",
    "the same key twice, with the same and another request",
    "replayed; 422",
)
async def test_a_key_is_used_once(vault: Vault):
    first = await vault.create("A.md", "one\n", key="k", request_hash=b"1")
    again = await vault.create("A.md", "one\n", key="k", request_hash=b"1")
    assert again.replayed
    assert replace(again, replayed=False, index=first.index) == first
    with pytest.raises(InvalidRequest, match="IDEMPOTENCY_KEY_REUSED"):
        await vault.create("B.md", "one\n", key="k", request_hash=b"2")
    await vault.create(
        "C.md", "x", key="k", request_hash=b"3", author=AGENT
    )  # another author's key
    with pytest.raises(Conflict):
        await vault.create("A.md", "x", key="other", request_hash=b"4")
    await vault.create(
        "D.md", "x", key="other", request_hash=b"5"
    )  # the refused one did not use it


async def test_a_key_shows_no_text_of_a_folder_that_was_taken_from_its_caller(vault: Vault):
    vault.put("Private/A.md", "one\n")
    told = {"key": "k", "request_hash": b"1"}
    first = await vault.append("Private/A.md", "two\n", author=AGENT, **told)
    assert "+two" in first.diff
    narrowed = replace(AGENT, scope=Scope(("Public",)))
    again = await vault.append("Private/A.md", "two\n", author=narrowed, **told)
    assert (again.replayed, again.write_id, again.diff) == (True, first.write_id, "")


async def test_one_key_at_the_same_time_is_one_write(vault: Vault):
    vault.put("A.md", "one\n")
    replies = await asyncio.gather(
        *(vault.append("A.md", "two\n", key="k", request_hash=b"1") for _ in range(10))
    )
    assert vault.bytes("A.md") == b"one\ntwo\n"
    assert sum(each.replayed for each in replies) == 9
    assert len({each.write_id for each in replies}) == 1


@pytest.mark.parametrize("limits", [replace(QUIET, max_per_minute=3)])
async def test_an_agent_writes_only_so_often(vault: Vault):
    for number in range(3):
        await vault.create(f"{number}.md", "x", author=AGENT)
    with pytest.raises(Busy, match="TOO_MANY_REQUESTS") as caught:
        await vault.create("4.md", "x", author=AGENT)
    assert 1 <= caught.value.details["retryAfter"] <= 60
    await vault.create("4.md", "x", dry_run=True, author=AGENT)
    await vault.create("4.md", "x")


async def test_a_note_does_not_grow_over_its_limit(tmp_path: Path):
    vault = Vault(tmp_path, replace(QUIET, max_written_bytes=10))
    vault.put("A.md", "12345\n")
    async with vault.opened():
        with pytest.raises(TooLarge, match="NOTE_TOO_LARGE"):
            await vault.append("A.md", "12345\n")
        with pytest.raises(TooLarge):
            await vault.create("B.md", "12345678901")
        await vault.create("b.png", "12345678901")
    assert vault.bytes("A.md") == b"12345\n"


@pytest.mark.parametrize(
    "limits",
    [replace(QUIET, quiet_seconds=PATIENCE, times=replace(QUIET.times, quiet_wait=PATIENCE))],
)
async def test_a_note_that_somebody_changes_is_waited_for(vault: Vault):
    file = vault.put("A.md", "one\n")
    writing = asyncio.create_task(vault.append("A.md", "end\n"))
    for number in range(4):
        await asyncio.sleep(0.05)
        file.write_text(f"typing {number}\n")
    assert not writing.done()
    os.utime(file, (0, 0))  # now it is quiet
    await writing
    assert vault.bytes("A.md") == b"typing 3\nend\n"
    await vault.append("A.md", "ours\n")  # our own change is not waited for
    assert vault.bytes("A.md") == b"typing 3\nend\nours\n"


def test_a_note_is_quiet_for_a_while_between_the_saves_of_an_editor():
    """Obsidian saves every two seconds. At two seconds of quiet, 5 of 12 appends were refused."""
    assert WriteLimits().quiet_seconds == WriteSettings().quiet_seconds <= 2.0 / 2


async def test_a_note_that_is_never_quiet_is_busy(tmp_path: Path):
    times = replace(QUIET.times, quiet_wait=0.1)
    vault = Vault(tmp_path, replace(QUIET, quiet_seconds=60, times=times))
    vault.put("A.md", "")  # an editor may have just emptied it
    async with vault.opened():
        with pytest.raises(Conflict, match="NOTE_BUSY") as caught:
            await vault.append("A.md", "x")
    assert caught.value.details == {"retryAfter": 3}


@pytest.mark.parametrize("write", ["append", "upsert", "remove"])
async def test_a_note_that_an_editor_has_just_renamed_is_waited_for(tmp_path: Path, write: str):
    """As vim saves: it renames the file, and then writes it anew."""
    vault = Vault(tmp_path, replace(QUIET, times=replace(QUIET.times, until_back=PATIENCE)))
    file = vault.put("A.md", "one\n")
    made = write_of("write/note", Right.APPEND)
    vault.known.add("A.md")
    async with vault.opened() as writer:
        file.rename(vault.root / "A.md~")
        done = asyncio.create_task(
            {
                "append": lambda: vault.append("A.md", "end\n"),
                "upsert": lambda: notes.upsert(
                    writer, "A.md", made, "end\n", None, blank_line=False
                ),
                "remove": lambda: vault.remove("A.md"),
            }[write]()
        )
        await eventually_async(lambda: len(vault.sought) > 1)
        assert not done.done()
        file.write_text("two\n")
        await done
    if write == "remove":
        assert not file.exists()
    else:
        assert vault.bytes("A.md") == b"two\nend\n"


async def test_a_known_note_that_stays_away_is_gone(tmp_path: Path):
    vault = Vault(tmp_path, replace(QUIET, times=replace(QUIET.times, until_back=0.1)))
    vault.known.add("A.md")
    async with vault.opened():
        with pytest.raises(NotFound, match="NOTE_NOT_FOUND"):
            await vault.append("A.md", "x")
        await vault.create("A.md", "new\n")
    assert vault.bytes("A.md") == b"new\n"


async def test_a_conflict_of_git_is_not_edited(vault: Vault):
    marked = b"a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> other\n"
    vault.put("A.md", marked)
    with pytest.raises(Conflict, match="NOTE_IN_CONFLICT"):
        await vault.append("A.md", "x")
    vault.put("B.md", "a\n=======\ntitle\n")
    await vault.append("B.md", "x\n")


async def test_two_writers_of_a_note_lose_nothing(vault: Vault):
    vault.put("A.md", "")
    await asyncio.gather(*(vault.append("A.md", f"{number}\n") for number in range(60)))
    assert sorted(map(int, vault.bytes("A.md").split())) == list(range(60))


@posix("modes of POSIX")
async def test_attributes_stay(vault: Vault):
    file = vault.put("A.md", "one\n")
    file.chmod(0o640)
    if os.geteuid() == 0:
        os.chown(file, 1234, 5678)
    names = {}
    if hasattr(os, "setxattr"):
        os.setxattr(file, "user.colour", b"green")
        names = {name: os.getxattr(file, name) for name in os.listxattr(file)}
    before = file.stat()
    await vault.append("A.md", "two\n")
    after = file.stat()
    assert (after.st_mode, after.st_uid, after.st_gid) == (
        *(before.st_mode, before.st_uid, before.st_gid),
    )
    assert names == {name: os.getxattr(file, name) for name in names}


@posix("modes of POSIX")
async def test_new_files_are_as_open_as_their_folder(vault: Vault):
    (vault.root / "Team").mkdir()
    (vault.root / "Team").chmod(0o2770)
    await vault.create("Team/New/A.md", "x")
    assert stat.S_IMODE((vault.root / "Team/New").stat().st_mode) == 0o2770
    assert stat.S_IMODE((vault.root / "Team/New/A.md").stat().st_mode) == 0o660


async def test_a_read_only_file_stays(vault: Vault):
    file = vault.put("A.md", "one\n")
    file.chmod(0o444)
    for attempt in (vault.append("A.md", "x"), vault.remove("A.md")):
        with pytest.raises(Forbidden, match="FILE_NOT_WRITABLE"):
            await attempt
    assert vault.tree() == {"A.md": b"one\n"}


@pytest.mark.fault(
    "Writing",
    "a file with two names, a link, a read-only or immutable file, another owner, a pipe",
    "refused; at its target; refused; the owner stays; not found",
)
async def test_a_file_with_two_names_is_not_edited(vault: Vault):
    file = vault.put("A.md", "one\n")
    os.link(file, vault.root / "B.md")
    for edit in (vault.append("A.md", "two\n"), vault.overwrite("B.md", "1\n")):
        with pytest.raises(Forbidden, match="FILE_NOT_WRITABLE"):
            await edit
    assert vault.tree() == {"A.md": b"one\n", "B.md": b"one\n"}
    assert (await vault.remove("B.md")).changed


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write all")
async def test_a_file_in_a_folder_that_may_not_be_written_is_not_edited(vault: Vault):
    file = vault.put("Folder/A.md", "one\n")
    file.parent.chmod(0o555)
    try:
        with pytest.raises(Forbidden, match="folder may not be written"):
            await vault.append("Folder/A.md", "two\n")
    finally:
        file.parent.chmod(0o755)
    assert vault.tree() == {"Folder/A.md": b"one\n"}


async def test_a_deleted_note_is_in_the_trash(vault: Vault):
    vault.put("Folder/A.md", "one\n")
    gone = await vault.remove("Folder/A.md")
    assert (gone.path, gone.trash_path) == ("Folder/A.md", ".trash/Folder/A.md")
    vault.put("Folder/A.md", "two\n")
    again = await vault.remove("Folder/A.md", expected_hash=digest(b"two\n"))
    assert again.trash_path == ".trash/Folder/A 2.md"
    assert vault.tree() == {".trash/Folder/A.md": b"one\n", ".trash/Folder/A 2.md": b"two\n"}
    await vault.undo(gone.write_id)
    assert vault.bytes("Folder/A.md") == b"one\n"


async def test_the_log_has_no_content(vault: Vault):
    await vault.create("A.md", "secret canary\n", author=AGENT)
    await vault.append("A.md", "secret bird\n", key="k", request_hash=b"r")
    vault.writer._executor.log._connection.execute("PRAGMA wal_checkpoint")
    raw = b"".join(path.read_bytes() for path in vault.data.glob("writes.db*"))
    assert b"secret" not in raw
    [edit, create] = await vault.writer.logged_writes()
    assert (edit.operation, edit.state, edit.agent) == ("append", WriteState.DONE, "")
    assert (create.agent, create.client) == ("scribe", "mcp:scribe")
    assert edit.changes[0].hash_before == create.changes[0].hash_after
    assert await vault.writer.logged_writes(agent="scribe") == [create]
    assert await vault.writer.logged_writes(before=edit.seq) == [create]
    assert await vault.writer.logged(create.write_id) == (create, True)
    assert await vault.writer.logged(edit.write_id) == (edit, False)


@pytest.mark.parametrize("limits", [replace(QUIET, times=replace(QUIET.times, quiet_wait=0.0))])
async def test_before_recovery_nothing_is_written(closed: Vault):
    async with closed.opened() as writer:
        pass
    unready = type(writer)(closed.executor(), closed.follow, closed.text_workers)
    with pytest.raises(Busy, match="SERVER_BUSY"):
        await unready.create("A.md", write_of("create", Right.CREATE), b"")
    await unready.close()


async def test_a_write_waits_for_a_vault_that_is_being_opened(closed: Vault):
    opening = VaultWriter(closed.executor(), closed.follow, closed.text_workers)
    early = asyncio.create_task(opening.create("A.md", write_of("create", Right.CREATE), b"early"))
    await asyncio.sleep(0)
    running = asyncio.create_task(opening.run())
    assert (await early).write_id is not None
    assert (closed.root / "A.md").read_bytes() == b"early"
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running
    await closed.text_workers.__aexit__(None, None, None)
    await opening.close()


@pytest.mark.parametrize("path", ["x\0.md", "x\0/a.md", "a\x01.md", "..", "a/..", "a/../b.md", ""])
async def test_a_path_that_is_none_has_a_code_in_every_write(vault: Vault, path: str):
    steps = [
        vault.append(path, "x"),
        vault.overwrite(path, "x"),
        vault.create(path, "x"),
        vault.remove(path),
        vault.writer.read(path, write_of("read", Right.EDIT)),
        vault.writer.upsert(path, write_of("upsert", Right.APPEND), b"x", lambda _: ()),
    ]
    for step in steps:
        with pytest.raises((InvalidRequest, Forbidden)) as refused:
            await step
        assert refused.value.code in ("INVALID_PATH", "PATH_OUTSIDE_VAULT")


def test_two_writes_may_log_the_end_of_one_that_could_not_be_logged(closed: Vault, monkeypatch):
    """As after a full disk that has room again: the second begins while the first logs it."""
    executor = closed.executor()
    finish = executor.log.finish
    asked = write_of("append", Right.APPEND)

    def finished(seq: int, *, warning: str | None) -> None:
        monkeypatch.setattr(executor.log, "finish", finish)
        with executor.opened(asked):
            finish(seq, warning=warning)

    monkeypatch.setattr(executor.log, "finish", finished)
    executor._unrecorded.append((1, None))
    with executor.opened(asked):
        assert executor._unrecorded == []
    executor.log.close()


def test_an_end_that_cannot_be_logged_yet_is_logged_later(closed: Vault, monkeypatch):
    executor = closed.executor()
    asked = write_of("append", Right.APPEND)

    def full(seq: int, *, warning: str | None) -> None:
        raise Failed("DISK_FULL", "There is no room.")

    monkeypatch.setattr(executor.log, "finish", full)
    executor._unrecorded.append((1, None))
    with pytest.raises(Failed), executor.opened(asked):
        pass
    assert executor._unrecorded == [(1, None)]
    executor.log.close()
