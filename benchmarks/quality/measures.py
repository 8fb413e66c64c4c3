"""The usual measures of a ranked list, as trec_eval defines them (linear gain)."""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass
from statistics import fmean
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


@dataclass(frozen=True)
class Measures:
    """Of one query, or the mean over several."""

    ndcg10: float
    recall10: float
    recall50: float
    mrr10: float
    success1: float


LABELS = ("nDCG@10", "recall@10", "recall@50", "MRR@10", "S@1")


def measure(ranked: Sequence[str], relevance: Mapping[str, int]) -> Measures:
    """Judge a ranked list of documents; negative relevance takes one out of the ranking.

    A document that comes twice counts where it comes first. At least one must be relevant.
    """
    places = [document for document in dict.fromkeys(ranked) if relevance.get(document, 0) >= 0]
    good = {document for document, grade in relevance.items() if grade > 0}
    ideal = sorted((grade for grade in relevance.values() if grade > 0), reverse=True)
    first = next((place for place, name in enumerate(places, 1) if name in good), math.inf)
    return Measures(
        ndcg10=_gain([relevance.get(document, 0) for document in places[:10]]) / _gain(ideal[:10]),
        recall10=len(good & set(places[:10])) / len(good),
        recall50=len(good & set(places[:50])) / len(good),
        mrr10=1 / first if first <= 10 else 0.0,
        success1=float(first <= 1),
    )


def mean(measures: Iterable[Measures]) -> Measures:
    """Return the mean of each measure."""
    columns = zip(*map(astuple, measures), strict=True)
    return Measures(*(fmean(column) for column in columns))


def _gain(grades: Iterable[int]) -> float:
    return sum(grade / math.log2(place + 1) for place, grade in enumerate(grades, 1))
