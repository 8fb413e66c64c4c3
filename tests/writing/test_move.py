"""Plans of moves: which links change, and that all links lead where they did."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.support.index_runs import Vault
from tests.support.obsidian import made_up
from tests.support.random_moves import RandomMoves
from tests.support.vault_links import Vault as Links
from tests.support.vault_links import compare

from vault_agent.errors import Conflict, Forbidden, InvalidRequest, NotFound, TooLarge
from vault_agent.model.writing import ChangeKind
from vault_agent.store.current import Snapshot
from vault_agent.vault.root import VaultRoot
from vault_agent.writing.move import MoveControl, MoveRequest, plan_move
from vault_agent.writing.plan import NeedsJob, Transaction


@asynccontextmanager
async def indexed(vault: Vault) -> AsyncIterator[tuple[Snapshot, VaultRoot]]:
    """Index a vault, and open both."""
    await vault.index()
    index = vault.current()
    await index.refresh()
    try:
        async with index.snapshot() as snapshot:
            with VaultRoot.open(vault.root) as root:
                yield snapshot, root
    finally:
        await index.close()


def asked(path: str, to: str, **options) -> MoveRequest:
    given = {"rewrite_links": True}
    given |= dict.fromkeys(("may_write", "may_see"), lambda _: True)
    return MoveRequest(path, to, **{**given, **options})


async def planned(tmp_path: Path, files: dict[str, str], path: str, to: str, **options):
    """Return the plan of a move in a vault of these files."""
    vault = Vault(tmp_path)
    for name, text in files.items():
        vault.write(name, text)
    async with indexed(vault) as (snapshot, root):
        return plan_move(snapshot, root, asked(path, to, **options))


def texts(transaction: Transaction) -> dict[str, str]:
    """Return the new texts of a plan by path."""
    return {
        change.path: change.after.decode()
        for change in transaction.changes
        if change.kind is ChangeKind.EDIT
    }


def moves(transaction: Transaction) -> list[tuple[str, str]]:
    return [
        (each.path, each.target) for each in transaction.changes if each.kind is ChangeKind.MOVE
    ]


async def test_an_attachment_keeps_its_extension(tmp_path: Path):
    files = {"p.png": "x", "A.md": "![[p.png]] ![](p.png)"}
    plan = await planned(tmp_path, files, "p.png", "img/q")
    assert moves(plan) == [("p.png", "img/q.png")]
    assert texts(plan) == {"A.md": "![[q.png]] ![](img/q.png)"}
    with pytest.raises(InvalidRequest, match="INVALID_NOTE_NAME"):
        await planned(tmp_path / "2", files, "p.png", "q.jpg")


@pytest.fixture(autouse=True)
def _second_vault(tmp_path: Path) -> None:
    (tmp_path / "2").mkdir()


@pytest.mark.fault(
    "Writing",
    "a move onto itself, into its own folder, onto another note, to another letter case",
    "unchanged, 400, 409, done",
)
async def test_a_folder_does_not_move_into_itself(tmp_path: Path):
    with pytest.raises(InvalidRequest, match="INVALID_PATH"):
        await planned(tmp_path, {"a/Old.md": ""}, "a", "a/b")


async def test_a_move_never_replaces_anything(tmp_path: Path):
    files = {"Old.md": "", "New.md": "", "b/X.md": ""}
    with pytest.raises(Conflict, match=r"NOTE_EXISTS.*name\. Choose another name\.$"):
        await planned(tmp_path, files, "Old.md", "New.md")
    with pytest.raises(Conflict, match="NAME_COLLISION") as caught:
        await planned(tmp_path / "2", files, "Old.md", "nEW.md")
    assert caught.value.details["path"] == "New.md"


async def test_a_folder_is_not_moved_onto_another(tmp_path: Path):
    with pytest.raises(Conflict, match="NAME_COLLISION"):
        await planned(tmp_path, {"a/A.md": "", "B/B.md": ""}, "a", "b")


async def test_folders_on_the_way_keep_their_spelling(tmp_path: Path):
    plan = await planned(
        tmp_path, {"Old.md": "", "Sub/Deep/X.md": ""}, "Old.md", "sub/DEEP/new/Old"
    )
    assert plan.path == "Sub/Deep/new/Old.md"


@pytest.mark.parametrize("to", ["../x", "a/./b", "con.md", ".hidden/x", "a.md/", "x|y", "b/"])
async def test_a_bad_name_is_refused(tmp_path: Path, to: str):
    with pytest.raises((InvalidRequest, Forbidden)):
        await planned(tmp_path, {"Old.md": ""}, "Old.md", to)


async def test_what_does_not_exist_is_not_moved(tmp_path: Path):
    with pytest.raises(NotFound, match="NOTE_NOT_FOUND"):
        await planned(tmp_path, {"Old.md": ""}, "Odl.md", "New.md")


async def test_a_move_without_links_lists_what_breaks(tmp_path: Path):
    files = {"Old.md": "", "b/B.md": "\n[[Old]]"}
    plan = await planned(
        tmp_path, files, "Old.md", "New", rewrite_links=False, may_write=lambda path: path[0] != "b"
    )
    assert texts(plan) == {}
    [warning] = plan.warnings
    assert warning.code == "LINKS_BROKEN"
    assert warning.details == {"count": 1, "links": [{"path": "b/B.md", "line": 2}]}


async def test_the_number_of_links_is_limited(tmp_path: Path, monkeypatch):
    """Ten notes with 100,000 links each kept one request busy for two minutes."""
    monkeypatch.setattr("vault_agent.writing.move.MAX_LINKS", 20)
    monkeypatch.setattr("vault_agent.writing.move.LINKS_AT_ONCE", 10)
    vault = Vault(tmp_path)
    for name, text in {"Old.md": "", "Many.md": "[[Old]] " * 11}.items():
        vault.write(name, text)
    async with indexed(vault) as (snapshot, root):
        with pytest.raises(NeedsJob):
            plan_move(snapshot, root, asked("Old.md", "New", control=MoveControl(50)))
        plan = plan_move(snapshot, root, asked("Old.md", "New"))
        assert texts(plan) == {"Many.md": "[[New]] " * 11}
    vault.write("More.md", "[[Old]] " * 10)
    async with indexed(vault) as (snapshot, root):
        with pytest.raises(TooLarge, match="MOVE_TOO_LARGE") as refused:
            plan_move(snapshot, root, asked("Old.md", "New"))
        assert refused.value.details == {"links": 21, "limit": 20}
        plan = plan_move(snapshot, root, asked("Old.md", "New", rewrite_links=False))
        assert moves(plan) == [("Old.md", "New.md")]


async def test_the_number_of_notes_is_limited(tmp_path: Path):
    files = {"Old.md": "", **{f"{number}.md": "[[Old]]" for number in range(5)}}
    with pytest.raises(TooLarge, match="MOVE_TOO_LARGE"):
        await planned(tmp_path, files, "Old.md", "New", most_notes=4)
    with pytest.raises(NeedsJob):
        await planned(tmp_path / "2", files, "Old.md", "New", control=MoveControl(4))


CANVAS = (
    b'{ "nodes":[\r\n\t{"id":"1","type":"file","file":"a/Old.md","subpath":"#H","x":1.50},\n'
    b'  {"text":"\\u65e5 [[Old]] {\\"file\\":\\"a/Old.md\\"} [[Other]]", "type":"text"},\n'
    b'  {"type":"group","background":"a\\/pic.png", "label":"a/Old.md"}, {"file":3}, 4],\n'
    b'"edges":[], "by":"a/Old.md" }\n'
)


async def test_a_canvas_gets_new_paths_and_keeps_every_other_byte(tmp_path: Path):
    files = {"a/Old.md": "", "a/pic.png": "x", "Other.md": "", "b/Board.canvas": CANVAS.decode()}
    plan = await planned(tmp_path, files, "a", "n/Ü")
    [edit] = [each for each in plan.changes if each.kind is ChangeKind.EDIT]
    assert plan.warnings == ()
    assert (edit.path, edit.before) == ("b/Board.canvas", CANVAS)
    expected = CANVAS
    for old, new in (
        (b'"file":"a/Old.md","sub', b'"file":"n/\\u00dc/Old.md","sub'),
        (b'"a\\/pic.png"', b'"n/\\u00dc/pic.png"'),
    ):
        assert old in expected
        expected = expected.replace(old, new)
    assert edit.after == expected


async def test_links_in_the_text_of_a_canvas_are_named_and_not_changed(tmp_path: Path):
    board = '{"nodes":[{"text":"[x](../Old.md) [[Old]]"},{"file":"a/Board.canvas"}]}'
    plan = await planned(tmp_path, {"Old.md": "", "a/Board.canvas": board}, "a", "b/c")
    [edit] = [each for each in plan.changes if each.kind is ChangeKind.EDIT]
    assert edit.path == "b/c/Board.canvas"
    assert edit.after.decode() == board.replace("a/Board", "b/c/Board")
    [warning] = plan.warnings
    assert warning.code == "LINKS_NOT_REWRITTEN"
    assert warning.details == {"count": 1, "paths": ["a/Board.canvas"]}


async def test_canvases_that_cannot_be_rewritten_are_named(tmp_path: Path):
    card = '{"nodes": [{"type": "file", "file": "Old.md"}]}'
    files = {
        "Old.md": "",
        "mine.canvas": card,
        "theirs/board.canvas": card,
        "twice.canvas": '{"nodes": [{"file": "Old.md", "file": "Old.md"}]}',
        "other.canvas": '{"nodes": [{"type": "text", "text": "Old"}]}',
        "edge.canvas": '{"nodes": [], "edges": [{"file": "Old.md"}]}',
        "broken.canvas": '{"nodes": [3, {"text"',
    }
    plan = await planned(
        tmp_path, files, "Old.md", "New", may_write=lambda path: not path.startswith("theirs")
    )
    assert [each.path for each in plan.changes] == ["Old.md", "mine.canvas", "twice.canvas"]
    [warning] = plan.warnings
    assert warning.code == "LINKS_NOT_REWRITTEN"
    assert warning.details == {"count": 2, "paths": ["edge.canvas", "theirs/board.canvas"]}
    plan = await planned(tmp_path / "2", files, "Old.md", "New", rewrite_links=False)
    assert len(plan.changes) == 1
    assert plan.warnings[0].details["count"] == 4


async def test_canvases_and_bases_that_are_not_read_are_named(tmp_path: Path, monkeypatch):
    monkeypatch.setattr("vault_agent.writing.canvases.MAX_CANVASES", 2)
    monkeypatch.setattr("vault_agent.writing.canvases._MAX_BYTES", 100)
    card = '{"nodes": [{"type": "file", "file": "Old.md"}]}'
    files = {
        "Old.md": "",
        "1 large.canvas": card + " " * 100,
        "2 read.canvas": card,
        "3 many.canvas": card,
        "1 large.base": "x" * 100 + '"Old.md"',
        "2 other.base": "x",
        "3 many.base": '"Old.md"',
    }
    plan = await planned(tmp_path, files, "Old.md", "New")
    assert list(texts(plan)) == ["2 read.canvas"]
    assert {warning.code for warning in plan.warnings} == {"LINKS_NOT_REWRITTEN"}
    assert [warning.details["paths"] for warning in plan.warnings] == [
        ["1 large.canvas", "3 many.canvas"],
        ["1 large.base", "3 many.base"],
    ]


async def test_bases_are_named_and_not_changed(tmp_path: Path):
    files = {
        "a/Old.md": "",
        "link.base": 'filters:\n  and:\n    - file.hasLink("a/Old")\n',
        "wiki.base": "filters: 'note.up == \"[[a/Old|x]]\"'\n",
        "folder.base": "filters:\n  and:\n    - file.inFolder('a')\n",
        "other.base": 'filters:\n  and:\n    - file.hasLink("b/a/Older")\n',
    }
    plan = await planned(tmp_path, files, "a/Old.md", "New")
    [warning] = plan.warnings
    assert warning.code == "LINKS_NOT_REWRITTEN"
    assert warning.details == {"count": 2, "paths": ["link.base", "wiki.base"]}
    plan = await planned(tmp_path / "2", files, "a", "b")
    assert plan.warnings[0].details["paths"] == ["folder.base", "link.base", "wiki.base"]


async def test_a_link_that_cannot_be_written_refuses_the_move(tmp_path: Path):
    files = {"a/Old.md": "", "a`b/X.md": "", "B.md": "\n[[a/Old]]", "c/New.md": ""}
    with pytest.raises(Conflict, match="LINK_NOT_EXPRESSIBLE") as caught:
        await planned(tmp_path, files, "a/Old.md", "a`b/New")
    assert caught.value.details == {"path": "B.md", "line": 2}
    assert caught.value.what.startswith("B.md: ")


async def test_a_note_that_is_not_utf_8_refuses_the_move(tmp_path: Path):
    vault = Vault(tmp_path)
    vault.write("Old.md")
    vault.write("B.md", b"\xff [[Old]]")
    async with indexed(vault) as (snapshot, root):
        with pytest.raises(Conflict, match=r"ENCODING_NOT_WRITABLE: B\.md: ") as caught:
            plan_move(snapshot, root, asked("Old.md", "New"))
        assert caught.value.details == {"path": "B.md"}
        is_mine = "Old.md New.md".__contains__
        with pytest.raises(Forbidden, match="LINKS_OUTSIDE_SCOPE") as refused:
            plan_move(snapshot, root, asked("Old.md", "New.md", may_write=is_mine, may_see=is_mine))
        assert "B.md" not in f"{refused.value}{refused.value.details}"


async def test_a_note_that_was_changed_is_planned_anew(tmp_path: Path):
    vault = Vault(tmp_path)
    vault.write("a/Old.md", "[x](./X.md)")
    vault.write("a/X.md")
    vault.write("a/Y.md")
    vault.write("B.md", "[[Old]]")
    async with indexed(vault) as (snapshot, root):
        plan = plan_move(snapshot, root, asked("a/Old.md", "New"))
        edits = {change.path: change for change in plan.changes if change.kind is ChangeKind.EDIT}

        def anew(path: str, note: bytes) -> bytes:
            remake = edits[path].remake
            assert remake is not None
            return remake(note)

        assert anew("B.md", b"x [[Old]] y") == b"x [[New]] y"
        assert anew("New.md", b"[y](./Y.md)") == b"[y](./a/Y.md)"


@pytest.mark.parametrize(
    "seed", [0, pytest.param(1, marks=pytest.mark.long), pytest.param(2, marks=pytest.mark.long)]
)
async def test_random_moves_in_vaults_of_all_languages(tmp_path: Path, seed: int):
    links = rewritten = 0
    vault = Vault(tmp_path)
    made = made_up(notes=150, links_a_note=4, seed=seed)
    for path, text in made.files.items():
        vault.write(path, text)
    before = Links(made.files)
    files = list(made.files)
    folders = sorted({path.rpartition("/")[0] for path in files if "/" in path})
    random_moves = RandomMoves(random.Random(seed + 1), files, folders)
    async with indexed(vault) as (snapshot, root):
        for _ in range(40):
            move = random_moves.next()
            try:
                plan = plan_move(snapshot, root, asked(move.path, move.to))
            except Conflict as refused:
                # A name like `[c] x` below a folder of ours: only what no link can say.
                assert refused.code == "LINK_NOT_EXPRESSIBLE"  # noqa: PT017
                continue
            moved = {
                each: plan.path + each[len(move.path) :]
                for each in files
                if (each + "/").startswith(move.path + "/")
            }
            found = compare(before, before.moved(moved, texts(plan)), moved)
            assert found.wrong == (), (move, found.wrong)
            assert found.outside == ()
            links += found.links
            rewritten += found.rewritten
    assert rewritten > 150
    assert links > 3_000
