"""Reads of an open vault for what concerns several vaults at once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

from vault_agent.errors import Busy

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
        Busy: `RECOVERY_PENDING` if it takes too long.
    """
    try:
        async with asyncio.timeout(_WAIT_SECONDS):
            await writing.ready()
            while (job := vault.jobs.indexing) is not None:
                async for _ in vault.jobs.watch(job.id):
                    pass
    except TimeoutError:
        raise Busy("RECOVERY_PENDING", "The vault is still being opened or indexed.") from None


async def ask(vault: OpenVault, read: Callable[[Connection], _T]) -> _T:
    """Return what `read` finds in the index of a vault."""
    return await vault.read(lambda snapshot: snapshot.read(read))
