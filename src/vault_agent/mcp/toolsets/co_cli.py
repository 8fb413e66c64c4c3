"""The toolset `co-cli`: `search_notes`, `list_notes`, `read_note`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vault_agent.api import search
from vault_agent.mcp.reading import named_note
from vault_agent.mcp.text import (
    count_fitting,
    excerpt,
    fenced,
    fitting,
    printable,
    warning_lines,
    warnings_of,
)
from vault_agent.mcp.toolsets.whole import part_of, whole_note

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vault_agent.mcp.view import RunTool, Shown, View
    from vault_agent.model.lists import NoteList
    from vault_agent.model.reply import Envelope

_PAGE = 200
_JSON_SHARE = 3
"""JSON escapes make a text longer, and it is in a reply twice."""


async def _search(view: View, arguments: Mapping[str, Any]) -> Shown:
    body = {
        "query": arguments["query"],
        "match": "all",
        "limit": arguments["limit"],
        "filters": {
            "paths": view.patterns(arguments.get("folder")),
            "tags": (arguments["tag"],) if "tag" in arguments else (),
        },
    }
    reply = await view.perform(search.search, body)
    hits = reply.data.results
    lines = [f"- {view.shown(hit.path)}: {excerpt(hit.snippet, hit.matches)}" for hit in hits]
    return {
        "display": fitting(lines, [], view.max_bytes // _JSON_SHARE),
        "count": len(hits),
        "has_more": reply.data.has_more,
        **warnings_of(reply.warnings),
    }


async def _list(view: View, arguments: Mapping[str, Any]) -> Shown:
    """List as many notes as fit, and return the cursor that continues after the last of them."""
    reply = await _notes(view, arguments, _PAGE)
    lines = [f"- {view.shown(note.path)}" for note in reply.data.notes]
    kept = count_fitting(lines, [], view.max_bytes // _JSON_SHARE)
    if kept < len(lines):
        lines = lines[: max(kept, 1)]
        reply = await _notes(view, arguments, len(lines))
    cursor = reply.data.next_cursor
    following = {} if cursor is None else {"next": cursor}
    page_of_notes = {"display": "\n".join(lines), "count": reply.data.total}
    return {**page_of_notes, **following, **warnings_of(reply.warnings)}


async def _notes(view: View, arguments: Mapping[str, Any], limit: int) -> Envelope[NoteList]:
    scope = view.caller.scope
    request = {
        "path": [scope.base_folder] if scope.base_folder else [],
        "tag": [arguments["tag"]] if "tag" in arguments else [],
        "limit": limit,
        "cursor": arguments.get("cursor"),
    }
    return await view.perform(search.notes, request)


async def _read(view: View, arguments: Mapping[str, Any]) -> str:
    note, _ = await named_note(view, arguments["filename"])
    whole = await whole_note(view, note)
    as_it_is = printable(whole.text) == whole.text and not whole.warnings
    if whole.fits and as_it_is and "cursor" not in arguments:
        return whole.text
    # Between marks, which tell a part from the note.
    part = part_of(whole._replace(body=0), arguments.get("cursor"))
    text = [fenced(view.shown(note.path), part.lines, printable(part.text))]
    if part.next is not None:
        text.append(f"next: {part.next}")
    return "\n".join([*text, *warning_lines(whole.warnings)])


TOOLS: Mapping[str, RunTool] = {"search_notes": _search, "list_notes": _list, "read_note": _read}
