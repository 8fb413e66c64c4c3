"""What a note or chunk is about, as a query; and links as a second voice."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from vault_agent.model.lexical import LexicalQuery
from vault_agent.text.terms import is_unit, terms

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_CHARACTERS = 100_000
"""Of a longer note the beginning tells what it is about."""
QUERY_TERMS = 32
NAME_COUNT = 2
"""Words of the title, the aliases and the tags count this often, on top of those in the text."""
COMMON_SHARE = 0.3
"""A word in more of the notes than this says nothing about one of them."""
LINK_WEIGHT = 0.3
"""A linked note comes at least this far up, were it linked without end."""


class Fused(NamedTuple):
    """A note's score from both voices, and how much each of them gave."""

    score: float
    lexical: float
    links: float


def count_terms(text: str, names: str) -> Counter[str]:
    """Count what may characterise a text; `names` is its title, aliases and tags."""
    counts = Counter(terms(text[:MAX_CHARACTERS]))
    for term in terms(names):
        counts[term] += NAME_COUNT
    return Counter(
        {
            term: count
            for term, count in counts.items()
            if not (is_unit(term) or term.isdigit())  # dates and figures are about nothing
        }
    )


def related_query(
    counts: Mapping[str, int], frequencies: Mapping[str, int], note_count: int
) -> LexicalQuery:
    """Return the query of the most informative terms: tf·idf, both on a logarithmic scale.

    A term that stands in no other note finds nothing and is left out, as is one that stands in
    nearly all. In a small vault nothing is too common.
    """
    most = max(COMMON_SHARE * note_count, 10)
    scored = sorted(
        (
            (-(1 + math.log(count)) * math.log1p(note_count / frequency), term)
            for term, count in counts.items()
            if 1 < (frequency := frequencies.get(term, 0)) <= most
        ),
    )
    # BM25 brings the idf itself.
    weights = {term: 1 + math.log(counts[term]) for _, term in scored[:QUERY_TERMS]}
    return LexicalQuery(weights=weights, tolerant=False)


def fuse(lexical: Mapping[int, float], links: Mapping[int, int]) -> dict[int, Fused]:
    """Join the lexical scores (0 to 1) of notes with how many links lead to or from each.

    A noisy or: either voice is enough, both are more, and no note loses by a second one.
    """
    fused = {}
    for rowid in sorted({*lexical, *links}):
        words = lexical.get(rowid, 0.0)
        linked = LINK_WEIGHT * (1 - 0.5 ** links.get(rowid, 0))
        fused[rowid] = Fused(round(1 - (1 - words) * (1 - linked), 6), words, linked)
    return fused
