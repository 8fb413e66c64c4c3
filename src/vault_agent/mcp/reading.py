"""`vault_read`: how tools name a note, and what they read of it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from vault_agent.api import reading, search
from vault_agent.errors import Forbidden, InvalidRequest, NotFound
from vault_agent.mcp.text import fenced, printable, size, warning_lines
from vault_agent.model.identifiers import identify
from vault_agent.model.names import NamedNote
from vault_agent.text.names import escaped, fold, unescaped

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from vault_agent.mcp.view import RunTool, View
    from vault_agent.model.names import NamedNotes
    from vault_agent.model.reading import NotePart

MAX_SUGGESTIONS = 5


def require_inside(path: str) -> None:
    """Raise Forbidden `PATH_OUTSIDE_VAULT` for a path with `..`, as writing does."""
    if ".." in path.split("/"):
        raise Forbidden("PATH_OUTSIDE_VAULT", "The path has `..`.")


async def named_note(view: View, path: str) -> tuple[NamedNote, NamedNotes]:
    """Return the note, and the whole answer with the line or heading that the path contains.

    Raises:
        Forbidden: `PATH_OUTSIDE_VAULT`.
        NotFound: `NOTE_NOT_FOUND` with similar paths, or `NOTE_AMBIGUOUS` with all of them, both
            in `details.suggestions`.
        VaultAgentError: as the operation `resolve`.
    """
    require_inside(unescaped(path))
    try:
        resolved = (await view.perform(search.resolve, {"name": unescaped(path)})).data
    except NotFound as error:
        if error.code != "NOTE_NOT_FOUND":
            raise
        similar = [escaped(suggestion) for suggestion in error.details.get("suggestions", ())]
        remedy = "Did you mean:" if similar else "Search for it, or list the notes."
        raise NotFound(
            error.code,
            "no such note.",
            {"suggestions": similar[:MAX_SUGGESTIONS]},
            remedy=remedy,
        ) from None
    if len(resolved.notes) > 1:
        paths = [escaped(note.path) for note in resolved.notes]
        raise NotFound(
            "NOTE_AMBIGUOUS",
            "several notes have this name. Give the path:",
            {"suggestions": paths},
            remedy="",
        )
    return resolved.notes[0], resolved


def note_at(view: View, path: str) -> NamedNote:
    """Return the note at a path of the vault, which need not be in the index."""
    return NamedNote(identify(path), view.caller.scope.to_caller(path), "", "path")


def file_of(view: View, note: NamedNote) -> dict[str, str]:
    """Return the fields of a request for the current file of a note."""
    return {"noteId": note.note_id, "path": view.caller.scope.in_vault(note.path)}


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


TOOLS: Mapping[str, RunTool] = {"vault_read": read_note}


async def frontmatter_json(view: View, path: str, key: str | None) -> str:
    """Return the frontmatter of a note, or one key of it, as JSON between marks.

    Raises:
        VaultAgentError: as the operations `resolve` and `frontmatter`.
    """
    note, _ = await named_note(view, path)
    values = await properties_of(view, note)
    content: Any = values
    if key is not None:
        name = key_of(values, key)
        if name is None:
            return "The note has no such key."
        content = values[name]
    text = json.dumps(content, ensure_ascii=False)
    return fenced(escaped(note.path), "properties", printable(text))


async def properties_of(view: View, note: NamedNote) -> dict[str, Any]:
    """Return the frontmatter of a note, with its names and types as they are.

    Raises:
        VaultAgentError: as the operation `frontmatter`.
    """
    reply = await view.perform(reading.frontmatter, file_of(view, note))
    return reply.data.frontmatter or {}


def key_of(values: Iterable[str], key: str) -> str | None:
    """Return the name in a frontmatter that is `key`, or else one that differs in letter case."""
    names = list(values)
    return key if key in names else next((e for e in names if fold(e) == fold(key)), None)


async def tags_of(view: View, path: str) -> str:
    """Return the tags of a note, one a line.

    Raises:
        VaultAgentError: as the operations `resolve` and `frontmatter`.
    """
    note, _ = await named_note(view, path)
    reply = await view.perform(reading.frontmatter, file_of(view, note))
    tags = reply.data.tags
    return "\n".join([f"#{escaped(tag)}" for tag in tags] or ["No tags."])
