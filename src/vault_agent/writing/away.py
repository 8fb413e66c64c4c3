"""Notes that are away for a moment.

Some editors rename a file as they save it, and then write it anew.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import anyio

from vault_agent.errors import VaultAgentError
from vault_agent.text.names import is_note
from vault_agent.vault.opening import CannotOpen

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from vault_agent.system.threads import Threads
    from vault_agent.writing.journal import Journal


class Away:
    """Waits for the notes that the index knows. `knows` says whether it knows a path."""

    def __init__(
        self, journal: Journal, threads: Threads, knows: Callable[[str], Awaitable[bool]] | None
    ) -> None:
        self._journal = journal
        self._threads = threads
        self._knows = knows

    async def settled(self, path: str) -> None:
        """Wait while a known note is away. One that stays away is gone."""
        if self._knows is None or not is_note(path):
            return
        times = self._journal.limits.times
        deadline = time.monotonic() + times.away
        while await self._threads.run(self._is_away, path):
            if time.monotonic() >= deadline or not await self._knows(path):
                return
            await anyio.sleep(times.look)

    def _is_away(self, path: str) -> bool:
        try:
            with self._journal.open_root() as root:
                return not root.has(path)
        except (VaultAgentError, CannotOpen, OSError):
            return False  # the write itself says what is wrong
