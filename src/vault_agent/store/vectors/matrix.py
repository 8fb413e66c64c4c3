"""The vectors of one generation, mapped from a file for searching.

Rows belong to texts, and what is published belongs to a generation. So a reindex, a rename or a new
generation writes twelve bytes a chunk and no vectors. Chunks with the same text share a row.
"""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vault_agent.errors import VaultAgentError
from vault_agent.model.identifiers import CHUNK_BITS
from vault_agent.model.vectors import VectorSpace
from vault_agent.store.database import open_reader, translated
from vault_agent.store.failures import MappedFiles
from vault_agent.system.files import open_regular

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

Floats: TypeAlias = NDArray[np.float32]
Integers: TypeAlias = NDArray[np.int64]

FLOAT: Final = np.dtype("<f4")
"""The type of the numbers in the file."""
# Size of the sample of vectors for their mean.
_SAMPLE: Final = 2_048


class PublishedVectors(NamedTuple):
    """The vectors that searches of a generation use."""

    space: int
    total: int  # chunks of the generation, with a vector or without
    chunks: Integers  # keys of the chunks with a vector
    rows: Integers  # one a chunk


def read_published(connection: sqlite3.Connection, generation: int) -> PublishedVectors | None:
    """Return what was published for a generation, or None. `generation` is its identity."""
    row = connection.execute(
        "SELECT space, total, chunks, rows FROM published WHERE generation = ?", (generation,)
    ).fetchone()
    if row is None:
        return None
    space, total, chunks, rows = row
    return PublishedVectors(
        space,
        total,
        np.frombuffer(chunks, "<i8").astype(np.int64),
        np.frombuffer(rows, "<u4").astype(np.int64),
    )


class Matrix:
    """The vectors of one generation's chunks, open for searching.

    Reading needs no locks, and no I/O other than page faults. The file stays mapped, even if it is
    removed, until the matrix is garbage-collected.
    """

    def __init__(
        self, space: VectorSpace, published: PublishedVectors, vectors: Floats, mapped: MappedFiles
    ) -> None:
        self._mapped = mapped
        self.space = space
        self.vectors = vectors
        order = np.argsort(published.chunks)
        self._keys = published.chunks[order]
        self._rows = published.rows[order]
        # Several chunks may share a row: the chunks by row, to go from rows to chunks.
        self._by_row = np.argsort(self._rows, kind="stable")
        self._sorted_rows = self._rows[self._by_row]
        self.used: Integers = np.unique(self._rows)
        """The rows that a search compares, in order."""

    @property
    def count(self) -> int:
        """Chunks that have a vector."""
        return len(self._keys)

    def check(self) -> None:
        """Make sure that the mapped file can be read. Call it before each search.

        Raises:
            IndexUnavailable: `INDEX_INCOMPATIBLE` if it was truncated.
        """
        self._mapped.check()

    def of_notes(self, rowids: Integers) -> tuple[Integers, Integers]:
        """Return the chunks of some notes that have a vector, and their rows."""
        first = np.searchsorted(self._keys, rowids << CHUNK_BITS)
        counts = np.searchsorted(self._keys, (rowids + 1) << CHUNK_BITS) - first
        starts = np.repeat(first - np.concatenate(([0], np.cumsum(counts)[:-1])), counts)
        places = starts + np.arange(counts.sum())
        return self._keys[places], self._rows[places]

    @cached_property
    def centre(self) -> Floats:
        """The mean of a sample of vectors. Its dot product with a vector is an average cosine."""
        rows = self._sorted_rows
        if not len(rows):
            return np.zeros(self.space.dimension, np.float32)
        step = -(-len(rows) // _SAMPLE)
        mean: Floats = self.vectors[rows[::step]].mean(axis=0, dtype=np.float32)
        return mean

    def find(self, chunk_keys: Integers) -> tuple[Integers, Integers]:
        """Return the chunks that have a vector, in the given order, and their rows."""
        if not self.count:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        at = np.minimum(np.searchsorted(self._keys, chunk_keys), self.count - 1)
        at = at[self._keys[at] == chunk_keys]
        return self._keys[at], self._rows[at]

    def chunks_of(self, rows: Integers, scores: Floats) -> tuple[Integers, Floats]:
        """Return the chunks of rows with the rows' scores, in the order of rows, then by key."""
        left = np.searchsorted(self._sorted_rows, rows, "left")
        counts = np.searchsorted(self._sorted_rows, rows, "right") - left
        starts = np.repeat(left - np.concatenate(([0], np.cumsum(counts)[:-1])), counts)
        places = starts + np.arange(counts.sum())
        return self._keys[self._by_row[places]], np.repeat(scores, counts)


def open_matrix(database: Path, generation: int) -> Matrix | None:
    """Open the vectors of a generation, whose identity is `generation`.

    Return None if none were published, or if they cannot be read: the next run makes them again.
    """
    try:
        with open_reader(database) as connection, translated():
            published = read_published(connection, generation)
            if published is None:
                return None
            fields = connection.execute(
                "SELECT model, dimension, query_prefix, document_prefix, probe FROM space"
                " WHERE id = ?",
                (published.space,),
            ).fetchone()
        space = VectorSpace(*fields)
        path = rows_path(database, published.space)
        rows = int(published.rows.max(initial=-1)) + 1
        vectors = map_rows(path, rows, space.dimension)
        return Matrix(space, published, vectors, MappedFiles([path]))
    except (OSError, ValueError, TypeError, VaultAgentError):
        return None


def rows_path(database: Path, space: int) -> Path:
    """Return the file of a space's vectors. It is beside the database, in a folder of its own."""
    return database.with_suffix("") / f"{space}.rows"


def map_rows(path: Path, count: int, dimension: int) -> Floats:
    """Map the first rows of a file; raise ValueError if it is too short."""
    if not count:
        return np.empty((0, dimension), FLOAT)
    with os.fdopen(open_regular(path, os.O_RDONLY), "rb") as file:
        return np.memmap(file, FLOAT, "r", shape=(count, dimension)).view(np.ndarray)
