"""The text of a whole note, for toolsets without pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_agent.api.reading import READ
from vault_agent.mcp.text import printable
from vault_agent.wire.base import parse_values
from vault_agent.wire.reading import PartRequest

if TYPE_CHECKING:
    from vault_agent.mcp.view import View

_RESERVED_BYTES = 500


async def whole_text(view: View, note_id: str) -> str:
    """Return a note's text. A longer one than a reply ends with a line that says so.

    Raises:
        VaultAgentError: as the operation `read`.
    """
    request = {"noteId": note_id, "maxBytes": view.max_bytes - _RESERVED_BYTES}
    page = (await view.perform(READ, parse_values(PartRequest, request))).data
    text = printable(page.text)
    if page.next_cursor is None:
        return text
    end = "" if text.endswith("\n") else "\n"
    return f"{text}{end}[cut: {page.lines - page.end_line:,} more lines do not fit into a reply]\n"
