"""Edits of large notes are planned in worker processes, and hold up no other write."""

from __future__ import annotations

import asyncio
import os
import time
from datetime import date
from functools import partial
from pathlib import Path

import pytest
from tests.support.clocks import PATIENCE
from tests.writing.authored import write
from tests.writing.opened import Vault

from vault_agent.errors import NotFound, TooLarge
from vault_agent.markdown import section_edit
from vault_agent.markdown.address import PartAddress
from vault_agent.markdown.edit import append
from vault_agent.markdown.replace import replace
from vault_agent.markdown.tag_edit import edit_tags
from vault_agent.markdown.task_edit import Status, TaskAddress
from vault_agent.model.writing import AddTaskBody, Right
from vault_agent.system.workers import SMALL_BYTES, TextWorkers
from vault_agent.writing.notes import add_task, set_task
from vault_agent.writing.plan import Costly, Planned
from vault_agent.writing.sections import change_section

LARGE = "# A\n\nSome text.\n\n- [ ] buy milk\n" + "word " * (SMALL_BYTES // 4) + "\n"


def process_of(note: bytes) -> int:
    """Return the process that does the work."""
    return os.getpid()


def spin(note: bytes) -> None:
    """Work without end."""
    while True:
        pass


def length_once_saved(note: bytes, begun: str, saved: str) -> int:
    """Return the length of a note, after somebody has saved it."""
    Path(begun).touch()
    while not Path(saved).exists():
        time.sleep(0.01)
    return len(note)


def planned_by(processes: list[int]) -> Costly[int]:
    def planned(note: bytes, process: int) -> Planned:
        processes.append(process)
        return Planned(append(note, "x"))

    return Costly(process_of, planned)


async def test_only_the_work_on_large_notes_leaves_the_process(vault: Vault):
    vault.put("Small.md", "a\n")
    vault.put("Large.md", LARGE)
    processes: list[int] = []
    await vault.writer.edit("Small.md", write(), planned_by(processes))
    await vault.writer.edit("Large.md", write(), planned_by(processes))
    assert processes[0] == os.getpid() != processes[1]
    assert vault.bytes("Large.md") == f"{LARGE}x".encode()


@pytest.mark.fault(
    "Writing",
    "edits of large hostile notes take long",
    "other writes go on; the work ends with its caller, or is refused with `NOTE_TOO_LARGE`",
)
async def test_endless_work_on_notes_holds_up_no_other_write_and_ends_with_its_caller(
    vault: Vault,
):
    for number in range(8):
        vault.put(f"{number}.md", LARGE)
    vault.put("Other.md", "a\n")
    plan = Costly(spin, lambda note, _: Planned(append(note, "x")))
    hostile = [
        asyncio.create_task(vault.writer.edit(f"{number}.md", write(), plan)) for number in range(8)
    ]
    async with asyncio.timeout(PATIENCE):
        await asyncio.sleep(0.2)
        await vault.append("Other.md", "b\n")
        await vault.append("1.md", "b\n")
        async with vault.writer._locks.everything():
            pass  # also a move is possible
        for task in hostile:
            task.cancel()
        await asyncio.wait(hostile)
    assert vault.bytes("Other.md") == b"a\nb\n"
    assert vault.bytes("1.md") == f"{LARGE}b\n".encode()


async def test_work_beyond_its_limit_is_refused(vault: Vault):
    vault.put("Large.md", LARGE)
    vault.writer.text_workers = TextWorkers(cpu_seconds=0.2)
    async with vault.writer.text_workers:
        with pytest.raises(TooLarge) as refused:
            await vault.writer.edit("Large.md", write(), Costly(spin, lambda *_: Planned(())))
    assert refused.value.code == "NOTE_TOO_LARGE"
    assert vault.bytes("Large.md") == LARGE.encode()


async def test_a_note_that_is_saved_while_it_is_worked_on_is_worked_on_again(vault: Vault):
    vault.put("Large.md", LARGE)
    begun, saved = vault.root.parent / "begun", vault.root.parent / "saved"
    work = partial(length_once_saved, begun=str(begun), saved=str(saved))
    lengths: list[int] = []

    def planned(note: bytes, length: int) -> Planned:
        lengths.append(length)
        return Planned(append(note, "x"))

    async with asyncio.timeout(PATIENCE):
        task = asyncio.create_task(vault.writer.edit("Large.md", write(), Costly(work, planned)))
        while not begun.exists():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        vault.put("Large.md", f"{LARGE}saved\n")
        saved.touch()
        await task
    assert lengths == [len(LARGE) + len("saved\n")]
    assert vault.bytes("Large.md") == f"{LARGE}saved\nx".encode()


async def test_every_edit_of_a_large_note_does_what_it_does_to_a_small_one(vault: Vault):
    vault.put("Large.md", LARGE)
    writer, made = vault.writer, write(right=Right.EDIT)
    section = partial(
        section_edit.edit_section, address=PartAddress(("A",)), action="prepend", content="first\n"
    )
    await change_section(writer, "Large.md", made, "prepend", section)
    work = partial(
        replace, search="Some", replacement="Any", regex=False, case_sensitive=True,
        whole_word=False, in_frontmatter=False, expected_count=1,
    )  # fmt: skip
    await writer.edit("Large.md", made, Costly(work))
    tags = partial(edit_tags, add=["t"], remove=[], where="frontmatter")
    await writer.edit("Large.md", made, Costly(tags))

    async def open_tasks(_: object) -> list[str]:
        return []

    done = await set_task(
        writer, "Large.md", made, TaskAddress(0, text="buy milk"), Status.CANCELLED,
        today=date(2026, 1, 2), form="tasks", open_tasks=open_tasks,
    )  # fmt: skip
    added = await add_task(
        writer,
        "Large.md",
        made,
        AddTaskBody(path="Large.md", text="call"),
        section=("A",),
        form="tasks",
    )
    text = vault.bytes("Large.md").decode()
    assert text.startswith("---\ntags: [t]\n---\n")
    assert "# A\nfirst\n\nAny text.\n\n- [-] buy milk" in text
    assert text.endswith("- [ ] call\n")
    assert (done.changed, added.changed) == (True, True)
    nowhere = partial(section, address=PartAddress(("No",)))
    with pytest.raises(NotFound) as refused:
        await change_section(writer, "Large.md", made, "append", nowhere)
    assert refused.value.code == "HEADING_NOT_FOUND"
