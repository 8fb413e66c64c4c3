"""The toolset `obsidian-vault-mcp`: `note_read`, `note_upsert`, `vault_search`, `task_list`, ….

Each call names a repository: a folder below what the client sees. Paths are relative to it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from vault_agent.api import authoring, files, note_writes, search
from vault_agent.errors import InvalidRequest, NotFound
from vault_agent.mcp.reading import note_at, require_inside
from vault_agent.mcp.text import as_json, count_fitting, printable, warnings_of
from vault_agent.mcp.toolsets.whole import text_fields, whole_note
from vault_agent.mcp.writing import at_this_moment, perform_write, write_warnings
from vault_agent.text.names import NOTE_SUFFIXES, unescaped

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vault_agent.api.operation import Operation
    from vault_agent.mcp.view import RunTool, Shown, View
    from vault_agent.model.reply import Envelope

_LINES = 200
_MOST_CUT = 10
"""Notes that a warning names."""


def _inside(view: View, arguments: Mapping[str, Any]) -> View:
    """Return the view of one repository."""
    name = unescaped(arguments["repository_name"])
    if name.startswith(".") or set(name) & set('/\\*?:<>|"') or not name.isprintable():
        what = "repository_name must be the name of one folder, which does not begin with a dot."
        raise InvalidRequest("INVALID_REQUEST", what)
    scope = view.caller.scope
    rebased = replace(scope, chosen_base=scope.in_vault(name))
    return replace(view, caller=replace(view.caller, scope=rebased))


def _below(inside: View, path: str) -> list[str]:
    """Return the patterns of a path or glob in a repository; of the whole one without a path."""
    wanted = unescaped(path).strip("/")
    if wanted in ("", "."):
        return [inside.caller.scope.base_folder]
    anywhere = "*" in wanted and "/" not in wanted
    return [inside.caller.scope.in_vault(f"**/{wanted}" if anywhere else wanted)]


async def _read(view: View, arguments: Mapping[str, Any]) -> Shown:
    inside = _inside(view, arguments)
    path = _note(arguments["path"])
    require_inside(path)
    try:
        note = await whole_note(inside, note_at(inside, inside.caller.scope.in_vault(path)))
    except NotFound as error:
        if error.code != "NOTE_NOT_FOUND":
            raise
        return {"content": "", "exists": False}
    text = text_fields(note._replace(body=0), arguments.get("cursor"))
    return {**text, "exists": True, **warnings_of(note.warnings)}


async def _search(view: View, arguments: Mapping[str, Any]) -> Shown:
    inside = _inside(view, arguments)
    wanted = unescaped(arguments.get("path_filter", "")).strip("/")
    if set(wanted) & set("*?") and set(wanted) & set("{}[]"):
        what = "path_filter takes `*`, `**` and `?`, neither braces nor brackets."
        raise InvalidRequest("INVALID_REQUEST", what)
    paths = _below(inside, wanted if not wanted or wanted.startswith("**/") else f"**/{wanted}")
    body = {"pattern": arguments["query"], "limit": _LINES, "filters": {"paths": paths}}
    reply = await inside.perform(search.grep, body)
    answer = reply.data
    rows = [
        {"path": inside.shown(line.path), "line": line.line, "text": printable(line.text)}
        for line in answer.lines
    ]
    if not rows and not answer.has_more:
        return {"results": [], "warnings": [*_warnings(reply), _NOT_SEARCHED]}
    cut = dict.fromkeys(inside.shown(line.path) for line in answer.lines if line.more_in_note)
    return _fitting(view, "results", rows, reply, "query or path_filter", cut=list(cut))


async def _tasks(view: View, arguments: Mapping[str, Any]) -> Shown:
    inside = _inside(view, arguments)
    request = {
        "path": _below(inside, arguments.get("path", "")),
        "status": arguments["status"],
        "limit": _LINES,
    }
    reply = await inside.perform(search.tasks, request)
    listed = reply.data
    rows = [
        {
            "path": inside.shown(task.path),
            "line": task.line,
            "text": printable(task.text),
            "status": task.status,
            "due": task.due,
        }
        for task in listed.tasks
    ]
    return _fitting(view, "tasks", rows, reply, "path or status")


async def _upsert(view: View, arguments: Mapping[str, Any]) -> Shown:
    inside, body = _asked(view, arguments)
    # As its own server does: a line end, then the text. An open last line is closed anyway.
    reply = await perform_write(inside, note_writes.write_note, {**body, "mode": "upsert"})
    return {"created": reply.data.created, **write_warnings(reply)}


async def _delete(view: View, arguments: Mapping[str, Any]) -> Shown:
    inside, body = _asked(view, arguments)
    body["confirm"] = True
    try:
        reply = await perform_write(
            inside, files.write_delete, await at_this_moment(inside, files.write_delete, body)
        )
    except NotFound as error:
        if error.code != "NOTE_NOT_FOUND":
            raise
        return {"deleted": False}
    return {"deleted": True, **write_warnings(reply)}


def _writes(operation: Operation[Any, Any], *members: str, **more: Any) -> RunTool:
    """Return what runs a tool whose other arguments are those of an operation that writes.

    The reply has the path of the note, and these members of what was written.
    """

    async def run(view: View, arguments: Mapping[str, Any]) -> Shown:
        inside, body = _asked(view, arguments)
        reply = await perform_write(inside, operation, {**body, **more})
        reply_members = {name: getattr(reply.data, name) for name in members}
        return {"path": inside.shown(reply.data.path), **reply_members, **write_warnings(reply)}

    return run


def _asked(view: View, arguments: Mapping[str, Any]) -> tuple[View, dict[str, Any]]:
    """Return the view of one repository, and the arguments about it."""
    body = {name: value for name, value in arguments.items() if name != "repository_name"}
    if "path" in body:
        body["path"] = _note(body["path"])
    return _inside(view, arguments), body


def _note(path: str) -> str:
    """Return the path of a note. `.md` may be left out, outer slashes too."""
    exact = unescaped(path).strip("/")
    return exact if exact.lower().endswith(NOTE_SUFFIXES) else f"{exact}{NOTE_SUFFIXES[0]}"


def _fitting(
    view: View,
    name: str,
    rows: list[dict[str, Any]],
    reply: Envelope[Any],
    narrower: str,
    *,
    cut: Sequence[str] = (),
) -> Shown:
    """Return as many of the rows as fit, and whether there are more. They are in a reply twice.

    `narrower` names the arguments that find fewer. `cut` has the notes with more than the rows.
    """
    kept = rows[: count_fitting([as_json(row) for row in rows], [], view.max_bytes // 2)]
    warnings = _warnings(reply)
    if cut:
        listed = ", ".join(cut[:_MOST_CUT]) + (", …" if len(cut) > _MOST_CUT else "")
        warnings.append(
            f"Only the first lines of these notes are here. For all of one, give its path as"
            f" path_filter: {listed}"
        )
    if len(kept) < len(rows) or reply.data.has_more:
        warnings.append(f"There are more than these {len(kept)} {name}. Find fewer by {narrower}.")
    return {name: kept, **({"warnings": warnings} if warnings else {})}


def _warnings(reply: Envelope[Any]) -> list[str]:
    return warnings_of(reply.warnings).get("warnings", [])


_NOT_SEARCHED = "The frontmatter is not searched."


TOOLS: Mapping[str, RunTool] = {
    "note_read": _read,
    "vault_search": _search,
    "task_list": _tasks,
    "note_upsert": _upsert,
    "note_delete": _delete,
    "task_add": _writes(authoring.add_task, "line"),
    "task_done": _writes(authoring.set_task, "line", "changed", status="done"),
    "task_toggle": _writes(authoring.set_task, "line", "changed", status="toggle"),
}
