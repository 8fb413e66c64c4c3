"""Writes of tasks."""

from __future__ import annotations

from datetime import date

import pytest
from tests.writing.authored import OpenedVault, write

from vault_agent.errors import IndexUnavailable, VaultAgentError
from vault_agent.markdown.task_edit import Status, TaskAddress
from vault_agent.model.writing import AddTaskBody
from vault_agent.writing.notes import add_task, set_task

TODAY = date(2025, 5, 6)


async def added(vault: OpenedVault, text: str, section: tuple[str, ...] | None = None, **fields):
    return await add_task(
        vault.writer,
        "a.md",
        write(),
        AddTaskBody(path="a.md", text=text, **fields),
        section=section,
        form="auto",
    )


@pytest.mark.fault(
    "Names, tasks, templates",
    "a new task where no list can be: HTML, an open code block",
    "an empty line between; refused",
)
@pytest.mark.parametrize(
    ("note", "section", "result", "line"),
    [
        ("", None, "- [ ] new 📅 2025-06-01\n", 1),
        ("text\n", None, "text\n- [ ] new 📅 2025-06-01\n", 2),
        ("text", None, "text\n- [ ] new 📅 2025-06-01", 2),
        ("* [ ] b\r\n", None, "* [ ] b\r\n* [ ] new 📅 2025-06-01\r\n", 2),
        ("<div>\n", None, "<div>\n\n- [ ] new 📅 2025-06-01\n", 3),
        (
            "# A\n- [ ] b\n\n## Sub\nx\n# B\n",
            ("A",),
            "# A\n- [ ] b\n- [ ] new 📅 2025-06-01\n\n## Sub\nx\n# B\n",
            3,
        ),
        ("# A\n# B\n", ("A",), "# A\n- [ ] new 📅 2025-06-01\n# B\n", 2),
        ("# A\n# B\n", ("B",), "# A\n# B\n- [ ] new 📅 2025-06-01\n", 3),
        ("# A\n# B", ("B",), "# A\n# B\n- [ ] new 📅 2025-06-01", 3),
        ("# A\n# B", ("A",), "# A\n- [ ] new 📅 2025-06-01\n# B", 2),
    ],
)
async def test_a_task_is_added(opened_vault: OpenedVault, note, section, result, line):
    vault = opened_vault
    vault.put("a.md", note)
    written = await added(vault, "new", section, due="2025-06-01")
    assert vault.text("a.md") == result
    assert written.line == line


@pytest.mark.parametrize(
    ("note", "section", "code"),
    [
        ("# A\n", ("B",), "HEADING_NOT_FOUND"),
        ("# A\n# A\n", ("A",), "HEADING_AMBIGUOUS"),
        ("```\nopen\n", None, "INVALID_REQUEST"),
        ("<!-- open\n", None, "INVALID_REQUEST"),
    ],
)
async def test_a_task_without_a_place_is_refused(opened_vault: OpenedVault, note, section, code):
    vault = opened_vault
    vault.put("a.md", note)
    with pytest.raises(VaultAgentError) as refused:
        await added(vault, "new", section)
    assert refused.value.code == code
    assert vault.text("a.md") == note


async def done(vault: OpenedVault, line: int, open_tasks) -> tuple:
    return await set_task(
        vault.writer, "a.md", write(), TaskAddress(line), Status.DONE,
        today=TODAY, form="auto", open_tasks=open_tasks,
    )  # fmt: skip


async def test_a_task_is_completed(opened_vault: OpenedVault):
    vault = opened_vault
    vault.put("a.md", "# a\n- [ ] b 🔁 every day 📅 2025-05-01 ^x\n")
    written = await done(vault, 2, none_open)
    assert written.line == 3
    assert vault.text("a.md") == (
        "# a\n- [ ] b 🔁 every day 📅 2025-05-02\n"
        "- [x] b 🔁 every day 📅 2025-05-01 ✅ 2025-05-06 ^x\n"
    )


async def none_open(ids):
    return []


async def test_a_task_that_waits_for_an_open_one_is_completed_with_a_warning(
    opened_vault: OpenedVault,
):
    vault = opened_vault
    vault.put("a.md", "- [ ] b ⛔ x1,x2\n- [ ] c ⛔ x1\n- [ ] d ⛔ x3\n")

    async def x1_is_open(ids):
        return [each for each in ids if each == "x1"]

    written = await done(vault, 1, x1_is_open)
    assert written.changed
    assert [(each.code, each.details) for each in written.warnings] == [
        ("TASK_BLOCKED", {"ids": ["x1"]})
    ]
    assert (await done(vault, 1, x1_is_open)).warnings == ()  # it was done already
    assert (await done(vault, 3, x1_is_open)).warnings == ()

    async def no_index(ids):
        raise IndexUnavailable("INDEX_NOT_FOUND", "None.")

    assert (await done(vault, 2, no_index)).changed
