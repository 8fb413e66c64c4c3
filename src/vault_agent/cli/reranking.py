"""Asks the reranker whether it works, without a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vault_agent.config.sections import RerankSettings


async def ask_reranker(settings: RerankSettings) -> None:
    """Let the reranker of these settings score two passages. It may take a minute to load first.

    Raises:
        Unavailable: `RERANK_UNAVAILABLE` if it does not answer, or answers something else.
    """
    from vault_agent.config import rerank_settings
    from vault_agent.models.reranker import Reranker, RerankSettings

    async with Reranker(RerankSettings(**rerank_settings(settings))) as reranker:
        await reranker.test()
