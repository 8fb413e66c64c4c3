"""`generate_session_journal`: an agent writes the journal of its own session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from vault_agent.api import memory, sessions
from vault_agent.errors import Forbidden
from vault_agent.mcp.named import named_note
from vault_agent.mcp.tool import PATH, Tool
from vault_agent.memory.dialogue import WRITTEN
from vault_agent.model.writing import Right
from vault_agent.text.names import visible

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vault_agent.mcp.view import View

_MOST: Final = 20_000


async def _make(view: View, arguments: Mapping[str, Any]) -> str:
    superseded = [(await named_note(view, path))[0] for path in arguments.get("supersedes", ())]
    if superseded and Right.EDIT not in view.rights:  # else only the journal would be written
        raise Forbidden(
            "WRITE_NOT_ALLOWED", "The right to edit is not given.", {"right": Right.EDIT.value}
        )
    body = {name: value for name, value in arguments.items() if name != "supersedes"}
    reply = await view.perform(sessions.journal_make, body)
    journal = reply.data.journal
    place = f": {visible(journal.path)}" if journal.path is not None else ""
    lines = [f"The journal of session {visible(journal.session_id)} is being written{place}."]
    if journal.reason == "edited":
        lines = ["The user has changed this journal, so it stays as it is."]
    for note in superseded:
        await view.perform(memory.supersede, {"noteId": note.note_id})
        lines.append(f"{visible(note.path)} is superseded.")
    return "\n".join(lines)


JOURNAL_TOOL = Tool(
    "generate_session_journal",
    "Write the journal of this session into the project's vault, so that later sessions know what"
    " was done and why. Call it before you end, and before a compaction: what comes later is added."
    " Give what you know as sections; files, commits and times are added.",
    {
        "title": {"type": "string", "maxLength": 200},
        "sections": {
            "type": "object",
            "description": "Markdown by heading. Leave out what there is nothing to say about.",
            "properties": {name: {"type": "string", "maxLength": _MOST} for name in WRITTEN},
            "additionalProperties": False,
        },
        "supersedes": {
            "type": "array",
            "maxItems": 20,
            "items": PATH,
            "description": "Earlier notes that hold no longer. They are recalled no more.",
        },
        "sessionId": {
            "type": "string",
            "maxLength": 200,
            "description": "As the start named it; its first 8 characters are enough.",
        },
    },
    (),
    _make,
    writes=True,
    destructive=False,
    idempotent=True,
    needs=sessions.journal_make.needs,
    owner=True,
)
