"""Checks whether the configured endpoint works."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vault_agent.models.embedder import HttpEmbedder

if TYPE_CHECKING:
    from vault_agent.models.embedder import EndpointSettings
    from vault_agent.models.prefixes import Prefixes


@dataclass(frozen=True, slots=True)
class Check:
    """The properties of a working endpoint."""

    model: str
    dimension: int
    seconds: float  # for one short text, with the model loaded
    prefixes: Prefixes


async def check_endpoint(settings: EndpointSettings) -> Check:
    """Prepare the endpoint as a run does, then measure one query.

    Raises:
        Unavailable: `EMBEDDING_UNAVAILABLE`; the message says what to do.
        Misconfigured: `CONFIG_INVALID`, a wrong endpoint or model.
    """
    async with HttpEmbedder(settings) as embedder:
        space = await embedder.prepare()
        started = time.perf_counter()
        await embedder.embed_query("one short question")
        seconds = time.perf_counter() - started
    return Check(space.model, space.dimension, seconds, embedder.prefixes)
