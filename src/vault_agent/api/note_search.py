"""The operation that searches notes by words, files, tags and age."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from pydantic import Field, StringConstraints

from vault_agent.api.caller import CallerKind
from vault_agent.api.context import CallContext
from vault_agent.api.operation import Found, operation
from vault_agent.errors import NotFound
from vault_agent.memory.note_search import search_notes
from vault_agent.model.memory import FoundNotes, NoteQuery
from vault_agent.vaults.shared import project_address
from vault_agent.wire.base import Model
from vault_agent.wire.queries import Text

if TYPE_CHECKING:
    from vault_agent.model.scope import Scope


class NoteSearchBody(Model):
    """A search for notes."""

    text: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1_000)]
    files: Annotated[tuple[Text, ...], Field(max_length=200)] = ()
    tags: Annotated[tuple[Text, ...], Field(max_length=200)] = ()
    limit: Annotated[int, Field(ge=1, le=50)] = 5
    recency_days: Annotated[float, Field(gt=0, le=36_500)] | None = None
    project: Text | None = Field(default=None, description="Only the notes of this project.")
    alone: bool = Field(default=False, description="Whether to leave out the global vault.")

    def to_query(self, scope: Scope) -> NoteQuery:
        """Return the domain value for a caller that may see `scope`."""
        return NoteQuery(
            text=self.text,
            files=self.files,
            tags=self.tags,
            limit=self.limit,
            recency_days=self.recency_days,
            alone=self.alone or self.project is not None,
            scope=scope,
        )


@operation(scoped=True)
async def note_search(call: CallContext, sent: NoteSearchBody) -> Found[FoundNotes]:
    """Search the notes of a vault and of the global one, by words, files, tags and age."""
    query = sent.to_query(call.scope)
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
