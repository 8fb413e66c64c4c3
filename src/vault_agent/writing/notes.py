"""Writes of one note: new ones, and tasks."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from vault_agent.errors import IndexUnavailable, InvalidRequest
from vault_agent.markdown import edit, task_edit
from vault_agent.markdown import frontmatter_edit as keys
from vault_agent.markdown.address import PartAddress
from vault_agent.markdown.edit import spliced
from vault_agent.markdown.lines import insertable
from vault_agent.markdown.section_edit import edit_section
from vault_agent.model.warning import Warning as Notice
from vault_agent.vault.paths import note_path
from vault_agent.writing.plan import Costly, Planned

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from datetime import date
    from typing import TypeAlias

    from vault_agent.markdown.edit import Splice
    from vault_agent.markdown.task_edit import Status, TaskAddress, TaskEdit
    from vault_agent.markdown.yaml_values import Json
    from vault_agent.model.writing import AddTaskBody, Write, Written
    from vault_agent.writing.vault_writer import VaultWriter

    Properties: TypeAlias = Mapping[str, Json]


async def upsert(
    writer: VaultWriter,
    path: str,
    write: Write,
    content: str,
    properties: Properties | None,
    *,
    blank_line: bool,
) -> Written:
    """Create a note with its frontmatter, or add text at its end if it exists.

    Raises as `VaultWriter.upsert`.
    """
    reply = await writer.upsert(
        note_path(path),
        write,
        whole(content, properties),
        lambda note: edit.append(note, content, blank_line=blank_line),
    )
    if reply.created or not properties:
        return reply
    ignored = Notice.of("FRONTMATTER_IGNORED", "The note exists, so only the text was appended.")
    return replace(reply, warnings=(*reply.warnings, ignored))


def whole(content: str, properties: Properties | None) -> bytes:
    """Return the bytes of a new note.

    Raises:
        InvalidRequest: `INVALID_REQUEST` for text or values that a note cannot contain.
        Conflict: `FRONTMATTER_INVALID` if the content has a frontmatter that cannot take more.
    """
    insertable(content)
    note = content.encode()
    return spliced(note, keys.set_keys(note, properties)) if properties else note


async def add_task(
    writer: VaultWriter,
    path: str,
    write: Write,
    task: AddTaskBody,
    *,
    section: tuple[str, ...] | None,
    form: str,
) -> Written:
    """Add a task at the end of a note, or of a section before its subsections.

    Raises:
        InvalidRequest: `INVALID_REQUEST` if the text is not one line, or would be no task there.
        NotFound: `HEADING_NOT_FOUND`.
        Conflict: `HEADING_AMBIGUOUS`, `TASK_UNSUPPORTED`, `ENCODING_NOT_WRITABLE`.
        VaultAgentError: as `VaultWriter.edit`.
    """
    address = None if section is None else PartAddress(heading=section)
    work = partial(_add, task=task, form=form, address=address)
    return await writer.edit(path, write, Costly(work))


async def set_task(
    writer: VaultWriter,
    path: str,
    write: Write,
    wanted: TaskAddress,
    status: Status,
    *,
    today: date,
    form: str,
    open_tasks: Callable[[Sequence[str]], Awaitable[Sequence[str]]],
) -> Written:
    """Complete, cancel or open a task.

    `open_tasks` takes IDs of tasks, and returns those of open tasks. If the completed task waits
    for open ones, the reply has the warning `TASK_BLOCKED`.

    Raises:
        NotFound: `TASK_NOT_FOUND`.
        Conflict: `TASK_AMBIGUOUS`, `TASK_UNSUPPORTED`, `ENCODING_NOT_WRITABLE`.
        VaultAgentError: as `VaultWriter.edit`.
    """
    last: list[TaskEdit] = []  # of the plan's last run, which is the one that counts

    def planned(_: bytes, task: TaskEdit) -> Planned:
        last[:] = [task]
        return Planned(task.splices, line=task.line)

    work = partial(task_edit.set_status, wanted=wanted, status=status, today=today, form=form)
    reply = await writer.edit(path, write, Costly(work, planned))
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


def _add(note: bytes, task: AddTaskBody, form: str, address: PartAddress | None) -> Planned:
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
    # If the note does not end with a line break, it gets none.
    is_open = text.text and not text.text.endswith(("\r", "\n"))
    content = line if is_open else line + (text.line_end() or "\n")
    if address is not None:
        return [edit_section(note, address, "append", content).splices]
    # After HTML, a list begins only after an empty line.
    return [edit.append(note, content, blank_line=blank) for blank in (False, True)]
