"""`vault_read`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from vault_agent.api import reading
from vault_agent.errors import InvalidRequest
from vault_agent.mcp.named import file_of, named_note
from vault_agent.mcp.searching import warning_lines
from vault_agent.mcp.text import fenced, printable, size
from vault_agent.mcp.tool import CURSOR, PATH, Tool, one_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vault_agent.mcp.view import View
    from vault_agent.model.reading import NotePart

HASH_DIGITS = 16
"""Digits of a hash that replies show. They are enough to name one state of a note."""

_ENVELOPE_BYTES = 1_500
"""Bytes reserved for the fence with its path, the hash, the cursor and warnings."""
_LINES = re.compile(r"\s*([0-9]{1,9})\s*(?:-\s*([0-9]{1,9})?)?\s*")


async def read_note(view: View, arguments: Mapping[str, Any]) -> str:
    """Return a page of a note. `arguments` are the arguments of `vault_read`.

    Raises:
        VaultAgentError: as the operations `resolve` and `read`.
    """
    note, match = await named_note(view, arguments["path"])
    first, last = _lines(arguments.get("lines"))
    request = {
        **file_of(view, note),
        "view": arguments["view"],
        "section": arguments.get("section") or (None if "lines" in arguments else match.heading),
        "firstLine": first,
        "lastLine": last,
        "maxBytes": text_room(view, note.path),
        "cursor": arguments.get("cursor"),
    }
    reply = await view.perform(reading.read, request)
    return "\n".join([*_page(view, reply.data, arguments["view"]), *warning_lines(reply.warnings)])


def text_room(view: View, path: str) -> int:
    """Return the bytes that the text of a note may have in a reply."""
    return max(view.max_bytes - _ENVELOPE_BYTES - 2 * size(path), 500)


def _page(view: View, page: NotePart, view_name: str) -> list[str]:
    if not page.text and view_name == "properties":
        return ["The note has no properties."]
    if not page.text and view_name == "outline":
        return ["The note has no headings."]
    if view_name == "text":
        lines = f"{page.start_line}-{page.end_line} of {page.lines}"
    else:
        lines = f"{view_name} of {page.lines}"
    text = [fenced(view.shown(page.path), lines, printable(page.text))]
    if page.note_hash is not None:
        text.append(f"hash: {page.note_hash[:HASH_DIGITS]}")
    if page.section_hash is not None:
        text.append(f"sectionHash: {page.section_hash[:HASH_DIGITS]}")
    if page.next_cursor is not None:
        text.append(f"next: {page.next_cursor}")
    return text


def _lines(lines: str | None) -> tuple[int, int | None]:
    if lines is None:
        return 1, None
    match = _LINES.fullmatch(lines)
    if match is None or int(match[1]) < 1 or (match[2] and int(match[2]) < int(match[1])):
        raise InvalidRequest("INVALID_REQUEST", "lines must be like 40-80 or 40-.")
    last = int(match[2]) if match[2] else (None if "-" in lines else int(match[1]))
    return int(match[1]), last


READ_TOOL = Tool(
    "vault_read",
    "Read a note, or only a section or some lines of it. Long notes come in pages: pass `cursor`"
    " for the next.",
    {
        "path": {**PATH, "description": "As results show it, or the note's name"},
        "section": {
            "type": "string",
            "maxLength": 1000,
            "description": "Heading, or `A > B`, or `^block`",
        },
        "lines": {"type": "string", "maxLength": 30, "description": "`40-80` or `40-`"},
        "view": one_of("text", "outline", "properties", default="text"),
        "cursor": CURSOR,
    },
    ("path",),
    read_note,
)
