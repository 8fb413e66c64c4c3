"""Semantic candidates: the vectors nearest to a query vector."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vault_agent.model.identifiers import CHUNK_BITS
from vault_agent.model.warning import Warning
from vault_agent.ranking.cosine import Scan, cosines_of, nearest, prominence
from vault_agent.search import lexical
from vault_agent.search.fallback import missing, unavailable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from vault_agent.embedding.embedder import Embedder, Vector
    from vault_agent.model.numbering import Numbering
    from vault_agent.model.scope import Scope
    from vault_agent.model.vectors import VectorSpace
    from vault_agent.ranking.cosine import Floats, Integers
    from vault_agent.search.combined import AnySnapshot
    from vault_agent.store.vectors.matrix import Matrix

DEPTH = 200
"""Maximum number of nearest notes."""

_CHUNKS = 1_000
"""Number of nearest chunks from which they are chosen. A note may have several of them."""


class PlacedMatrix(NamedTuple):
    """The vectors of one of several indexes, and its place among them."""

    place: int
    matrix: Matrix


class Matrices:
    """The vectors of several indexes, of one space."""

    def __init__(self, parts: Sequence[PlacedMatrix], numbering: Numbering) -> None:
        """Take those with vectors. Only those of the first one's space are used."""
        space = parts[0].matrix.space
        self.space = space
        self.parts = [each for each in parts if each.matrix.space.matches(space)]
        self.numbering = numbering
        self.count = sum(each.matrix.count for each in self.parts)


class Near(NamedTuple):
    """The nearest notes, each with its nearest chunk."""

    cosines: dict[int, float]  # by rowid of the note
    chunks: dict[int, int]  # key of the chunk, by rowid of the note
    background: float  # the cosine of an average chunk
    prominence: float  # how far the nearest chunk stands out


async def query_vector(
    snapshot: AnySnapshot, embedder: Embedder, text: str, *, indexing: bool = False
) -> Vector:
    """Return a query's vector. It can be compared with the vectors of the snapshot.

    Raises:
        Unavailable: `EMBEDDING_UNAVAILABLE` if the endpoint fails or no vectors are comparable.
    """
    usable_matrix(snapshot, indexing=indexing)
    vector = await embedder.embed_query(text)
    usable_matrix(snapshot, embedder.space, indexing=indexing)
    return vector


def usable_matrix(
    snapshot: AnySnapshot, space: VectorSpace | None = None, *, indexing: bool = False
) -> Matrix | Matrices:
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
    matrix: Matrix | Matrices,
    vector: Floats,
    *,
    admitted: Collection[int] | None = None,
    without: Collection[int] = (),
    witnesses: Iterable[int] = (),
    within: Collection[int] | None = None,
) -> Near:
    """Return the notes nearest to a unit vector, `DEPTH` at most. Blocking: call it in a thread.

    `admitted` restricts the result to these notes; those of `without` are left out. `witnesses` are
    notes that other evidence has found. Their cosines are returned too, if they have a vector.
    `within` are the notes that exist for the caller: no other says what is usual.

    Raises:
        IndexUnavailable: `INDEX_INCOMPATIBLE` if a vector file was truncated.
    """
    if isinstance(matrix, Matrices):
        return _near_in_several(matrix, vector, admitted, without, set(witnesses), within)
    matrix.check()
    alive, centre = matrix.alive, matrix.centre
    if within is not None:
        rows = np.unique(matrix.of_notes(np.array(sorted(within), np.int64))[1])
        alive, centre = np.zeros_like(alive), matrix.centre_of(rows)
        alive[rows] = True
    scan = Scan(matrix.vectors, matrix.planes, alive)
    among = None
    if admitted is not None:
        among = np.unique(matrix.of_notes(np.array(sorted(admitted), np.int64))[1])
    found = nearest(scan, vector, matrix.signs(vector), _CHUNKS, among=among)
    cosines: dict[int, float] = {}
    chunks: dict[int, int] = {}
    keys, values = matrix.chunks_of(found.rows, found.cosines)
    _keep_best(cosines, chunks, keys, values, admitted, without)
    for rowid in list(cosines)[DEPTH:]:
        del cosines[rowid], chunks[rowid]
    missing = np.array(sorted(set(witnesses) - cosines.keys()), np.int64)
    keys, rows = matrix.of_notes(missing)
    values = cosines_of(matrix.vectors, rows, vector)
    _keep_best(cosines, chunks, keys, values, None, without)
    background = float(centre @ vector)
    best = max(cosines.values(), default=background)
    return Near(cosines, chunks, background, prominence(scan, vector, best, background))


def _near_in_several(  # noqa: PLR0917 - private, one caller
    matrices: Matrices,
    vector: Floats,
    admitted: Collection[int] | None,
    without: Collection[int],
    witnesses: Collection[int],
    within: Collection[int] | None,
) -> Near:
    """Return what `near` would for one index of all."""
    cosines: dict[int, float] = {}
    chunks: dict[int, int] = {}
    background = 0.0
    for place, matrix in matrices.parts:
        here = matrices.numbering.rowids_at
        found = near(
            matrix,
            vector,
            admitted=None if admitted is None else here(place, admitted),
            without=here(place, without),
            witnesses=here(place, witnesses),
            within=None if within is None else here(place, within),
        )
        shift = matrices.numbering.shift(place)
        for rowid, cosine in found.cosines.items():
            number = matrices.numbering.number(place, rowid)
            cosines[number], chunks[number] = cosine, found.chunks[rowid] + shift
        background += found.background * matrix.count / matrices.count
    nearest_first = sorted(cosines, key=lambda number: -cosines[number])
    kept = [*nearest_first[:DEPTH], *(each for each in nearest_first[DEPTH:] if each in witnesses)]
    scans = [Scan(each.vectors, each.planes, each.alive) for _, each in matrices.parts]
    best = max(cosines.values(), default=background)
    return Near(
        {number: cosines[number] for number in kept},
        {number: chunks[number] for number in kept},
        background,
        prominence(scans[0], vector, best, background, *scans[1:]),
    )


def of_chunks(matrix: Matrix | Matrices, keys: Iterable[int], *, indexing: bool = False) -> Floats:
    """Return the normalised mean of some chunks' vectors. Blocking: call it in a thread.

    Raises:
        Unavailable: `EMBEDDING_UNAVAILABLE` if none of them has a vector, or if the mean is zero.
        IndexUnavailable: `INDEX_INCOMPATIBLE` if a vector file was truncated.
    """
    if isinstance(matrix, Matrices):
        keys = list(keys)
        place = matrix.numbering.place_of(keys[0] >> CHUNK_BITS) if keys else 0
        home = next((each.matrix for each in matrix.parts if each.place == place), None)
        if home is None:
            raise missing("This note has no embeddings yet.", indexing=indexing)
        keys, matrix = matrix.numbering.keys_at(place, keys), home
    matrix.check()
    _, rows = matrix.find(np.array(sorted(keys), np.int64))
    if not len(rows):
        raise missing("This note has no embeddings yet.", indexing=indexing)
    mean: Floats = matrix.vectors[rows].mean(axis=0, dtype=np.float32)
    norm = float(np.linalg.norm(mean))
    if norm == 0.0:
        raise unavailable("The embeddings of this note cancel each other out.")
    return (mean / np.float32(norm)).astype(np.float32)


def share_warnings(
    snapshot: AnySnapshot, scope: Scope, *, indexing: bool = False
) -> tuple[Warning, ...]:
    """Return a warning if some chunks of a scope have no vector. Blocking."""
    share = _embedded_share(snapshot, scope)
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


def _embedded_share(snapshot: AnySnapshot, scope: Scope) -> float:
    within, matrix = lexical.notes_within(snapshot, scope), snapshot.matrix
    if within is None:
        return snapshot.embedded_share
    if matrix is None or not within:
        return 0.0 if within else 1.0
    if isinstance(matrix, Matrices):
        here = matrix.numbering.rowids_at
        parts = [(each, here(place, within)) for place, each in matrix.parts]
    else:
        parts = [(matrix, list(within))]
    have = sum(len(each.of_notes(np.array(sorted(rowids), np.int64))[0]) for each, rowids in parts)
    return min(1.0, have / max(snapshot.fulltext.chunk_count(scope), 1))


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
