"""The nearest vectors by cosine: scan the signs, then compute the cosines of the best candidates.

The sign of every component is one bit, and the Hamming distance of two vectors' signs follows the
angle between them (M. Charikar, "Similarity estimation techniques from rounding algorithms",
2002). The scan is fast because it reads 96 bytes per vector instead of 3,072. The result is
accurate because thousands of candidates are rescored with their whole vectors. The figures are in
docs/explanation/hybrid.md. If there are few rows, there is no scan.

Call it in a thread: numpy releases the GIL in each of its few, large operations.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float32]
    Integers: TypeAlias = NDArray[np.int64]
    Mask: TypeAlias = NDArray[np.bool_]

# The least number of candidates whose cosine is computed, and their least share of all vectors.
_RESCORED: Final = 4_000
_RESCORED_SHARE: Final = 1 / 100
# Rows whose cosines are computed to see how much cosines differ.
_SAMPLED: Final = 1_024
# Rows copied at once, so that the copy fits into the processor's cache.
_GATHERED: Final = 1_024


class Scan(NamedTuple):
    """Unit vectors and their signs. The arrays may be mapped from files."""

    vectors: Floats  # (rows, dimension)
    planes: NDArray[np.uint64]  # (blocks, words, rows of a block)
    alive: Mask  # (rows,): whether a row may be found


class Nearest(NamedTuple):
    """Rows with their cosines, best first. Ties are in the order of the rows."""

    rows: Integers
    cosines: Floats


def nearest(
    scan: Scan,
    query: Floats,
    signs: NDArray[np.uint64],
    count: int,
    *,
    among: Integers | None = None,
    rescored: int | None = None,
) -> Nearest:
    """Return the `count` rows nearest to the unit vector `query`.

    `signs` are the signs of `query`, packed as in `planes`. `among` restricts the rows. `rescored`
    is for measurements.
    """
    rows = np.flatnonzero(scan.alive) if among is None else among[scan.alive[among]]
    known = len(scan.vectors) if among is None else len(rows)
    enough = rescored or max(_RESCORED, 8 * count, int(known * _RESCORED_SHARE))
    if len(rows) > enough:
        rows = _fewest_differences(scan, signs, rows if among is not None else None, enough)
    return _best(rows, cosines_of(scan.vectors, rows, query), count)


def cosines_of(vectors: Floats, rows: Integers, query: Floats) -> Floats:
    """Return the cosines of some rows with a unit vector."""
    cosines = np.empty(len(rows), np.float32)
    for start in range(0, len(rows), _GATHERED):
        part = rows[start : start + _GATHERED]
        np.dot(vectors[part], query, out=cosines[start : start + len(part)])
    return cosines


def prominence(scan: Scan, query: Floats, best: float, background: float) -> float:
    """Return how far the nearest row stands out: 1 as far as the best of as many random rows.

    `best` is the cosine of the nearest row, and `background` that of an average row. A query that
    the model does not understand is about equally far from all rows.
    """
    rows = np.flatnonzero(scan.alive)
    sampled = rows[:: max(1, len(rows) // _SAMPLED)]
    spread = float(cosines_of(scan.vectors, sampled, query).std()) if len(rows) else 0.0
    if not spread:
        return math.inf  # nothing to compare with
    # The highest of n normally distributed values is about this many deviations above their mean.
    return (best - background) / (spread * math.sqrt(2 * math.log(max(len(rows), 2))))


def _fewest_differences(
    scan: Scan, signs: NDArray[np.uint64], among: Integers | None, enough: int
) -> Integers:
    """Return the `enough` rows whose signs differ least, and those equal to the last of them."""
    distances = _differences(scan.planes, signs)[: len(scan.vectors)]
    if among is not None:
        rows, distances = among, distances[among]
        limit = _limit(distances, enough)
        nearest_rows: Integers = rows[distances <= limit]
        return nearest_rows
    distances[~scan.alive] = np.iinfo(np.uint16).max
    return np.flatnonzero(distances <= _limit(distances, enough))


def _differences(planes: NDArray[np.uint64], signs: NDArray[np.uint64]) -> NDArray[np.uint16]:
    """Return the Hamming distance of every row's signs, by three operations per block."""
    blocks, words, rows = planes.shape
    distances = np.empty((blocks, rows), np.uint16)
    differing = np.empty((words, rows), np.uint64)
    counts = np.empty((words, rows), np.uint8)
    column = signs[:, None]
    for block in range(blocks):
        np.bitwise_xor(planes[block], column, out=differing)
        np.bitwise_count(differing, out=counts)
        np.add.reduce(counts, axis=0, dtype=np.uint16, out=distances[block])
    return distances.reshape(-1)


def _limit(distances: NDArray[np.uint16], enough: int) -> Any:
    """Return the smallest distance that `enough` rows do not exceed."""
    within = np.cumsum(np.bincount(distances))
    return np.searchsorted(within, min(enough, len(distances)))


def _best(rows: Integers, cosines: Floats, count: int) -> Nearest:
    if len(rows) > count:
        least = np.partition(cosines, len(cosines) - count)[len(cosines) - count]
        kept = cosines >= least
        rows, cosines = rows[kept], cosines[kept]
    order = np.lexsort((rows, -cosines))[:count]
    return Nearest(rows[order], cosines[order])
