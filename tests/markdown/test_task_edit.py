"""Edits of tasks."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_agent.errors import Conflict, Failed, VaultAgentError
from vault_agent.markdown.document import Document
from vault_agent.markdown.edit import append, editable, spliced
from vault_agent.markdown.task_edit import (
    Status,
    TaskAddress,
    TaskEdit,
    line_of,
    new_line,
    set_status,
)
from vault_agent.markdown.tasks import line_digest, task_fields
from vault_agent.model.writing import AddTaskBody

TODAY = date(2025, 5, 6)


def edited(text: str, status: Status, line: int = 1, form: str = "auto") -> str:
    return after(text, set_status(text.encode(), TaskAddress(line), status, TODAY, form))


def after(text: str, edit: TaskEdit) -> str:
    return spliced(text.encode(), edit.splices).decode()


@pytest.mark.parametrize(
    ("line", "done"),
    [
        ("- [ ] a", "- [x] a ✅ 2025-05-06"),
        ("  * [/] a", "  * [x] a ✅ 2025-05-06"),
        ("1) [ ] a", "1) [x] a ✅ 2025-05-06"),
        ("> > + [?] a", "> > + [x] a ✅ 2025-05-06"),
        ("- [ ]", "- [x] ✅ 2025-05-06"),
        ("- [ ] a ^block", "- [x] a ✅ 2025-05-06 ^block"),
        ("- [ ] a  \t", "- [x] a ✅ 2025-05-06  \t"),
        ("- [ ] a 📅 2025-01-01 #t", "- [x] a 📅 2025-01-01 #t ✅ 2025-05-06"),
        ("- [ ] a [due:: 2025-01-01]", "- [x] a [due:: 2025-01-01]  [completion:: 2025-05-06]"),
        ("- [-] a ❌ 2025-01-01", "- [x] a ✅ 2025-05-06"),
        ("- [ ] a ✅ 2024-01-01 ^b", "- [x] a ✅ 2025-05-06 ^b"),
        ("- [ ] a [completion:: 2024-01-01] b", "- [x] a [completion:: 2025-05-06] b"),
        ("- [ ] é\u00a0", "- [x] é\u00a0 ✅ 2025-05-06"),
        ("- [x] a", "- [x] a"),
        ("- [X] a ✅ 2024-01-01", "- [X] a ✅ 2024-01-01"),
    ],
)
def test_a_done_task_has_its_date_before_the_block_id(line: str, done: str):
    assert edited(f"{line}\r\nx\n", Status.DONE) == f"{done}\r\nx\n"


@pytest.mark.fault(
    "Names, tasks, templates",
    "two done dates; a date in the middle; a no-break space before or in a field",
    "the last one counts; text; kept as it is",
)
@pytest.mark.parametrize(
    ("line", "opened"),
    [
        ("- [x] a ✅ 2025-01-01", "- [ ] a"),
        ("- [x] a ✅ 2025-01-01 ^b", "- [ ] a ^b"),
        ("- [x] a ✅\ufe0f 2025-01-01 📅 2025-01-02", "- [ ] a 📅 2025-01-02"),
        ("- [x] a ✅ 2025-01-01 ✅ 2025-01-02", "- [ ] a ✅ 2025-01-01"),  # only the last counts
        ("- [x] a\u00a0✅ 2025-01-01", "- [ ] a\u00a0"),
        ("- [x] a ✅ 2025-01-01 then", "- [ ] a ✅ 2025-01-01 then"),  # text
        ("- [x] a ✅\u00a02025-01-01", "- [ ] a ✅\u00a02025-01-01"),  # text
        ("- [X] a (completion:: 2025-01-01) b", "- [ ] a b"),
        ("- [x] (completion:: 2025-01-01)- b", "- [ ] - b"),
        ("- [-] a ❌ 2025-01-01", "- [ ] a"),
        ("- [/] a", "- [/] a"),
    ],
)
def test_an_opened_task_loses_the_last_date_of_its_end(line: str, opened: str):
    assert edited(line, Status.OPEN) == opened


@pytest.mark.parametrize(
    ("line", "cancelled"),
    [
        ("- [ ] a ^b", "- [-] a ❌ 2025-05-06 ^b"),
        ("- [x] a ✅ 2025-01-01", "- [-] a ❌ 2025-05-06"),
        ("- [ ] a [priority:: high]", "- [-] a [priority:: high]  [cancelled:: 2025-05-06]"),
        ("- [ ] ✅ 2025-01-01\u00a0", "- [-] \u00a0 ❌ 2025-05-06"),
        ("- [ ] a 🔁 every full moon", "- [-] a 🔁 every full moon ❌ 2025-05-06"),
        ("- [-] a", "- [-] a"),
    ],
)
def test_a_cancelled_task_has_its_date_and_no_next_one(line: str, cancelled: str):
    assert edited(line, Status.CANCELLED) == cancelled


def test_a_toggle_twice_gives_the_same_bytes():
    for line in (
        "- [ ] a",
        "- [ ]",
        "- [ ] a  ",
        "- [ ] a ^b",
        "- [ ] a [due:: 2025-01-01] b\u00a0",
    ):
        once = edited(line, Status.TOGGLE)
        assert once != line
        assert edited(once, Status.TOGGLE) == line


@pytest.mark.parametrize(
    ("form", "text", "expected"),
    [
        ("auto", "- [ ] a", " ✅ 2025-05-06"),
        ("emoji", "- [ ] a", " ✅ 2025-05-06"),
        ("dataview", "- [ ] a", "  [completion:: 2025-05-06]"),
        ("auto", "- [ ] a\n- [ ] b [due:: 2025-01-01]", " ✅ 2025-05-06"),
        ("emoji", "- [ ] a [due:: 2025-01-01]", "  [completion:: 2025-05-06]"),
        ("dataview", "- [ ] a 📅 2025-01-01", " ✅ 2025-05-06"),
    ],
)
def test_a_line_keeps_its_format_and_one_without_takes_the_setting(form, text, expected):
    assert edited(text, Status.DONE, form=form).split("\n")[0].endswith(expected)


@pytest.mark.parametrize(
    ("line", "above"),
    [
        ("- [ ] a 🔁 every week 📅 2025-05-01", "- [ ] a 🔁 every week 📅 2025-05-08"),
        (
            "> 1. [/] a 🔁 every month on the 31st 🛫 2025-01-24 ⏳ 2025-01-29 📅 2025-01-31 #t ^b",
            "> 1. [ ] a 🔁 every month on the 31st 🛫 2025-03-24 ⏳ 2025-03-29 📅 2025-03-31 #t",
        ),
        ("- [ ] a 🔁 every month 📅 2025-01-31", "- [ ] a 🔁 every month 📅 2025-02-28"),
        (
            "- [ ] a 🔁 every 2 days when done 📅 2025-01-31",
            "- [ ] a 🔁 every 2 days when done 📅 2025-05-08",
        ),
        (
            "- [ ] a 🔁 every day when done 🛫 2025-01-01 📅 2025-01-31",
            "- [ ] a 🔁 every day when done 🛫 2025-04-07 📅 2025-05-07",
        ),
        ("- [ ] a 🔁 every day", "- [ ] a 🔁 every day"),
        (
            "- [ ] a 🔁 every day 🏁 keep ⏳ 2025-01-01",
            "- [ ] a 🔁 every day 🏁 keep ⏳ 2025-01-02",
        ),
        (
            "- [ ] a 🆔 x1 ⛔ y1,z2 🔺 🔁 every day ➕ 2024-12-01 📅 2025-01-01",
            "- [ ] a 🔺 🔁 every day ➕ 2025-05-06 📅 2025-01-02",
        ),
        (
            "- [ ] a [repeat:: every day] [id:: q] [due:: 2025-01-01] b ^c",
            "- [ ] a [repeat:: every day] [due:: 2025-01-02] b",
        ),
        (
            "- [-] a 🔁 every day 📅 2025-01-01 ❌ 2025-01-01",
            "- [ ] a 🔁 every day 📅 2025-01-02",
        ),
    ],
)
def test_a_recurring_task_gets_its_next_one_above(line: str, above: str):
    text = f"# t\r\n{line}\r\n  child\r\n"
    new = edited(text, Status.DONE, line=2)
    assert new.startswith(f"# t\r\n{above}\r\n")
    assert new.removeprefix(f"# t\r\n{above}\r\n").endswith("  child\r\n")
    done = new.split("\r\n")[2]
    assert done.startswith(line[: line.index("[")] + "[x] a")
    assert task_fields(done.partition("] ")[2]).done == str(TODAY)


@pytest.mark.fault(
    "Names, tasks, templates",
    "a recurrence that is not supported, a day that does not exist, a year after 9999",
    "`TASK_UNSUPPORTED`; the line is not touched",
)
@pytest.mark.parametrize(
    "line",
    [
        "- [ ] a 🔁 every 2 years on May the 15th 📅 2025-01-01",
        "- [ ] a 🔁 every week until 2030 📅 2025-01-01",
        "- [ ] a 🔁 every day 📅 2025-02-30",
        "- [ ] a 🔁 every day 📅 9999-12-31",
        "- [ ] a 🔁 every 9 years 🛫 2025-01-01 📅 9995-01-01",
        "- [ ] a 🔁 every other day 🏁 delete 📅 2025-01-01",
        "- [ ] a [repeat:: daily]",
    ],
)
def test_a_recurrence_that_is_not_supported_changes_nothing(line: str):
    with pytest.raises(VaultAgentError) as refused:
        edited(line, Status.DONE)
    assert refused.value.code == "TASK_UNSUPPORTED"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# t\r\n- [ ] a 🏁 delete\r\n- b\r\n", "# t\r\n- b\r\n"),
        ("- x\n- [ ] a 🏁 Delete", "- x\n"),
        ("- x\n- [ ] a [onCompletion:: delete]\n\ntext\n", "- x\n\ntext\n"),
        ("> 1. [ ] x\n> 2. [ ] a 🏁 delete\n# h\n", "> 1. [ ] x\n# h\n"),
        ("- x\n  - [ ] a 🏁 delete\n- y\n", "- x\n- y\n"),
        (
            "- x\n- [ ] a 🔁 every day 🏁 delete 📅 2025-01-01\n  child\n",
            "- x\n- [ ] a 🔁 every day 🏁 delete 📅 2025-01-02\n  child\n",
        ),
    ],
)
def test_a_task_that_says_so_is_removed_when_it_is_done(text: str, expected: str):
    assert edited(text, Status.DONE, line=2) == expected
    assert edited(text, Status.CANCELLED, line=2).startswith(text[: text.index("[ ] a")])


@pytest.mark.parametrize(
    "below", ["  child\n", "\n  child\n", "  - [ ] b\n", "\t- b\n", "lazy\n", "---\n", "```\n"]
)
def test_a_task_with_lines_of_its_own_is_not_removed(below: str):
    with pytest.raises(VaultAgentError) as refused:
        edited(f"- [ ] a 🏁 delete\n{below}", Status.DONE)
    assert refused.value.code == "TASK_UNSUPPORTED"


def test_a_bom_and_other_line_ends_stay():
    note = b"\xef\xbb\xbf---\r\na: 1\r\n---\r\n- [ ] a \xf0\x9f\x94\x81 every day"
    edit = set_status(note, TaskAddress(4), Status.DONE, TODAY)
    new = spliced(note, edit.splices)
    assert new == (
        b"\xef\xbb\xbf---\r\na: 1\r\n---\r\n- [ ] a \xf0\x9f\x94\x81 every day\r\n"
        b"- [x] a \xf0\x9f\x94\x81 every day \xe2\x9c\x85 2025-05-06"
    )
    assert (edit.line, edit.completed) == (5, True)


def test_what_blocks_a_completed_task_is_told():
    edit = set_status("- [ ] a ⛔ x1, y2".encode(), TaskAddress(1), Status.DONE, TODAY)
    assert edit.depends_on == ("x1", "y2")


MOVED = "- [ ] b\n- [ ] a 📅 2025-01-01\n- [ ] twice\n- [ ] twice\n"


@pytest.mark.fault(
    "Names, tasks, templates",
    "the lines of a note have moved since the list",
    "found by its hash; several equal lines: `TASK_AMBIGUOUS`",
)
@pytest.mark.parametrize(
    ("wanted", "line"),
    [
        (TaskAddress(2), 2),
        (TaskAddress(2, line_digest("- [ ] a 📅 2025-01-01")), 2),
        (TaskAddress(9, line_digest("- [ ] a 📅 2025-01-01")), 2),
        (TaskAddress(1, line_digest("- [ ] a 📅 2025-01-01")), 2),
        (TaskAddress(3, line_digest("- [ ] twice")), 3),
        (TaskAddress(4, line_digest("- [ ] twice")), 4),
        (TaskAddress(1, text="a"), 2),
        (TaskAddress(1, text="a 📅 2025-01-01"), 2),
        (TaskAddress(9, line_digest("- [ ] twice")), "TASK_AMBIGUOUS"),
        (TaskAddress(9, text="twice"), "TASK_AMBIGUOUS"),
        (TaskAddress(2, line_digest("- [ ] other")), "TASK_NOT_FOUND"),
        (TaskAddress(2, text="other"), "TASK_NOT_FOUND"),
        (TaskAddress(9), "TASK_NOT_FOUND"),
    ],
)
def test_a_task_that_moved_is_found_again(wanted: TaskAddress, line: int | str):
    try:
        found: int | str = set_status(MOVED.encode(), wanted, Status.DONE, TODAY).line
    except VaultAgentError as refused:
        found = refused.code
    assert found == line


@pytest.mark.fault(
    "Names, tasks, templates",
    "a task line in code or in a comment",
    "no task",
)
@pytest.mark.parametrize(
    "text",
    ["```\n- [ ] a\n```\n", "<!--\n- [ ] a\n-->\n", "%%\n- [ ] a\n%%\n", "\n    - [ ] a\n"],
)
def test_code_and_comments_have_no_tasks(text: str):
    with pytest.raises(VaultAgentError) as refused:
        edited(text, Status.DONE, line=2)
    assert refused.value.code == "TASK_NOT_FOUND"


@pytest.mark.fault(
    "Names, tasks, templates",
    "inline code that goes on in the next line of a task",
    "the task ends with its own line",
)
def test_code_across_two_lines_does_not_join_them():
    assert edited("- [ ] a `b\n  c` d\n", Status.DONE) == "- [x] a `b ✅ 2025-05-06\n  c` d\n"


def new_task(text: str, due: str | None = None, **fields: str) -> AddTaskBody:
    return AddTaskBody(path="a.md", text=text, due=due, **fields)


def added(note: str, task: AddTaskBody, form: str = "auto") -> str:
    return new_line(editable(note.encode()), task, form)


@pytest.mark.parametrize(
    ("note", "task", "line"),
    [
        ("", new_task("a"), "- [ ] a"),
        ("* [x] b", new_task("a"), "* [ ] a"),
        ("1. [ ] b", new_task("a"), "- [ ] a"),
        (
            "",
            new_task(
                "a #t",
                "2025-01-03",
                scheduled="2025-01-02",
                start="2025-01-01",
                priority="high",
                recurrence="every week",
            ),
            "- [ ] a #t ⏫ 🔁 every week 🛫 2025-01-01 ⏳ 2025-01-02 📅 2025-01-03",
        ),
        (
            "",
            new_task("a [id:: x]", "2025-01-03", priority="low"),
            "- [ ] a [id:: x]  [priority:: low]  [due:: 2025-01-03]",
        ),
        ("", new_task("a ^b", "2025-01-03"), "- [ ] a 📅 2025-01-03 ^b"),
        (
            "",
            new_task("a [start:: 2025-01-01]", "2025-01-03"),
            "- [ ] a [start:: 2025-01-01]  [due:: 2025-01-03]",
        ),
    ],
)
def test_a_new_task_is_one_line_with_its_fields(note: str, task: AddTaskBody, line: str):
    assert added(note, task) == line
    splices = append(note.encode(), line)
    assert line_of(note.encode(), splices[0], line) == (2 if note else 1)


@pytest.mark.parametrize(
    ("task", "code"),
    [
        (new_task(" "), "INVALID_REQUEST"),
        (new_task("a\nb"), "INVALID_REQUEST"),
        (new_task("a\n"), "INVALID_REQUEST"),
        (new_task("a\u2028b"), "INVALID_REQUEST"),
        (new_task("a\0"), "INVALID_REQUEST"),
        (new_task("a", recurrence="daily"), "TASK_UNSUPPORTED"),
    ],
)
def test_a_text_that_is_no_line_is_refused(task: AddTaskBody, code: str):
    with pytest.raises(VaultAgentError) as refused:
        added("", task)
    assert refused.value.code == code


def test_a_line_in_open_code_is_no_task():
    note = b"```\ncode\n"
    assert line_of(note, append(note, "- [ ] a")[0], "- [ ] a") is None


_PIECES = st.sampled_from(
    ["- [ ] ", "* [x] ", "> 1. [/] ", "  - [-] ", "a", "é ", " ", "\n", "\r\n", "\n", "\r", "#t ",
     " ✅ 2025-01-01", " 📅 2025-01-31", " 🔁 every month", " [due:: 2025-02-28]", " ^b", "`",
     "```\n", "%%", "<!--", "-->", "\u00a0", "⛔ x", " ❌ 2025-01-01", "---\n", "[x]: b\n", "# h\n",
     "(completion:: 2025-01-01)", " 🏁 delete", " 🔁 every week when done", "\ufeff", "$", "\u2028"]
)  # fmt: skip
_NOTES = st.lists(_PIECES, max_size=25).map("".join)


@pytest.mark.fault(
    "Names, tasks, templates",
    "any text with tasks, line ends, comments and fences",
    "no other line changes, or nothing does",
)
@settings(max_examples=300, deadline=None)
@given(_NOTES, st.sampled_from(list(Status)), st.data())
def test_only_the_line_of_the_task_changes(text: str, status: Status, data):
    check_one_line(text, status, data)


@pytest.mark.long
@settings(max_examples=100_000, deadline=None)
@given(_NOTES, st.sampled_from(list(Status)), st.data())
def test_only_the_line_of_the_task_changes_in_many_notes(text: str, status: Status, data):
    check_one_line(text, status, data)


def check_one_line(text: str, status: Status, data) -> None:
    note = text.encode()
    source = editable(note)
    tasks = Document(source.text).tasks
    if not tasks:
        return
    task = data.draw(st.sampled_from(tasks))
    try:
        edit = set_status(note, TaskAddress(task.line), status, TODAY)
    except Conflict:
        return  # a recurrence that is not supported
    except Failed:
        # Only another line can change what is a task elsewhere: it repeats an open comment.
        assert "🔁" in source.text[task.start : task.end]
        return
    new = editable(spliced(note, edit.splices)).text
    if edit.line is None:
        removed = source.text[task.start : task.end]
        assert "🏁" in removed
        assert new.startswith(source.text[: task.start])
        assert source.text[task.end :].endswith(new[task.start :])
        assert len(Document(new).tasks) == len(tasks) - 1
        return
    assert new.startswith(source.text[: task.start])
    assert new.endswith(source.text[task.end :])
    # The other tasks are the same, and this one is where the edit says.
    found = {each.line: each for each in Document(new).tasks}
    assert len(found) - len(tasks) == edit.line - task.line
    changed = found[edit.line]
    symbol = new[changed.symbol]
    if status is not Status.TOGGLE:
        expected = {"done": "xX", "cancelled": "-", "open": " /"}[status]
        line = source.text[task.start : task.end]
        # The next one of a task that goes when it is done is in its place.
        assert symbol in expected or (symbol == " " and {"🏁", "🔁"} <= set(line))
    fields = task_fields(new[changed.rest : changed.end])
    if edit.splices and symbol == "x" and "🏁" not in source.text[task.start : task.end]:
        assert fields.done == str(TODAY)
