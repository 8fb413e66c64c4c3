"""Whether the configured endpoint works: one vector, or exactly what to do."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vault_agent.embedding.client import HttpEmbedder

if TYPE_CHECKING:
    from vault_agent.embedding.client import EndpointSettings
    from vault_agent.embedding.prefixes import Prefixes


@dataclass(frozen=True, slots=True)
class Check:
    """What a working endpoint showed of itself."""

    model: str
    dimension: int
    seconds: float  # for one short text, the model being loaded
    prefixes: Prefixes


async def check_endpoint(settings: EndpointSettings) -> Check:
    """Ask the endpoint as a run would, then once more against the clock.

    Raises `Unavailable` or `Misconfigured`; the message says what to do.
    """
    async with HttpEmbedder(settings) as embedder:
        space = await embedder.prepare()
        started = time.perf_counter()
        await embedder.embed_query("one short question")
        seconds = time.perf_counter() - started
    return Check(space.model, space.dimension, seconds, embedder.prefixes)
