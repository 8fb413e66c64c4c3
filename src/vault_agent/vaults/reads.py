"""Waits until a vault that nobody else looks at is ready and up to date.

The vaults of projects and the global one are written by hand, by editors and by agents. Nobody
looks at their index, and no command is run for it.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from vault_agent.config.registry import DEFAULT
from vault_agent.errors import Busy, VaultAgentError
from vault_agent.model.jobs import JobKind, Trigger

if TYPE_CHECKING:
    from collections.abc import Callable

    from vault_agent.store.database import Connection
    from vault_agent.vaults.open_vault import OpenVault
    from vault_agent.writing.write import Writing

_WAIT_SECONDS = 20.0

_T = TypeVar("_T")


async def ready(vault: OpenVault, writing: Writing) -> None:
    """Wait until a vault that may have just been opened can be written and searched.

    Raises:
        Busy: `SERVER_BUSY` if it takes too long.
    """
    try:
        async with asyncio.timeout(_WAIT_SECONDS):
            await writing.ready()
            while (job := vault.jobs.indexing) is not None:
                async for _ in vault.jobs.watch(job.id):
                    pass
    except TimeoutError:
        raise Busy("SERVER_BUSY", "The vault is still being opened or indexed.") from None


async def ask(vault: OpenVault, read: Callable[[Connection], _T]) -> _T:
    """Return what `read` finds in the index of a vault."""
    return await vault.read(lambda snapshot: snapshot.read(read))


async def index_now(vault: OpenVault, *, seconds: float) -> None:
    """Index what has changed in a vault, and wait for that at most some seconds.

    The run goes on after that. If it fails, the vault is as it was.
    """
    with suppress(VaultAgentError, TimeoutError):
        job = vault.jobs.running or await vault.submit(JobKind.INDEX, trigger=Trigger.SCAN)
        async with asyncio.timeout(seconds):
            async for _ in vault.jobs.watch(job.id):
                pass


def is_unwatched(vault: OpenVault) -> bool:
    """Whether changes of a vault's notes are noticed by nobody, and its owner is not asked."""
    return vault.address != DEFAULT and not vault.watch.is_live
