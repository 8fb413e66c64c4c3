"""Moves, deletion, folders and attachments on the disk, with their undo."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio
from tests.support.clocks import PATIENCE
from tests.support.systems import posix
from tests.writing import opened
from tests.writing.filed import SOONER, Vault

from vault_agent.errors import (
    Conflict,
    Forbidden,
    InvalidRequest,
    NotFound,
    TooLarge,
    VaultAgentError,
)
from vault_agent.markdown.address import PartAddress
from vault_agent.model.scope import Scope
from vault_agent.model.writing import Author, Right, WriteLimits
from vault_agent.text.names import TEMP_FOLDER
from vault_agent.writing import write_steps
from vault_agent.writing.disk import Disk
from vault_agent.writing.files import MAX_ATTACHMENT_BYTES
from vault_agent.writing.move import MoveControl
from vault_agent.writing.plan import Transaction


@pytest.fixture
def limits() -> WriteLimits:
    return SOONER


@pytest_asyncio.fixture
async def vault(tmp_path: Path, limits: WriteLimits) -> AsyncIterator[Vault]:
    """Open a vault to move its files."""
    made = Vault(tmp_path, limits)
    async with made.filing():
        yield made


def put(vault: Vault, **files: str) -> dict[str, bytes]:
    """Write notes by name, and return all files."""
    for name, text in files.items():
        vault.put(f"{name}.md", text)
    return vault.tree()


@pytest.mark.fault(
    "Writing",
    "undo of a move; of a deletion whose place is taken",
    "all bytes as before; 409",
)
async def test_a_move_rewrites_links_and_undo_restores_them_all(vault: Vault):
    before = put(vault, Old="[[Old]]\r\n", B="[[Old|x]] `[[Old]]`", C="nothing")
    vault.put("a/D.md", b"\xef\xbb\xbf[x](../Old.md)")
    before = vault.tree()
    done = await vault.move("Old.md", "b/New")
    assert (done.path, done.moved_from, done.changed) == ("b/New.md", "Old.md", True)
    assert {file.path: file.links for file in done.files} == {"B.md": 1, "a/D.md": 1, "b/New.md": 1}
    assert vault.tree() == {
        "b/New.md": b"[[New]]\r\n",
        "B.md": b"[[New|x]] `[[Old]]`",
        "C.md": b"nothing",
        "a/D.md": b"\xef\xbb\xbf[x](../b/New.md)",
    }
    await vault.undo(done.write_id)
    assert vault.tree() == before


async def test_undo_of_an_undo_moves_again(vault: Vault):
    vault.put("a/Old.md", "[[Old]] [x](../B.md)")
    before = put(vault, B="[[Old]]")
    for path, to in (("a/Old.md", "c/d/New"), ("a", "c/a")):
        done = await vault.move(path, to)
        after = vault.tree()
        undone = await vault.undo(done.write_id)
        assert vault.tree() == before
        again = await vault.undo(undone.write_id)
        assert vault.tree() == after
        await vault.undo(again.write_id)
        assert vault.tree() == before


async def test_undo_of_a_move_keeps_what_was_written_meanwhile(vault: Vault):
    put(vault, Old="", B="[[Old]]\n\none\n")
    done = await vault.move("Old.md", "New")
    vault.put("B.md", "[[New]]\n\none\ntwo\n")
    await vault.undo(done.write_id)
    assert vault.tree() == {"Old.md": b"", "B.md": b"[[Old]]\n\none\ntwo\n"}


async def test_a_folder_moves_with_what_is_not_indexed(vault: Vault):
    vault.put("a/A.md", "[x](../B.md)")
    vault.put("a/.hidden/x", "1")
    vault.put("a/p.png", "2")
    vault.put("B.md", "[[a/A]] ![[p.png]]")
    before = vault.tree()
    done = await vault.move("a", "q/r")
    assert vault.tree() == {
        "q/r/A.md": b"[x](../../B.md)",
        "q/r/.hidden/x": b"1",
        "q/r/p.png": b"2",
        "B.md": b"[[q/r/A]] ![[p.png]]",
    }
    await vault.undo(done.write_id)
    assert vault.tree() == before


async def test_a_file_moves_without_its_bytes_in_the_log(vault: Vault):
    vault.put("p.png", b"12345")
    before = put(vault, A="![[p.png]]")
    with pytest.raises(Conflict, match="HASH_MISMATCH"):
        await vault.move("p.png", "q", expected_hash="0" * 16)
    shown = await vault.move("p.png", "img/q", expected_hash=None, dry_run=True)
    done = await vault.move("p.png", "img/q", expected_hash=shown.hash_before)
    assert vault.tree() == {"img/q.png": b"12345", "A.md": b"![[q.png]]"}
    kept = {path.read_bytes() for path in (vault.data / "writes" / "before").iterdir()}
    assert kept == {b"![[p.png]]", b"![[q.png]]"}
    await vault.undo(done.write_id)
    assert vault.tree() == before


async def test_a_large_attachment_is_deleted_without_its_bytes_in_the_log(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(write_steps, "MAX_KEPT_BYTES", 4)
    monkeypatch.setattr(Disk, "read_to_change", None)  # it would read the whole file
    vault.put("v/p.mp4", b"12345")
    before = vault.tree()
    with pytest.raises(Conflict, match="HASH_MISMATCH"):
        await vault.delete("v/p.mp4", expected_hash="0" * 16)
    with pytest.raises(InvalidRequest, match="EXPECTED_HASH_REQUIRED"):
        await vault.delete("v/p.mp4", hash_required=True)
    write = opened.write("delete", Right.PERMANENT)
    with pytest.raises(TooLarge, match="ATTACHMENT_TOO_LARGE"):
        await vault.files.delete("v/p.mp4", write, permanent=True)
    assert vault.tree() == before
    shown = await vault.delete("v/p.mp4", dry_run=True)
    done = await vault.delete("v/p.mp4", hash_required=True, expected_hash=shown.hash_before)
    assert vault.tree() == {".trash/v/p.mp4": b"12345"}
    assert (done.bytes_before, done.hash_after, done.undoable) == (5, None, True)
    assert not list((vault.data / "writes" / "before").iterdir())
    logged, changed_since = await vault.writer.logged(done.write_id)
    assert (logged.changes[0].path, changed_since) == ("v/p.mp4", False)
    undone = await vault.undo(done.write_id)
    assert vault.tree() == before
    await vault.undo(undone.write_id)
    assert vault.tree() == {".trash/v/p.mp4": b"12345"}


async def test_an_attachment_that_is_read_only_is_not_deleted(vault: Vault):
    vault.put("p.mp4", b"12345")
    (vault.root / "p.mp4").chmod(0o444)
    with pytest.raises(Forbidden, match="FILE_NOT_WRITABLE"):
        await vault.delete("p.mp4")
    put(vault, Old="", B="[[Old]]")
    (vault.root / "B.md").chmod(0o444)
    with pytest.raises(Forbidden, match=r"FILE_NOT_WRITABLE: B\.md: The file is read-only\."):
        await vault.move("Old.md", "New")


@posix("links to folders")
async def test_a_file_does_not_move_through_a_linked_folder(vault: Vault):
    outside = vault.root.parent / "outside"
    outside.mkdir()
    put(vault, A="", B="[[A]]")
    (vault.root / "Real").mkdir()
    (vault.root / "Link").symlink_to("Real")
    (vault.root / "Out").symlink_to(outside)
    for target in ("Out/A", "Link/C"):
        with pytest.raises(InvalidRequest, match="INVALID_PATH"):
            await vault.move("A.md", target)
    assert vault.bytes("B.md") == b"[[A]]"
    assert list(outside.iterdir()) == []


@pytest.mark.fault(
    "Writing",
    "others write while a move is planned",
    "they do not wait, and the move is planned once more with their links",
)
async def test_a_write_while_a_move_is_planned_is_planned_with(vault: Vault):
    put(vault, Old="", A="[[Old]]", B="")
    loop = asyncio.get_running_loop()
    plans: list[int] = []

    def write_link(done: int, _: int) -> None:
        if done == 0 and not plans:
            asyncio.run_coroutine_threadsafe(vault.append("B.md", "[[Old]]"), loop).result()
        plans.append(done)

    write = opened.write("move", Right.MOVE, key="once", request_hash=b"move")
    control = MoveControl(on_plan=write_link)
    async with asyncio.timeout(PATIENCE):
        moved = await vault.files.move("Old.md", "New", write, control=control)
    after = {"New.md": b"", "A.md": b"[[New]]", "B.md": b"[[New]]"}
    assert vault.tree() == after
    assert plans == [0, 1, 0, 1, 2]
    again = await vault.files.move("Old.md", "New", write)
    assert (again.replayed, again.write_id) == (True, moved.write_id)
    assert vault.tree() == after


@pytest.mark.fault(
    "Writing",
    "a move to another file system inside the vault",
    "`FILE_NOT_WRITABLE` says to copy the file; of several changes that one is left out",
)
async def test_a_move_to_another_file_system_is_refused(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
):
    before = put(vault, A="[[B]]", B="") | {"Mounted/C.md": b"C"}
    vault.put("Mounted/C.md", "C")
    opened.separate_file_systems(monkeypatch, vault.root / "Mounted")
    for change in (vault.move("B.md", "Mounted/B"), vault.delete("Mounted/C.md")):
        with pytest.raises(Forbidden, match="another file system") as refused:
            await change
        assert refused.value.code == "FILE_NOT_WRITABLE"
    assert vault.tree() == before
    permanent = opened.write("delete", Right.PERMANENT)
    await vault.files.delete("Mounted/C.md", permanent, permanent=True)
    moves = (opened.move("A.md", "New/A.md", b"[[B]]"), opened.move("B.md", "Mounted/B.md", b""))
    done = await vault.writer.transact(
        opened.write("move", Right.MOVE), lambda: Transaction("New/A.md", moves)
    )
    assert [warning.code for warning in done.warnings] == ["RECOVERY_CONFLICT"]
    assert vault.tree() == {"New/A.md": b"[[B]]", "B.md": b""}
    assert (await vault.append("B.md", "writes go on\n")).changed


@pytest.mark.parametrize("limits", [opened.lingering(1.0)])
async def test_displaced_files_do_not_move_with_their_folder(vault: Vault):
    vault.put("a/A.md", "1")
    await vault.append("a/A.md", "2")
    assert vault.temporaries()
    await vault.move("a", "b")
    assert opened.Vault.tree(vault) == {"b/A.md": b"1\n2"}


async def test_letter_case_alone(vault: Vault):
    put(vault, Old="1")
    vault.put("a/B.md", "[[old]]")
    await vault.move("Old.md", "old.md")
    await vault.move("a", "A")
    assert vault.tree() == {"old.md": b"1", "A/B.md": b"[[old]]"}


async def test_a_move_onto_itself_changes_nothing(vault: Vault):
    before = put(vault, Old="[[Old]]")
    done = await vault.move("Old.md", "Old")
    assert not done.changed
    assert done.write_id is None
    assert vault.tree() == before


async def test_a_file_needs_its_hash_and_a_folder_none(vault: Vault):
    put(vault, Old="1")
    with pytest.raises(InvalidRequest, match="EXPECTED_HASH_REQUIRED"):
        await vault.move("Old.md", "New", expected_hash=None)
    with pytest.raises(Conflict, match="HASH_MISMATCH") as caught:
        await vault.move("Old.md", "New", expected_hash="0" * 16)
    assert caught.value.details["currentHash"] == vault.hash("Old.md")
    assert (await vault.move("Old.md", "New", expected_hash=vault.hash("Old.md")[:16])).changed


async def test_changes_that_the_index_does_not_know_are_indexed_first(vault: Vault):
    put(vault, Old="")
    await vault.move("Old.md", "Mid")
    put(vault, Later="[[Mid]]")
    await vault.move("Mid.md", "New")
    assert vault.bytes("Later.md") == b"[[New]]"


async def test_the_scope_of_a_caller_limits_the_notes_that_change(vault: Vault):
    vault.put("a/Old.md", "")
    vault.put("b/B.md", "[[Old]]")
    before = vault.tree()
    agent = Author("agent", scope=Scope(("a",)))
    with pytest.raises(Forbidden, match="LINKS_OUTSIDE_SCOPE"):
        await vault.move("a/Old.md", "a/New", author=agent)
    for to, code in (("b/Old", "WRITE_OUTSIDE_SCOPE"), ("../Old", "PATH_OUTSIDE_VAULT")):
        with pytest.raises(Forbidden, match=code):
            await vault.move("a/Old.md", to, author=agent)
    assert vault.tree() == before
    done = await vault.move("a/Old.md", "a/New", author=agent, links=False)
    assert done.warnings == ()
    assert vault.bytes("b/B.md") == b"[[Old]]"


async def test_a_move_spells_out_no_path_outside_the_folders_of_a_caller(vault: Vault):
    vault.put("b/Plan.md", "")
    before = put(vault, Old="", Probe="[[Plan]] ![[b/Plan]]")
    with pytest.raises(Forbidden, match="LINKS_OUTSIDE_SCOPE"):
        await vault.move("Old.md", "Plan", author=Author("agent", scope=Scope(deny=("b",))))
    assert vault.tree() == {**before, "b/Plan.md": b""}


@pytest.mark.parametrize("to", ["a/in", "a/in/", "a/in/Old"])
@pytest.mark.parametrize("taken", [True, False])
async def test_a_move_to_a_denied_note_is_refused_alike_whether_it_is_there(
    vault: Vault, to: str, *, taken: bool
):
    vault.put("a/Old.md", "")
    vault.put("a/in/Old.md" if taken else "a/in/Other.md", "secret")
    with pytest.raises(Forbidden, match="WRITE_OUTSIDE_SCOPE"):
        await vault.move("a/Old.md", to, author=Author("agent", scope=Scope(deny=("a/in/Old.md",))))


async def test_a_caller_learns_nothing_of_notes_outside_its_folders(vault: Vault):
    vault.put("a/Old.md", "# Log")
    vault.put("b/Secret.md", "[[Old#Log]] [[Free]]")
    vault.put(
        "b/Board.canvas", '{"nodes": [{"type": "file", "file": "a/Old.md", "subpath": "#Log"}]}'
    )
    agent = Author("agent", scope=Scope(("a",)))
    with pytest.raises(Forbidden, match="WRITE_OUTSIDE_SCOPE"):
        await vault.move("a/Old.md", "b/secret", author=agent)  # not NAME_COLLISION
    with pytest.raises(Forbidden, match="WRITE_OUTSIDE_SCOPE"):
        await vault.files.make_folder("B", opened.write("folder", Right.CREATE, author=agent))
    edit = opened.write("section", Right.EDIT, author=agent)
    renamed = await vault.files.rename_heading("a/Old.md", edit, PartAddress(("Log",)), "Diary")
    moved = await vault.move("a/Old.md", "a/Free", author=agent, links=False)
    await vault.move("a/Free.md", "a/Old")
    async with vault.snapshot(up_to_date=True):
        pass
    deleted = await vault.files.delete(
        "a/Old.md", opened.write("delete", Right.DELETE, author=agent)
    )
    assert deleted.broken_links == 0
    assert (*renamed.warnings, *moved.warnings, *deleted.warnings) == ()


@pytest.mark.fault(
    "Writing",
    "an agent moves a folder, which may hold notes that are denied or excluded",
    "`NOTE_NOT_FOUND`, as for a folder that is not there",
)
async def test_an_agent_moves_no_folder_for_it_may_hold_what_it_does_not_see(vault: Vault):
    vault.put("a/in/Seen.md", "")
    vault.put("a/in/private/Secret.md", "")
    before = vault.tree()
    agent = Author("agent", scope=Scope(("a",), ("a/in/private",)))
    for folder in ("a/in", "a/none"):
        with pytest.raises(NotFound, match="NOTE_NOT_FOUND"):
            await vault.move(folder, "a/moved", author=agent)
    assert vault.tree() == before
    with pytest.raises(NotFound, match="NOTE_NOT_FOUND"):
        await vault.move("a/in", "a/moved", author=Author(client="mcp:x"))
    await vault.move("a/in", "a/moved")


async def test_a_refused_move_leaves_no_folder(vault: Vault):
    before = put(vault, Old="", B="`[[Old]]` [[Old]]")
    vault.put("x`y/Z.md", "")
    before = vault.tree()
    for to in ("new/../x", "con/New", "a.md/", "x`y/Z", ".trash/Old"):
        with pytest.raises((InvalidRequest, Forbidden, Conflict)):
            await vault.move("Old.md", to)
    assert vault.tree() == before
    assert {path.name for path in vault.root.iterdir()} == {"B.md", "Old.md", "x`y", TEMP_FOLDER}


async def test_deletion_counts_links_and_undo_brings_the_note_back(vault: Vault):
    before = put(vault, Old="1 [[Old]]", B="[[Old]] [[Old]]", C="[[Old]]")
    done = await vault.delete("Old.md")
    assert done.broken_links == 3
    assert (done.trash_path, done.changed) == (".trash/Old.md", True)
    assert vault.bytes(".trash/Old.md") == before["Old.md"]
    assert not (vault.root / "Old.md").exists()
    await vault.undo(done.write_id)
    assert vault.tree() == before


async def test_a_folder_is_deleted_as_a_whole_and_comes_back_by_one_undo(vault: Vault):
    vault.put("a/A.md", "[[B]] [[a/C]]")
    vault.put("a/C.md", "1")
    vault.put("a/.hidden/x", "2")
    vault.put("B.md", "[[a/A]] [[a/C]]")
    (vault.root / "a/empty").mkdir()
    before = vault.tree()
    shown = await vault.delete("a", dry_run=True, hash_required=True)
    assert (shown.broken_links, vault.tree()) == (2, before)
    done = await vault.delete("a", hash_required=True)
    assert (done.trash_path, done.broken_links) == (".trash/a", 2)
    assert vault.tree() == {
        ".trash/a/A.md": b"[[B]] [[a/C]]",
        ".trash/a/C.md": b"1",
        ".trash/a/.hidden/x": b"2",
        "B.md": b"[[a/A]] [[a/C]]",
    }
    assert (vault.root / ".trash/a/empty").is_dir()
    await vault.undo(done.write_id)
    assert vault.tree() == before
    assert (vault.root / "a/empty").is_dir()


async def test_only_a_person_deletes_folders(vault: Vault):
    vault.put("a/A.md", "1")
    for author in (Author("agent"), Author(client="mcp:one")):
        with pytest.raises(NotFound, match="NOTE_NOT_FOUND"):
            await vault.delete("a", author=author)
    write = opened.write("delete", Right.PERMANENT)
    with pytest.raises(NotFound, match="NOTE_NOT_FOUND"):
        await vault.files.delete("a", write, permanent=True)
    assert vault.tree() == {"a/A.md": b"1"}


async def test_undo_of_a_deletion_whose_place_is_taken_is_refused(vault: Vault):
    put(vault, Old="1")
    done = await vault.delete("Old.md")
    assert done is not None
    put(vault, Old="2")
    with pytest.raises(Conflict, match=r"UNDO_CONFLICT: Old\.md: Another file is there now"):
        await vault.undo(done.write_id)
    assert vault.bytes("Old.md") == b"2"
    vault.put("a/A.md", "1")
    done = await vault.delete("a/A.md")
    (vault.root / "a").rmdir()
    vault.put("a", "2")
    with pytest.raises(Conflict, match=r"NOTE_EXISTS: .* where a folder would be"):
        await vault.undo(done.write_id)


async def test_deletion_of_what_is_not_there(vault: Vault):
    with pytest.raises(NotFound, match="NOTE_NOT_FOUND"):
        await vault.delete("Old.md")
    assert await vault.delete("Old.md", missing_ok=True) is None


async def test_folders_are_made_once(vault: Vault):
    write = opened.write("folder", Right.CREATE)
    assert (await vault.files.make_folder("a/b", write)).created
    assert (vault.root / "a" / "b").is_dir()
    again = await vault.files.make_folder("a/b", write)
    assert not again.changed
    with pytest.raises(Conflict, match="NAME_COLLISION"):
        await vault.files.make_folder("A", write)
    for path, code in (("a:b", "INVALID_NOTE_NAME"), ("a/../../b", "PATH_OUTSIDE_VAULT")):
        with pytest.raises(VaultAgentError, match=code):
            await vault.files.make_folder(path, write)


@pytest.mark.parametrize("to", ["Archive", "archive", "Archive/", "New/", "Archive/Old"])
async def test_a_file_moves_into_a_folder(vault: Vault, to: str):
    put(vault, Old="x")
    vault.put("Archive/Other.md", "")
    folder = "New" if to == "New/" else "Archive"
    done = await vault.move("Old.md", to)
    assert (done.path, vault.bytes(f"{folder}/Old.md")) == (f"{folder}/Old.md", b"x")


async def test_a_note_gets_the_name_of_a_folder_if_the_extension_asks_for_it(vault: Vault):
    put(vault, Old="x")
    vault.put("Archive/Other.md", "")
    assert (await vault.move("Old.md", "Archive.md")).path == "Archive.md"


async def test_a_link_to_itself_hinders_nothing_in_its_folder(vault: Vault):
    for folder in ("", "a"):
        (vault.root / folder).mkdir(exist_ok=True)
        (vault.root / folder / "loop").symlink_to("loop")
        (vault.root / folder / "gone").symlink_to("nowhere")
        put(vault, Old="x")
        start = f"{folder}/" if folder else ""
        made = opened.write("folder", Right.CREATE)
        assert (await vault.files.make_folder(f"{start}b", made)).created
        attached = opened.write("attachment", Right.CREATE)
        assert (await vault.files.attach(f"{start}p.png", attached, b"1")).created
        assert (await vault.move("Old.md", f"{start}b/New")).changed
        with pytest.raises(Conflict, match="NOTE_EXISTS"):
            await vault.files.make_folder(f"{start}loop", made)
        with pytest.raises(VaultAgentError) as caught:
            await vault.files.attach(f"{start}loop/p.png", attached, b"1")
        assert caught.value.code != "INTERNAL_ERROR"


async def test_an_attachment_never_replaces_a_file(vault: Vault):
    write = opened.write("attachment", Right.CREATE)
    assert (await vault.files.attach("img/p.png", write, b"\x00\x01")).created
    assert vault.bytes("img/p.png") == b"\x00\x01"
    with pytest.raises(Conflict, match="NOTE_EXISTS"):
        await vault.files.attach("img/p.png", write, b"2")
    with pytest.raises(Conflict, match="NAME_COLLISION"):
        await vault.files.attach("img/P.png", write, b"2")
    for path in ("x.md", "x", "x."):
        with pytest.raises(InvalidRequest, match="INVALID_NOTE_NAME"):
            await vault.files.attach(path, write, b"2")
    with pytest.raises(TooLarge, match="ATTACHMENT_TOO_LARGE"):
        await vault.files.attach("big.bin", write, bytes(MAX_ATTACHMENT_BYTES + 1))


async def test_a_new_note_names_the_links_that_it_takes_over(vault: Vault):
    vault.put("a/New.md", "")
    put(vault, B="\n[[New]]", C="[[a/New]] [[Missing]]")
    async with vault.snapshot(up_to_date=True):
        pass
    done = await vault.files.with_link_warnings(await vault.create("New.md", ""))
    [warning] = done.warnings
    assert warning.code == "LINKS_LEAD_ELSEWHERE"
    assert warning.details["links"] == [{"path": "B.md", "line": 2}]
    async with vault.snapshot(up_to_date=True):  # the same once the note is indexed
        pass
    again = await vault.files.with_link_warnings(done)
    assert again.warnings[1:] == (warning,)


async def test_links_that_name_a_heading_by_its_old_text_are_named_in_the_reply(vault: Vault):
    put(
        vault,
        N="# Log\n[[#Log]] [[N#Log]]\n## Day\n",
        B="[[N#Log|x]]\n[y](N.md#log) [[N]] [[N#Day]] [[N#None]]",
        C="[[N#Other]] [[B#Log]]",
    )
    async with vault.snapshot(up_to_date=True):
        pass
    before = vault.tree()
    write = opened.write("section", Right.EDIT)
    done = await vault.files.rename_heading("N.md", write, PartAddress(("Log",)), "Diary")
    assert vault.tree() == {**before, "N.md": before["N.md"].replace(b"# Log", b"# Diary", 1)}
    [warning] = done.warnings
    assert warning.code == "LINKS_BROKEN"
    places = [{"path": "B.md", "line": line} for line in (1, 2)] + [{"path": "N.md", "line": 2}] * 2
    assert warning.details == {"count": 4, "links": places}
    await vault.undo(done.write_id)
    assert vault.tree() == before


async def test_canvases_that_name_a_heading_by_its_old_text_are_named_in_the_reply(vault: Vault):
    put(vault, N="# Log\n## Day\n", B="# Log\n")
    boards = {
        "Card.canvas": {"file": "N.md", "subpath": "#Log#Day"},
        "Day.canvas": {"file": "N.md", "subpath": "#Day"},
        "Other.canvas": {"file": "B.md", "subpath": "#Log"},
        "Text.canvas": {"text": "[[B#Log]]\n[y](N.md#log)"},
    }
    for path, card in boards.items():
        vault.put(path, json.dumps({"nodes": [card]}))
    async with vault.snapshot(up_to_date=True):
        pass
    before = vault.tree()
    write = opened.write("section", Right.EDIT)
    done = await vault.files.rename_heading("N.md", write, PartAddress(("Log",)), "Diary")
    [warning] = done.warnings
    assert warning.code == "LINKS_NOT_REWRITTEN"
    assert warning.details == {"count": 2, "paths": ["Card.canvas", "Text.canvas"]}
    assert vault.tree() == {**before, "N.md": b"# Diary\n## Day\n"}


async def test_the_owner_does_everything_in_the_folders_and_an_agent_what_it_may(tmp_path: Path):
    vault = Vault(tmp_path, replace(SOONER, folders=("mine",)))
    for path in ("mine/A.md", "mine/B.md", "other/C.md"):
        vault.put(path, path)
    owner = Author(client="cli")
    editor = frozenset({Right.EDIT})
    async with vault.filing():
        for agent in (Author("agent", rights=editor), Author(client="mcp:editor", rights=editor)):
            with pytest.raises(Forbidden, match="WRITE_NOT_ALLOWED"):
                await vault.move("mine/A.md", "mine/D.md", author=agent)
            with pytest.raises(Forbidden, match="WRITE_NOT_ALLOWED"):
                await vault.delete("mine/B.md", author=agent)
        await vault.move("mine/A.md", "mine/D.md", author=owner)
        await vault.delete("mine/B.md", author=owner)
        with pytest.raises(Forbidden, match="WRITE_OUTSIDE_SCOPE"):
            await vault.delete("other/C.md", author=owner)
        permanent = opened.write("delete", Right.PERMANENT, author=owner)
        await vault.files.delete("mine/D.md", permanent, permanent=True)
    left = {".trash/mine/B.md": b"mine/B.md"}
    assert vault.tree() == {**left, "other/C.md": b"other/C.md"}


@posix("hard links across folders")
@pytest.mark.parametrize("author", [Author("agent", scope=Scope(("a",))), Author("")])
async def test_nobody_changes_a_file_that_has_another_name(
    vault: Vault, tmp_path: Path, author: Author
):
    outside = tmp_path / "outside.md"
    outside.write_text("[[a/Old]]\n")
    vault.put("a/Old.md", "")
    (vault.root / "a" / "Hard.md").hardlink_to(outside)
    for change in (
        vault.append("a/Hard.md", "more", author=author),
        vault.overwrite("a/Hard.md", "other", author=author),
        vault.move("a/Old.md", "a/New", author=author),
    ):
        with pytest.raises(Forbidden, match="FILE_NOT_WRITABLE"):
            await change
    assert outside.read_text() == "[[a/Old]]\n"
    assert (await vault.move("a/Hard.md", "a/Moved", author=author)).changed
    assert outside.read_text() == "[[a/Old]]\n"
