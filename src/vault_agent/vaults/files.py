"""The index, as moves of files need it."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from vault_agent.errors import VaultAgentError
from vault_agent.model.identifiers import identify
from vault_agent.store.index.notes import note_by_id

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from contextlib import AbstractAsyncContextManager

    from vault_agent.store.current import Snapshot


class LinksOfVault:
    """The index of an open vault.

    `update` indexes all changes of the vault, and `borrow` lends the current state.
    """

    def __init__(
        self,
        update: Callable[[], Awaitable[object]],
        borrow: Callable[[], AbstractAsyncContextManager[Snapshot]],
    ) -> None:
        self._update = update
        self._borrow = borrow

    async def knows(self, path: str) -> bool:
        """Whether the index has a note at a path."""
        try:
            async with self._borrow() as snapshot:
                return await snapshot.read(note_by_id, identify(path)) is not None
        except VaultAgentError:
            return False

    @asynccontextmanager
    async def snapshot(self, *, up_to_date: bool) -> AsyncIterator[Snapshot]:
        """Lend the current state. With `up_to_date`, first index all changes of the vault."""
        if up_to_date:
            await self._update()
        async with self._borrow() as snapshot:
            yield snapshot
