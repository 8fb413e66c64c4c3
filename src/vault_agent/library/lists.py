"""Reads of one open vault beyond search and retrieval: names, lists and what is made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vault_agent.model.scope import EVERYTHING
from vault_agent.search.resolve import resolve

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from typing import TypeAlias

    from vault_agent.model.names import Named
    from vault_agent.model.scope import Scope
    from vault_agent.store.current import Snapshot

    Read: TypeAlias = Callable[[Callable[[Snapshot], Awaitable[Any]]], Awaitable[Any]]
    """Answers from the current snapshot, and again if a run replaces it meanwhile."""


class Lists:
    """The names and lists of one vault. `roots` are the vault's absolute paths."""

    def __init__(self, read: Read, roots: Sequence[str]) -> None:
        self._read = read
        self._roots = roots

    async def resolve(self, name: str, scope: Scope = EVERYTHING) -> Named:
        """Return the notes of `scope` that a name means."""
        found: Named = await self._read(
            lambda now: resolve(now, name, roots=self._roots, scope=scope)
        )
        return found
