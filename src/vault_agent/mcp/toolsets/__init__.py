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

    from vault_agent.mcp.view import Run


TOOLSETS: Mapping[str, Mapping[str, Run]] = {
    OWN: {**searching.RUNS, **reading.RUNS, **listing.RUNS, **memory.RUNS, **writing.RUNS},
    "agentiso": agentiso.RUNS,
    "obsidian-vault-mcp": obsidian_vault_mcp.RUNS,
    "synk": {**synk.RUNS, **memory.RUNS},
    "co-cli": co_cli.RUNS,
}
"""What runs the tools of each toolset, by the value of `mcp.toolset` and the name of the tool."""
