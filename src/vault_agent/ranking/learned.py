"""Raise results that were opened after similar searches, within bounds.

Searches are similar by the words that they share: Jaccard's coefficient of their terms. A note that
was opened after similar searches has more evidence than its text alone gives, at most `MOST` times
as much. So nothing is passed that has more than `MOST` times the evidence of what passes it. Nor is
a note whose name is the query, or a chunk with all words of the query, by one without.

The constants were chosen by `python -m benchmarks learn`.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from vault_agent.model.search import Opened
from vault_agent.ranking.query import compile_query
from vault_agent.text.common_words import common_terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from vault_agent.model.search import Opening
    from vault_agent.ranking.rank import Ranked

MOST: Final = 1.5
"""The factor of the evidence of a note that is always opened."""
ALIKE: Final = 0.5
"""Similar searches have more than this share of their words in common."""
HALF: Final = 1.0
"""After so many openings, a note has half of what it can have."""


def terms_of(query: str) -> frozenset[str]:
    """Return the terms of a query by which similar ones are known, without common words."""
    return frozenset(compile_query(query).weights.keys() - common_terms())


def learned(terms: frozenset[str], openings: Iterable[Opening]) -> dict[str, Opened]:
    """Return the notes that were opened after searches that are similar to `terms`, by path.

    Openings of other notes after the same searches weaken a note by the square of its share, so
    that a wrong one among right ones counts little.
    """
    times: dict[str, int] = defaultdict(int)
    weights: dict[str, float] = defaultdict(float)
    for opening in openings:
        shared = len(terms & opening.terms)
        if not shared:
            continue
        alike = shared / (len(terms) + len(opening.terms) - shared)
        if alike > ALIKE:
            times[opening.path] += 1
            weights[opening.path] += alike * opening.weight
    total = sum(weights.values())
    return {
        path: Opened(times[path], weight / (weight + HALF) * (weight / total) ** 2)
        for path, weight in weights.items()
    }


def raised(places: Sequence[Ranked], opened: Mapping[int, Opened]) -> list[Ranked]:
    """Return results, best first, with the notes in `opened` (by rowid) raised.

    Only a note's best result is raised. One that is raised says how often it was opened, the factor
    of its evidence, and its place before.
    """
    if not opened:
        return list(places)
    best: set[int] = set()
    limits = [1.0, 1.0, 1.0]  # the least score so far of results whose fit is better than 0, 1, 2
    scored: list[Ranked] = []
    for number, place in enumerate(places, 1):
        note = opened.get(place.rowid) if place.rowid not in best else None
        best.add(place.rowid)
        now = place
        if note is not None:
            factor = 1 + (MOST - 1) * note.strength
            # A score from 0 to 1 is made of a sum of evidence, see `weigh`.
            score = min(round(1 - (1 - place.score) ** factor, 6), limits[place.fit])
            why = {"opened": note.times, "factor": round(factor, 2), "placeBefore": number}
            now = place._replace(score=max(score, place.score), learned=why)
        for worse in range(now.fit):
            limits[worse] = min(limits[worse], now.score)
        scored.append(now)
    return sorted(scored, key=lambda place: -place.score)  # equal ones stay in their order
