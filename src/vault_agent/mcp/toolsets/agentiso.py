"""The toolset `agentiso`. `cursor` is ours, since replies come in pages.

Its tools know no hashes. Where a write needs one, it is the one at the moment of the call, and undo
keeps the old bytes. Every mode of `vault_write` creates a missing note.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from vault_agent.api.files import DELETE
from vault_agent.api.writing import CHANGE_TAGS, FRONTMATTER, REPLACE, SET_FRONTMATTER, WRITE_NOTE
from vault_agent.errors import Conflict, InvalidRequest
from vault_agent.mcp.arguments import check
from vault_agent.mcp.listing import LIST_TOOL
from vault_agent.mcp.named import named_note
from vault_agent.mcp.notes import key_of, tags_of
from vault_agent.mcp.reading import READ_TOOL
from vault_agent.mcp.searching import SEARCH_TOOL
from vault_agent.mcp.tool import CURSOR, PATH, Tool, limit
from vault_agent.mcp.toolsets.whole import (
    EXPECTED_HASH,
    as_json,
    overwrite_body,
    text_fields,
    whole_note,
)
from vault_agent.mcp.writing import at_this_moment, change
from vault_agent.model.write_state import Right
from vault_agent.text.visible import visible
from vault_agent.wire.writing import NoteParams

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
    whole = await whole_note(view, note.note_id)
    try:
        properties = await _properties(view, note.note_id)
    except Conflict as error:
        if error.code != "FRONTMATTER_INVALID":
            raise
        properties, whole = None, whole._replace(body=0)  # it comes as text, with the rest
    content = {
        "path": visible(note.path),
        "frontmatter": properties,
        **text_fields(whole, given.get("cursor")),
    }
    return as_json(content)


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
        found = await _properties(view, note.note_id) or {}
        if "key" not in given:
            return as_json(found)
        name = key_of(found, given["key"])
        return as_json(None if name is None else found[name])
    if "key" not in given:
        raise InvalidRequest("INVALID_REQUEST", "key is missing. Give it as text.")
    if given["action"] == "set" and "value" not in given:
        raise InvalidRequest("INVALID_REQUEST", "value is missing. Give it as JSON.")
    key = given["key"]
    what = {"delete": [key]} if given["action"] == "delete" else {"set": {key: given.get("value")}}
    return await change(view, SET_FRONTMATTER, {"path": given["path"], **what})


async def _properties(view: View, note_id: str) -> dict[str, Any] | None:
    """Return the frontmatter of a note, with its names and types as they are."""
    found: dict[str, Any] = (
        await view.perform(FRONTMATTER, NoteParams(note_id=note_id))
    ).data.frontmatter
    return found


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
        expected = {name: given[name] for name in ("expectedHash",) if name in given}
        body = await overwrite_body(view, {**body, **expected})
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
                    **({"expectedHash": EXPECTED_HASH} if "overwrite" in modes else {}),
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
