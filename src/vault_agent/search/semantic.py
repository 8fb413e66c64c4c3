"""Semantic candidates: the vectors nearest to a query vector.

Every vector is compared; the figures are in docs/explanation/ranking.md. Call it in a thread: numpy
releases the interpreter's lock in each of its few, large operations.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np

from vault_agent.errors import Unavailable
from vault_agent.model.identifiers import CHUNK_BITS
from vault_agent.model.warning import Warning
from vault_agent.search.warnings import missing

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from numpy.typing import NDArray

    from vault_agent.model.vectors import VectorSpace
    from vault_agent.models.embedder import Embedder
    from vault_agent.models.vectors import Vector
    from vault_agent.store.current import Snapshot
    from vault_agent.store.vectors import Matrix

    Floats: TypeAlias = NDArray[np.float32]
    Integers: TypeAlias = NDArray[np.int64]


DEPTH = 200
"""Maximum number of nearest notes."""

_CHUNKS = 1_000
"""Number of nearest chunks whose notes are taken. A note may have several of them."""


class NearestNotes(NamedTuple):
    """The nearest notes, each with its nearest chunk."""

    cosines: dict[int, float]  # by rowid of the note
    chunks: dict[int, int]  # key of the chunk, by rowid of the note
    background: float  # the cosine of an average chunk
    prominence: float  # how far the nearest chunk stands out


async def query_vector(
    snapshot: Snapshot, embedder: Embedder, text: str, *, indexing: bool = False
) -> Vector:
    """Return a query's vector, which can be compared with the vectors of the snapshot.

    Raises:
        Unavailable: `EMBEDDING_UNAVAILABLE` if the endpoint fails or no vectors are comparable.
    """
    usable_matrix(snapshot, indexing=indexing)
    vector = await embedder.embed_query(text)
    usable_matrix(snapshot, embedder.space, indexing=indexing)
    return vector


def usable_matrix(
    snapshot: Snapshot, space: VectorSpace | None = None, *, indexing: bool = False
) -> Matrix:
    """Return the snapshot's vectors.

    `indexing`: whether a job is running. It selects the remedy when vectors are missing.

    Raises:
        Unavailable: `EMBEDDING_UNAVAILABLE` if there are none yet, or if they cannot be compared
            with those of `space`.
    """
    matrix = snapshot.matrix
    if matrix is None or not matrix.count:
        raise missing("The chunks have no embeddings yet.", indexing=indexing)
    if space is not None and not matrix.space.matches(space):
        raise missing(
            "The index has no embeddings of this model with these prefixes.", indexing=indexing
        )
    return matrix


def near(
    matrix: Matrix,
    vector: Floats,
    *,
    admitted: Collection[int] | None = None,
    without: Collection[int] = (),
    include: Iterable[int] = (),
) -> NearestNotes:
    """Return the notes nearest to a unit vector, `DEPTH` at most. Blocking: call it in a thread.

    `admitted` restricts the result to these notes; those of `without` are left out. `include` are
    notes that words or links have found: their cosines are returned too, if they have a vector.

    Raises:
        IndexUnavailable: `INDEX_INCOMPATIBLE` if a vector file was truncated.
    """
    matrix.check()
    every: Floats = matrix.vectors @ vector
    # These rows have no duplicates, and are in order.
    among = matrix.used if admitted is None else np.unique(matrix.of_notes(admitted)[1])
    rows = nearest(every, among, _CHUNKS)
    cosines: dict[int, float] = {}
    chunks: dict[int, int] = {}
    keys, values = matrix.chunks_of(rows, every[rows])
    _keep_best(cosines, chunks, keys, values, admitted, without)
    for rowid in list(cosines)[DEPTH:]:
        del cosines[rowid], chunks[rowid]
    keys, rows = matrix.of_notes(set(include) - cosines.keys())
    _keep_best(cosines, chunks, keys, every[rows], None, without)
    background = float(matrix.centre @ vector)
    best = max(cosines.values(), default=background)
    stands_out = prominence(every, matrix.used, best, background)
    return NearestNotes(cosines, chunks, background, stands_out)


def of_chunks(matrix: Matrix, keys: Iterable[int], *, indexing: bool = False) -> Floats:
    """Return the normalised mean of some chunks' vectors. Blocking: call it in a thread.

    Raises:
        Unavailable: `EMBEDDING_UNAVAILABLE` if none of them has a vector, or if the mean is zero.
        IndexUnavailable: `INDEX_INCOMPATIBLE` if a vector file was truncated.
    """
    matrix.check()
    _, rows = matrix.find(np.array(sorted(keys), np.int64))
    if not len(rows):
        raise missing("This note has no embeddings yet.", indexing=indexing)
    mean: Floats = matrix.vectors[rows].mean(axis=0, dtype=np.float32)
    norm = float(np.linalg.norm(mean))
    if norm == 0.0:
        what = "The embeddings of this note cancel each other out."
        raise Unavailable("EMBEDDING_UNAVAILABLE", what, remedy="")
    return (mean / np.float32(norm)).astype(np.float32)


def share_warnings(snapshot: Snapshot, *, indexing: bool = False) -> tuple[Warning, ...]:
    """Return a warning if some chunks have no vector."""
    share = snapshot.embedded_share
    if share >= 1:
        return ()
    return (
        Warning.of(
            "EMBEDDING_INCOMPLETE",
            f"{share:.0%} of the chunks have an embedding. The others are found by lexical "
            "search only.",
            {"share": round(share, 4)},
            indexing=indexing,
        ),
    )


def _keep_best(  # noqa: PLR0917 - private, two callers
    cosines: dict[int, float],
    chunks: dict[int, int],
    keys: Integers,
    values: Floats,
    admitted: Collection[int] | None,
    without: Collection[int],
) -> None:
    """Keep each note's best chunk. A row shared by several notes counts for each of them."""
    for key, cosine in zip(keys.tolist(), values.tolist(), strict=True):
        rowid = key >> CHUNK_BITS
        if rowid in without or (admitted is not None and rowid not in admitted):
            continue
        if cosine > cosines.get(rowid, -2.0):
            cosines[rowid] = cosine
            chunks[rowid] = key


# Rows whose cosines are computed to see how much cosines differ.
_SAMPLED: Final = 1_024


def nearest(cosines: Floats, rows: Integers, count: int) -> Integers:
    """Return the `count` of some rows with the highest cosines, best first.

    Ties are in the order of the rows.
    """
    values = cosines[rows]
    if len(rows) > count:
        last = len(rows) - count
        kept = values >= values[np.argpartition(values, last)[last]]
        rows, values = rows[kept], values[kept]
    return rows[np.lexsort((rows, -values))[:count]]


def prominence(cosines: Floats, rows: Integers, best: float, background: float) -> float:
    """Return how far the nearest row stands out: 1 if as far as the best of random rows would.

    `best` is the cosine of the nearest of `rows`, and `background` the cosine of an average one. A
    query that the model does not understand is about equally far from all rows.
    """
    sampled = rows[:: max(1, len(rows) // _SAMPLED)]
    spread = float(cosines[sampled].std()) if len(rows) else 0.0
    if not spread:
        return math.inf  # nothing to compare with
    # The highest of n normally distributed values is about this many deviations above their mean.
    return (best - background) / (spread * math.sqrt(2 * math.log(max(len(rows), 2))))
