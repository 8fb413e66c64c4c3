"""What the vaults of a process share."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeVar

from vault_agent.system.allowance import Allowance

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from vault_agent.models.embedder import Embedder
    from vault_agent.models.reranker import Reranker
    from vault_agent.models.settings import EndpointSettings
    from vault_agent.store.current import Snapshot
    from vault_agent.system.crash import CrashReport
    from vault_agent.vaults.known import KnownVaults

Reply = TypeVar("Reply")


class Read(Protocol):
    """Answers from the current revision, and again from the next one if a run replaces it."""

    async def __call__(self, action: Callable[[Snapshot], Awaitable[Reply]], /) -> Reply:
        """Return what `action` returns."""
        ...


@dataclass(frozen=True, slots=True)
class Shared:
    """Resources that all vaults of a process share."""

    embedder: Embedder | None
    endpoint: EndpointSettings | None  # of the embedder; None without embeddings
    on_crash: Callable[[str, CrashReport], object]  # gets the failed process's name
    known: KnownVaults  # the registered vaults
    may_write: bool  # whether notes may be changed in any vault
    reranker: Reranker | None = None
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)  # of index jobs
    texts: Allowance = field(default_factory=Allowance)  # for work on notes of any content
