"""The operation that searches notes by words, files, tags and age."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from vault_agent.api.caller import CallerKind
from vault_agent.api.codes import INDEX_CODES
from vault_agent.api.operation import Found, Operation
from vault_agent.api.vaults import VAULT_CODES
from vault_agent.errors import NotFound
from vault_agent.memory.note_search import search_notes
from vault_agent.model.memory import FoundNotes
from vault_agent.wire.memory import NoteSearchBody

if TYPE_CHECKING:
    from vault_agent.api.context import CallContext


async def _note_search(call: CallContext, sent: NoteSearchBody) -> Found:
    """Search the notes of a vault and of the global one, by words, files, tags and age."""
    query = sent.to_query(call.scope)
    async with AsyncExitStack() as stack:
        if sent.project not in (None, call.vault.address.removeprefix("project:")):
            if call.caller.kind is CallerKind.AGENT:
                raise NotFound("VAULT_UNKNOWN", "There is no project of this name.", remedy="")
            named = call.app.vaults.open(f"project:{sent.project}")
            call = replace(call, vault=await stack.enter_async_context(named))
        app, settings = call.app, call.vault.config.memory
        found = await search_notes(app.memory, app.several, settings, call.vault, query)
    return Found(found, found.warnings)


NOTE_SEARCH = Operation(
    "note_search",
    NoteSearchBody,
    _note_search,
    (FoundNotes,),
    tuple(dict.fromkeys((*VAULT_CODES, *INDEX_CODES))),
    scoped=True,
)
