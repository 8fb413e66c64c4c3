"""Tools with the names, arguments and replies of other servers, for prompts written for those.

One endpoint has one toolset. What it writes depends on the client's rights.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_agent.mcp.tools import own_tools
from vault_agent.mcp.toolsets.agentiso import agentiso_tools
from vault_agent.mcp.toolsets.co_cli import CO_CLI
from vault_agent.mcp.toolsets.obsidian_vault_mcp import obsidian_vault_mcp_tools
from vault_agent.mcp.toolsets.synk import synk_tools

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vault_agent.mcp.tool import Tool
    from vault_agent.model.writing import Right

OWN = "vault-agent"
TOOLSETS: Mapping[str, Callable[[frozenset[Right]], tuple[Tool, ...]]] = {
    OWN: own_tools,
    "agentiso": agentiso_tools,
    "obsidian-vault-mcp": obsidian_vault_mcp_tools,
    "synk": synk_tools,
    "co-cli": lambda _: CO_CLI,  # only reads
}
"""The tools for a client with some rights to write, by the value of `mcp.toolset`."""
