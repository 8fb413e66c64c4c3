"""The operations about a server and its vaults."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_agent.api.caller import CallerKind
from vault_agent.api.context import CallContext
from vault_agent.api.operation import Found, operation
from vault_agent.api.requests import NoParams
from vault_agent.errors import NotFound
from vault_agent.model.health import Health, VaultList

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vault_agent.vaults.several import Several


def several_of(call: CallContext, names: Sequence[str]) -> Several | None:
    """Return the searches over several vaults if a request names some.

    Raises:
        Misconfigured: `FEATURE_DISABLED` if several vaults are off.
        NotFound: `VAULT_UNKNOWN` if the caller is an agent, which knows one vault.
    """
    if not names:
        return None
    call.app.vaults.require_several()
    if call.caller.kind is CallerKind.AGENT:
        raise NotFound("VAULT_UNKNOWN", "There is no vault of this name.", remedy="")
    return call.app.several


@operation("GET", "/vaults", needs="vaults.enabled", listed="vaults")
async def vaults(call: CallContext, _: NoParams) -> Found[VaultList]:
    """List the default vault and the registered ones."""
    return Found(VaultList(tuple(await call.app.vaults.states())))


@operation("GET", "/health")
async def health(call: CallContext, _: NoParams) -> Found[Health]:
    """Return the state of the server, its index and its embeddings."""
    found = await call.vault.health()
    return Found(found, found.warnings)
