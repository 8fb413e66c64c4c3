"""What the vaults of a process share."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from vault_agent.embedding.client import EndpointSettings, HttpEmbedder
    from vault_agent.system.crash import CrashReport


@dataclass(frozen=True, slots=True)
class Shared:
    """Resources that all vaults of a process share."""

    embedder: HttpEmbedder | None
    endpoint: EndpointSettings | None  # of the embedder; None without embeddings
    on_crash: Callable[[str, CrashReport], object]  # gets the failed process's name
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)  # of index jobs
