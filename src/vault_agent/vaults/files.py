"""The index, as moves of files need it."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from vault_agent.errors import VaultAgentError
from vault_agent.model.identifiers import identify
from vault_agent.store.index.notes import note_by_id

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from vault_agent.freshness.runs import Runs
    from vault_agent.store.current import Snapshot
    from vault_agent.vaults.reading import Reading


class LinksOfVault:
    """The index of an open vault."""

    def __init__(self, runs: Runs, reading: Reading) -> None:
        self._runs = runs
        self._reading = reading

    async def knows(self, path: str) -> bool:
        """Whether the index has a note at a path."""
        try:
            async with self._reading.snapshot() as snapshot:
                return await snapshot.read(note_by_id, identify(path)) is not None
        except VaultAgentError:
            return False

    @asynccontextmanager
    async def snapshot(self, *, up_to_date: bool) -> AsyncIterator[Snapshot]:
        """Lend the current state. With `up_to_date`, first index all changes of the vault."""
        if up_to_date:
            await self._runs.index_changes()
        async with self._reading.snapshot() as snapshot:
            yield snapshot
