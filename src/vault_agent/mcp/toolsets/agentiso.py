"""The toolset `agentiso`. `cursor` is ours, since replies come in pages.

Its tools know no hashes. Where a write needs one, it is the one at the moment of the call, and undo
keeps the old bytes. Every mode of `vault_write` creates a missing note.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from vault_agent.api.files import DELETE
from vault_agent.api.reading import READ
from vault_agent.api.writing import CHANGE_TAGS, REPLACE, SET_FRONTMATTER, WRITE_NOTE
from vault_agent.errors import Conflict, InvalidRequest
from vault_agent.markdown import frontmatter
from vault_agent.mcp.arguments import check
from vault_agent.mcp.listing import LIST_TOOL
from vault_agent.mcp.named import named_note
from vault_agent.mcp.notes import tags_of
from vault_agent.mcp.reading import READ_TOOL
from vault_agent.mcp.searching import SEARCH_TOOL
from vault_agent.mcp.text import visible
from vault_agent.mcp.tool import CURSOR, PATH, Tool, limit
from vault_agent.mcp.toolsets.whole import whole_text
from vault_agent.mcp.writing import at_this_moment, change
from vault_agent.model.writing import Right
from vault_agent.wire.base import parse_values
from vault_agent.wire.reading import PartRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vault_agent.mcp.view import View


async def _ours(tool: Tool, view: View, given: Mapping[str, Any], **names: str) -> str:
    """Run a tool of ours. `names` gives the names that its arguments have here."""
    sent = {ours: given[theirs] for ours, theirs in names.items() if theirs in given}
    if "tags" in sent:
        sent["tags"] = [sent["tags"]]
    if "match" in sent:
        sent["match"] = "regex" if sent["match"] else "best"
    return await tool.run(view, check(tool.name, tool.schema, sent))


async def _read(view: View, given: Mapping[str, Any]) -> str:
    if given["format"] == "markdown":
        return await _ours(READ_TOOL, view, given, path="path", cursor="cursor")
    note, _ = await named_note(view, given["path"])
    text = await whole_text(view, note.note_id)
    end = frontmatter.read(text).end
    content = {
        "path": visible(note.path),
        "frontmatter": await _properties(view, note.note_id),
        "content": text[end:],
    }
    return json.dumps(content, ensure_ascii=False)


async def _search(view: View, given: Mapping[str, Any]) -> str:
    return await _ours(
        SEARCH_TOOL,
        view,
        given,
        query="query",
        match="regex",
        path="path_prefix",
        tags="tag",
        limit="max_results",
        cursor="cursor",
    )


async def _list(view: View, given: Mapping[str, Any]) -> str:
    return await _ours(LIST_TOOL, view, given, path="path", recursive="recursive", cursor="cursor")


async def _frontmatter(view: View, given: Mapping[str, Any]) -> str:
    if given["action"] == "get":
        note, _ = await named_note(view, given["path"])
        found = await _properties(view, note.note_id)
        shown = found.get(given["key"].lower()) if "key" in given else found
        return json.dumps(shown, ensure_ascii=False)
    if "key" not in given:
        raise InvalidRequest("INVALID_REQUEST", "key is missing. Give it as text.")
    if given["action"] == "set" and "value" not in given:
        raise InvalidRequest("INVALID_REQUEST", "value is missing. Give it as JSON.")
    key = given["key"]
    what = {"delete": [key]} if given["action"] == "delete" else {"set": {key: given.get("value")}}
    return await change(view, SET_FRONTMATTER, {"path": given["path"], **what})


async def _properties(view: View, note_id: str) -> dict[str, Any]:
    """Return the frontmatter of a note: names in lower case, values as text or lists."""
    request = {"noteId": note_id, "view": "properties", "maxBytes": frontmatter.MAX_BYTES}
    page = (await view.perform(READ, parse_values(PartRequest, request))).data
    return dict(frontmatter.read(page.text).values)


async def _tags(view: View, given: Mapping[str, Any]) -> str:
    if given["action"] == "list":
        return await tags_of(view, given["path"])
    if "tag" not in given:
        raise InvalidRequest("INVALID_REQUEST", "tag is missing. Give it as text.")
    what = {given["action"]: [given["tag"].removeprefix("#")]}
    return await change(view, CHANGE_TAGS, {"path": given["path"], **what})


async def _write(view: View, given: Mapping[str, Any]) -> str:
    note = {"path": given["path"], "content": given["content"]}
    if given["mode"] == "append":
        return await change(view, WRITE_NOTE, {**note, "mode": "upsert"})
    if Right.CREATE in view.rights:
        try:
            return await change(view, WRITE_NOTE, {**note, "mode": "create"})
        except Conflict as error:
            if error.code != "NOTE_EXISTS":
                raise
    body = {**note, "mode": given["mode"]}
    if given["mode"] == "overwrite":
        body = await at_this_moment(view, WRITE_NOTE, body)
    return await change(view, WRITE_NOTE, body)


async def _replace(view: View, given: Mapping[str, Any]) -> str:
    body = {
        "path": given["path"],
        "search": given["search"],
        "replace": given["replace"],
        "regex": given["regex"],
        "expectedCount": None,
    }
    return await change(view, REPLACE, await at_this_moment(view, REPLACE, body))


async def _delete(view: View, given: Mapping[str, Any]) -> str:
    body = {"path": given["path"], "confirm": given["confirm"]}
    return await change(view, DELETE, await at_this_moment(view, DELETE, body))


_TEXT = {"type": "string", "minLength": 1, "maxLength": 1000}
_READING = (
    Tool(
        "vault_read",
        "Read a note.",
        {
            "path": PATH,
            "format": {"type": "string", "enum": ["markdown", "json"], "default": "markdown"},
            "cursor": CURSOR,
        },
        ("path",),
        _read,
    ),
    Tool(
        "vault_search",
        "Search the user's notes, by words or by a regular expression.",
        {
            "query": _TEXT,
            "regex": {"type": "boolean", "default": False},
            "path_prefix": PATH,
            "tag": _TEXT,
            "max_results": limit(50, 10),
            "cursor": CURSOR,
        },
        ("query",),
        _search,
    ),
    Tool(
        "vault_list",
        "List the notes of a folder.",
        {"path": PATH, "recursive": {"type": "boolean", "default": True}, "cursor": CURSOR},
        (),
        _list,
    ),
)


@cache
def agentiso_tools(rights: frozenset[Right]) -> tuple[Tool, ...]:
    """Return the tools for a client that may write what `rights` say."""
    edits = Right.EDIT in rights
    found = [
        *_READING,
        Tool(
            "vault_frontmatter",
            "Get, set or delete the frontmatter of a note, as JSON."
            if edits
            else "Get the frontmatter of a note, or one key of it, as JSON.",
            {
                "path": PATH,
                "action": _actions("get", "set", "delete", edits=edits),
                "key": _TEXT,
                **({"value": {"description": "Any JSON"}} if edits else {}),
            },
            ("path",),
            _frontmatter,
            writes=edits,
            idempotent=True,
        ),
        Tool(
            "vault_tags",
            "Add, remove or list the tags of a note." if edits else "List the tags of a note.",
            {
                "path": PATH,
                "action": _actions("list", "add", "remove", edits=edits),
                **({"tag": _TEXT} if edits else {}),
            },
            ("path",),
            _tags,
            writes=edits,
            idempotent=True,
        ),
    ]
    modes = [mode for mode, right in _MODES.items() if right in rights]
    if modes:
        found.append(
            Tool(
                "vault_write",
                "Create or update a note.",
                {
                    "path": PATH,
                    "content": {"type": "string"},
                    "mode": {"type": "string", "enum": modes, "default": modes[0]},
                },
                ("path", "content"),
                _write,
                writes=True,
            )
        )
    if edits:
        found.append(_REPLACE)
    if Right.DELETE in rights:
        found.append(_DELETE)
    return tuple(found)


def _actions(reading: str, *writing: str, edits: bool) -> dict[str, Any]:
    names = [reading, *(writing if edits else ())]
    return {"type": "string", "enum": names, "default": reading}


_MODES = {"overwrite": Right.OVERWRITE, "append": Right.APPEND, "prepend": Right.EDIT}
_REPLACE = Tool(
    "vault_replace",
    "Replace all matches of a text in a note. `regex` is RE2.",
    {
        "path": PATH,
        "search": {"type": "string", "minLength": 1},
        "replace": {"type": "string"},
        "regex": {"type": "boolean", "default": False},
    },
    ("path", "search", "replace"),
    _replace,
    writes=True,
)
_DELETE = Tool(
    "vault_delete",
    "Delete a note. It goes to the trash.",
    {"path": PATH, "confirm": {"type": "boolean"}},
    ("path", "confirm"),
    _delete,
    writes=True,
    idempotent=True,
)
