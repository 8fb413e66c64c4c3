"""Lexical and embedding evidence to one score: a convex combination that knows its doubts.

Scores are normalised, since BM25 and cosines have no scale in common, and added with weights that
sum to one (S. Bruch, S. Gai, A. Ingber, "An analysis of fusion functions for hybrid retrieval",
TOIS 2023). Reciprocal rank fusion, the usual choice, forgets by how much the first is ahead of
the second, and so lets vectors that say nothing undo what the words say clearly.

    fused = (1 - w) · lexical + w · embedding

- lexical: the score as a share of the best one's; less, by the square, where even the best holds
  little of the query, so that the accidental find of a common word is worth little.
- embedding: the cosine between that of an average note (0) and that of the nearest (1).
- w: at most 0.4, and the less, the lower the vectors place what the words found. A model that
  does not know the language, or a query for a rare word or number, shows there.

The constants were chosen on four collections; figures in docs/explanation/hybrid.md.
"""

from __future__ import annotations

from heapq import nlargest
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping

Key = TypeVar("Key")

EMBEDDING_WEIGHT: Final = 0.4
CONVINCING_SHARE: Final = 0.2
"""Share of what a query could at most score, from which on lexical evidence counts in full."""
_WITNESSES: Final = 5
"""Lexical results whose places among the vectors tell what the vectors are worth."""


class Fused(NamedTuple):
    """A score, 0 to 1, and what each side contributed to it."""

    score: float
    lexical: float
    embedding: float


def fuse(
    lexical: Mapping[Key, float],
    cosines: Mapping[Key, float],
    *,
    ceiling: float,
    background: float,
) -> dict[Key, Fused]:
    """Return the fused score of every candidate of either side.

    `lexical` has scores over 0, of which `ceiling` is the most that the query could get. `cosines`
    should hold the lexical candidates too, wherever they have a vector: one that is missing counts
    as agreeing with the words, so that what is not embedded yet is not put behind. `background` is
    the cosine of an average note.
    """
    words = _normalised(lexical, 0.0)
    meaning = _normalised(cosines, background)
    best = max(lexical.values(), default=0.0)
    conviction = min(1.0, best / (CONVINCING_SHARE * ceiling)) ** 2 if ceiling > 0 else 0.0
    doubt = conviction * (1 - _agreement(words, meaning))
    weight = EMBEDDING_WEIGHT * (1 - doubt) if meaning else 0.0
    most = (1 - weight) * conviction + weight
    fused = {}
    for key in {**words, **meaning}:
        word = conviction * words.get(key, 0.0)
        by_words = (1 - weight) * word / most
        by_meaning = weight * meaning.get(key, word) / most
        fused[key] = Fused(by_words + by_meaning, by_words, by_meaning)
    return fused


def _normalised(scores: Mapping[Key, float], least: float) -> dict[Key, float]:
    """Return scores as shares of the way from `least` to the best; 0 for those below."""
    if not scores:
        return {}
    span = max(scores.values()) - least
    if span <= 0:
        return dict.fromkeys(scores, 0.0)
    return {key: max(0.0, (score - least) / span) for key, score in scores.items()}


def _agreement(words: Mapping[Key, float], meaning: Mapping[Key, float]) -> float:
    """Return how near the vectors put the best lexical results: 1 at the top, 0 at the average."""
    known = [(word, meaning[key]) for key, word in words.items() if key in meaning]
    witnesses = nlargest(_WITNESSES, known)
    total = sum(word for word, _ in witnesses)
    return sum(word * near for word, near in witnesses) / total if total else 1.0
