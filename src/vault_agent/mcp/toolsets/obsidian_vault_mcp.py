"""The toolset `obsidian-vault-mcp`: `note_read`, `note_upsert`, `vault_search`, `task_list`, ….

Each call names a repository: a folder below what the client sees. Paths are relative to it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from vault_agent.api.authoring import ADD_TASK, ADD_TO_DEVLOG, NEW_DECISION, SET_TASK
from vault_agent.api.files import DELETE
from vault_agent.api.lists import GREP, TASKS
from vault_agent.api.writing import WRITE_NOTE
from vault_agent.errors import Forbidden, InvalidRequest, NotFound
from vault_agent.mcp.searching import warnings_of
from vault_agent.mcp.text import printable, size
from vault_agent.mcp.tool import CURSOR, PATH, Tool
from vault_agent.mcp.toolsets.whole import as_json, text_fields, whole_note
from vault_agent.mcp.writing import at_this_moment, perform, write_warnings
from vault_agent.model.identifiers import identify
from vault_agent.model.scope import Scope
from vault_agent.model.write_state import Right
from vault_agent.text.names import NOTE_SUFFIXES
from vault_agent.text.visible import hidden
from vault_agent.wire.base import parse_values
from vault_agent.wire.lists import GrepBody, TasksRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vault_agent.mcp.view import View
    from vault_agent.model.reply import Reply

_LINES = 200
_NAME = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"


def _inside(view: View, given: Mapping[str, Any]) -> View:
    """Return the view of one repository."""
    name = given["repository_name"]
    if not set(name) <= set(_NAME) or name in (".", ".."):
        raise InvalidRequest(
            "INVALID_REQUEST", "repository_name must be the name of one folder: A-Z, 0-9, . _ -"
        )
    scope = view.caller.scope
    return replace(view, caller=replace(view.caller, scope=Scope(scope.outer(name), scope.deny)))


async def _read(view: View, given: Mapping[str, Any]) -> str:
    inside = _inside(view, given)
    path = hidden(given["path"]).strip("/")
    if ".." in path.split("/"):
        raise Forbidden("PATH_OUTSIDE_VAULT", "The path is outside the vault.")
    try:
        note = await whole_note(inside, identify(inside.caller.scope.outer(_note(path))))
    except NotFound as error:
        if error.code != "NOTE_NOT_FOUND":
            raise
        return _json({"content": "", "exists": False})
    return _json({**text_fields(note._replace(body=0), given.get("cursor")), "exists": True})


async def _search(view: View, given: Mapping[str, Any]) -> str:
    inside = _inside(view, given)
    paths = []
    if "path_filter" in given:
        wanted = hidden(given["path_filter"]).strip("/")
        paths = [inside.pattern(wanted if wanted.startswith("**/") else f"**/{wanted}")]
    body = {"pattern": given["query"], "limit": _LINES, "filters": {"paths": paths}}
    reply = await inside.perform(GREP, parse_values(GrepBody, body))
    found = reply.data
    rows = [
        {"path": inside.shown(each.path), "line": each.line, "text": printable(each.text)}
        for each in found.lines
    ]
    if not rows and not found.has_more:
        return _json({"results": [], "warnings": [*_warnings(reply), _NOT_SEARCHED]})
    return _fitting(view, "results", rows, reply, "query or path_filter")


async def _tasks(view: View, given: Mapping[str, Any]) -> str:
    inside = _inside(view, given)
    paths = [inside.pattern(given["path"])] if "path" in given else []
    request = {"path": paths, "status": given["status"], "limit": _LINES}
    reply = await inside.perform(TASKS, parse_values(TasksRequest, request))
    found = reply.data
    rows = [
        {
            "path": inside.shown(each.path),
            "line": each.line,
            "text": printable(each.text),
            "status": each.status,
            "due": each.due,
        }
        for each in found.tasks
    ]
    return _fitting(view, "tasks", rows, reply, "path or status")


async def _upsert(view: View, given: Mapping[str, Any]) -> str:
    inside = _inside(view, given)
    body: dict[str, Any] = {
        "path": _exact(given["path"]),
        "mode": "upsert",
        # As its own server does: a line end, then the text. An open last line is closed anyway.
        "content": given["content"],
    }
    if "frontmatter" in given:
        body["frontmatter"] = given["frontmatter"]
    reply = await perform(inside, WRITE_NOTE, body)
    return _json({"created": reply.data.created, **write_warnings(reply)})


async def _delete(view: View, given: Mapping[str, Any]) -> str:
    inside = _inside(view, given)
    body = {"path": _note(given["path"]), "confirm": True}
    try:
        await perform(inside, DELETE, await at_this_moment(inside, DELETE, body))
    except NotFound as error:
        if error.code != "NOTE_NOT_FOUND":
            raise
        return _json({"deleted": False})
    return _json({"deleted": True})


async def _add_task(view: View, given: Mapping[str, Any]) -> str:
    inside = _inside(view, given)
    names = ("text", "section", "due", "priority")
    body = {name: given[name] for name in names if name in given}
    reply = await perform(inside, ADD_TASK, {**body, "path": _note(given["path"])})
    done = reply.data
    return _json({"path": inside.shown(done.path), "line": done.line, **write_warnings(reply)})


async def _set_task(view: View, given: Mapping[str, Any], status: str) -> str:
    inside = _inside(view, given)
    body = {"path": _note(given["path"]), "line": given["line"], "status": status}
    reply = await perform(inside, SET_TASK, body)
    done = reply.data
    shown = {"path": inside.shown(done.path), "line": done.line, "changed": done.changed}
    return _json({**shown, **write_warnings(reply)})


async def _done(view: View, given: Mapping[str, Any]) -> str:
    return await _set_task(view, given, "done")


async def _toggle(view: View, given: Mapping[str, Any]) -> str:
    return await _set_task(view, given, "toggle")


async def _devlog(view: View, given: Mapping[str, Any]) -> str:
    inside = _inside(view, given)
    body = {name: given[name] for name in ("kind", "topic", "text")}
    reply = await perform(inside, ADD_TO_DEVLOG, body)
    return _json({"path": inside.shown(reply.data.path), **write_warnings(reply)})


async def _adr(view: View, given: Mapping[str, Any]) -> str:
    inside = _inside(view, given)
    body = {name: given[name] for name in ("title", "content") if name in given}
    reply = await perform(inside, NEW_DECISION, body)
    return _json({"path": inside.shown(reply.data.path), **write_warnings(reply)})


def _exact(path: str) -> str:
    """Return a path without outer slashes. `..` is refused by the operation."""
    return hidden(path).strip("/")


def _note(path: str) -> str:
    """Return the path of a note that exists. `.md` may be left out, as when it was created."""
    exact = _exact(path)
    return exact if exact.lower().endswith(NOTE_SUFFIXES) else f"{exact}{NOTE_SUFFIXES[0]}"


def _fitting(
    view: View, name: str, rows: list[dict[str, Any]], reply: Reply[Any], narrower: str
) -> str:
    """Return as many of the rows as fit, and whether there are more. They are in a reply twice.

    `narrower` names the arguments that find fewer.
    """
    left = view.max_bytes // 2
    kept = []
    for row in rows:
        left -= size(_json(row)) + 2
        if left < 0:
            break
        kept.append(row)
    more = {"warnings": found} if (found := _warnings(reply)) else {}
    if len(kept) < len(rows) or reply.data.has_more:
        text = f"There are more than these {len(kept)} {name}. Find fewer by {narrower}."
        more = {"warnings": [*more.get("warnings", ()), text]}
    return _json({name: kept, **more})


def _warnings(reply: Reply[Any]) -> list[str]:
    return warnings_of(reply.warnings).get("warnings", [])


_json = as_json
_NOT_SEARCHED = "The frontmatter is not searched."


_REPOSITORY = {"type": "string", "minLength": 1, "maxLength": 64}
_READING = (
    Tool(
        "note_read",
        "Read a note.",
        {"repository_name": _REPOSITORY, "path": PATH, "cursor": CURSOR},
        ("repository_name", "path"),
        _read,
        structured=True,
    ),
    Tool(
        "vault_search",
        "Find lines in notes, below their frontmatter, by a regular expression.",
        {
            "repository_name": _REPOSITORY,
            "query": {"type": "string", "minLength": 1, "maxLength": 1000},
            "path_filter": {**PATH, "description": "Glob, such as devlog/*.md"},
        },
        ("repository_name", "query"),
        _search,
        structured=True,
    ),
    Tool(
        "task_list",
        "List the tasks in notes (`- [ ]`).",
        {
            "repository_name": _REPOSITORY,
            "path": {**PATH, "description": "Folder or glob"},
            "status": {"type": "string", "enum": ["open", "done", "all"], "default": "open"},
        },
        ("repository_name",),
        _tasks,
        structured=True,
    ),
)
_CALL = {"repository_name": _REPOSITORY, "path": PATH}
_TEXT = {"type": "string", "minLength": 1}
_TASK_LINE = {"type": "integer", "minimum": 1}
_WRITING = (
    (
        Right.APPEND,
        Tool(
            "note_upsert",
            "Create a note with frontmatter, or append to it if it exists.",
            {**_CALL, "content": {"type": "string"}, "frontmatter": {"type": "object"}},
            ("repository_name", "path", "content"),
            _upsert,
            structured=True,
            writes=True,
            destructive=False,
        ),
    ),
    (
        Right.DELETE,
        Tool(
            "note_delete",
            "Delete a note. It goes to the trash.",
            _CALL,
            ("repository_name", "path"),
            _delete,
            structured=True,
            writes=True,
            idempotent=True,
        ),
    ),
    (
        Right.APPEND,
        Tool(
            "task_add",
            "Add a task to a note.",
            {
                **_CALL,
                "text": _TEXT,
                "section": _TEXT,
                "due": {"type": "string", "description": "YYYY-MM-DD"},
                "priority": _TEXT,
            },
            ("repository_name", "path", "text"),
            _add_task,
            structured=True,
            writes=True,
            destructive=False,
        ),
    ),
    (
        Right.EDIT,
        Tool(
            "task_done",
            "Complete a task.",
            {**_CALL, "line": _TASK_LINE},
            ("repository_name", "path", "line"),
            _done,
            structured=True,
            writes=True,
            destructive=False,
            idempotent=True,
        ),
    ),
    (
        Right.EDIT,
        Tool(
            "task_toggle",
            "Complete a task, or open it again.",
            {**_CALL, "line": _TASK_LINE},
            ("repository_name", "path", "line"),
            _toggle,
            structured=True,
            writes=True,
            destructive=False,
        ),
    ),
    (
        Right.APPEND,
        Tool(
            "devlog_append",
            "Append one line to the devlog of a topic.",
            {
                "repository_name": _REPOSITORY,
                "kind": {"type": "string", "enum": ["impl", "problem", "insight", "verify"]},
                "topic": _TEXT,
                "text": _TEXT,
            },
            ("repository_name", "kind", "topic", "text"),
            _devlog,
            structured=True,
            writes=True,
            destructive=False,
        ),
    ),
    (
        Right.CREATE,
        Tool(
            "adr_new",
            "Create the record of a decision, with the next number.",
            {"repository_name": _REPOSITORY, "title": _TEXT, "content": {"type": "string"}},
            ("repository_name", "title"),
            _adr,
            structured=True,
            writes=True,
            destructive=False,
        ),
    ),
)


@cache
def obsidian_vault_mcp_tools(rights: frozenset[Right]) -> tuple[Tool, ...]:
    """Return the tools for a client that may write what `rights` say."""
    return (*_READING, *(tool for right, tool in _WRITING if right in rights))
