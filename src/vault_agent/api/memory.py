"""The operation that recalls notes of earlier sessions."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from vault_agent.api.caller import CallerKind
from vault_agent.api.context import CallContext
from vault_agent.api.operation import Found, operation
from vault_agent.errors import NotFound
from vault_agent.model.memory import Recalled, RecallQuery
from vault_agent.vaults.shared import project_address

if TYPE_CHECKING:
    from vault_agent.app import App
    from vault_agent.memory.deliveries import Deliveries


@operation("POST", "/memory", needs="memory.enabled", for_agents=True)
async def memory(call: CallContext, sent: RecallQuery) -> Found[Recalled]:
    """Recall the notes that matter for a task, as a text for an agent."""
    async with AsyncExitStack() as stack:
        if sent.project is not None:
            if call.caller.kind is CallerKind.AGENT:
                raise NotFound("VAULT_UNKNOWN", "There is no project of this name.", remedy="")
            named = call.app.vaults.open(project_address(sent.project))
            call = replace(call, vault=await stack.enter_async_context(named))
        found = await _recalled(call, sent)
    return Found(found, found.warnings)


async def _recalled(call: CallContext, sent: RecallQuery) -> Recalled:
    query = replace(sent, with_global=call.caller.may_do_everything)
    if sent.session_id is None:
        return await call.app.memory.recall(call.vault, query)
    deliveries = deliveries_of(call.app)
    session = await deliveries.store.get(sent.session_id)
    if session is None:
        raise NotFound("SESSION_NOT_FOUND", "Nothing is known about this session.")
    return await deliveries.recall(call.vault, query, session)


def deliveries_of(app: App) -> Deliveries:
    """Return the log of what sessions got.

    Raises:
        Misconfigured: `FEATURE_DISABLED` if several vaults are off: sessions are of projects.
    """
    app.vaults.require_several()
    assert app.deliveries is not None  # noqa: S101 - while memory.enabled
    return app.deliveries
