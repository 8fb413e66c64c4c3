"""The operation that takes the events of agents' sessions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from vault_agent.api.context import CallContext
from vault_agent.api.operation import Found, check_switch, operation
from vault_agent.model.fields import FilePath, SessionId
from vault_agent.model.sent import Between, Doc, Form, Length
from vault_agent.model.sessions import Delivered, SessionEvent

WAITS_HEADER = "Vault-Agent-Seconds"
"""The header of how long a hook still waits, in seconds. Older servers ignore it."""

_Short = Annotated[str, Length(1, 200)]
_Text = Annotated[str, Length(0, 100_000)]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEventBody:
    """An event of an agent's session. It becomes a line of the session's file."""

    version: Literal[1]
    agent: Literal["claude-code", "codex", "gemini", "opencode", "generic"]
    event: Literal["start", "prompt", "stop", "compact", "end"]
    name: Annotated[_Short, Doc("The agent's own name of the event.")]
    session_id: SessionId
    cwd: Annotated[FilePath, Doc("The folder that the agent works in. It is never opened.")]
    at: Annotated[float, Between(0, 100_000_000_000), Doc("Seconds since 1970.")]
    vault: Annotated[
        str,
        Form("[0-9a-f]{32}", "must be the identity of a vault"),
        Doc("The identity of the project's vault, which must be registered."),
    ]
    transcript_path: FilePath | None = None
    model: _Short | None = None
    source: Annotated[_Short | None, Doc("Such as `startup` or `resume`.")] = None
    reason: Annotated[_Short | None, Doc("Why the session ended.")] = None
    title: _Text | None = None
    prompt: _Text | None = None
    last_message: _Text | None = None
    commit: Annotated[
        Annotated[str, Form("[0-9a-f]{40,64}", "must be the hash of a commit")] | None,
        Doc("The commit that is checked out at a start."),
    ] = None
    seconds: Annotated[
        Annotated[float, Between(0, 60)] | None,
        Doc("How long the agent still waits, as in the header `Vault-Agent-Seconds`."),
    ] = None


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
