"""Encodes replies as JSON. A large note is encoded in a thread, not in the event loop."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import orjson

from vault_agent.model.reading import NoteContent
from vault_agent.model.values import dump

if TYPE_CHECKING:
    from vault_agent.model.reply import Reply

PIECE_CHARACTERS = 256 * 1024
"""orjson holds the interpreter's lock while it encodes. A piece takes about a millisecond."""
_CONTENT = b'"content":'


async def encoded(reply: Reply[Any]) -> bytes:
    """Return a reply as JSON. A note over 256 Ki characters is encoded in pieces, in a thread."""
    if isinstance(reply.data, NoteContent) and len(reply.data.content) > PIECE_CHARACTERS:
        return await asyncio.to_thread(in_pieces, reply)
    return dump(reply)


def in_pieces(reply: Reply[NoteContent]) -> bytes:
    """Return the same bytes as `dump`, without one long call to orjson."""
    content = reply.data.content
    rest = replace(reply, data=replace(reply.data, content=""))
    # In JSON text a quotation mark is escaped, so the first match is the field itself.
    before, after = dump(rest).split(_CONTENT + b'""', maxsplit=1)
    starts = range(0, len(content), PIECE_CHARACTERS)
    pieces = (content[start : start + PIECE_CHARACTERS] for start in starts)
    written = (orjson.dumps(piece)[1:-1] for piece in pieces)
    return b"".join((before, _CONTENT, b'"', *written, b'"', after))
