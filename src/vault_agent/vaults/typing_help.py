"""What one open vault knows for suggestions and its numbers, kept for a revision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio

from vault_agent.search.complete import names, stats_of, suggest

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from vault_agent.model.suggestions import Stats, Suggestion, SuggestQuery
    from vault_agent.search.complete import Names
    from vault_agent.store.current import Snapshot
    from vault_agent.system.allowance import Allowance
    from vault_agent.vault.root import VaultRoot
    from vault_agent.vaults.background import Background

    Read = Callable[[Callable[[Snapshot], Awaitable[Any]]], Awaitable[Any]]


class TypingHelp:
    """Suggests names, and counts.

    The names of a new revision are read in the background, and suggestions are made of the older
    ones meanwhile: nobody waits while they type.
    """

    def __init__(
        self,
        read: Read,
        open_vault: Callable[[], VaultRoot],
        background: Background,
        allowance: Allowance,
    ) -> None:
        self._read = read
        self._open_vault = open_vault
        self._background = background
        self._allowance = allowance
        self._names: Names | None = None
        self._stats: Stats | None = None
        self._reading = anyio.Lock()

    async def suggest(self, query: SuggestQuery) -> list[Suggestion]:
        """Return suggestions for what was typed, best first."""

        async def answer(now: Snapshot) -> list[Suggestion]:
            known = await self._known(now)
            return await suggest(now, known, query, self._open_vault, self._allowance)

        found: list[Suggestion] = await self._read(answer)
        return found

    async def stats(self) -> Stats:
        """Return numbers of the current revision."""

        async def answer(now: Snapshot) -> Stats:
            if self._stats is None or self._stats.revision != now.revision:
                self._stats = await stats_of(now)
            return self._stats

        found: Stats = await self._read(answer)
        return found

    async def _known(self, now: Snapshot) -> Names:
        known = self._names
        if known is None:
            async with self._reading:
                if self._names is None:
                    self._names = await names(now)
                return self._names
        if known.revision != now.revision and not self._reading.statistics().locked:
            self._background.spawn(self._renew)
        return known

    async def _renew(self) -> None:
        async with self._reading:
            self._names = await self._read(names)
