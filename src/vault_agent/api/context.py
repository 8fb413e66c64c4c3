"""What an operation runs in."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from vault_agent.api.caller import Caller
    from vault_agent.app import App
    from vault_agent.model.scope import Scope
    from vault_agent.vaults.open_vault import OpenVault


Query = TypeVar("Query")


@dataclass(frozen=True, slots=True)
class CallContext:
    """The server, the vault that an operation is about, and who calls it."""

    app: App
    vault: OpenVault
    caller: Caller

    @property
    def scope(self) -> Scope:
        """What the caller may see."""
        return self.caller.scope

    def within(self, sent: Query) -> Query:
        """Return a request that finds only what the caller may see."""
        if hasattr(sent, "filters") and not hasattr(sent, "scope"):
            filters = replace(sent.filters, scope=self.scope)
            return replace(sent, filters=filters)  # type: ignore[type-var]
        return replace(sent, scope=self.scope)  # type: ignore[type-var]
