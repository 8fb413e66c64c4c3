"""The toolset `obsidian-vault-mcp`: `note_read`, `vault_search`, `task_list`.

Each call names a repository: a folder below what the client sees. Paths are relative to it.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from vault_agent.api.lists import GREP, TASKS
from vault_agent.errors import Forbidden, InvalidRequest, NotFound
from vault_agent.mcp.text import hidden, printable, size
from vault_agent.mcp.tool import PATH, Tool
from vault_agent.mcp.toolsets.whole import whole_text
from vault_agent.model.identifiers import identify
from vault_agent.model.scope import Scope
from vault_agent.wire.base import parse_values
from vault_agent.wire.lists import GrepBody, TasksRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vault_agent.mcp.view import View

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
        content = await whole_text(inside, identify(inside.caller.scope.outer(path)))
    except NotFound as error:
        if error.code != "NOTE_NOT_FOUND":
            raise
        return _json({"content": "", "exists": False})
    return _json({"content": content, "exists": True})


async def _search(view: View, given: Mapping[str, Any]) -> str:
    inside = _inside(view, given)
    paths = []
    if "path_filter" in given:
        wanted = hidden(given["path_filter"]).strip("/")
        paths = [inside.pattern(wanted if wanted.startswith("**/") else f"**/{wanted}")]
    body = {"pattern": given["query"], "limit": _LINES, "filters": {"paths": paths}}
    found = (await inside.perform(GREP, parse_values(GrepBody, body))).data
    rows = [
        {"path": inside.shown(each.path), "line": each.line, "text": printable(each.text)}
        for each in found.lines
    ]
    return _fitting(view, "results", rows)


async def _tasks(view: View, given: Mapping[str, Any]) -> str:
    inside = _inside(view, given)
    paths = [inside.pattern(given["path"])] if "path" in given else []
    request = {"path": paths, "status": given["status"], "limit": _LINES}
    found = (await inside.perform(TASKS, parse_values(TasksRequest, request))).data
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
    return _fitting(view, "tasks", rows)


def _fitting(view: View, name: str, rows: list[dict[str, Any]]) -> str:
    """Return as many of the rows as fit. They are in a reply twice."""
    left = view.max_bytes // 2
    kept = []
    for row in rows:
        left -= size(_json(row)) + 2
        if left < 0:
            break
        kept.append(row)
    return _json({name: kept})


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


_REPOSITORY = {"type": "string", "minLength": 1, "maxLength": 64}
OBSIDIAN_VAULT_MCP = (
    Tool(
        "note_read",
        "Read a note.",
        {"repository_name": _REPOSITORY, "path": PATH},
        ("repository_name", "path"),
        _read,
        structured=True,
    ),
    Tool(
        "vault_search",
        "Find lines in notes by a regular expression.",
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
