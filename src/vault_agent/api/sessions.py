"""The operation that takes the events of agents' sessions."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from vault_agent.api.context import CallContext
from vault_agent.api.operation import Found, check_switch, operation
from vault_agent.model.sessions import Delivered, SessionEvent
from vault_agent.wire.base import Model

WAITS_HEADER = "Vault-Agent-Seconds"
"""The header of how long a hook still waits, in seconds. Older servers ignore it."""
SESSION_ID = r"^[0-9A-Za-z][0-9A-Za-z._:-]{0,199}$"

_Short = Annotated[str, StringConstraints(min_length=1, max_length=200)]
_Path = Annotated[str, StringConstraints(min_length=1, max_length=4_000)]
_Text = Annotated[str, StringConstraints(max_length=100_000)]


class SessionEventBody(Model):
    """An event of an agent's session. It becomes a line of the session's file."""

    version: Literal[1]
    agent: Literal["claude-code", "codex", "gemini", "opencode", "generic"]
    event: Literal["start", "prompt", "stop", "compact", "end"]
    name: _Short = Field(description="The agent's own name of the event.")
    session_id: Annotated[str, StringConstraints(pattern=SESSION_ID)]
    cwd: _Path = Field(description="The folder that the agent works in. It is never opened.")
    at: Annotated[float, Field(ge=0, lt=1e11)] = Field(description="Seconds since 1970.")
    vault: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{32}$")] = Field(
        description="The identity of the project's vault, which must be registered."
    )
    transcript_path: _Path | None = None
    model: _Short | None = None
    source: _Short | None = Field(default=None, description="Such as `startup` or `resume`.")
    reason: _Short | None = Field(default=None, description="Why the session ended.")
    title: _Text | None = None
    prompt: _Text | None = None
    last_message: _Text | None = None
    commit: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40,64}$")] | None = Field(
        default=None, description="The commit that is checked out at a start."
    )
    seconds: Annotated[float, Field(ge=0, le=60)] | None = Field(
        default=None,
        description="How long the agent still waits, as in the header `Vault-Agent-Seconds`.",
    )


MAX_EVENT_BYTES = 512 * 1024


@operation(
    "POST",
    "/sessions/events",
    status=202,
    max_body=MAX_EVENT_BYTES,
    writes=True,
    needs="vaults.enabled",
)
async def session_event(call: CallContext, sent: SessionEventBody) -> Found[Delivered]:
    """Take an event of an agent's session, and return what it brings to the agent."""
    sessions = call.app.sessions
    if sessions is None:
        check_switch("memory.enabled", call.vault.config)  # or journals, of course
    assert sessions is not None  # noqa: S101 - open where one of them is on
    fields = {name: getattr(sent, name) for name in SessionEvent._fields}
    offer = await sessions.take(SessionEvent(**fields), seconds=sent.seconds)
    return Found(offer.brought, offer.warnings, settle=offer.settle)
