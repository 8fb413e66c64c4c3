"""The operations on tasks and templates."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Literal

from vault_agent.api.caller import CallContext
from vault_agent.api.note_writes import (
    make_write,
    path_of,
    write_result,
)
from vault_agent.api.operation import Result, operation, write_operation
from vault_agent.api.requests import NoParams
from vault_agent.errors import InvalidRequest
from vault_agent.markdown.task_edit import Status, TaskAddress
from vault_agent.model.fields import (
    FilePath,
    Line,
    NoteId,
    TaskId,
)
from vault_agent.model.sent import Between, Length, Unreadable
from vault_agent.model.writing import (
    AddTaskBody,
    Right,
    TemplateBody,
    TemplateList,
    TemplateRow,
    WriteBody,
    Written,
)
from vault_agent.search.lists import open_tasks_of
from vault_agent.writing import notes as task_writes
from vault_agent.writing import templates as template_files

if TYPE_CHECKING:
    from vault_agent.vaults.typed_notes import TypedNotes


TaskState = Literal["done", "open", "cancelled", "toggle"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SetTaskBody(WriteBody):
    """The body of `POST /write/tasks/set`: a task by `taskId`, or by its note and line."""

    task_id: TaskId | None = None
    """From `GET /tasks`."""
    path: FilePath | None = None
    note_id: NoteId | None = None
    line: Annotated[int, Between(1, float("inf"))] | None = None
    text: Annotated[Line, Length(0, 4_000)] | None = None
    """The task's text as `GET /tasks` has it, to be sure of the line."""
    only_this_line: bool = False
    """Refuse a task that has moved to another line."""
    status: TaskState

    def __post_init__(self) -> None:
        by_line = (self.path is None) != (self.note_id is None) and self.line is not None
        nothing_else = not {self.path, self.note_id, self.line, self.text} - {None}
        if not (nothing_else if self.task_id is not None else by_line):
            raise Unreadable(
                "one_task", "must have either `taskId`, or `path` or `noteId` with `line`"
            )


@write_operation("/write/tasks/add")
async def add_task(call: CallContext, request: AddTaskBody) -> Result[Written]:
    """Add a task to a note."""
    path = await path_of(call, request.path, request.note_id)
    write = make_write(call.caller, request, "tasks/add", Right.APPEND, may_replan=True)
    section = None
    if request.section is not None:
        section = tuple(heading.strip() for heading in request.section.split(" > "))
    result = await task_writes.add_task(
        call.vault.writer,
        path,
        write,
        request,
        section=section,
        form=call.vault.config.write.tasks_format,
    )
    return write_result(result)


@write_operation("/write/tasks/set")
async def set_task(call: CallContext, request: SetTaskBody) -> Result[Written]:
    """Complete, cancel or open a task."""
    note_id = request.note_id
    if request.task_id is not None:
        note_id, line, digest = request.task_id.split(":")
        wanted = TaskAddress(int(line), digest, only_this_line=request.only_this_line)
    else:
        wanted = TaskAddress(
            request.line or 0, text=request.text, only_this_line=request.only_this_line
        )
    path = await path_of(call, request.path, note_id)
    write = make_write(call.caller, request, "tasks/set", Right.EDIT, may_replan=True)
    result = await task_writes.set_task(
        call.vault.writer,
        path,
        write,
        wanted,
        Status(request.status),
        today=_now().date(),
        form=call.vault.config.write.tasks_format,
        open_tasks=lambda ids: call.vault.reader.read(open_tasks_of, ids),
    )
    return write_result(result)


@write_operation("/write/template")
async def new_from_template(call: CallContext, request: TemplateBody) -> Result[Written]:
    """Make a note from a template."""
    write = make_write(call.caller, request, "template", Right.CREATE)
    if (typed := _typed(call)) is not None:
        return write_result(await typed.create(call.vault, write, request))
    typed_fields = (request.type, request.title, request.content, request.frontmatter)
    if (
        request.template is None
        or request.path is None
        or any(value is not None for value in typed_fields)
    ):
        raise InvalidRequest(
            "INVALID_REQUEST",
            "In this vault a new note needs a `template` and a `path`, and takes no type or title.",
        )
    result = await template_files.create_from_template(
        call.vault.writer,
        call.vault.open_root,
        write,
        request.path,
        template=request.template,
        folder=call.vault.scope.in_vault(call.vault.config.write.template_folder),
        values=request.variables,
        now=_now(),
    )
    return write_result(result)


def _typed(call: CallContext) -> TypedNotes | None:
    """Return what makes notes with types, in a vault that has them."""
    entry = call.app.vaults.entry_of(call.vault)
    return call.app.typed if entry is not None and entry.has_note_types else None


@operation("GET", "/templates", bounded_list="templates", for_named_agents=True)
async def templates(call: CallContext, _: NoParams) -> Result[TemplateList]:
    """List the templates for new notes."""
    if (typed := _typed(call)) is not None:
        found_templates = await typed.templates(call.vault)
    else:
        folder = call.vault.scope.in_vault(call.vault.config.write.template_folder)
        found_templates = await call.vault.in_folder(template_files.templates, folder)
    rows = [
        TemplateRow(template.name, template.path is None, template.path, template.variables)
        for template in found_templates
    ]
    return Result(TemplateList(tuple(rows)))


def _now() -> datetime:
    return datetime.now().astimezone()
