"""The toolset `agentiso`, as far as it reads. `cursor` is ours, since replies come in pages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from vault_agent.api.lists import NOTES
from vault_agent.api.reading import READ
from vault_agent.markdown import frontmatter
from vault_agent.mcp.arguments import check
from vault_agent.mcp.listing import LIST_TOOL
from vault_agent.mcp.named import named_note
from vault_agent.mcp.reading import READ_TOOL
from vault_agent.mcp.searching import SEARCH_TOOL
from vault_agent.mcp.text import visible
from vault_agent.mcp.tool import CURSOR, PATH, Tool, limit
from vault_agent.mcp.toolsets.whole import whole_text
from vault_agent.wire.base import parse_values
from vault_agent.wire.lists import NotesRequest
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
    note, _ = await named_note(view, given["path"])
    found = await _properties(view, note.note_id)
    shown = found.get(given["key"].lower()) if "key" in given else found
    return json.dumps(shown, ensure_ascii=False)


async def _properties(view: View, note_id: str) -> dict[str, Any]:
    """Return the frontmatter of a note: names in lower case, values as text or lists."""
    request = {"noteId": note_id, "view": "properties", "maxBytes": frontmatter.MAX_BYTES}
    page = (await view.perform(READ, parse_values(PartRequest, request))).data
    return dict(frontmatter.read(page.text).values)


async def _tags(view: View, given: Mapping[str, Any]) -> str:
    note, _ = await named_note(view, given["path"])
    # A name with `*` is a glob here, which matches other notes too.
    sent = {"path": [view.caller.scope.outer(note.path)], "limit": 200}
    request = parse_values(NotesRequest, sent)
    rows = (await view.perform(NOTES, request)).data.notes
    tags = next((row.tags for row in rows if row.note_id == note.note_id), ())
    return "\n".join(f"#{visible(tag)}" for tag in tags) or "No tags."


_TEXT = {"type": "string", "minLength": 1, "maxLength": 1000}
AGENTISO = (
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
    Tool(
        "vault_frontmatter",
        "Get the frontmatter of a note, or one key of it, as JSON.",
        {
            "path": PATH,
            "action": {"type": "string", "enum": ["get"], "default": "get"},
            "key": _TEXT,
        },
        ("path",),
        _frontmatter,
    ),
    Tool(
        "vault_tags",
        "List the tags of a note.",
        {"path": PATH, "action": {"type": "string", "enum": ["list"], "default": "list"}},
        ("path",),
        _tags,
    ),
)
