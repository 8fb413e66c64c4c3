"""The same request to each vault of the scope."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from vault_agent.cli.here import scope
from vault_agent.cli.terminal import complain
from vault_agent.config.registry import DEFAULT
from vault_agent.errors import VaultAgentError, explained

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence

    from vault_agent.cli.command import Invocation
    from vault_agent.client.client import Client, Reply

_Item = TypeVar("_Item")
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


async def over(
    invocation: Invocation,
    client: Client,
    vaults: Sequence[str | None],
    of_one: Callable[[str | None], AsyncGenerator[_Item]],
) -> AsyncGenerator[_Item]:
    """Yield what `of_one` yields for each vault, while the client's calls are about that vault.

    Raises:
        VaultAgentError: as `of_one`. Of several vaults, those that cannot be read are skipped.
    """
    failed: VaultAgentError | None = None
    is_any = False
    for vault in vaults:
        client.vault_name = vault
        try:
            async with aclosing(of_one(vault)) as items:
                async for item in items:
                    is_any = True
                    yield item
        except VaultAgentError as error:
            failed = failed or error
            _skip(invocation, vaults, vault, error)
    if failed is not None and not is_any:
        raise failed


async def ask_each(
    invocation: Invocation, client: Client, ask: Callable[[], Awaitable[Reply[Any]]]
) -> list[One]:
    """Return the replies of the vaults of the scope, in order, at least one. Raises as `over`."""
    vaults = scope(invocation)

    async def one(vault: str | None) -> AsyncGenerator[One]:
        yield One(vault or DEFAULT, label(vault, vaults), await ask())

    return [each async for each in over(invocation, client, vaults, one)]


def label(vault: str | None, vaults: Sequence[str | None]) -> str | None:
    """Return the name of a vault before paths, None for the one that a command is about."""
    return None if vault == vaults[0] else vault


def _skip(
    invocation: Invocation,
    vaults: Sequence[str | None],
    vault: str | None,
    error: VaultAgentError,
) -> None:
    """Warn that a vault is left out. Raise the error if there is no other or it is of all."""
    if len(vaults) == 1 or error.code in _NEVER_SKIPPED:
        raise error
    if not invocation.json:
        what = f"The vault {vault} is left out: {error.message}"
        complain("VAULT_SKIPPED", explained("VAULT_SKIPPED", what), look="warning")
