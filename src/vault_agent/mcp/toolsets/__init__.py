"""Tools with the names, arguments and replies of other servers, for prompts written for those.

Only what reads is here. One endpoint has one toolset.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_agent.mcp.tools import TOOLS
from vault_agent.mcp.toolsets.agentiso import AGENTISO
from vault_agent.mcp.toolsets.co_cli import CO_CLI
from vault_agent.mcp.toolsets.obsidian_vault_mcp import OBSIDIAN_VAULT_MCP

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vault_agent.mcp.tool import Tool

OWN = "vault-agent"
TOOLSETS: Mapping[str, tuple[Tool, ...]] = {
    OWN: TOOLS,
    "agentiso": AGENTISO,
    "obsidian-vault-mcp": OBSIDIAN_VAULT_MCP,
    "co-cli": CO_CLI,
}
"""By the value of `mcp.toolset`."""
