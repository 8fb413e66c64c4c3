"""Queries for related notes, and scores that combine text and links."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from vault_agent.model.lexical import LexicalQuery
from vault_agent.text.terms import is_unit, terms

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_CHARACTERS = 100_000
"""Only this much of a note's text is used."""
QUERY_TERMS = 32
NAME_COUNT = 2
"""Added to the count of a term for each occurrence in the title, aliases and tags."""
COMMON_SHARE = 0.3
"""A term in a larger share of the notes is too common to characterise one of them."""
LINK_WEIGHT = 0.3
"""Limit of the link score as the number of links grows."""


class Fused(NamedTuple):
    """A note's score, and the scores of its text and its links."""

    score: float
    lexical: float
    links: float


def count_terms(text: str, names: str) -> Counter[str]:
    """Count the terms that may characterise a text. `names` is its title, aliases and tags."""
    counts = Counter(terms(text[:MAX_CHARACTERS]))
    for term in terms(names):
        counts[term] += NAME_COUNT
    return Counter(
        {
            term: count
            for term, count in counts.items()
            if not (is_unit(term) or term.isdigit())  # numbers characterise nothing
        }
    )


def related_query(
    counts: Mapping[str, int], frequencies: Mapping[str, int], note_count: int
) -> LexicalQuery:
    """Return a query of the most informative terms: tf·idf, both on a logarithmic scale.

    Terms that are in no other note are left out, because they find nothing. So are terms that are
    in too many notes, except in a small vault.
    """
    most = max(COMMON_SHARE * note_count, 10)
    scored = sorted(
        (
            (-(1 + math.log(count)) * math.log1p(note_count / frequency), term)
            for term, count in counts.items()
            if 1 < (frequency := frequencies.get(term, 0)) <= most
        ),
    )
    # BM25 multiplies by the idf itself.
    weights = {term: 1 + math.log(counts[term]) for _, term in scored[:QUERY_TERMS]}
    return LexicalQuery(weights=weights, tolerant=False)


def fuse(lexical: Mapping[int, float], links: Mapping[int, int]) -> dict[int, Fused]:
    """Combine the lexical scores (0 to 1) of notes with the number of links to or from each.

    Noisy-or: each signal alone is enough, and a second one never lowers the score.
    """
    fused = {}
    for rowid in sorted({*lexical, *links}):
        words = lexical.get(rowid, 0.0)
        linked = LINK_WEIGHT * (1 - 0.5 ** links.get(rowid, 0))
        fused[rowid] = Fused(round(1 - (1 - words) * (1 - linked), 6), words, linked)
    return fused
