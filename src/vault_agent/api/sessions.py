"""The operation that takes the events of agents' sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_agent.api.operation import Found, Http, Operation, check_switch
from vault_agent.api.vaults import VAULT_CODES
from vault_agent.journals.events import without_secrets
from vault_agent.model.sessions import Delivered, SessionEvent
from vault_agent.wire.sessions import SessionEventBody

if TYPE_CHECKING:
    from vault_agent.api.context import CallContext

MAX_EVENT_BYTES = 512 * 1024
_TEXTS = ("title", "prompt", "last_message", "summary")


async def _take(call: CallContext, sent: SessionEventBody) -> Found:
    """Take an event of an agent's session, and return what it brings to the agent."""
    sessions = call.app.sessions
    if sessions is None:
        check_switch("memory.enabled", call.vault.config)  # or journals, of course
    assert sessions is not None  # noqa: S101 - open where one of them is on
    fields = {name: getattr(sent, name) for name in SessionEvent._fields}
    for name in _TEXTS:
        # A hook has done so already. Others may call this too.
        fields[name] = without_secrets(fields[name]) if fields[name] is not None else None
    offer = await sessions.take(SessionEvent(**fields), seconds=sent.seconds)
    return Found(offer.brought, offer.warnings, settle=offer.settle)


SESSION_EVENT = Operation(
    "session_event",
    SessionEventBody,
    _take,
    (Delivered,),
    (*VAULT_CODES, "SESSION_NOT_FOUND", "DISK_FULL", "INDEX_IO_ERROR"),
    writes=True,
    needs="vaults.enabled",
    http=Http("POST", "/sessions/events", body=True, status=202, max_body=MAX_EVENT_BYTES),
)
