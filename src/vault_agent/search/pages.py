"""Pages of ranked results. They belong to one revision of the index."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from vault_agent.errors import InvalidRequest
from vault_agent.model.modes import Mode
from vault_agent.ranking.query import literals
from vault_agent.search.every import search_every
from vault_agent.search.search import search
from vault_agent.search.unknown import filter_warnings

if TYPE_CHECKING:
    from vault_agent.embedding.embedder import Embedder
    from vault_agent.model.search import Answer, SearchQuery
    from vault_agent.model.warning import Warning
    from vault_agent.search.combined import AnySnapshot

MAX_RANKED = 200
"""Results in all pages together."""


async def search_page(
    snapshot: AnySnapshot,
    query: SearchQuery,
    *,
    embedder: Embedder | None = None,
    warnings: tuple[Warning, ...] = (),
    indexing: bool = False,
) -> Answer:
    """Return the results of a query from `query.offset` on.

    Raises:
        InvalidRequest: `CURSOR_EXPIRED` if the page before is of another revision of the index, or
            `INVALID_MODE` if every word is wanted in a mode that is not lexical.
        VaultAgentError: as `search`.
    """
    revision = snapshot.revision
    if query.revision not in (None, revision):
        raise InvalidRequest("CURSOR_EXPIRED", "The index has changed since the first page.")
    end = min(query.offset + query.limit, MAX_RANKED)
    # One more than the page shows whether there is another page.
    asked = replace(query, limit=end + 1 if end < MAX_RANKED else end)
    if query.every_word and literals(query.query):
        if query.mode not in (None, Mode.LEXICAL):
            raise InvalidRequest("INVALID_MODE", "Only a lexical search can match all words.")
        warnings += await filter_warnings(snapshot, query.filters)
        answer = await search_every(snapshot, asked, warnings)
    else:
        answer = await search(
            snapshot, asked, embedder=embedder, warnings=warnings, indexing=indexing
        )
    return replace(
        answer,
        limit=query.limit,
        hits=answer.hits[query.offset : end],
        has_more=len(answer.hits) > end,
        revision=revision,
    )
