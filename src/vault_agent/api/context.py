"""What an operation runs in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vault_agent.api.caller import Caller
    from vault_agent.app import App
    from vault_agent.vaults.open_vault import OpenVault


@dataclass(frozen=True, slots=True)
class CallContext:
    """The server, the vault that an operation is about, and who calls it.

    For an agent, the vault has only what the agent sees.
    """

    app: App
    vault: OpenVault
    caller: Caller
