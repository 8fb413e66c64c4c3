"""`generate_session_journal`: an agent writes the journal of its own session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from vault_agent.api import journals
from vault_agent.mcp.tool import Tool
from vault_agent.memory.dialogue import WRITTEN
from vault_agent.text.visible import visible

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vault_agent.mcp.view import View

_MOST: Final = 20_000


async def _make(view: View, given: Mapping[str, Any]) -> str:
    reply = await view.perform(journals.journal_make, given)
    journal = reply.data.journal
    if journal.reason == "edited":
        return "The user has changed this journal, so it stays as it is."
    place = f": {visible(journal.path)}" if journal.path is not None else ""
    return f"The journal of session {visible(journal.session_id)} is being written{place}."


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
    needs=journals.journal_make.needs,
    owner=True,
)
