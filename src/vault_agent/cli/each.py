"""The same request to each vault of the scope."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from vault_agent.cli.here import scope
from vault_agent.cli.terminal import complain
from vault_agent.config.registry import DEFAULT
from vault_agent.errors import VaultAgentError, explained

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from vault_agent.cli.command import Invocation
    from vault_agent.client.client import Client, Reply

_NEVER_SKIPPED = {"VAULT_UNKNOWN", "VAULT_AMBIGUOUS", "FEATURE_DISABLED", "UNAUTHORIZED"}


class One(NamedTuple):
    """The reply of one vault. `vault` is None for the vault that the command is about by itself."""

    name: str
    vault: str | None
    reply: Reply[Any]

    def address(self, path: str) -> str:
        """Return the path as every command takes it."""
        return address(self.vault, path)


def address(vault: str | None, path: str) -> str:
    """Return a path as every command takes it: with its vault if that is another one."""
    return path if vault is None else f"{vault}:{path}"


async def ask_each(
    invocation: Invocation, client: Client, ask: Callable[[], Awaitable[Reply[Any]]]
) -> list[One]:
    """Return the replies of the vaults of the scope, in order, at least one.

    Raises:
        VaultAgentError: as `ask`. Of several vaults, those that cannot be read are skipped.
    """
    vaults = scope(invocation)
    found: list[One] = []
    failed: VaultAgentError | None = None
    for place, vault in enumerate(vaults):
        if len(vaults) > 1:
            client.vault_name = vault
        try:
            found.append(One(vault or DEFAULT, vault if place else None, await ask()))
        except VaultAgentError as error:
            failed = failed or error
            skip(invocation, vaults, vault, error)
    if failed is not None and not found:
        raise failed
    return found


def skip(
    invocation: Invocation,
    vaults: tuple[str | None, ...],
    vault: str | None,
    error: VaultAgentError,
) -> None:
    """Warn that a vault is left out. Raise the error if there is no other or it is of all."""
    if len(vaults) == 1 or error.code in _NEVER_SKIPPED:
        raise error
    if not invocation.json:
        what = f"The vault {vault} is left out: {error.message}"
        complain("VAULT_SKIPPED", explained("VAULT_SKIPPED", what), look="warning")
