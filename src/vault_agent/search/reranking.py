"""Reorders the best results of a search by a reranker, if the user has one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_agent.errors import Unavailable
from vault_agent.model.identifiers import CHUNK_BITS
from vault_agent.model.search import RERANKED
from vault_agent.models.settings import document_input
from vault_agent.search.warnings import fell_back
from vault_agent.store.index import notes as reading

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence

    from vault_agent.model.warning import Warning
    from vault_agent.search.rank import Ranked
    from vault_agent.store.current import Snapshot
    from vault_agent.store.index.notes import StoredNote


_NOT_RERANKED = "These results are not reranked."


async def reranked(
    snapshot: Snapshot,
    places: list[Ranked],
    notes: Mapping[int, StoredNote],
    scores: Callable[[Sequence[str]], Awaitable[Sequence[float]]],
    named: Callable[[], Collection[int]],
) -> tuple[list[Ranked], tuple[Warning, ...]]:
    """Return the results with the first 30 reordered, or as they are with a warning.

    `scores` returns the relevance of passages, or raises `Unavailable`. `named` blocks, and returns
    the notes whose name is the query: they stay in front. `notes` has the notes of all `places`.
    """
    first = places[:RERANKED]
    if len(first) < 2:
        return places, ()
    texts = await snapshot.threads.run(_passages, snapshot, first, notes)
    try:
        relevance = await scores(texts)
    except Unavailable as reason:
        return places, (fell_back(reason, _NOT_RERANKED),)
    return reorder(places, relevance, await snapshot.threads.run(named)), ()


def _passages(
    snapshot: Snapshot, places: Sequence[Ranked], notes: Mapping[int, StoredNote]
) -> list[str]:
    """Return the text of each result: title, headings, and the chunk that the result shows."""
    keys = [place.rowid << CHUNK_BITS if place.key is None else place.key for place in places]
    chunks = snapshot.look(reading.chunks, keys)
    return [
        document_input("", notes[place.rowid].title, chunk.heading_path, chunk.text)
        if (chunk := chunks.get(key)) is not None
        else notes[place.rowid].title
        for place, key in zip(places, keys, strict=True)
    ]


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
