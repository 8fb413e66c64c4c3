"""Vectors in memory-mapped files: rows, sign planes, and the map of one generation.

    vectors/{space}.rows     float32, row after row; only appended to
    vectors/{space}.planes   one bit a component, the scan structure
    {generation}/vectors.map which chunk has which row; replaced as a whole

Rows belong to texts, and maps belong to generations. So a reindex, a rename or a new generation
writes twelve bytes a chunk and no vectors. Chunks with the same text share a row. A new map makes
vectors searchable that arrive during a run.

A block of planes covers 4,096 rows. For each 64 components it has one run of 4,096 words of 64
bits. So the scan (`ranking.cosine`) reads memory in order, a whole run in each operation.
"""

from __future__ import annotations

import os
import threading
import zlib
from base64 import b64decode, b64encode
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from mmap import ACCESS_READ, mmap
from typing import TYPE_CHECKING, Any, Final, Self, TypeAlias

import numpy as np
import orjson
from numpy.typing import NDArray

from vault_agent.model.identifiers import CHUNK_BITS
from vault_agent.model.vectors import VectorSpace
from vault_agent.store.mapped import MappedFiles
from vault_agent.system.files import replace_file, sync_folder
from vault_agent.system.regular import open_regular, read_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Floats: TypeAlias = NDArray[np.float32]
Integers: TypeAlias = NDArray[np.int64]

BLOCK: Final = 4096
"""Rows of one block of planes."""

_FORMAT: Final = 2
# Size of the sample of vectors for their mean.
_SAMPLE: Final = 2_048
_FLOAT: Final = np.dtype("<f4")
_WORD: Final = np.dtype("<u8")


def words_of(dimension: int) -> int:
    """Return the number of 64-bit words that hold the signs of one vector."""
    return -(-dimension // 64)


def signs(vectors: Floats) -> NDArray[np.uint64]:
    """Return the signs of vectors, one bit a component: (count, words). Padding is zero."""
    count, dimension = vectors.shape
    bits = np.zeros((count, words_of(dimension) * 8), np.uint8)
    bits[:, : -(-dimension // 8)] = np.packbits(vectors > 0, axis=1, bitorder="little")
    words: NDArray[np.uint64] = bits.view(_WORD)
    return words


class RowFiles:
    """The rows and planes of one space, opened for appending by one process. Thread-safe."""

    def __init__(self, folder: Path, space: int, dimension: int, rows: int) -> None:
        """Open the files to append from row `rows` on. Later rows are overwritten.

        If the files have fewer rows, call `fill_up`.
        """
        self.dimension = dimension
        self._lock = threading.Lock()
        self._next = rows
        self._words = words_of(dimension)
        self._rows = _open(rows_path(folder, space))
        self._planes = _open(planes_path(folder, space))
        sync_folder(folder)  # else a power cut could remove the files
        self._block = np.zeros((self._words, BLOCK), _WORD)
        held = os.fstat(self._rows).st_size // self._row_bytes
        held_signs = os.fstat(self._planes).st_size // self._block.nbytes * BLOCK
        self.complete = min(rows, held, held_signs)
        """How many rows the files had, of those that they should have."""
        self._restore_block(rows // BLOCK)

    def fill_up(self) -> None:
        """Make the missing rows zeros, which are no valid vectors."""
        with self._lock:
            if os.fstat(self._rows).st_size < self._next * self._row_bytes:
                os.ftruncate(self._rows, self._next * self._row_bytes)

    @property
    def next_row(self) -> int:
        """The row that the next vector gets."""
        return self._next

    def append(self, vectors: Floats) -> tuple[int, list[int]]:
        """Write vectors, and return the first one's row and the CRC-32 of each.

        Rows are reserved before they are written. If the caller is cancelled, these rows are lost,
        but no other vectors.
        """
        data = np.ascontiguousarray(vectors, _FLOAT)
        with self._lock:
            first = self._next
            self._next += len(data)
            _write_at(self._rows, first * self._row_bytes, data.tobytes())
            self._append_signs(first, data)
        return first, [zlib.crc32(row.tobytes()) for row in data]

    def read(self, first: int, count: int) -> Floats:
        """Return up to `count` rows, fewer if the file ends."""
        with self._lock:
            return self._read(first, count)

    def rebuild_planes(self, first: int) -> None:
        """Write the planes again from the block that holds row `first`."""
        with self._lock:
            for block in range(first // BLOCK, -(-self._next // BLOCK)):
                self._restore_block(block)
                self._write_block(block)

    def sync(self) -> int:
        """Make all rows durable, and return their number."""
        with self._lock:
            rows = self._next
            os.fsync(self._rows)
            os.fsync(self._planes)
            return rows

    def close(self) -> None:
        """Close both files."""
        os.close(self._rows)
        os.close(self._planes)

    @property
    def _row_bytes(self) -> int:
        return self.dimension * _FLOAT.itemsize

    def _append_signs(self, first: int, data: Floats) -> None:
        done = 0
        while done < len(data):
            block, start = divmod(first + done, BLOCK)
            count = min(BLOCK - start, len(data) - done)
            if start == 0:
                self._block[:] = 0
            self._block[:, start : start + count] = signs(data[done : done + count]).T
            self._write_block(block)
            done += count

    def _write_block(self, block: int) -> None:
        _write_at(self._planes, block * self._block.nbytes, self._block.tobytes())

    def _restore_block(self, block: int) -> None:
        rows = self._read(block * BLOCK, min(BLOCK, max(0, self._next - block * BLOCK)))
        self._block[:] = 0
        self._block[:, : len(rows)] = signs(rows).T

    def _read(self, first: int, count: int) -> Floats:
        data = _read_at(self._rows, first * self._row_bytes, count * self._row_bytes)
        whole = len(data) - len(data) % self._row_bytes
        return np.frombuffer(data[:whole], _FLOAT).reshape(-1, self.dimension)


class Matrix:
    """The vectors of one generation's chunks, open for searching.

    Reading needs no locks, and no I/O other than page faults. The files stay mapped, even if they
    are removed, until the matrix is garbage-collected.
    """

    def __init__(
        self,
        *,
        space: VectorSpace,
        files: int,
        total: int,
        keys: Integers,
        rows: Integers,
        vectors: Floats,
        planes: NDArray[np.uint64],
        mapped: MappedFiles,
    ) -> None:
        """Take the chunks' keys and rows, both (chunks,), and the arrays mapped from `files`."""
        self._mapped = mapped
        self.space = space
        self.files = files
        self.total = total
        self.vectors = vectors
        self.planes = planes
        order = np.argsort(keys)
        self._keys = keys[order]
        self._rows = rows[order]
        # Several chunks may share a row: the chunks by row, to go from rows to chunks.
        self._by_row = np.argsort(self._rows, kind="stable")
        self._sorted_rows = self._rows[self._by_row]
        self.alive = np.zeros(len(vectors), np.bool_)
        self.alive[self._rows] = True

    @property
    def count(self) -> int:
        """Chunks that have a vector."""
        return len(self._keys)

    def check(self) -> None:
        """Make sure that the mapped files can be read. Call it before each search.

        Raises:
            IndexUnavailable: `INDEX_INCOMPATIBLE` if a file was truncated.
        """
        self._mapped.check()

    def holds(self, chunks: Integers, total: int) -> bool:
        """Whether the map has exactly these chunks, of a generation with `total` chunks."""
        return self.total == total and np.array_equal(self._keys, np.sort(chunks))

    def has(self, chunks: Integers) -> bool:
        """Whether the map has all of these chunks."""
        return bool(np.isin(chunks, self._keys).all())

    def rows_of_chunks(self) -> Iterator[tuple[int, int]]:
        """Return each chunk that has a vector, with its row."""
        return zip(self._keys.tolist(), self._rows.tolist(), strict=True)

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
        return self.centre_of(self._sorted_rows)

    def centre_of(self, rows: Integers) -> Floats:
        """Return the mean of a sample of some rows."""
        if not len(rows):
            return np.zeros(self.space.dimension, np.float32)
        step = -(-len(rows) // _SAMPLE)
        mean: Floats = self.vectors[rows[::step]].mean(axis=0, dtype=np.float32)
        return mean

    def signs(self, vector: Floats) -> NDArray[np.uint64]:
        """Return the signs of one vector in the format of the planes, shape (words,)."""
        return signs(vector[None, :]).reshape(-1)

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


@dataclass(frozen=True, slots=True)
class _Header:
    format: int
    space: dict[str, Any]
    files: int
    rows: int  # rows in the files when the map was written
    total: int
    count: int
    crc: int  # of the header with 0 in this place, and of the body

    def sum_with(self, body: bytes) -> int:
        """Return the expected value of `crc`."""
        return zlib.crc32(body, zlib.crc32(orjson.dumps(asdict(replace(self, crc=0)))))

    @classmethod
    def read(cls, line: bytes) -> Self:
        """Return the header on a line; raise ValueError or TypeError if it is not one."""
        return cls(**orjson.loads(line))


def write_map(
    path: Path,
    *,
    space: VectorSpace,
    files: int,
    rows_written: int,
    total: int,
    keys: Integers,
    rows: Integers,
) -> None:
    """Replace the map of a generation: its chunks with vectors. `total` is the number of all."""
    body = keys.astype("<i8").tobytes() + rows.astype("<u4").tobytes()
    header = _Header(
        format=_FORMAT,
        space=asdict(space) | {"probe": b64encode(space.probe).decode()},
        files=files,
        rows=rows_written,
        total=total,
        count=len(keys),
        crc=0,
    )
    header = replace(header, crc=header.sum_with(body))
    replace_file(path, orjson.dumps(asdict(header)) + b"\n" + body)


def open_matrix(map_path: Path, folder: Path) -> Matrix | None:
    """Open the vectors of a map. Return None if the map is missing or does not fit its files."""
    try:
        data = read_file(map_path)
        line, _, body = data.partition(b"\n")
        header = _Header.read(line)
        if header.format != _FORMAT or header.sum_with(body) != header.crc:
            return None
        space = VectorSpace(**header.space | {"probe": b64decode(header.space["probe"])})
        keys = np.frombuffer(body, "<i8", header.count).astype(np.int64)
        rows = np.frombuffer(body, "<u4", header.count, header.count * 8).astype(np.int64)
        if header.count and rows.max() >= header.rows:
            return None
        dimension, words = space.dimension, words_of(space.dimension)
        blocks = -(-header.rows // BLOCK)
        vectors = _map(rows_path(folder, header.files), _FLOAT, (header.rows, dimension))
        planes = _map(planes_path(folder, header.files), _WORD, (blocks, words, BLOCK))
        mapped = MappedFiles([rows_path(folder, header.files), planes_path(folder, header.files)])
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return Matrix(
        space=space,
        files=header.files,
        total=header.total,
        keys=keys,
        rows=rows,
        vectors=vectors,
        planes=planes,
        mapped=mapped,
    )


def rows_path(folder: Path, space: int) -> Path:
    """Return the file of a space's vectors."""
    return folder / f"{space}.rows"


def planes_path(folder: Path, space: int) -> Path:
    """Return the file of a space's sign planes."""
    return folder / f"{space}.planes"


def _map(path: Path, kind: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """Map the beginning of a file as an array; raise ValueError if the file is too short."""
    count = int(np.prod(shape))
    if not count:
        return np.empty(shape, kind)
    descriptor = open_regular(path, os.O_RDONLY)
    try:
        mapped = mmap(descriptor, count * kind.itemsize, access=ACCESS_READ)
    finally:
        os.close(descriptor)
    return np.frombuffer(mapped, kind, count).reshape(shape)


def _open(path: Path) -> int:
    return open_regular(path, os.O_RDWR | os.O_CREAT)


def _write_at(descriptor: int, offset: int, data: bytes) -> None:
    os.lseek(descriptor, offset, os.SEEK_SET)
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _read_at(descriptor: int, offset: int, size: int) -> bytes:
    os.lseek(descriptor, offset, os.SEEK_SET)
    parts = []
    while size > 0 and (part := os.read(descriptor, min(size, 1 << 30))):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
