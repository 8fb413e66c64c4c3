"""An indexed vault, opened for reading as the server opens it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.support.index_runs import Vault

from vault_agent.store.current import Snapshot


@asynccontextmanager
async def indexed(vault: Vault) -> AsyncIterator[Snapshot]:
    """Index the vault and yield a snapshot of its index."""
    await vault.index()
    async with opened(vault) as snapshot:
        yield snapshot


@asynccontextmanager
async def opened(vault: Vault) -> AsyncIterator[Snapshot]:
    """Yield a snapshot of the vault's index."""
    current = vault.current()
    await current.refresh()
    try:
        async with current.snapshot() as snapshot:
            yield snapshot
    finally:
        await current.close()
