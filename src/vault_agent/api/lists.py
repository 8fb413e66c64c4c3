"""The operations about names and lists of notes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vault_agent.api.operation import Found, Operation
from vault_agent.wire.lists import NamedData, NamedNoteData, ResolveRequest
from vault_agent.wire.replies import Reply

if TYPE_CHECKING:
    from vault_agent.api.caller import Caller
    from vault_agent.library.open_vault import OpenVault

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


RESOLVE = Operation(
    "resolve",
    ResolveRequest,
    _resolve,
    (Reply[NamedData],),
    ("INVALID_PATH", "PATH_OUTSIDE_VAULT", "NOTE_NOT_FOUND", *INDEX_CODES),
    listed="notes",
    scoped=True,
)

LIST_OPERATIONS: tuple[Operation[Any, Any], ...] = (RESOLVE,)
"""In the order of the reference."""
