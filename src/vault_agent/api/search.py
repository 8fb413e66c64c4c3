"""The operations that rank: search and related notes."""

from __future__ import annotations

from dataclasses import replace

from vault_agent.api.context import CallContext
from vault_agent.api.cursors import decode_cursor, encode_cursor, invalid_cursor
from vault_agent.api.operation import Found, operation
from vault_agent.api.vaults import several_of
from vault_agent.model.search import MAX_RANKED, Answer, RelatedQuery, SearchQuery


@operation("POST", "/search", listed="hits", for_agents=True)
async def search(call: CallContext, sent: SearchQuery) -> Found[Answer]:
    """Find chunks and notes by lexical search, semantic search, or both."""
    weights = call.vault.config.search.weights
    rerank = call.vault.reranker is not None
    query = replace(sent, weights=weights, rerank=rerank)
    several = several_of(call, sent.vaults)
    if sent.cursor is not None:
        position, revision = decode_cursor(sent, sent.cursor, int, int, vault=call.vault.identity)
        offset, reranked = map(int, position)
        if not (revision and 0 < offset <= MAX_RANKED):
            raise invalid_cursor()
        # In another order than that of the first page, results would be repeated or missing.
        rerank = rerank and reranked == 1
        query = replace(query, offset=offset, revision=revision, rerank=rerank)
    answer = await (several.search(sent.vaults, query) if several else call.vault.search(query))
    following = None
    if answer.has_more:
        failed = any(each.code == "RERANK_UNAVAILABLE" for each in answer.warnings)
        position = (query.offset + len(answer.hits), int(query.rerank and not failed))
        following = encode_cursor(
            sent, position, vault=call.vault.identity, revision=answer.revision
        )
    return Found(replace(answer, next_cursor=following), answer.warnings)


@operation("POST", "/related", listed="hits", for_agents=True)
async def related(call: CallContext, sent: RelatedQuery) -> Found[Answer]:
    """Find notes and chunks similar to a note or chunk, or linked with it."""
    if several := several_of(call, sent.vaults):
        answer = await several.related(sent.vaults, sent, home=call.vault)
    else:
        answer = await call.vault.related(sent)
    return Found(answer, answer.warnings)
