"""The operation that searches notes by words, files, tags and age."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from vault_agent.api.caller import CallerKind
from vault_agent.api.codes import INDEX_CODES
from vault_agent.api.operation import Found, Operation
from vault_agent.api.vaults import VAULT_CODES
from vault_agent.app import app_of
from vault_agent.errors import NotFound
from vault_agent.memory.note_search import search_notes
from vault_agent.model.memory import FoundNotes
from vault_agent.wire.memory import NoteSearchBody

if TYPE_CHECKING:
    from vault_agent.api.caller import Caller
    from vault_agent.vaults.open_vault import OpenVault


async def _note_search(vault: OpenVault, caller: Caller, sent: NoteSearchBody) -> Found:
    """Search the notes of a vault and of the global one, by words, files, tags and age."""
    app = app_of(vault)
    query = sent.to_query(caller.scope)
    async with AsyncExitStack() as stack:
        if sent.project not in (None, vault.address.removeprefix("project:")):
            if caller.kind is CallerKind.AGENT:
                raise NotFound("VAULT_UNKNOWN", "There is no project of this name.", remedy="")
            named = app.vaults.open(f"project:{sent.project}")
            vault = await stack.enter_async_context(named)
        found = await search_notes(app.memory, app.several, vault.config.memory, vault, query)
    return Found(found, found.warnings)


NOTE_SEARCH = Operation(
    "note_search",
    NoteSearchBody,
    _note_search,
    (FoundNotes,),
    tuple(dict.fromkeys((*VAULT_CODES, *INDEX_CODES))),
    scoped=True,
)
