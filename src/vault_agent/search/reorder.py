"""Reorder the best results by a reranker's scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from vault_agent.search.rank import Ranked


def reorder(
    places: Sequence[Ranked], relevance: Sequence[float], named: Collection[int]
) -> list[Ranked]:
    """Return the results in the order of their relevance, each with its place before.

    `relevance` has a number for each of the first `places`, on any scale; the others stay behind
    them. Notes in `named`, whose name is exactly the query, stay in front. The first result gets
    the highest of the scores, and so on, so that scores still fall and can be weighed.
    """
    count = len(relevance)
    order = sorted(range(count), key=lambda at: (places[at].rowid not in named, -relevance[at], at))
    best = [
        places[at]._replace(
            score=places[new].score,
            reranked={"relevance": round(relevance[at], 4), "placeBefore": at + 1},
        )
        for new, at in enumerate(order)
    ]
    return [*best, *places[count:]]
