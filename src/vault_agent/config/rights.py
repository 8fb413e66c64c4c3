"""What a client may write, and which tools it gets, by the settings.

Imports no pydantic: the relay answers for the server before that could be imported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_agent.config import rules
from vault_agent.config.fast_settings import setting
from vault_agent.model.writing import Right
from vault_agent.text.names import fold, lies_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from vault_agent.config.layers import Layer


def allowed_rights(
    allow: Iterable[str], writable: Iterable[str], seen: Sequence[str], write: Iterable[str]
) -> frozenset[Right]:
    """Return what a named agent may write, where writing is on.

    Args:
        allow: `write.allow`.
        writable: `write.folders`.
        seen: the `folders` of the agent; () for the whole vault.
        write: the `write` of the agent.
    """
    writable_folders = [fold("" if folder == "." else folder) for folder in writable]
    if not any(
        lies_in(mine, folder) or lies_in(folder, mine)
        for mine in map(fold, seen or ("",))
        for folder in writable_folders
    ):
        return frozenset()
    return frozenset(map(Right, allow)) & frozenset(map(Right, write))


def tool_settings(
    layers: Sequence[Layer], agent: str | None
) -> tuple[str, frozenset[Right]] | None:
    """Return the toolset and the rights of an agent; None if there is none of this name.

    `agent` is None for an unnamed one.

    Raises:
        ValueError: if a setting of the agent is wrong. The server names it.
        Misconfigured: `CONFIG_INVALID`.
    """
    agents = {name: table for layer in layers for name, table in layer.agents.items()}
    own = agents.get(agent, {}) if agent is not None else {}
    if (agent is not None and agent not in agents) or not isinstance(own, dict):
        return None
    rights: frozenset[Right] = frozenset()
    if setting(layers, "write.enabled"):
        allow = setting(layers, "write.allow")
        rights = frozenset(map(Right, allow))
        if agent is not None:
            writable = setting(layers, "write.folders")
            seen = rules.seen_folders(own.get("folders", own.get("folder")))
            rights = allowed_rights(allow, writable, seen, own.get("write", ()))
    toolset = own.get("toolset") or setting(layers, "mcp.toolset")
    return str(toolset), rights
