"""The operation that searches notes by words, files, tags and age."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import replace

from vault_agent.api.caller import CallerKind
from vault_agent.api.context import CallContext
from vault_agent.api.operation import Found, operation
from vault_agent.errors import NotFound
from vault_agent.memory.recall import search_notes
from vault_agent.model.memory import FoundNotes, NoteQuery
from vault_agent.vaults.shared import project_address


@operation(for_agents=True)
async def note_search(call: CallContext, sent: NoteQuery) -> Found[FoundNotes]:
    """Search the notes of a vault and of the global one, by words, files, tags and age."""
    query = sent
    async with AsyncExitStack() as stack:
        project = sent.project and project_address(sent.project)
        if project not in (None, call.vault.address):
            if call.caller.kind is CallerKind.AGENT:
                raise NotFound("VAULT_UNKNOWN", "There is no project of this name.", remedy="")
            named = call.app.vaults.open(project)
            call = replace(call, vault=await stack.enter_async_context(named))
        app = call.app
        found = await search_notes(app.memory, app.several, call.vault, query)
    return Found(found, found.warnings)
