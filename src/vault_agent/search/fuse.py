"""Combine lexical and semantic scores with a weight that depends on their agreement.

BM25 and cosines have different scales. So both are normalised, then added with weights that sum to
one (S. Bruch, S. Gai, A. Ingber, "An analysis of fusion functions for hybrid retrieval", TOIS
2023). Reciprocal rank fusion, the usual choice, ignores the distances between scores. With it,
meaningless vectors can override clear lexical results.

    fused = (1 - w) · lexical + w · embedding

- lexical: the score relative to the best score. If even the best note matches little of the query,
  all are reduced by a square, so that a chance match of a common word counts little.
- embedding: the cosine, scaled from that of an average note (0) to that of the nearest (1).
- w: at most 0.8. It is the product of three shares:
  - agreement: how near the best lexical results are to the query. They are far if the model does
    not know the language, or if the query is a rare word or number.
  - prominence: how far the nearest vector stands out from all others.
  - need: smaller if the lexical evidence is clear, as for titles, headings and names.
  If the lexical evidence is poor, w is at least 0.4.

The constants were chosen on four collections. The figures are in docs/explanation/hybrid.md.
"""

from __future__ import annotations

from heapq import nlargest
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping

Key = TypeVar("Key")

EMBEDDING_WEIGHT: Final = 0.8
LEAST_EMBEDDING_WEIGHT: Final = 0.4
"""The least weight of the vectors if the best lexical result has no evidence at all."""
CONVINCING_SHARE: Final = 0.2
"""Lexical evidence counts in full if the best score is at least this share of the maximum."""
CLEAR_SHARE: Final = 1.0
"""Above this share of the maximum, lexical evidence lowers the weight of the vectors."""
NOISE: Final = 0.7
CLEAR: Final = 1.1
"""Vectors count from the first prominence on, and in full from the second."""
_JUDGES: Final = 5
"""Number of top lexical results used to judge the vectors."""


class Fused(NamedTuple):
    """A score, 0 to 1, and the contribution of each side."""

    score: float
    lexical: float
    embedding: float


def fuse(
    lexical: Mapping[Key, float],
    cosines: Mapping[Key, float],
    *,
    ceiling: float,
    background: float,
    prominence: float,
) -> dict[Key, Fused]:
    """Return the fused score of every candidate of either side.

    `lexical` has positive scores, and `ceiling` is the maximum for the query. `cosines` should
    contain the lexical candidates too, if they have a vector. A missing one counts as agreeing with
    the lexical score, so that notes without vectors are not ranked lower. `background` is the
    cosine of an average note. `prominence` says how far the nearest vector stands out.
    """
    words = _normalised(lexical, 0.0)
    meaning = _normalised(cosines, background)
    best = max(lexical.values(), default=0.0)
    share = best / ceiling if ceiling > 0 else 0.0
    conviction = min(1.0, share / CONVINCING_SHARE) ** 2
    weight = 0.0
    if meaning:
        clear = min(1.0, max(0.0, (prominence - NOISE) / (CLEAR - NOISE)))
        need = 1 / (1 + 2 * max(0.0, share - CLEAR_SHARE))
        weight = max(
            EMBEDDING_WEIGHT * _agreement(words, meaning) * clear * need,
            LEAST_EMBEDDING_WEIGHT * (1 - conviction),
        )
    most = (1 - weight) * conviction + weight
    fused = {}
    for key in {**words, **meaning}:
        word = conviction * words.get(key, 0.0)
        by_words = (1 - weight) * word / most
        by_meaning = weight * meaning.get(key, word) / most
        fused[key] = Fused(by_words + by_meaning, by_words, by_meaning)
    return fused


def _normalised(scores: Mapping[Key, float], least: float) -> dict[Key, float]:
    """Scale scores so that `least` becomes 0 and the best becomes 1. Lower ones become 0."""
    if not scores:
        return {}
    span = max(scores.values()) - least
    if span <= 0:
        return dict.fromkeys(scores, 0.0)
    return {key: max(0.0, (score - least) / span) for key, score in scores.items()}


def _agreement(words: Mapping[Key, float], meaning: Mapping[Key, float]) -> float:
    """Return the vectors' rating of the best lexical results: 1 at the top, 0 at the average."""
    known = [(word, meaning[key]) for key, word in words.items() if key in meaning]
    judges = nlargest(_JUDGES, known)
    total = sum(word for word, _ in judges)
    return sum(word * near for word, near in judges) / total if total else 1.0
