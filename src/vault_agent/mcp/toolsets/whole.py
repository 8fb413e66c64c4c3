"""The text of a note for toolsets that promise a whole note.

A note that fits into a reply comes whole, to the byte, as `content`. A longer one comes in parts,
under another name, with a cursor to the next. The last part has the note's hash. A write of the
whole text of such a note needs that hash: nobody has it who has read a part only.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from vault_agent.api import note_writes, reading
from vault_agent.errors import InvalidRequest
from vault_agent.markdown import frontmatter
from vault_agent.mcp.reading import HASH_DIGITS, file_of, note_at, text_room
from vault_agent.mcp.text import as_json, size
from vault_agent.mcp.writing import perform_write

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vault_agent.mcp.view import View
    from vault_agent.model.names import NamedNote
    from vault_agent.model.warning import Warning

_WHOLE_FILE = 1 << 30
"""More bytes than a note may have: `read` refuses larger ones itself."""
_CURSOR = re.compile(rf"([0-9a-f]{{{HASH_DIGITS}}}):([0-9]{{1,12}})")


class WholeNote(NamedTuple):
    """The text of a note, the offset of the text below the frontmatter, and its hash.

    `room` is the number of bytes that a text may have in a reply, as JSON. `warnings` say what is
    not as in the file.
    """

    text: str
    body: int
    hash: str
    room: int
    warnings: tuple[Warning, ...]

    @property
    def fits(self) -> bool:
        """Whether the note comes in one reply, in any form."""
        return _json_size(self.text) <= self.room


class WholeNotePart(NamedTuple):
    """A part of the text below the frontmatter, its lines, and the cursor to the next part."""

    text: str
    lines: str
    next: str | None


async def whole_note(view: View, note: NamedNote) -> WholeNote:
    """Return a note, as its file is now.

    Raises:
        VaultAgentError: as the operation `read`.
    """
    request = {**file_of(view, note), "maxBytes": _WHOLE_FILE}
    reply = await view.perform(reading.read, request)
    page = reply.data
    end = frontmatter.read(page.text).end
    digits = (page.note_hash or "")[:HASH_DIGITS]
    return WholeNote(page.text, end, digits, text_room(view, page.path), reply.warnings)


def text_fields(note: WholeNote, cursor: str | None) -> dict[str, Any]:
    """Return the members of a JSON reply that hold the text below the frontmatter.

    `content` is all of it. Else there is `part` with its `lines`, and `next` or, with the last
    part, `hash`. The parts, one after the other, are the text.

    Raises:
        InvalidRequest: `CURSOR_EXPIRED`, `INVALID_CURSOR`.
    """
    if note.fits and cursor is None:
        return {"content": note.text[note.body :]}
    part = part_of(note, cursor)
    fields = {"next": part.next} if part.next is not None else {"hash": note.hash}
    return {"part": part.text, "lines": part.lines, **fields}


def part_of(note: WholeNote, cursor: str | None) -> WholeNotePart:
    """Return the first part of a note, or the one that a cursor names.

    Raises:
        InvalidRequest: `CURSOR_EXPIRED` if the note has changed, `INVALID_CURSOR`.
    """
    begin = note.body
    if cursor is not None:
        named = _CURSOR.fullmatch(cursor)
        if named is None:
            raise InvalidRequest("INVALID_CURSOR", "cursor must be the `next` of a reply.")
        if named[1] != note.hash:
            raise InvalidRequest(
                "CURSOR_EXPIRED", "the note has changed. Read it from the start again.", remedy=""
            )
        begin = min(int(named[2]), len(note.text))
    end = _end(note.text, begin, note.room)
    first = note.text.count("\n", 0, begin) + 1
    last = note.text.count("\n", 0, max(begin, end - 1)) + 1
    count = note.text.count("\n", 0, max(0, len(note.text) - 1)) + 1
    following = f"{note.hash}:{end}" if end < len(note.text) else None
    return WholeNotePart(note.text[begin:end], f"{first}-{last} of {count}", following)


async def overwrite_body(view: View, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the request that replaces a note's text, with the hash that the note has now.

    Raises:
        InvalidRequest: `INVALID_REQUEST` if the note comes in parts only, and `body` has not the
            hash that comes with the last of them.
        VaultAgentError: as the operation `write_note`.
    """
    if body.get("expectedHash"):
        return dict(body)
    now = (await perform_write(view, note_writes.write_note, {**body, "dryRun": True})).data
    if now.hash_before is None:
        return dict(body)
    if not (await whole_note(view, note_at(view, now.path))).fits:
        raise InvalidRequest(
            "INVALID_REQUEST",
            "the note is longer than a reply, so a read shows a part of it, and writing that back"
            " would lose the rest. Read the note to its last part, and send all of the text with"
            " that part's `hash` as `expectedHash`.",
        )
    return {**body, "expectedHash": now.hash_before}


def _json_size(text: str) -> int:
    return size(as_json(text))


def _end(text: str, begin: int, room: int) -> int:
    """Return where the part that begins at `begin` ends: after a line, if one ends in it."""
    length = min(len(text) - begin, room)
    while length > 1 and _json_size(text[begin : begin + length]) > room:
        length = length * 3 // 4
    end = begin + max(length, 1)
    if end >= len(text):
        return len(text)
    return text.rfind("\n", begin, end) + 1 or end
