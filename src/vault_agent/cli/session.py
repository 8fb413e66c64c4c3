"""`vault-agent session`: tells of a session by hand, for agents without hooks."""

from __future__ import annotations

import asyncio
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import asyncclick as click

from vault_agent.cli.command import Command, Group, Invocation
from vault_agent.cli.hook import Sent, event_here, keep_event, send_event
from vault_agent.cli.servers import RESTART
from vault_agent.cli.terminal import clean, envelope, say, tell
from vault_agent.config.connection import hook_settings, own_server
from vault_agent.errors import Forbidden, InvalidRequest, Misconfigured, NotFound

if TYPE_CHECKING:
    from vault_agent.errors import VaultAgentError
    from vault_agent.model.sessions import SessionEvent

_SECONDS = 10.0
_AGENT = "generic"


@click.group("session", cls=Group)
def command() -> None:
    """Report a session yourself, for agents without hooks."""


@command.command("start", cls=Command)
@click.argument("session_id", required=False)
@click.option("--title", metavar="TITLE", help="What the session is about.")
@click.option("--prompt", metavar="TEXT", help="The task. What matters for it is printed.")
@click.pass_obj
async def start(
    invocation: Invocation, session_id: str | None, title: str | None, prompt: str | None
) -> None:
    """Start a session in this project, and print what is remembered for it.

    The session's ID is on standard error. `session end ID` ends it, and its journal is written.
    """
    chosen = session_id or str(uuid.uuid4())
    sent = await _tell(
        invocation, {"hook_event_name": "start", "session_id": chosen, "session_title": title}
    )
    texts = [sent.text]
    if prompt:
        asked = {"hook_event_name": "prompt", "session_id": chosen, "prompt": prompt}
        texts.append((await _tell(invocation, asked)).text)
    text = "\n".join(filter(None, texts))
    if invocation.json:
        envelope({"sessionId": chosen, "text": text or None, "waits": not sent.settled})
        return
    if text:
        say(clean(text, lines=True))
    _tell_if_waiting(sent)
    tell(f"Session {clean(chosen)}. At its end: vault-agent session end {clean(chosen)}")


@command.command("end", cls=Command)
@click.argument("session_id")
@click.option("--message", metavar="TEXT", help="What came of it: the outcome in the journal.")
@click.pass_obj
async def end(invocation: Invocation, session_id: str, message: str | None) -> None:
    """End a session. Its journal is written."""
    given = {"hook_event_name": "end", "session_id": session_id, "reason": "other"}
    if message:
        given["last_assistant_message"] = message
    sent = await _tell(invocation, given)
    if invocation.json:
        envelope({"sessionId": session_id, "waits": not sent.settled})
        return
    _tell_if_waiting(sent)
    tell(f"Session {clean(session_id)} has ended.")


async def _tell(invocation: Invocation, given: dict[str, Any]) -> Sent:
    """Send an event of this folder's project, or keep it for the next server.

    Raises:
        Misconfigured: `FEATURE_DISABLED`.
        NotFound: `VAULT_UNKNOWN` outside a project; `SESSION_NOT_FOUND` for the end of none.
        Forbidden: `VAULT_NOT_TRUSTED`.
        InvalidRequest: if this is no session ID.
    """
    layers = invocation.layers()
    settings = hook_settings(layers)
    if not settings.enabled:
        raise Misconfigured(
            "FEATURE_DISABLED",
            "This needs vaults.enabled, and memory.enabled or journal.enabled.",
            {"setting": "memory.enabled"},
        )
    folder = Path.cwd()
    found = event_here(_AGENT, {**given, "cwd": str(folder)}, folder)
    if found is None:
        raise _refusal(folder)
    event, trusted = found
    if not trusted:
        raise Forbidden("VAULT_NOT_TRUSTED", "You have not allowed the vault of this project yet.")
    sent = await asyncio.to_thread(_send, event, invocation, settings.folder)
    if sent.code == "SESSION_NOT_FOUND":
        raise NotFound(sent.code, "There is no session of this ID.")
    if sent.code == "FEATURE_DISABLED":  # the check above was about the settings of now
        what = "The server runs without memory.enabled and journal.enabled."
        raise Misconfigured(sent.code, what, remedy=f"To apply them: `{RESTART}`.")
    if sent.settled and sent.code is not None:
        raise InvalidRequest("INVALID_REQUEST", f"The server refuses it: {clean(sent.code)}.")
    return sent


def _send(event: SessionEvent, invocation: Invocation, folder: Path) -> Sent:
    where = own_server(invocation.layers())
    deadline = time.monotonic() + _SECONDS
    sent = send_event(event, where, deadline) if where is not None else Sent(settled=False)
    if not sent.settled:
        keep_event(event, folder)
    return sent


def _refusal(folder: Path) -> VaultAgentError:
    """Return the error for an event that is none."""
    from vault_agent.config.project import find_project

    if find_project(folder) is None:
        return NotFound(
            "VAULT_UNKNOWN",
            "This folder is in no project with a vault.",
            remedy="Run `vault-agent init` to make one.",
        )
    return InvalidRequest("INVALID_REQUEST", "A session ID has letters, digits and . _ : - only.")


def _tell_if_waiting(sent: Sent) -> None:
    if not sent.settled:
        tell("No server answers. What was told waits for the next one: vault-agent serve")
