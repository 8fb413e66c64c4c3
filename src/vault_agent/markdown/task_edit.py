"""Edits of tasks: only the task's line changes, and a recurring task gets a line above it.

A new task is one line, which `new_line` writes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from vault_agent.errors import Conflict, InvalidRequest, NotFound
from vault_agent.markdown.edit import TextChange, editable, not_proven, spliced
from vault_agent.markdown.lines import insertable
from vault_agent.markdown.recurrence import SUPPORTED, next_day, parse_rule
from vault_agent.markdown.tasks import (
    EMOJI,
    MAX_TEXT_CHARS,
    line_digest,
    placed_fields,
    task_fields,
    written,
)
from vault_agent.text.lines import LINE_END

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vault_agent.markdown.edit import Splice, Text
    from vault_agent.markdown.tasks import Field, Placed, TaskLine
    from vault_agent.model.writing import AddTaskBody

AUTO = "auto"
"""The setting by which a line without fields gets emoji."""
_OPEN, _DONE, _CANCELLED = " ", "x", "-"
_INDENT = re.compile(
    r"(?:(?:[ \t]*+>)*+[ \t]*+(?:\r\n?|\n))*+(?:[ \t]*+>)*+(?P<indent>[ \t]*+)[^ \t\r\n]"
)
# A line of text continues the item above it without any indentation.
_LAZY_CONTINUATION = re.compile(
    r"(?:[ \t]*+>)*+[ \t]*+(?!(?:[-*+]|\d{1,9}[.)]|#{1,6})(?:[ \t\r\n]|\Z))[^ \t\r\n]"
)
_DATES = ("due", "scheduled", "start")
"""The dates that recur. The first of them that a task has is the one its rule counts from."""
_NOT_COPIED = frozenset(("done", "cancelled", "id", "depends_on"))


class Status(StrEnum):
    """What a task is to become. A toggle completes an open task, and opens any other."""

    OPEN = "open"
    DONE = "done"
    CANCELLED = "cancelled"
    TOGGLE = "toggle"


@dataclass(frozen=True, slots=True)
class TaskAddress:
    """Which task: that of a line, if it has the hash or text. Else the only one that has it.

    With `only_this_line`, no other. `text` is the task's text, with or without its fields. Without
    both, the line alone decides.
    """

    line: int
    digest: str | None = None
    text: str | None = None
    only_this_line: bool = False


class TaskEdit(NamedTuple):
    """An edit of a task. `line` is the task's after the edit, from 1; None if it was removed."""

    splices: tuple[Splice, ...]
    line: int | None
    completed: bool = False  # whether the task was not done before, and is now
    depends_on: tuple[str, ...] = ()  # the IDs of the tasks that block it


def set_status(
    note: bytes, wanted: TaskAddress, status: Status, today: date, form: str = AUTO
) -> TaskEdit:
    """Complete, cancel or open a task, with the date that belongs to it.

    A task that has the status already is not changed. A recurring task that is completed gets its
    next occurrence on the line above. One with the action `delete` is removed when it is completed,
    or replaced by its next occurrence.

    Raises:
        NotFound: `TASK_NOT_FOUND`.
        Conflict: `TASK_AMBIGUOUS`, `TASK_UNSUPPORTED`, `ENCODING_NOT_WRITABLE`,
            `TASK_UNSUPPORTED` if lines below a task to be removed belong to it.
        Failed: `EDIT_NOT_PROVEN`.
    """
    text = editable(note)
    tasks = text.document.tasks
    task = _find_task(text.text, tasks, wanted)
    rest = text.text[task.rest : task.end]
    placed = placed_fields(rest)
    was = _status(text.text[task.symbol])
    becomes = status
    if status is Status.TOGGLE:
        becomes = Status.DONE if was is Status.OPEN else Status.OPEN
    if was is becomes:
        return TaskEdit((), task.line)
    is_done = becomes is Status.DONE
    above = _occurrence(text.text, task, placed, today) if is_done else ""
    new = [above] if above else []
    line: int | None = task.line
    on_completion = placed.of("on_completion")
    is_to_be_deleted = on_completion is not None and on_completion.value.lower() == "delete"
    if is_done and is_to_be_deleted:
        changes = [_deletion(text.text, task, above)]
        line = task.line if above else None
    else:
        symbol = {Status.DONE: _DONE, Status.CANCELLED: _CANCELLED}.get(becomes, _OPEN)
        form = form_of(placed, form)
        fields = _status_changes(rest, placed, becomes, str(today), form)
        new.append(text.text[task.start : task.box] + f"[{symbol}]{spliced(rest, fields)}")
        ending = text.line_end() or "\n"
        changes = [
            TextChange(task.start, task.start, above and above + ending),
            TextChange(task.symbol, task.symbol + 1, symbol),
            *(TextChange(task.rest + at, task.rest + end, value) for at, end, value in fields),
        ]
        line = task.line + bool(above)
    at = tasks.index(task)
    lines = _lines(text)
    expected = [*lines[:at], *new, *lines[at + 1 :]]
    splices = text.edited(changes).proven(_lines, expected, "The note would have other tasks.")
    return TaskEdit(splices, line, is_done, _waits_for(placed))


def _lines(text: Text) -> list[str]:
    """Return the lines of the tasks of a text."""
    return [text.text[task.start : task.end] for task in text.document.tasks]


def _waits_for(placed: Placed) -> tuple[str, ...]:
    depends_on = placed.of("depends_on")
    return tuple(name.strip() for name in depends_on.value.split(",")) if depends_on else ()


def _deletion(text: str, task: TaskLine, following: str) -> TextChange:
    """Return the change that removes a completed task, or puts its next occurrence in its place."""
    if following:
        return TextChange(task.start, task.end, following)
    line_end = LINE_END.match(text, task.end)
    end = line_end.end() if line_end else task.end
    if _LAZY_CONTINUATION.match(text, end) or _indent_below(text, end) > task.indent:
        raise Conflict(
            "TASK_UNSUPPORTED",
            "The task is to be deleted when it is done, and the lines below belong to it.",
        )
    return TextChange(task.start, end, "")


def _indent_below(text: str, start: int) -> int:
    """Return the columns by which the first line with text from here on is indented."""
    match = _INDENT.match(text, start)
    return len(match["indent"].expandtabs(4)) if match is not None else 0


def _find_task(text: str, tasks: Sequence[TaskLine], wanted: TaskAddress) -> TaskLine:
    for task in tasks:
        if task.line == wanted.line and _fits(text, task, wanted):
            return task
    fitting: list[TaskLine] = []
    is_described = wanted.digest is not None or wanted.text is not None
    if is_described and not wanted.only_this_line:
        fitting = [task for task in tasks if _fits(text, task, wanted)]
    if not fitting:
        raise NotFound("TASK_NOT_FOUND", "The note has no such task at this place.")
    if len(fitting) > 1:
        lines = [task.line for task in fitting[:20]]
        raise Conflict(
            "TASK_AMBIGUOUS",
            f"The task has moved, and {len(fitting)} lines are equal to it.",
            {"lines": lines},
        )
    return fitting[0]


def _fits(text: str, task: TaskLine, wanted: TaskAddress) -> bool:
    if wanted.digest is not None and line_digest(text[task.start : task.end]) != wanted.digest:
        return False
    if wanted.text is None:
        return True
    rest = text[task.rest : task.end].strip()
    wanted_text = wanted.text.strip()
    cut = rest[:MAX_TEXT_CHARS]  # as in lists
    return wanted_text in (rest, cut, task_fields(cut).text)


def _status(symbol: str) -> Status:
    if symbol in "xX":
        return Status.DONE
    return Status.CANCELLED if symbol == _CANCELLED else Status.OPEN


def _status_changes(
    rest: str, placed: Placed, becomes: Status, today: str, form: str
) -> list[TextChange]:
    date_name = {Status.DONE: "done", Status.CANCELLED: "cancelled"}.get(becomes)
    changes = [
        _remove_field(rest, field)
        for name in ("done", "cancelled")
        if name != date_name and (field := placed.of(name)) is not None
    ]
    if date_name is not None:
        present = placed.of(date_name)
        if present is not None:
            changes.append(_set_value(present, today))
        else:
            changes.append(TextChange(placed.end, placed.end, written(date_name, today, form)))
    return sorted(changes)


def _remove_field(rest: str, field: Field) -> TextChange:
    """Return the change that takes a field away, with the spaces before it.

    They stay if text follows at once: they are all that keeps it from what is before.
    """
    start = field.start
    if field.end == len(rest) or rest[field.end] in " \t":
        start = len(rest[:start].rstrip(" \t"))
    return TextChange(start, field.end, "")


def _set_value(field: Field, value: str) -> TextChange:
    return TextChange(field.value_start, field.value_start + len(field.value), value)


def _occurrence(text: str, task: TaskLine, placed: Placed, today: date) -> str:
    """Return the line of a recurring task's next occurrence, or "" if it does not recur."""
    field = placed.of("recurrence")
    if field is None:
        return ""
    rule = parse_rule(field.value)
    if rule is None:
        raise _unsupported("The recurrence of the task is not supported.")
    dates = [(field, _day(field)) for name in _DATES if (field := placed.of(name)) is not None]
    reference = dates[0][1] if dates else today
    start = today if rule.when_done else reference
    following = next_day(rule, start)
    if following is None:
        raise _unsupported("The recurrence of the task has no next day.")
    rest = text[task.rest : task.end]
    changes = [_set_value(field, str(_shift(day, following - reference))) for field, day in dates]
    changes += [_remove_field(rest, field) for field in placed.fields if field.name in _NOT_COPIED]
    if (created := placed.of("created")) is not None:
        changes.append(_set_value(created, str(today)))
    # A block ID names one block, so that of the task is not repeated.
    changes.append(TextChange(placed.end, len(rest.rstrip(" \t")), ""))
    return f"{text[task.start : task.box]}[{_OPEN}]{spliced(rest, sorted(changes))}"


def _day(field: Field) -> date:
    try:
        return date.fromisoformat(field.value)
    except ValueError:
        raise _unsupported("A date of the task does not exist.") from None


def _shift(day: date, by: timedelta) -> date:
    try:
        return day + by
    except OverflowError:
        raise _unsupported("The recurrence of the task has no next day.") from None


def _unsupported(what: str) -> Conflict:
    return Conflict("TASK_UNSUPPORTED", f"{what} Nothing was changed. Supported: {SUPPORTED}.")


def new_line(note: Text, task: AddTaskBody, form: str = AUTO) -> str:
    """Return the line of a new task, without a line end.

    Raises:
        InvalidRequest: `INVALID_REQUEST` if the text is not one line of text.
        Conflict: `TASK_UNSUPPORTED`.
    """
    insertable(task.text)
    if not task.text.strip() or task.text.splitlines() != [task.text]:
        raise InvalidRequest("INVALID_REQUEST", "A task's text is one line that is not empty.")
    if task.recurrence is not None and parse_rule(task.recurrence) is None:
        what = f"The recurrence is not supported. Supported: {SUPPORTED}."
        raise Conflict("TASK_UNSUPPORTED", what, remedy="")
    placed = placed_fields(task.text)
    tasks = note.document.tasks
    form = form_of(placed, form)
    values = {
        "priority": task.priority,
        "recurrence": task.recurrence,
        "start": task.start,
        "scheduled": task.scheduled,
        "due": task.due,
    }
    fields = "".join(written(name, value, form) for name, value in values.items() if value)
    marker = "-"
    if tasks:  # another marker would begin a list of its own
        used = note.text[tasks[-1].start : tasks[-1].box].strip(" \t>")
        marker = used if used in ("*", "+") else marker
    rest = f"{task.text[: placed.end]}{fields}{task.text[placed.end :]}"
    read = placed_fields(rest)
    for name, value in values.items():
        if value and ((field := read.of(name)) is None or field.value != value):
            raise not_proven("The fields of the new task are not read as they were given.")
    return f"{marker} [ ] {rest}"


def line_of(note: bytes, splice: Splice, line: str) -> int | None:
    """Return the number of a task's line, from 1, if `splice` puts that line into the note.

    It is None if the line is no task there, as in an open code block.
    """
    text = editable(spliced(note, [splice]))
    first = len(note[text.origin : splice.start].decode())
    last = first + len(splice.text.decode())
    for task in text.document.tasks:
        start = task.start
        if first <= start < last and text.text[start : task.end] == line:
            return task.line
    return None


def form_of(placed: Placed, form: str) -> str:
    """Return the format of a line."""
    return placed.form or (EMOJI if form == AUTO else form)
