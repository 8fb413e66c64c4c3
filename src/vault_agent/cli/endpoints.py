"""Asks the programs that serve models whether they work, without a server."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vault_agent.config.sections import EmbeddingSettings, RerankSettings
    from vault_agent.models.embedder import Check


def ask_embedder(settings: EmbeddingSettings) -> Check:
    """Request one vector from the endpoint of these settings. Raises as `check_endpoint`."""
    from vault_agent.config import endpoint_settings
    from vault_agent.models.embedder import check_endpoint
    from vault_agent.models.settings import EndpointSettings

    return asyncio.run(check_endpoint(EndpointSettings(**endpoint_settings(settings))))


def ask_reranker(settings: RerankSettings) -> None:
    """Let the reranker of these settings score two passages. It may take a minute to load first.

    Raises:
        Unavailable: `RERANK_UNAVAILABLE` if it does not answer, or answers something else.
    """
    from vault_agent.config import rerank_settings
    from vault_agent.models.reranker import Reranker, RerankSettings

    async def test() -> None:
        async with Reranker(RerankSettings(**rerank_settings(settings))) as reranker:
            await reranker.test()

    asyncio.run(test())
