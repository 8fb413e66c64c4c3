"""The line of a task that is added."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vault_agent.errors import Conflict, InvalidRequest

from .edit import editable, insertable, not_proven, spliced
from .recurrence import SUPPORTED, parse_rule
from .task_fields import EMOJI, placed_fields, written

if TYPE_CHECKING:
    from .edit import Splice, Text
    from .task_fields import Placed

AUTO = "auto"
"""The setting by which a line without fields gets emoji."""


@dataclass(frozen=True, slots=True)
class NewTask:
    """A task to add. Days are ISO dates."""

    text: str
    due: str | None = None
    scheduled: str | None = None
    start: str | None = None
    priority: str | None = None
    recurrence: str | None = None


def new_line(note: Text, task: NewTask, form: str = AUTO) -> str:
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
        used = note.text[tasks[-1].place.start : tasks[-1].place.box].strip(" \t>")
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
        start = task.place.start
        if first <= start < last and text.text[start : task.place.end] == line:
            return task.line
    return None


def form_of(placed: Placed, form: str) -> str:
    """Return the format of a line."""
    return placed.form or (EMOJI if form == AUTO else form)
