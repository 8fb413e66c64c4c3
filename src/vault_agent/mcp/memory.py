"""`get_agent_memory`, `generate_session_journal`, promotion, and memory as a resource."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vault_agent.api import memory, sessions
from vault_agent.api.operation import check_switch
from vault_agent.errors import Forbidden, NotFound
from vault_agent.mcp.reading import named_note
from vault_agent.mcp.text import BYTES_A_TOKEN, printable, warning_lines
from vault_agent.model.identifiers import IN_GLOBAL, PROJECT
from vault_agent.model.writing import Right
from vault_agent.text.names import escaped

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vault_agent.mcp.view import RunTool, View

NOTHING = "Nothing is recalled: no note is about this."
_LEAST_TOKENS, _MOST_TOKENS = 100, 2_000
_WARNING_BYTES = 1_500


async def latest_memory(view: View, project: str) -> str:
    """Return what a session of a project gets at its start.

    Raises:
        NotFound: `VAULT_UNKNOWN` if the client does not know the project.
        VaultAgentError: as the operation `memory`.
    """
    body: dict[str, Any] = {"start": True}
    if project not in (view.vault.full_name, view.vault.full_name.removeprefix(PROJECT)):
        if view.caller.is_named_agent:
            raise NotFound("VAULT_UNKNOWN", "There is no project of this name.", remedy="")
        body["project"] = project
    return await _recalled(view, body)


async def _recalled(view: View, body: Mapping[str, Any]) -> str:
    room = int((view.max_bytes - _WARNING_BYTES) / BYTES_A_TOKEN)
    most = min(max(room, _LEAST_TOKENS), _MOST_TOKENS)
    if "maxTokens" in body or most < _MOST_TOKENS:  # else that of the settings
        body = {**body, "maxTokens": min(body.get("maxTokens", most), most)}
    reply = await view.perform(memory.memory, body)
    return "\n".join([printable(reply.data.text) or NOTHING, *warning_lines(reply.warnings)])


async def _make(view: View, arguments: Mapping[str, Any]) -> str:
    superseded = [(await named_note(view, path))[0] for path in arguments.get("supersedes", ())]
    if superseded:  # refused before the journal is made
        check_switch("memory.enabled", view.vault.config)
        if Right.EDIT not in view.rights:
            raise Forbidden(
                "WRITE_NOT_ALLOWED", "The right to edit is not given.", {"right": Right.EDIT.value}
            )
    body = {name: value for name, value in arguments.items() if name != "supersedes"}
    reply = await view.perform(sessions.journal_make, body)
    journal = reply.data.journal
    place = f": {escaped(journal.path)}" if journal.path is not None else ""
    lines = [f"The journal of session {escaped(journal.session_id)} is being written{place}."]
    if journal.reason == "edited":
        lines = ["The user has changed this journal, so it stays as it is."]
    for note in superseded:
        await view.perform(memory.supersede, {"noteId": note.note_id})
        lines.append(f"{escaped(note.path)} is superseded.")
    return "\n".join(lines)


async def _promote(view: View, arguments: Mapping[str, Any]) -> str:
    note, _ = await named_note(view, arguments["path"])
    body = {
        "noteId": note.note_id,
        "force": arguments["force"],
        "section": arguments.get("section"),
    }
    if "in" in arguments:
        body["folder"] = arguments["in"]
    reply = await view.perform(memory.promote, body)
    done = reply.data
    line = f"{'copied to' if done.created else 'already in'} {IN_GLOBAL}{escaped(done.copy.path)}"
    return "\n".join([line, *warning_lines(reply.warnings)])


TOOLS: Mapping[str, RunTool] = {
    "get_agent_memory": _recalled,
    "generate_session_journal": _make,
    "promote_note_to_global": _promote,
}
