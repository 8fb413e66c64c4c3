"""The operation about the vaults of a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_agent.api.caller import CallerKind
from vault_agent.api.operation import Found, Http, Operation
from vault_agent.errors import NotFound
from vault_agent.model.vaults import VaultList
from vault_agent.wire.requests import NoParams

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vault_agent.api.context import CallContext
    from vault_agent.vaults.several import Several


VAULT_CODES = (
    "FEATURE_DISABLED",
    "VAULT_UNKNOWN",
    "VAULT_AMBIGUOUS",
    "VAULT_NOT_TRUSTED",
    "VAULT_NOT_FOUND",
    "INDEX_LOCKED",
    "SERVER_BUSY",
)
"""Errors where a request names vaults."""


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


async def _vaults(call: CallContext, _: NoParams) -> Found:
    """List the default vault and the registered ones."""
    return Found(VaultList(tuple(await call.app.vaults.states())))


VAULTS = Operation(
    "vaults",
    NoParams,
    _vaults,
    (VaultList,),
    needs="vaults.enabled",
    listed="vaults",
    http=Http("GET", "/vaults"),
)
