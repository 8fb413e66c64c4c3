"""Notes and tasks are listed in order, filtered, and in pages."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from tests.search.opened import indexed
from tests.support.index_runs import Vault

from vault_agent.errors import InvalidRequest
from vault_agent.markdown.document import Document
from vault_agent.markdown.tasks import line_digest, task_fields
from vault_agent.model.identifiers import identify
from vault_agent.model.lists import ListPlace, ListQuery, Sort, TaskPlace, TaskQuery, TaskStatus
from vault_agent.search.lists import EXCERPT_CHARACTERS, list_notes, list_tasks, open_tasks_of
from vault_agent.store.current import Snapshot
from vault_agent.store.index.writer import MANY_AT_ONCE

pytestmark = pytest.mark.asyncio(loop_scope="module")  # that of `snapshot`

TASKS = """# Plan

- [ ] Sow beans 📅 2025-05-01 #garden/beds
* [x] Dig ✅ 2025-04-02
- [-] Weed ❌ 2025-04-03

## Later

1. [/] Build [due:: 2025-06-01] a frame
> - [ ] Quoted
```
- [ ] code
```
"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def snapshot(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Snapshot]:
    vault = Vault(tmp_path_factory.mktemp("vault"))
    vault.write("Garden/Plan.md", "---\ntags: [garden]\nupdated: 2025-03-01\n---\n" + TASKS)
    vault.write("Garden/Beds/Late frost.md", "---\ncreated: 2024-01-02 10:00\n---\n# b\n[[Plan]]")
    vault.write(
        "Index.md", "---\ntitle: a\ndate: 2025-01-01\n---\n[[Plan]] [[Late frost]] [[Plan]]"
    )
    vault.write("alone.md", f"\n\n# C\n\n{'word ' * 100}")
    for number, name in enumerate(
        ("Garden/Beds/Late frost.md", "Index.md", "alone.md", "Garden/Plan.md")
    ):
        os.utime(vault.root / name, ns=(0, (1_700_000_000 + number) * 10**9))
    async with indexed(vault) as opened:
        yield opened


async def listed(snapshot: Snapshot, **asked) -> list[str]:
    found = await list_notes(snapshot, ListQuery(**asked))
    assert found.total == len(found.notes)
    return [note.path.rpartition("/")[2] for note in found.notes]


EVERY = {
    Sort.PATH: ["Late frost.md", "Plan.md", "Index.md", "alone.md"],
    Sort.TITLE: ["Index.md", "Late frost.md", "alone.md", "Plan.md"],
    Sort.UPDATED: ["Plan.md", "alone.md", "Index.md", "Late frost.md"],
    Sort.CREATED: ["Index.md", "Late frost.md", "Plan.md", "alone.md"],
    Sort.CONNECTIONS: ["Late frost.md", "Plan.md", "Index.md", "alone.md"],
}


@pytest.mark.parametrize("sort", Sort)
async def test_notes_are_sorted(snapshot: Snapshot, sort: Sort):
    assert await listed(snapshot, sort=sort) == EVERY[sort]


@pytest.mark.parametrize("sort", Sort)
async def test_pages_of_notes_follow_each_other(snapshot: Snapshot, sort: Sort):
    seen, place = [], None
    for left in (3, 2, 1, 0):
        page = await list_notes(snapshot, ListQuery(sort=sort, limit=1), place)
        seen += [note.path.rpartition("/")[2] for note in page.notes]
        assert (page.total, page.has_more) == (4, left > 0)
        place = page.places[0]
    assert seen == EVERY[sort]


@pytest.mark.parametrize(
    ("asked", "paths"),
    [
        ({"path": ("garden",)}, ["Late frost.md", "Plan.md"]),
        ({"path": ("Garden/",), "recursive": False}, ["Plan.md"]),
        ({"recursive": False}, ["Index.md", "alone.md"]),
        ({"tag": ("garden",)}, ["Plan.md"]),
        ({"property_": ("title:A",)}, ["Index.md"]),
        ({"after": "2025-01-01"}, ["Plan.md", "Index.md"]),
        ({"linked": False}, ["alone.md"]),
        ({"linked": True}, ["Late frost.md", "Plan.md", "Index.md"]),
        ({"tasks": "open"}, ["Plan.md"]),
        ({"tasks": "open", "linked": False}, []),
    ],
)
async def test_notes_are_filtered(snapshot: Snapshot, asked: dict, paths: list[str]):
    assert await listed(snapshot, **asked) == paths


async def test_updated_is_the_later_of_property_and_file_unless_many_were_set_at_once(
    tmp_path: Path,
):
    vault = Vault(tmp_path)
    seconds = 1_700_000_000  # 2023-11-14T22:13:20Z

    def write(path: str, updated: str, at: int) -> None:
        os.utime(vault.write(path, f"---\nupdated: {updated}\n---\n"), (at, at))

    for number in range(MANY_AT_ONCE):
        write(f"checked out {number}.md", "2020-01-01", seconds + number // 4)
    write("saved.md", "2020-01-01", seconds + 60)
    write("dated ahead.md", "2024-01-01", seconds + 120)
    write("set with the file.md", "2023-11-14T22:15:00.5Z", seconds + 130)
    write("on the same day.md", "2023-11-14", seconds + 140)
    write("no time.md", "2023-11-14Tea", seconds + 150)
    async with indexed(vault) as opened:
        rows = (await list_notes(opened, ListQuery(limit=100))).notes
    updated = {note.path: note.updated for note in rows}
    assert updated.pop("saved.md") == "2023-11-14T22:14:20Z"
    assert updated.pop("dated ahead.md") == "2024-01-01"
    assert updated.pop("set with the file.md") == "2023-11-14T22:15:00.5Z"
    assert updated.pop("on the same day.md") == "2023-11-14"
    assert updated.pop("no time.md") == "2023-11-14Tea"
    assert set(updated.values()) == {"2020-01-01"}


async def test_a_row_describes_its_note(snapshot: Snapshot):
    rows = {note.path: note for note in (await list_notes(snapshot, ListQuery())).notes}
    index, plan, alone = rows["Index.md"], rows["Garden/Plan.md"], rows["alone.md"]
    assert (index.title, index.created, index.connections) == ("a", "2025-01-01", 2)
    assert index.updated == "2023-11-14T22:13:21Z"
    assert (plan.updated, plan.tags, plan.created) == (
        "2025-03-01",
        ("garden", "garden/beds"),
        None,
    )
    assert plan.excerpt.startswith("Sow beans")
    assert len(alone.excerpt) <= EXCERPT_CHARACTERS
    assert alone.excerpt.endswith("word…")


async def test_a_list_without_subfolders_takes_no_pattern(snapshot: Snapshot):
    with pytest.raises(InvalidRequest):
        await listed(snapshot, path=("G*",), recursive=False)


async def texts(snapshot: Snapshot, **asked) -> list[tuple[int, str]]:
    found = await list_tasks(snapshot, TaskQuery(**asked))
    return [(task.line, task.text) for task in found.tasks]


@pytest.mark.parametrize(
    ("asked", "lines"),
    [
        ({}, [7, 13, 14]),
        ({"status": "all"}, [7, 8, 9, 13, 14]),
        ({"status": "done"}, [8]),
        ({"status": "cancelled"}, [9]),
        ({"tag": ("garden",)}, [7]),
        ({"tag": ("#Garden/Beds",)}, [7]),
        ({"tag": ("bed",)}, []),
        ({"due_after": "2025-05-02"}, [13]),
        ({"due_before": "2025-05-01"}, [7]),
        ({"path": ("Garden/Beds",)}, []),
    ],
)
async def test_tasks_are_filtered(snapshot: Snapshot, asked: dict, lines: list[int]):
    assert [line for line, _ in await texts(snapshot, **asked)] == lines


async def test_a_task_describes_its_line(snapshot: Snapshot):
    first, second, _ = (await list_tasks(snapshot, TaskQuery())).tasks
    assert (first.path, first.symbol, first.status) == ("Garden/Plan.md", " ", TaskStatus.OPEN)
    assert (first.text, first.due) == ("Sow beans #garden/beds", "2025-05-01")
    assert first.task_id.split(":")[1:2] == ["7"]
    assert second.heading_path == ("Plan", "Later")
    assert (second.text, second.format) == ("Build  a frame", "dataview")


async def test_pages_of_tasks_follow_each_other(snapshot: Snapshot):
    seen, place = [], None
    for _ in range(5):
        page = await list_tasks(snapshot, TaskQuery(status="all", limit=1), place)
        seen += [task.line for task in page.tasks]
        place = page.places[0]
    assert seen == [7, 8, 9, 13, 14]
    assert not page.has_more


@pytest.mark.fault(
    "Names, tasks, templates",
    "a task line longer than a chunk, or between lone CRs",
    "its ID has the hash of the whole line",
)
async def test_the_hash_of_a_task_is_that_of_its_line(tmp_path: Path):
    """Also of a line that is longer than a chunk, and between other line ends."""
    note = "a\rb\r- [ ] one\r\n- [ ] " + "word. " * 3_000 + "end\n> - [ ] last 📅 2025-01-01"
    vault = Vault(tmp_path)
    vault.write("a.md", note)
    async with indexed(vault) as opened:
        tasks = (await list_tasks(opened, TaskQuery())).tasks
    placed = Document(note).tasks
    assert [task.line for task in tasks] == [task.line for task in placed] == [3, 4, 5]
    assert [task.task_id.split(":")[2] for task in tasks] == [
        line_digest(note[task.start : task.end]) for task in placed
    ]


async def test_open_tasks_are_found_by_their_ids(tmp_path: Path):
    vault = Vault(tmp_path)
    vault.write("in/a.md", "- [ ] one 🆔 x1\n- [x] two 🆔 x2\n- [ ] three [id:: x3] x4\n")
    vault.write("other/b.md", "- [/] five 🆔 x5\n")
    async with indexed(vault) as opened:
        ids = ("x5", "x4", "x3", "x2", "x1", "x")
        assert await open_tasks_of(opened, ids) == ["x5", "x3", "x1"]


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("Pay 🔺 📅 2025-01-02", {"text": "Pay", "due": "2025-01-02", "priority": "highest"}),
        ("a 🗓\ufe0f 2025-01-02 ⏳ 2025-01-01 🛫 2025-01-03", {"start": "2025-01-03"}),
        ("a 📅 2025-01-02 then more", {"text": "a 📅 2025-01-02 then more", "due": None}),
        ("a ✅ 2025-01-01 ✅ 2025-01-02", {"done": "2025-01-02"}),
        ("a 🔁 every week when done 📅 2025-01-02", {"recurrence": "every week when done"}),
        ("a 🆔 x1 ⛔ y1, z2", {"id": "x1", "depends_on": ("y1", "z2")}),
        ("a 📅 2025-01-02 ^block", {"text": "a", "due": "2025-01-02"}),
        ("a 🏁 delete ➕ 2025-01-01", {"text": "a", "created": "2025-01-01"}),
        ("a (completion:: 2025-01-02) [priority:: high]", {"done": "2025-01-02"}),
        ("a\u00a0📅 2025-01-02", {"text": "a", "due": "2025-01-02"}),
        ("a 📅\u00a02025-01-02", {"text": "a 📅\u00a02025-01-02", "due": None}),
        ("a [onCompletion:: delete]", {"text": "a", "format": "dataview"}),
        ("a [due:: 2025-01-02)", {"due": None}),
        ("a [due:: soon] [foo:: bar]", {"text": "a [due:: soon] [foo:: bar]", "format": None}),
        ("a #x #y/z 📅 2025-01-02", {"tags": ("x", "y/z"), "text": "a #x #y/z"}),
        ("", {"text": ""}),
    ],
)
async def test_fields_of_a_task_are_read(text: str, fields: dict):
    found = task_fields(text)
    assert {name: getattr(found, name) for name in fields} == fields


async def test_a_cursor_at_a_missing_note_has_expired(snapshot: Snapshot):
    with pytest.raises(InvalidRequest) as caught:
        await list_notes(
            snapshot, ListQuery(sort=Sort.TITLE), ListPlace("", identify("missing.md"))
        )
    assert caught.value.code == "CURSOR_EXPIRED"
    with pytest.raises(InvalidRequest) as caught:
        await list_tasks(snapshot, TaskQuery(), TaskPlace(identify("missing.md"), 1))
    assert caught.value.code == "CURSOR_EXPIRED"
