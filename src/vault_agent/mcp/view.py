"""What one client may see: a vault, a caller, and the size of replies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vault_agent.api.operation import Found, Operation, perform

if TYPE_CHECKING:
    from vault_agent.api.caller import Caller
    from vault_agent.library.open_vault import OpenVault
    from vault_agent.wire.base import Model
    from vault_agent.wire.replies import Reply


@dataclass(frozen=True, slots=True)
class View:
    """One client's view of a vault. `max_bytes` is the size limit of a tool's reply."""

    vault: OpenVault
    caller: Caller
    max_bytes: int

    async def perform(self, operation: Operation[Any, Found], sent: Model) -> Reply[Any]:
        """Run an operation as this client's caller.

        Raises:
            VaultAgentError: as `api.operation.perform`.
        """
        return (await perform(operation, self.vault, self.caller, sent)).reply
