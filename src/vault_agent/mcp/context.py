"""`vault_context`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vault_agent.api import search
from vault_agent.errors import InvalidRequest
from vault_agent.mcp.searching import warning_lines
from vault_agent.mcp.text import printable
from vault_agent.mcp.tool import TEXT, Tool, one_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vault_agent.mcp.view import View

_BYTES_A_TOKEN = 3.5  # of ASCII, as the operation estimates; no text has more
_WARNING_BYTES = 3_000


async def _context(view: View, arguments: Mapping[str, Any]) -> str:
    # The section must fit into a reply, with its warnings.
    most = max(200, int((view.max_bytes - _WARNING_BYTES) / _BYTES_A_TOKEN))
    if arguments["maxTokens"] > most:
        raise InvalidRequest(
            "INVALID_LIMIT", f"maxTokens must be at most {most:,}: a larger section is no reply."
        )
    body = {"queries": arguments["queries"], "maxTokens": arguments["maxTokens"]}
    reply = await view.perform(search.context, body)
    section = printable(reply.data.section).rstrip("\n") or "Nothing was found."
    return "\n".join([section, *warning_lines(reply.warnings)])


CONTEXT_TOOL = Tool(
    "vault_context",
    "Collect excerpts for a task: notes to read and searches, in one section of limited size.",
    {
        "queries": {
            "type": "array",
            "minItems": 1,
            "maxItems": 20,
            "items": {
                "type": "object",
                "properties": {
                    "kind": one_of("search", "read", default="search"),
                    "query": TEXT,
                },
                "required": ["query"],
                "additionalProperties": False,
            },
        },
        "maxTokens": {"type": "integer", "minimum": 200, "maximum": 6000, "default": 4000},
    },
    ("queries",),
    _context,
)
