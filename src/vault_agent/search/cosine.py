"""The nearest vectors by cosine. Every vector is compared; the figures are in hybrid.md.

Call it in a thread: numpy releases the GIL in each of its few, large operations.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float32]
    Integers: TypeAlias = NDArray[np.int64]

# Rows whose cosines are computed to see how much cosines differ.
_SAMPLED: Final = 1_024
# Rows copied at once, so that the copy fits into the processor's cache.
_GATHERED: Final = 1_024
# To copy a larger share of the rows takes longer than to compare all of them.
_GATHERED_SHARE: Final = 1 / 8


class Nearest(NamedTuple):
    """Rows with their cosines, best first. Ties are in the order of the rows."""

    rows: Integers
    cosines: Floats


def nearest(vectors: Floats, query: Floats, rows: Integers, count: int) -> Nearest:
    """Return the `count` of some rows of unit vectors that are nearest to a unit vector."""
    cosines = cosines_of(vectors, rows, query)
    if len(rows) > count:
        last = len(rows) - count
        kept = cosines >= cosines[np.argpartition(cosines, last)[last]]
        rows, cosines = rows[kept], cosines[kept]
    order = np.lexsort((rows, -cosines))[:count]
    return Nearest(rows[order], cosines[order])


def cosines_of(vectors: Floats, rows: Integers, query: Floats) -> Floats:
    """Return the cosines of some rows with a unit vector."""
    if len(rows) > _GATHERED_SHARE * len(vectors):
        of_all: Floats = vectors @ query
        return of_all[rows]
    cosines = np.empty(len(rows), np.float32)
    for start in range(0, len(rows), _GATHERED):
        part = rows[start : start + _GATHERED]
        np.dot(vectors[part], query, out=cosines[start : start + len(part)])
    return cosines


def prominence(
    vectors: Floats, query: Floats, rows: Integers, best: float, background: float
) -> float:
    """Return how far the nearest row stands out: 1 as far as the best of as many random rows.

    `best` is the cosine of the nearest of `rows`, and `background` that of an average one. A query
    that the model does not understand is about equally far from all rows.
    """
    sampled = rows[:: max(1, len(rows) // _SAMPLED)]
    spread = float(cosines_of(vectors, sampled, query).std()) if len(rows) else 0.0
    if not spread:
        return math.inf  # nothing to compare with
    # The highest of n normally distributed values is about this many deviations above their mean.
    return (best - background) / (spread * math.sqrt(2 * math.log(max(len(rows), 2))))
