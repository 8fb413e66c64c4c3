"""The operations on tasks, templates, the devlog and decision records."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from vault_agent.api.operation import Found, Http, Operation, check_switch
from vault_agent.api.writing import (
    CREATE_CODES,
    EDIT_CODES,
    asked,
    found,
    path_of,
    visible_path,
    write_operation,
)
from vault_agent.errors import InvalidRequest
from vault_agent.markdown.task_edit import Status, Wanted
from vault_agent.markdown.task_line import NewTask
from vault_agent.model.authoring import DecisionList, Devlog, DevlogKind, TemplateList, TemplateRow
from vault_agent.model.write_state import Right
from vault_agent.search.resolve import resolve
from vault_agent.search.tasks import open_tasks_of
from vault_agent.vaults.typed_notes import NewNote
from vault_agent.wire.requests import NoParams
from vault_agent.wire.writing import (
    AddTaskBody,
    AdrBody,
    DevlogBody,
    DevlogRequest,
    SetTaskBody,
    TemplateBody,
)
from vault_agent.writing.devlog import add_entry, last_entries
from vault_agent.writing.tasks import add_task, set_task
from vault_agent.writing.templates import create_from_template, templates

if TYPE_CHECKING:
    from vault_agent.api.context import CallContext
    from vault_agent.vaults.typed_notes import TypedNotes


async def _add_task(call: CallContext, sent: AddTaskBody) -> Found:
    """Add a task to a note."""
    path = await path_of(call, sent)
    write = asked(call.caller, sent, "tasks/add", Right.APPEND, retries=True)
    task = NewTask(sent.text, sent.due, sent.scheduled, sent.start, sent.priority, sent.recurrence)
    section = None
    if sent.section is not None:
        section = tuple(each.strip() for each in sent.section.split(" > "))
    written = await add_task(
        call.vault.writing,
        path,
        write,
        task,
        section=section,
        form=call.vault.config.write.tasks_format,
        allow_repeat=sent.allow_repeat,
    )
    return found(written)


async def _set_task(call: CallContext, sent: SetTaskBody) -> Found:
    """Complete, cancel or open a task."""
    if sent.task_id is not None:
        note_id, line, digest = sent.task_id.split(":")
        wanted = Wanted(int(line), digest, only_this_line=sent.only_this_line)
    else:
        note_id = sent.note_id or ""
        wanted = Wanted(sent.line or 0, text=sent.text, only_this_line=sent.only_this_line)
    if sent.path is None:
        resolved = await call.vault.read(resolve, note_id, roots=call.vault.roots, scope=call.scope)
        path = call.scope.outer(resolved.notes[0].path)
    else:
        path = sent.path
    path = visible_path(call.caller, path)
    write = asked(call.caller, sent, "tasks/set", Right.EDIT, retries=True)
    written = await set_task(
        call.vault.writing,
        path,
        write,
        wanted,
        Status(sent.status),
        today=_now().date(),
        form=call.vault.config.write.tasks_format,
        open_tasks=lambda ids: call.vault.read(open_tasks_of, ids, call.scope),
    )
    return found(written)


async def _template(call: CallContext, sent: TemplateBody) -> Found:
    """Make a note from a template."""
    write = asked(call.caller, sent, "template", Right.CREATE)
    if (typed := _typed(call)) is not None:
        note = NewNote(
            sent.template,
            sent.path,
            sent.type,
            sent.title,
            sent.variables,
            sent.content,
            sent.frontmatter,
        )
        return found(await typed.create(call.vault, write, note, call.scope))
    more = (sent.type, sent.title, sent.content, sent.frontmatter)
    if sent.template is None or sent.path is None or any(each is not None for each in more):
        raise InvalidRequest(
            "INVALID_REQUEST",
            "In this vault a new note needs a `template` and a `path`, and takes no type or title.",
        )
    written = await create_from_template(
        call.vault.writing,
        call.vault.open_root,
        write,
        sent.path,
        template=sent.template,
        folder=call.scope.outer(call.vault.config.write.template_folder),
        scope=call.scope,
        values=sent.variables,
        now=_now(),
    )
    return found(written)


def _typed(call: CallContext) -> TypedNotes | None:
    """Return what makes notes with types, in a vault that has them."""
    app = call.app
    entry = app.vaults.entry_of(call.vault)
    return app.typed if entry is not None and entry.has_note_types else None


async def _devlog(call: CallContext, sent: DevlogBody) -> Found:
    """Add a line to the devlog of a topic."""
    write = asked(call.caller, sent, "devlog", Right.APPEND, retries=True)
    journals = call.app.journals
    if sent.session_id is not None and journals is None:
        check_switch("journal.enabled", call.vault.config)
    session_id = None
    if journals is not None:
        session_id = await journals.session_of_line(call.vault.identity, sent.session_id)
    written = await add_entry(
        call.vault.writing,
        write,
        call.scope.outer(call.vault.config.write.devlog_folder),
        kind=DevlogKind(sent.kind),
        topic=sent.topic,
        text=sent.text,
        today=_now().date(),
        allow_repeat=sent.allow_repeat,
    )
    if journals is not None and session_id and written.changed and not written.dry_run:
        await journals.add_line(session_id, sent.kind, sent.text)
    return found(written)


async def _adr(call: CallContext, sent: AdrBody) -> Found:
    """Make a decision record with the next number."""
    write = asked(call.caller, sent, "adr", Right.CREATE)
    written = await call.vault.records.create(
        call.vault.writing,
        write,
        call.scope.outer(call.vault.config.write.adr_folder),
        title=sent.title,
        content=sent.content,
        today=_now().date(),
    )
    return found(written)


async def _templates(call: CallContext, _: NoParams) -> Found:
    """List the templates for new notes."""
    if (typed := _typed(call)) is not None:
        known = await typed.templates(call.vault, call.scope)
    else:
        folder = call.scope.outer(call.vault.config.write.template_folder)
        known = await call.vault.in_folder(templates, folder, call.scope)
    rows = [TemplateRow(each.name, each.path is None, each.path, each.variables) for each in known]
    return Found(TemplateList(tuple(rows)))


async def _devlog_entries(call: CallContext, sent: DevlogRequest) -> Found:
    """List the last lines of the devlog, of a topic or of all."""
    folder = call.scope.outer(call.vault.config.write.devlog_folder)
    entries = await call.vault.in_folder(
        last_entries, folder, call.scope, topic=sent.topic, limit=sent.limit
    )
    return Found(Devlog(tuple(entries)))


async def _decisions(call: CallContext, _: NoParams) -> Found:
    """List the decision records in the order of their numbers."""
    folder = call.scope.outer(call.vault.config.write.adr_folder)
    return Found(DecisionList(tuple(await call.vault.records.in_folder(folder, call.scope))))


def _now() -> datetime:
    return datetime.now().astimezone()


TEMPLATES = Operation(
    "templates",
    NoParams,
    _templates,
    (TemplateList,),
    ("VAULT_NOT_FOUND",),
    listed="templates",
    scoped=True,
    http=Http("GET", "/templates"),
)
DEVLOG = Operation(
    "devlog",
    DevlogRequest,
    _devlog_entries,
    (Devlog,),
    ("VAULT_NOT_FOUND", "INVALID_NOTE_NAME"),
    listed="entries",
    scoped=True,
    http=Http("GET", "/devlog"),
)
DECISIONS = Operation(
    "decisions",
    NoParams,
    _decisions,
    (DecisionList,),
    ("VAULT_NOT_FOUND",),
    listed="decisions",
    scoped=True,
    http=Http("GET", "/decisions"),
)
ADD_TASK = write_operation(
    "add_task",
    AddTaskBody,
    _add_task,
    (*EDIT_CODES, "HEADING_NOT_FOUND", "HEADING_AMBIGUOUS", "RECURRENCE_UNSUPPORTED"),
    http=Http("POST", "/write/tasks/add", body=True),
)
SET_TASK = write_operation(
    "set_task",
    SetTaskBody,
    _set_task,
    (
        *EDIT_CODES,
        "TASK_NOT_FOUND",
        "TASK_AMBIGUOUS",
        "RECURRENCE_UNSUPPORTED",
        "TASK_HAS_CHILDREN",
    ),
    http=Http("POST", "/write/tasks/set", body=True),
)
NEW_FROM_TEMPLATE = write_operation(
    "new_from_template",
    TemplateBody,
    _template,
    (
        *CREATE_CODES,
        "TEMPLATE_NOT_FOUND",
        "TEMPLATE_VARIABLE_MISSING",
        "TEMPLATE_UNSUPPORTED",
    ),
    http=Http("POST", "/write/template", body=True),
)
ADD_TO_DEVLOG = write_operation(
    "add_to_devlog",
    DevlogBody,
    _devlog,
    (*EDIT_CODES, *CREATE_CODES, "SESSION_NOT_FOUND"),
    http=Http("POST", "/write/devlog", body=True),
)
NEW_DECISION = write_operation(
    "new_decision", AdrBody, _adr, CREATE_CODES, http=Http("POST", "/write/adr", body=True)
)

AUTHORING_READS: tuple[Operation[Any, Any], ...] = (TEMPLATES, DEVLOG, DECISIONS)
AUTHORING_WRITES: tuple[Operation[Any, Any], ...] = (
    ADD_TASK,
    SET_TASK,
    NEW_FROM_TEMPLATE,
    ADD_TO_DEVLOG,
    NEW_DECISION,
)
"""In the order of the reference."""
