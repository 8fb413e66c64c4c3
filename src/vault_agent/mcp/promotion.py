"""`promote_note_to_global`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vault_agent.api import memory
from vault_agent.mcp.named import named_note
from vault_agent.mcp.searching import warning_lines
from vault_agent.mcp.tool import FALSE, PATH, TEXT, Tool
from vault_agent.mcp.view import IN_GLOBAL
from vault_agent.text.names import visible

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vault_agent.mcp.view import View


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
    line = f"{'copied to' if done.created else 'already in'} {IN_GLOBAL}{visible(done.copy.path)}"
    return "\n".join([line, *warning_lines(reply.warnings)])


PROMOTE_TOOL = Tool(
    "promote_note_to_global",
    "Copy a note of this project, or a section of it, to the user's global vault, where all"
    " projects find it. Only for what holds beyond this project.",
    {
        "path": PATH,
        "section": {**TEXT, "description": "Heading; default: the whole note"},
        "in": {**PATH, "description": "Folder of the global vault; default: that of its type"},
        "force": FALSE,
    },
    ("path",),
    _promote,
    writes=True,
    destructive=False,
    idempotent=True,
    needs=memory.promote.needs,
    owner=True,
)
