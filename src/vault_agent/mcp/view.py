"""What one client may see: a vault, a caller, and the size of replies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vault_agent.api.operation import Found, Operation, is_on, perform
from vault_agent.mcp.text import hidden, visible

if TYPE_CHECKING:
    from vault_agent.api.caller import Caller
    from vault_agent.library.open_vault import OpenVault
    from vault_agent.model.writing import Right
    from vault_agent.wire.base import Model
    from vault_agent.wire.replies import Reply


@dataclass(frozen=True, slots=True)
class View:
    """One client's view of a vault.

    `max_bytes` is the size limit of a tool's reply, `toolset` the name of the client's tools, and
    `rights` what it may write.
    """

    vault: OpenVault
    caller: Caller
    max_bytes: int
    toolset: str = "vault-agent"
    rights: frozenset[Right] = frozenset()

    def shown(self, path: str) -> str:
        """Return a path of the vault as this client sees it: relative to its folder, visible."""
        return visible(self.caller.scope.inner(path))

    def pattern(self, given: str) -> str | None:
        """Return a folder or glob of this client as one of the vault, or None for everything."""
        path = hidden(given).strip("/")
        if not path:
            return None
        # A glob without a slash is matched with file names in any folder.
        return path if "/" not in path and "*" in path else self.caller.scope.outer(path)

    def has(self, setting: str | None) -> bool:
        """Whether a setting such as `memory.enabled` is on. None stands for what always is."""
        return setting is None or is_on(setting, self.vault.config)

    async def perform(self, operation: Operation[Any, Found], sent: Model) -> Reply[Any]:
        """Run an operation as this client's caller.

        Raises:
            VaultAgentError: as `api.operation.perform`.
        """
        return (await perform(operation, self.vault, self.caller, sent)).reply
