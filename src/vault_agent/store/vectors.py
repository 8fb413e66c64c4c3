"""Vectors: kept by their input text, and the matrix of one generation, mapped for searching.

`vectors.db` maps a key to a row of a file. Only the indexing process writes it, across generations,
crashes and renames. A row is on the disk before the statement that refers to it. So a kill or a
power cut leaves both, or a row without a reference.

Rows belong to texts, and what is published belongs to a generation. So a reindex, a rename or a new
generation writes twelve bytes a chunk and no vectors. Chunks with the same text share a row.
"""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager, suppress
from dataclasses import astuple, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, BinaryIO, Final, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vault_agent.errors import VaultAgentError
from vault_agent.model.identifiers import CHUNK_BITS
from vault_agent.model.vectors import VectorSpace
from vault_agent.store.database import (
    check_pages,
    migrate,
    open_or_renew,
    open_reader,
    transaction,
    translated,
)
from vault_agent.store.failures import MappedFiles
from vault_agent.system.files import make_private_folder, open_regular, sync_folder

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterator, Sequence
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
        self.count = len(order)
        """Chunks that have a vector."""
        self._rows = published.rows[order]
        # Several chunks may share a row: the chunks by row, to go from rows to chunks.
        self._by_row = np.argsort(self._rows, kind="stable")
        self._sorted_rows = self._rows[self._by_row]
        self.used: Integers = np.unique(self._rows)
        """The rows that a search compares, in order."""

    def check(self) -> None:
        """Make sure that the mapped file can be read. Call it before each search.

        Raises:
            IndexUnavailable: `INDEX_INCOMPATIBLE` if it was truncated.
        """
        self._mapped.check()

    def of_notes(self, notes: Collection[int]) -> tuple[Integers, Integers]:
        """Return the chunks of some notes that have a vector, and their rows."""
        rowids = np.array(sorted(notes), np.int64)
        first = np.searchsorted(self._keys, rowids << CHUNK_BITS)
        counts = np.searchsorted(self._keys, (rowids + 1) << CHUNK_BITS) - first
        starts = np.repeat(first - np.concatenate(([0], np.cumsum(counts)[:-1])), counts)
        places = starts + np.arange(counts.sum())
        return self._keys[places], self._rows[places]

    @cached_property
    def centre(self) -> Floats:
        """The mean of a sample of vectors. Its dot product with a vector is an average cosine."""
        rows = self._sorted_rows
        step = -(-len(rows) // _SAMPLE)
        mean: Floats = self.vectors[rows[::step]].mean(axis=0, dtype=np.float32)
        return mean

    def find(self, chunk_keys: Integers) -> tuple[Integers, Integers]:
        """Return the chunks that have a vector, in the given order, and their rows."""
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
            space = _read_spaces(connection)[published.space]
        path = rows_path(database, published.space)
        rows = int(published.rows.max(initial=-1)) + 1
        vectors = map_rows(path, rows, space.dimension)
        return Matrix(space, published, vectors, MappedFiles([path]))
    except (OSError, ValueError, TypeError, KeyError, VaultAgentError):
        return None


def _read_spaces(connection: sqlite3.Connection) -> dict[int, VectorSpace]:
    """Return all spaces by their numbers, the oldest first."""
    rows = connection.execute(
        "SELECT id, model, dimension, query_prefix, document_prefix, probe FROM space ORDER BY id"
    ).fetchall()
    return {number: VectorSpace(*fields) for number, *fields in rows}


def rows_path(database: Path, space: int) -> Path:
    """Return the file of a space's vectors. It is beside the database, in a folder of its own."""
    return database.with_suffix("") / f"{space}.rows"


def map_rows(path: Path, count: int, dimension: int) -> Floats:
    """Map the first rows of a file; raise ValueError if it is too short."""
    if not count:
        return np.empty((0, dimension), FLOAT)
    with os.fdopen(open_regular(path, os.O_RDONLY), "rb") as file:
        return np.memmap(file, FLOAT, "r", shape=(count, dimension)).view(np.ndarray)


# Rows that are copied at once.
_ROWS: Final = 4_000
# Unused vectors are kept, since a note may come back, up to these limits.
_UNUSED_SHARE: Final = 1 / 3
_UNUSED_LEAST: Final = 1_000


@dataclass(slots=True, eq=False)
class Plan:
    """The chunks of a generation, and the rows of their vectors."""

    chunks: Integers  # keys of chunks
    keys: Sequence[bytes]  # of their vectors, one a chunk
    rows: Integers  # one a chunk, -1 if it has no vector yet
    waiting: dict[bytes, list[int]]  # key without a vector -> places of its chunks

    @property
    def missing(self) -> Iterator[tuple[bytes, int]]:
        """Each key without a vector, with the place of one chunk that has its text."""
        return ((key, places[0]) for key, places in list(self.waiting.items()))

    def fill(self, keys: Sequence[bytes], first_row: int) -> None:
        """Record the rows of keys, which are consecutive from `first_row` on."""
        for row, key in enumerate(keys, first_row):
            for place in self.waiting.pop(key, ()):
                self.rows[place] = row


def open_vectors(path: Path) -> VectorStore:
    """Open the store. Create it if it is missing, and replace it if it is damaged.

    `path` is the database. The rows are beside it, in a folder with the same stem.
    """
    make_private_folder(path.with_suffix(""))
    with translated():
        # A damaged store is replaced: the next run embeds the texts again.
        return VectorStore(open_or_renew(path, _prepare), path)


def _prepare(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA journal_mode = WAL")
    # A power cut may lose the last statements; a kill loses none.
    connection.execute("PRAGMA synchronous = NORMAL")
    check_pages(connection)
    _take_over(connection)
    migrate(connection, "vectors.sql")


def _take_over(connection: sqlite3.Connection) -> None:
    """Keep the vectors of an earlier version, which had checksums and unfinished copies."""
    columns = [name for _, name, *_ in connection.execute("PRAGMA table_info(vector)")]
    if "crc" in columns:
        with transaction(connection):
            connection.execute("DELETE FROM space WHERE NOT ready")
            connection.execute("DELETE FROM vector WHERE space NOT IN (SELECT id FROM space)")
            connection.execute("ALTER TABLE vector DROP COLUMN crc")
            connection.execute("ALTER TABLE space DROP COLUMN ready")
            connection.execute("ALTER TABLE space DROP COLUMN synced")
            connection.execute("DROP TABLE failure")


class VectorStore:
    """The only writer of vectors. Call `use` first. Blocking; several threads may call it."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path
        self._lock = threading.Lock()
        self._space: tuple[int, VectorSpace] | None = None
        self._next_row = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def last_space(self, model: str, query_prefix: str, document_prefix: str) -> VectorSpace | None:
        """Return the newest space of a model with these prefixes, or None."""
        wanted = (model, query_prefix, document_prefix)
        with self._locked():
            spaces = _read_spaces(self._connection).values()
        same = (
            space
            for space in reversed(spaces)
            if (space.model, space.query_prefix, space.document_prefix) == wanted
        )
        return next(same, None)

    def use(self, space: VectorSpace, *, fresh: bool = False) -> None:
        """Work in the space that matches, or in a new one; always in a new one if `fresh`."""
        with self._changing():
            spaces = {} if fresh else _read_spaces(self._connection)
            matching = [entry for entry in spaces.items() if entry[1].matches(space)]
            self._space = matching[0] if matching else (self._new_space(space), space)
            self._next_row = self._whole_rows()

    def published(self, generation: int) -> PublishedVectors | None:
        """Return what searches of a generation use, if it is of the space in use.

        Return None if it names rows that the file does not have, as a damaged one does.
        """
        number, _ = self._current()
        with self._locked():
            published = read_published(self._connection, generation)
        if published is None or published.space != number:
            return None
        return published if published.rows.max(initial=-1) < self._next_row else None

    def keys_of(self, generation: int) -> dict[int, bytes]:
        """Return what the published vectors of a generation are known by, by chunk."""
        published = self.published(generation)
        if published is None:
            return {}
        key_of_row = {row: key for key, row in self._rows().items()}
        pairs = zip(published.chunks.tolist(), published.rows.tolist(), strict=True)
        return {chunk: key_of_row[row] for chunk, row in pairs if row in key_of_row}

    def plan(self, chunks: Integers, keys: Sequence[bytes]) -> Plan:
        """Return which of a generation's chunks have a vector, and which keys are missing."""
        row_of_key = self._rows()
        rows = np.fromiter((row_of_key.get(key, -1) for key in keys), np.int64, len(keys))
        waiting: dict[bytes, list[int]] = {}
        for place in np.flatnonzero(rows < 0).tolist():
            waiting.setdefault(keys[place], []).append(place)
        return Plan(chunks, keys, rows, waiting)

    def count_truncated(self, plan: Plan) -> int:
        """Count the chunks whose vector is of the beginning of their text only."""
        number, _ = self._current()
        with self._locked():
            rows = self._connection.execute(
                "SELECT row FROM vector WHERE space = ? AND truncated", (number,)
            ).fetchall()
        return int(np.isin(plan.rows, [row for (row,) in rows]).sum())

    def save(
        self, keys: Sequence[bytes], vectors: Floats, *, truncated: Sequence[bytes] = ()
    ) -> int:
        """Keep vectors, (len(keys), dimension), and return the first one's row.

        `truncated` names the keys of which the endpoint took only the beginning of the text. All
        are safe from a kill when this returns.
        """
        number, space = self._current()
        short = set(truncated)
        with self._lock:
            first = self._next_row
            if not keys:
                return first
            with _open_rows(rows_path(self._path, number)) as file:
                file.seek(first * space.dimension * FLOAT.itemsize)
                file.write(np.ascontiguousarray(vectors, FLOAT).tobytes())
                _sync(file)
            self._next_row += len(keys)
        with self._changing():
            self._insert(
                (number, key, first + place, key in short) for place, key in enumerate(keys)
            )
        return first

    def publish(self, plan: Plan, generation: int, *, agent: str = "") -> None:
        """Let searches of a generation use the vectors of a plan. `agent` names whose index it is.

        What was published for an earlier generation of this index is forgotten.
        """
        with self._changing():
            self._publish(plan, generation, agent)

    def tidy(self, plan: Plan, generation: int) -> None:
        """Remove unused vectors after a complete run, and publish the plan.

        If a third of the rows is unused, the used ones are copied to a new space. A file that a
        reader has mapped stays readable to it.
        """
        used = np.unique(plan.rows[plan.rows >= 0])
        unused = self._next_row - len(used)
        if unused > _UNUSED_LEAST and unused > _UNUSED_SHARE * self._next_row:
            self._copy_used(plan, used)
        with self._changing():
            self._publish(plan, generation, "")
            number, _ = self._current()
            self._connection.execute("DELETE FROM vector WHERE space <> ?", (number,))
            self._connection.execute("DELETE FROM space WHERE id <> ?", (number,))
        self._remove_other_files(number)

    def _copy_used(self, plan: Plan, used: Integers) -> None:
        number, space = self._current()
        with self._changing():
            copy = self._new_space(space)
            vectors = map_rows(rows_path(self._path, number), self._next_row, space.dimension)
            with _open_rows(rows_path(self._path, copy)) as file:
                for start in range(0, len(used), _ROWS):
                    file.write(vectors[used[start : start + _ROWS]].tobytes())
                _sync(file)
            places = {row: place for place, row in enumerate(used.tolist())}
            rows = self._connection.execute(
                "SELECT key, row, truncated FROM vector WHERE space = ?", (number,)
            ).fetchall()
            self._insert(
                (copy, key, places[row], truncated) for key, row, truncated in rows if row in places
            )
        self._space, self._next_row = (copy, space), len(used)
        have = plan.rows >= 0
        plan.rows[have] = np.searchsorted(used, plan.rows[have])

    def _remove_other_files(self, number: int) -> None:
        if self._path.with_suffix(".damaged").exists():
            return  # its rows are here, too
        keep = rows_path(self._path, number)
        for file in keep.parent.iterdir():
            if file != keep:
                with suppress(OSError):  # on Windows, mapped by a reader: the next run removes it
                    file.unlink()

    def _publish(self, plan: Plan, generation: int, agent: str) -> None:
        number, _ = self._current()
        have = plan.rows >= 0
        chunks = plan.chunks[have].astype("<i8").tobytes()
        rows = plan.rows[have].astype("<u4").tobytes()
        self._connection.execute("DELETE FROM published WHERE agent = ?", (agent,))
        self._connection.execute(
            "INSERT INTO published (generation, space, total, chunks, rows, agent)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (generation, number, len(plan.chunks), chunks, rows, agent),
        )

    def _rows(self) -> dict[bytes, int]:
        """Return the row of each key of the space in use."""
        number, _ = self._current()
        with self._locked():
            return dict(
                self._connection.execute("SELECT key, row FROM vector WHERE space = ?", (number,))
            )

    def _insert(self, rows: Iterator[tuple[int, bytes, int, int]]) -> None:
        self._connection.executemany(
            "INSERT OR REPLACE INTO vector (space, key, row, truncated) VALUES (?, ?, ?, ?)", rows
        )

    def _new_space(self, space: VectorSpace) -> int:
        # A number not used by this database, nor by a damaged one that was renamed.
        folder = self._path.with_suffix("")
        files = (int(file.stem) for file in folder.glob("*.rows") if file.stem.isdecimal())
        ((last,),) = self._connection.execute("SELECT coalesce(max(id), 0) FROM space").fetchall()
        number: int = 1 + max([*files, last])
        with _open_rows(rows_path(self._path, number)):
            sync_folder(folder)  # else a power cut could remove the file
        self._connection.execute(
            "INSERT INTO space (id, model, dimension, query_prefix, document_prefix, probe)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (number, *astuple(space)),
        )
        return number

    def _whole_rows(self) -> int:
        """Return the number of rows in the file, after forgetting those that were cut off."""
        number, space = self._current()
        with _open_rows(rows_path(self._path, number)) as file:
            held = os.fstat(file.fileno()).st_size // (space.dimension * FLOAT.itemsize)
        cut_off = self._connection.execute(
            "DELETE FROM vector WHERE space = ? AND row >= ?", (number, held)
        )
        if cut_off.rowcount:
            self._connection.execute("DELETE FROM published WHERE space = ?", (number,))
        return held

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with self._lock, translated():
            yield

    @contextmanager
    def _changing(self) -> Iterator[None]:
        with self._locked(), transaction(self._connection):
            yield

    def _current(self) -> tuple[int, VectorSpace]:
        if self._space is None:
            raise RuntimeError("no space is in use")
        return self._space


def _open_rows(path: Path) -> BinaryIO:
    """Open a file of rows for writing. Create it if it is missing."""
    return os.fdopen(open_regular(path, os.O_RDWR | os.O_CREAT), "r+b")


def _sync(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())
