"""The toolsets: our own tools, and those of other servers, for prompts written for those.

One endpoint has one toolset. What it writes depends on the client's rights.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_agent.mcp import listing, memory, reading, searching, writing
from vault_agent.mcp.tool import OWN
from vault_agent.mcp.toolsets import agentiso, co_cli, obsidian_vault_mcp, synk

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vault_agent.mcp.view import RunTool


TOOLSETS: Mapping[str, Mapping[str, RunTool]] = {
    OWN: {**searching.TOOLS, **reading.TOOLS, **listing.TOOLS, **memory.TOOLS, **writing.TOOLS},
    "agentiso": agentiso.TOOLS,
    "obsidian-vault-mcp": obsidian_vault_mcp.TOOLS,
    "synk": {**synk.TOOLS, **memory.TOOLS},
    "co-cli": co_cli.TOOLS,
}
"""What runs the tools of each toolset, by the value of `mcp.toolset` and the name of the tool."""
