"""Writes of tasks."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from vault_agent.errors import IndexUnavailable, InvalidRequest
from vault_agent.markdown import edit, task_edit
from vault_agent.markdown.address import PartAddress
from vault_agent.markdown.section_edit import edit_section
from vault_agent.model.warning import Warning as Notice
from vault_agent.writing.costly import Costly
from vault_agent.writing.transaction import Planned

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from datetime import date

    from vault_agent.markdown.edit import Splice
    from vault_agent.markdown.task_edit import NewTask, Status, TaskAddress, TaskEdit
    from vault_agent.model.writing import Write, Written
    from vault_agent.writing.write import Writing


async def add_task(
    writing: Writing,
    path: str,
    write: Write,
    task: NewTask,
    *,
    section: tuple[str, ...] | None,
    form: str,
) -> Written:
    """Add a task at the end of a note, or of a section before its subsections.

    Raises:
        InvalidRequest: `INVALID_REQUEST` if the text is not one line, or would be no task there.
        NotFound: `HEADING_NOT_FOUND`.
        Conflict: `HEADING_AMBIGUOUS`, `TASK_UNSUPPORTED`, `ENCODING_NOT_WRITABLE`.
        VaultAgentError: as `Writing.edit`.
    """
    address = None if section is None else PartAddress(heading=section)
    work = partial(_added, task=task, form=form, address=address)
    return await writing.edit(path, write, Costly(work, lambda _, planned: planned))


async def set_task(
    writing: Writing,
    path: str,
    write: Write,
    wanted: TaskAddress,
    status: Status,
    *,
    today: date,
    form: str,
    open_tasks: Callable[[Sequence[str]], Awaitable[Sequence[str]]],
) -> Written:
    """Complete, cancel or open a task. `open_tasks` returns those of some IDs that are open.

    If a task is completed that waits for others which are open, the reply warns `TASK_BLOCKED`.

    Raises:
        NotFound: `TASK_NOT_FOUND`.
        Conflict: `TASK_AMBIGUOUS`, `TASK_UNSUPPORTED`, `ENCODING_NOT_WRITABLE`.
        VaultAgentError: as `Writing.edit`.
    """
    last: list[TaskEdit] = []

    def planned(_: bytes, task: TaskEdit) -> Planned:
        last[:] = [task]
        return Planned(task.splices, line=task.line)

    work = partial(task_edit.set_status, wanted=wanted, status=status, today=today, form=form)
    reply = await writing.edit(path, write, Costly(work, planned))
    if not last or not last[0].completed or not last[0].depends_on:
        return reply
    try:
        blocking = await open_tasks(last[0].depends_on)
    except IndexUnavailable:
        return reply
    if not blocking:
        return reply
    what = "The task was to be done after another one that is still open."
    warning = Notice.of("TASK_BLOCKED", what, {"ids": list(blocking)})
    return replace(reply, warnings=(*reply.warnings, warning))


def _added(note: bytes, task: NewTask, form: str, address: PartAddress | None) -> Planned:
    """Return the edit that adds a task to a note."""
    text = edit.editable(note)
    line = task_edit.new_line(text, task, form)
    for splices in _additions(note, text, line, address):
        number = task_edit.line_of(note, splices[0], line)
        if number is not None:
            return Planned(splices, line=number)
    raise InvalidRequest(
        "INVALID_REQUEST",
        "The task would be in code or a comment that is never closed.",
        remedy="Close it, or name a section before it.",
    )


def _additions(
    note: bytes, text: edit.Text, line: str, address: PartAddress | None
) -> Sequence[tuple[Splice, ...]]:
    """Return the ways to add a line, the preferred one first."""
    # The last line of the note stays open only where it was.
    is_open = text.text and not text.text.endswith(("\r", "\n"))
    content = line if is_open else line + (text.line_end() or "\n")
    if address is not None:
        return [edit_section(note, address, "append", content).splices]
    # Behind HTML only an empty line begins a list.
    return [edit.append(note, content, blank_line=blank) for blank in (False, True)]
