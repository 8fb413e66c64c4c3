"""The reply that holds a note, which may be large: the loop never waits for its JSON."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import orjson

from vault_agent.server.replies import bytes_reply
from vault_agent.wire.base import dump
from vault_agent.wire.convert import note_data, warnings_data
from vault_agent.wire.replies import NoteData, Reply

if TYPE_CHECKING:
    from aiohttp import web

    from vault_agent.model.retrieval import NoteContent

PIECE_CHARACTERS = 256 * 1024
"""orjson keeps the interpreter to itself while it works: a piece takes it about a millisecond."""
_CONTENT = b'"content":'


async def note_reply(note: NoteContent) -> web.Response:
    """Return a note as JSON; a large one is written in pieces, in a thread."""
    if len(note.content) <= PIECE_CHARACTERS:
        body = note_json(note)
    else:
        body = await asyncio.to_thread(note_json, note)
    return bytes_reply(body, etag=note.etag)


def note_json(note: NoteContent) -> bytes:
    """Return the reply's bytes."""
    without = replace(note, content="")
    model = Reply[NoteData](data=note_data(without), warnings=warnings_data(note.warnings))
    # Within text a quotation mark has a backslash before it, so the first place is the field's.
    before, after = dump(model).split(_CONTENT + b'""', maxsplit=1)
    starts = range(0, len(note.content), PIECE_CHARACTERS)
    pieces = (note.content[start : start + PIECE_CHARACTERS] for start in starts)
    written = (orjson.dumps(piece)[1:-1] for piece in pieces)
    return b"".join((before, _CONTENT, b'"', *written, b'"', after))
