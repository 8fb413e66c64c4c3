"""Search: a query to ranked candidates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_agent.actions import lexical
from vault_agent.errors import Unavailable
from vault_agent.model import Answer, Mode, Reason, Warning
from vault_agent.ranking.query import compile_query

if TYPE_CHECKING:
    from vault_agent.model import SearchQuery
    from vault_agent.store.current import Snapshot


async def search(
    snapshot: Snapshot, query: SearchQuery, *, warnings: tuple[Warning, ...] = ()
) -> Answer:
    """Return ranked candidates.

    Raises:
        Unavailable: `EMBEDDING_UNAVAILABLE` where only embeddings would do.
        IndexUnavailable: `INDEX_INCOMPATIBLE` where the index is damaged.
    """
    if query.mode is Mode.EMBEDDING:
        raise no_embeddings()
    if query.mode is Mode.HYBRID:
        warnings = (*warnings, fell_back())
    ranking = await lexical.ranked(
        snapshot, compile_query(query.query), query.filters, limit=query.limit
    )
    hits = await lexical.hits(
        snapshot,
        ranking.places,
        ranking.notes,
        ranking.candidates.information,
        reasons=[Reason.LEXICAL_MATCH] * len(ranking.places),
        explain=query.explain,
    )
    return Answer(query.mode, Mode.LEXICAL, query.limit, hits, warnings)


def no_embeddings() -> Unavailable:
    """Return the refusal of a search that only embeddings could answer."""
    return Unavailable(
        "EMBEDDING_UNAVAILABLE",
        "There are no embeddings to search. Use mode lexical, or set up embeddings and run "
        "vault-agent index.",
    )


def fell_back() -> Warning:
    """Return the warning that a hybrid search was answered from words alone."""
    return Warning(
        "EMBEDDING_UNAVAILABLE",
        "Embeddings cannot be used; these results come from words alone.",
    )
