"""`get_agent_memory`, and memory as a resource."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vault_agent.api import memory
from vault_agent.errors import NotFound
from vault_agent.mcp.searching import warning_lines
from vault_agent.mcp.text import printable
from vault_agent.mcp.tool import LINE, Tool

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vault_agent.mcp.view import View

NOTHING = "Nothing is recalled: no note is about this."
_LEAST_TOKENS, _MOST_TOKENS = 100, 2_000
_BYTES_A_TOKEN = 3.5  # of ASCII; other characters have more tokens a byte
_WARNING_BYTES = 1_500
_NAMES = {"type": "array", "maxItems": 20, "items": LINE}
_PROJECT = "project:"


async def latest_memory(view: View, project: str) -> str:
    """Return what a session of a project gets at its start.

    Raises:
        NotFound: `VAULT_UNKNOWN` if the client does not know the project.
        VaultAgentError: as the operation `memory`.
    """
    body: dict[str, Any] = {"start": True}
    if project not in (view.vault.address, view.vault.address.removeprefix(_PROJECT)):
        if not view.caller.may_do_everything:
            raise NotFound("VAULT_UNKNOWN", "There is no project of this name.", remedy="")
        body["project"] = project
    return await _recalled(view, body)


async def _recalled(view: View, body: Mapping[str, Any]) -> str:
    room = int((view.max_bytes - _WARNING_BYTES) / _BYTES_A_TOKEN)
    most = min(max(room, _LEAST_TOKENS), _MOST_TOKENS)
    limit = {} if body.get("maxTokens", most) < most else {"maxTokens": most}
    if "maxTokens" not in body and most == _MOST_TOKENS:
        limit = {}  # that of the settings
    reply = await view.perform(memory.memory, {**body, **limit})
    return "\n".join([printable(reply.data.text) or NOTHING, *warning_lines(reply.warnings)])


MEMORY_TOOL = Tool(
    "get_agent_memory",
    "Recall what earlier sessions have left about a task: a few notes in a short text. Call it the"
    ' moment the user implies that work already happened ("didn\'t we fix this?", "as we'
    ' decided"), and before you debug an error. Give the task as prompt, and its files if you know'
    " them.",
    {
        "prompt": {
            "type": "string",
            "maxLength": 4000,
            "description": "What the task is about, in a sentence or more.",
        },
        "files": {**_NAMES, "description": "Paths, relative to the project."},
        "tags": dict(_NAMES),
        "maxTokens": {"type": "integer", "minimum": _LEAST_TOKENS, "maximum": _MOST_TOKENS},
    },
    (),
    _recalled,
    needs=memory.memory.needs,
)
