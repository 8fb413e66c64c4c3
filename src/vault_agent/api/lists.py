"""The operations about names and lists of notes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vault_agent.api.cursors import decode_cursor, encode_cursor
from vault_agent.api.operation import Found, Operation
from vault_agent.model.grep import Place
from vault_agent.wire.convert import warnings_data
from vault_agent.wire.lists import (
    GrepBody,
    GrepData,
    GrepLineData,
    NamedData,
    NamedNoteData,
    ResolveRequest,
)
from vault_agent.wire.replies import Reply

if TYPE_CHECKING:
    from vault_agent.api.caller import Caller
    from vault_agent.library.open_vault import OpenVault

_CURSOR_CODES = ("INVALID_CURSOR", "CURSOR_EXPIRED")
INDEX_CODES = ("INDEX_NOT_FOUND", "INDEX_INCOMPATIBLE", "INDEX_IO_ERROR")


async def _resolve(vault: OpenVault, caller: Caller, sent: ResolveRequest) -> Found:
    """Find the notes that a path, name, title, link or ID means."""
    found = await vault.lists.resolve(sent.name, caller.scope)
    data = NamedData(
        notes=[NamedNoteData.model_validate(each, from_attributes=True) for each in found.notes],
        has_more=found.has_more,
        line=found.line,
        heading=found.heading,
    )
    return Found(Reply[NamedData](data=data))


async def _grep(vault: OpenVault, caller: Caller, sent: GrepBody) -> Found:
    """Find lines by a regular expression."""
    start = None
    if sent.cursor is not None:
        position = decode_cursor(sent, sent.cursor, str, int, int, vault=vault.identity).position
        start = Place(str(position[0]), int(position[1]), int(position[2]))
    found = await vault.lists.grep(sent.to_query(caller.scope), start)
    data = GrepData(
        lines=[GrepLineData.model_validate(each, from_attributes=True) for each in found.lines],
        incomplete=found.incomplete,
        has_more=found.place is not None,
        next_cursor=found.place and encode_cursor(sent, found.place, vault=vault.identity),
    )
    return Found(Reply[GrepData](data=data, warnings=warnings_data(found.warnings)))


RESOLVE = Operation(
    "resolve",
    ResolveRequest,
    _resolve,
    (Reply[NamedData],),
    ("INVALID_PATH", "PATH_OUTSIDE_VAULT", "NOTE_NOT_FOUND", *INDEX_CODES),
    listed="notes",
    scoped=True,
)

GREP = Operation(
    "grep",
    GrepBody,
    _grep,
    (Reply[GrepData],),
    ("REGEX_UNSUPPORTED", "INVALID_LIMIT", *_CURSOR_CODES, *INDEX_CODES),
    listed="lines",
    scoped=True,
)

LIST_OPERATIONS: tuple[Operation[Any, Any], ...] = (RESOLVE, GREP)
"""In the order of the reference."""
