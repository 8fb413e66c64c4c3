"""The toolset `agentiso`. `cursor` is ours, since replies come in pages.

Its tools know no hashes. Where a write needs one, it is the one at the moment of the call, and undo
keeps the old bytes. Every mode of `vault_write` creates a missing note.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vault_agent.api import files, note_writes
from vault_agent.errors import Conflict
from vault_agent.mcp.listing import list_entries
from vault_agent.mcp.reading import (
    key_of,
    named_note,
    properties_of,
    read_note,
    require_inside,
)
from vault_agent.mcp.searching import search_notes
from vault_agent.mcp.text import as_json, warnings_of
from vault_agent.mcp.tool import check, own_tool
from vault_agent.mcp.toolsets.whole import overwrite_body, text_fields, whole_note
from vault_agent.mcp.writing import (
    at_this_moment,
    change,
    change_frontmatter,
    list_or_change_tags,
)
from vault_agent.model.writing import Right
from vault_agent.text.names import escaped, unescaped

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vault_agent.api.operation import Operation
    from vault_agent.mcp.view import RunTool, Shown, View


def _as(name: str, own_function: RunTool, **names: str) -> RunTool:
    """Return what runs a tool of ours. `names` gives the names that its arguments have here."""
    tool = own_tool(name)

    async def run(view: View, arguments: Mapping[str, Any]) -> Shown:
        renamed = {ours: arguments[theirs] for ours, theirs in names.items() if theirs in arguments}
        require_inside(unescaped(renamed.get("path", "")))
        if "tags" in renamed:
            renamed["tags"] = [renamed["tags"]]
        if "match" in renamed:
            renamed["match"] = "regex" if renamed["match"] else "best"
        return await own_function(view, check(tool, renamed))

    return run


_read_text = _as("vault_read", read_note, path="path", cursor="cursor")


async def _read(view: View, arguments: Mapping[str, Any]) -> Shown:
    if arguments["format"] == "markdown":
        return await _read_text(view, arguments)
    note, _ = await named_note(view, arguments["path"])
    whole = await whole_note(view, note)
    try:
        properties = await properties_of(view, note)
    except Conflict as error:
        if error.code != "FRONTMATTER_INVALID":
            raise
        properties, whole = None, whole._replace(body=0)  # it comes as text, with the rest
    content = {
        "path": escaped(note.path),
        "frontmatter": properties,
        **text_fields(whole, arguments.get("cursor")),
        **warnings_of(whole.warnings),
    }
    return as_json(content)


async def _frontmatter(view: View, arguments: Mapping[str, Any]) -> str:
    if arguments["action"] != "get":
        return await change_frontmatter(view, arguments)
    note, _ = await named_note(view, arguments["path"])
    values = await properties_of(view, note)
    if "key" not in arguments:
        return as_json(values)
    name = key_of(values, arguments["key"])
    return as_json(None if name is None else values[name])


async def _write(view: View, arguments: Mapping[str, Any]) -> str:
    if arguments["mode"] == "append":
        return await change(view, note_writes.write_note, {**arguments, "mode": "upsert"})
    if Right.CREATE in view.rights:
        note = {"path": arguments["path"], "content": arguments["content"]}
        try:
            return await change(view, note_writes.write_note, {**note, "mode": "create"})
        except Conflict as error:
            if error.code != "NOTE_EXISTS":
                raise
    if arguments["mode"] == "overwrite":
        arguments = await overwrite_body(view, arguments)
    return await change(view, note_writes.write_note, arguments)


def _changes_now(operation: Operation[Any, Any], **more: Any) -> RunTool:
    """Return what runs a tool that changes a note as it is at the moment of the call."""

    async def run(view: View, arguments: Mapping[str, Any]) -> str:
        body = await at_this_moment(view, operation, {**arguments, **more})
        return await change(view, operation, body)

    return run


TOOLS: Mapping[str, RunTool] = {
    "vault_read": _read,
    "vault_search": _as(
        "vault_search",
        search_notes,
        query="query",
        match="regex",
        path="path_prefix",
        tags="tag",
        limit="max_results",
        cursor="cursor",
    ),
    "vault_list": _as(
        "vault_list", list_entries, path="path", recursive="recursive", cursor="cursor"
    ),
    "vault_frontmatter": _frontmatter,
    "vault_tags": list_or_change_tags,
    "vault_write": _write,
    "vault_replace": _changes_now(note_writes.write_replace, expectedCount=None),
    "vault_delete": _changes_now(files.write_delete),
}
