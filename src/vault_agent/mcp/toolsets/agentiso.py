"""The toolset `agentiso`. `cursor` is ours, since replies come in pages.

Its tools know no hashes. Where a write needs one, it is the one at the moment of the call, and undo
keeps the old bytes. Every mode of `vault_write` creates a missing note.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from vault_agent.api import files, note_writes
from vault_agent.errors import Conflict
from vault_agent.mcp.listing import LIST_TOOL
from vault_agent.mcp.reading import READ_TOOL, key_of, named_note, properties_of, require_inside
from vault_agent.mcp.searching import SEARCH_TOOL
from vault_agent.mcp.text import as_json, warnings_of
from vault_agent.mcp.tool import (
    CURSOR,
    FALSE,
    LINE,
    PATH,
    STRING,
    TEXT,
    TRUE,
    Tool,
    allowed,
    check,
    limit,
    one_of,
)
from vault_agent.mcp.toolsets.whole import EXPECTED_HASH, overwrite_body, text_fields, whole_note
from vault_agent.mcp.writing import (
    at_this_moment,
    change,
    change_frontmatter,
    list_or_change_tags,
)
from vault_agent.model.writing import Right
from vault_agent.text.names import hidden, visible

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vault_agent.api.operation import Operation
    from vault_agent.mcp.tool import Run, Schema, Shown
    from vault_agent.mcp.view import View


def _as(tool: Tool, **names: str) -> Run:
    """Return what runs a tool of ours. `names` gives the names that its arguments have here."""

    async def run(view: View, arguments: Mapping[str, Any]) -> Shown:
        renamed = {ours: arguments[theirs] for ours, theirs in names.items() if theirs in arguments}
        require_inside(hidden(renamed.get("path", "")))
        if "tags" in renamed:
            renamed["tags"] = [renamed["tags"]]
        if "match" in renamed:
            renamed["match"] = "regex" if renamed["match"] else "best"
        return await tool.run(view, check(tool, renamed))

    return run


_read_text = _as(READ_TOOL, path="path", cursor="cursor")


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
        "path": visible(note.path),
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


def _changes_now(operation: Operation[Any, Any], **more: Any) -> Run:
    """Return what runs a tool that changes a note as it is at the moment of the call."""

    async def run(view: View, arguments: Mapping[str, Any]) -> str:
        body = await at_this_moment(view, operation, {**arguments, **more})
        return await change(view, operation, body)

    return run


_READING = (
    Tool(
        "vault_read",
        "Read a note.",
        {
            "path": PATH,
            "format": one_of("markdown", "json", default="markdown"),
            "cursor": CURSOR,
        },
        ("path",),
        _read,
    ),
    Tool(
        "vault_search",
        "Search the user's notes, by words or by a regular expression.",
        {
            "query": TEXT,
            "regex": FALSE,
            "path_prefix": {**PATH, "description": "Folder or glob"},
            "tag": TEXT,
            "max_results": limit(50, 10),
            "cursor": CURSOR,
        },
        ("query",),
        _as(
            SEARCH_TOOL,
            query="query",
            match="regex",
            path="path_prefix",
            tags="tag",
            limit="max_results",
            cursor="cursor",
        ),
    ),
    Tool(
        "vault_list",
        "List the notes of a folder.",
        {"path": PATH, "recursive": TRUE, "cursor": CURSOR},
        (),
        _as(LIST_TOOL, path="path", recursive="recursive", cursor="cursor"),
    ),
)


@cache
def agentiso_tools(rights: frozenset[Right]) -> tuple[Tool, ...]:
    """Return the tools for a client that may write what `rights` say."""
    modes = [mode for mode, right in _MODES.items() if right in rights]
    return (
        *_READING,
        *_of_properties(edits=Right.EDIT in rights),
        *([_write_tool(modes)] if modes else ()),
        *allowed(_WRITING, rights),
    )


def _of_properties(*, edits: bool) -> tuple[Tool, Tool]:
    """Return the tools of frontmatter and tags, which only read without the right to edit."""
    value: dict[str, Schema] = {"value": {"description": "Any JSON"}} if edits else {}
    tag: dict[str, Schema] = {"tag": TEXT} if edits else {}
    changes = ("set", "delete"), ("add", "remove")
    to_key, to_tag = changes if edits else ((), ())
    return (
        Tool(
            "vault_frontmatter",
            "Get, set or delete the frontmatter of a note, as JSON."
            if edits
            else "Get the frontmatter of a note, or one key of it, as JSON.",
            {"path": PATH, "action": one_of("get", *to_key, default="get"), "key": TEXT, **value},
            ("path",),
            _frontmatter,
            writes=edits,
            idempotent=True,
        ),
        Tool(
            "vault_tags",
            "Add, remove or list the tags of a note." if edits else "List the tags of a note.",
            {"path": PATH, "action": one_of("list", *to_tag, default="list"), **tag},
            ("path",),
            list_or_change_tags,
            writes=edits,
            idempotent=True,
        ),
    )


_MODES = {"overwrite": Right.OVERWRITE, "append": Right.APPEND, "prepend": Right.EDIT}


def _write_tool(modes: list[str]) -> Tool:
    return Tool(
        "vault_write",
        "Create or update a note.",
        {
            "path": PATH,
            "content": STRING,
            "mode": one_of(*modes, default=modes[0]),
            **({"expectedHash": EXPECTED_HASH} if "overwrite" in modes else {}),
        },
        ("path", "content"),
        _write,
        writes=True,
    )


_WRITING = (
    Tool(
        "vault_replace",
        "Replace all matches of a text in a note. `regex` is RE2.",
        {"path": PATH, "search": LINE, "replace": STRING, "regex": FALSE},
        ("path", "search", "replace"),
        _changes_now(note_writes.write_replace, expectedCount=None),
        right=Right.EDIT,
        writes=True,
    ),
    Tool(
        "vault_delete",
        "Delete a note. It goes to the trash.",
        {"path": PATH, "confirm": {"type": "boolean"}},
        ("path", "confirm"),
        _changes_now(files.write_delete),
        right=Right.DELETE,
        writes=True,
        idempotent=True,
    ),
)
