"""The vector cache. It keeps vectors by key across generations, crashes and renames.

`vectors.db` maps a key to a row of a file (see `store.vectors.matrix`). Only the indexing process
opens it. A row is written before the statement that refers to it, and every change is one
statement. So a kill or a cancelled await leaves both, or a row without a reference.
"""

from __future__ import annotations

import zlib
from contextlib import asynccontextmanager, suppress
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from vault_agent.model.vectors import VectorSpace
from vault_agent.store.database import (
    check_pages,
    migrate,
    open_or_renew,
    translated,
    within,
)
from vault_agent.store.vectors.matrix import RowFiles, planes_path, rows_path, write_map
from vault_agent.system.cancelling import in_thread
from vault_agent.system.files import make_private_folder, replace_file
from vault_agent.system.regular import read_state

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Sequence
    from pathlib import Path

    import aiosqlite

    from vault_agent.store.vectors.matrix import Floats, Integers, Matrix

# Rows of one statement: five values each, and SQLite accepts 32,766 values.
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


@asynccontextmanager
async def open_vectors(path: Path) -> AsyncIterator[VectorStore]:
    """Open the store. Create it if it is missing, and replace it if it is damaged.

    `path` is the database. The files are beside it, in a folder with the same stem.
    """
    folder = path.with_suffix("")
    make_private_folder(folder)
    with translated():
        # A damaged store is replaced: the next run embeds the texts again.
        connection = await open_or_renew(path, _prepare)
        store = VectorStore(connection, folder)
        try:
            yield store
        except BaseException:
            # aiosqlite's thread outlives a cancelled await: interrupt it, or close() waits for it.
            # Only then, since after an interrupt SQLite closes without a checkpoint.
            await connection.interrupt()
            raise
        finally:
            store.close()
            await connection.close()


async def _prepare(connection: aiosqlite.Connection) -> None:
    await connection.execute_fetchall("PRAGMA journal_mode = WAL")
    # A power cut may lose the last statements; a kill loses none.
    await connection.execute_fetchall("PRAGMA synchronous = NORMAL")
    await within(connection, check_pages)
    await within(connection, migrate, "vectors/vectors.sql")
    # Remove an unfinished copy.
    for (number,) in await connection.execute_fetchall("SELECT id FROM space WHERE NOT ready"):
        await connection.execute_fetchall("DELETE FROM vector WHERE space = ?", (number,))
        await connection.execute_fetchall("DELETE FROM space WHERE id = ?", (number,))


class VectorStore:
    """The only writer of vectors. Call `use` first."""

    def __init__(self, connection: aiosqlite.Connection, folder: Path) -> None:
        self._connection = connection
        self.folder = folder
        self._space: tuple[int, VectorSpace] | None = None
        self._files: RowFiles | None = None

    def close(self) -> None:
        """Close the files, but not the connection."""
        if self._files is not None:
            self._files.close()
            self._files = None

    async def last_space(
        self, model: str, query_prefix: str, document_prefix: str
    ) -> VectorSpace | None:
        """Return the newest space of a model with these prefixes, or None."""
        newest = None
        async for _, space in self._spaces():
            if (space.model, space.query_prefix, space.document_prefix) == (
                model,
                query_prefix,
                document_prefix,
            ):
                newest = space
        return newest

    async def use(self, space: VectorSpace, *, fresh: bool = False) -> None:
        """Work in the space that matches, or in a new one; always in a new one if `fresh`."""
        self.close()
        found = None
        if not fresh:
            async for number, known in self._spaces():
                if known.matches(space):
                    found = number, known
        if found is None:
            found = await self._new_space(space, ready=True), space
        self._space = found
        self._files = await self._open_files(*found)

    async def vouches_for(self, matrix: Matrix) -> bool:
        """Whether a map names vectors of the space in use, and was written by this store.

        A store that was removed may have left its map behind.
        """
        number, _, _ = self._current()
        ((synced,),) = await self._connection.execute_fetchall(
            "SELECT synced FROM space WHERE id = ?", (number,)
        )
        of_this_store = matrix.files == number and len(matrix.vectors) <= int(synced)
        return of_this_store and not self._lost_from(number).exists()

    async def keys_of(self, matrix: Matrix) -> dict[int, bytes]:
        """Return what the vectors of a map's chunks are known by, by chunk.

        Without those whose vectors were forgotten; empty for a map that nothing vouches for.
        """
        if not await self.vouches_for(matrix):
            return {}
        known: dict[int, bytes] = {}
        after = b""
        while page := list(
            await self._connection.execute_fetchall(
                "SELECT key, row FROM vector WHERE space = ? AND key > ? ORDER BY key LIMIT ?",
                (matrix.files, after, _ROWS),
            )
        ):
            known.update((row, key) for key, row in page)
            after = page[-1][0]
        return {chunk: known[row] for chunk, row in matrix.rows_of_chunks() if row in known}

    async def plan(self, chunks: Integers, keys: Sequence[bytes]) -> Plan:
        """Return which of a generation's chunks have a vector, and which keys are missing."""
        number, _, _ = self._current()
        known: dict[bytes, int] = {}
        wanted = list(dict.fromkeys(keys))
        for start in range(0, len(wanted), _ROWS):
            part = wanted[start : start + _ROWS]
            found = await self._connection.execute_fetchall(
                "SELECT key, row FROM vector WHERE space = ? AND key IN"
                f" ({', '.join('?' * len(part))})",
                (number, *part),
            )
            known.update((row[0], row[1]) for row in found)
        rows = np.fromiter((known.get(key, -1) for key in keys), np.int64, len(keys))
        waiting: dict[bytes, list[int]] = {}
        for place in np.flatnonzero(rows < 0).tolist():
            waiting.setdefault(keys[place], []).append(place)
        return Plan(chunks, keys, rows, waiting)

    async def count_truncated(self, plan: Plan) -> int:
        """Count the chunks whose vector is of the beginning of their text only."""
        number, _, _ = self._current()
        found = await self._connection.execute_fetchall(
            "SELECT row FROM vector WHERE space = ? AND truncated", (number,)
        )
        return int(np.isin(plan.rows, [row for (row,) in found]).sum())

    async def save(
        self, keys: Sequence[bytes], vectors: Floats, *, truncated: Sequence[bytes] = ()
    ) -> int:
        """Keep vectors, (len(keys), dimension), and return the first one's row.

        `truncated` names the keys of which the endpoint took only the beginning of the text. All
        are safe from a kill when this returns, and from a power cut after `publish`.
        """
        number, _, files = self._current()
        if not keys:
            return files.next_row
        first, crcs = await in_thread(files.append, vectors)
        short = set(truncated)
        await self._insert(
            number,
            [
                (key, first + place, crc, key in short)
                for place, (key, crc) in enumerate(zip(keys, crcs, strict=True))
            ],
        )
        if await self._connection.execute_fetchall("SELECT 1 FROM failure LIMIT 1"):
            await self._connection.executemany(
                "DELETE FROM failure WHERE space = ? AND key = ?", [(number, key) for key in keys]
            )
        return first

    async def fail(self, failures: Sequence[tuple[bytes, str]]) -> None:
        """Mark inputs that could not be embedded, with the reason."""
        number, _, _ = self._current()
        for start in range(0, len(failures), _ROWS):
            part = failures[start : start + _ROWS]
            await self._connection.execute_fetchall(
                "INSERT OR REPLACE INTO failure (space, key, reason)"
                f" VALUES {', '.join(['(?, ?, ?)'] * len(part))}",
                [value for key, reason in part for value in (number, key, reason)],
            )

    async def publish(self, plan: Plan, path: Path) -> None:
        """Make the vectors durable, and write the generation's map."""
        number, space, files = self._current()
        have = plan.rows >= 0
        synced = await in_thread(files.sync)
        # Rows in a map must never be reused, so the database records them before the map exists.
        # The checkpoint also makes the statements before it durable.
        await self._connection.execute_fetchall(
            "UPDATE space SET synced = ? WHERE id = ?", (synced, number)
        )
        await self._connection.execute_fetchall("PRAGMA wal_checkpoint(TRUNCATE)")
        await in_thread(
            write_map,
            path,
            space=space,
            files=number,
            rows_written=synced,
            total=len(plan.chunks),
            keys=plan.chunks[have],
            rows=plan.rows[have],
        )
        await in_thread(self._lost_from(number).unlink, missing_ok=True)

    async def tidy(self, plan: Plan, path: Path) -> None:
        """Remove unused vectors after a complete run, and publish the plan again.

        Other spaces are removed at once, but for the rows of a database that was set aside. If a
        third of this space is unused, the used vectors are copied to a new space. Files that a
        reader has mapped stay readable to it.
        """
        number, space, files = self._current()
        used = np.unique(plan.rows[plan.rows >= 0])
        unused = files.next_row - len(used)
        if unused > _UNUSED_LEAST and unused > _UNUSED_SHARE * files.next_row:
            await self._copy_used(number, space, files, plan, used)
        await self.publish(plan, path)
        await self._drop_other_spaces()

    async def _copy_used(
        self, number: int, space: VectorSpace, files: RowFiles, plan: Plan, used: Integers
    ) -> None:
        copy = await self._new_space(space, ready=False)
        target = await self._open_files(copy, space)
        try:
            for start in range(0, len(used), _ROWS):
                part = used[start : start + _ROWS]
                await self._copy_rows(number, copy, files, target, part)
            await in_thread(target.sync)
            await self._connection.execute_fetchall(
                "UPDATE space SET ready = 1, synced = ? WHERE id = ?", (len(used), copy)
            )
        except BaseException:
            target.close()
            raise
        files.close()
        self._space, self._files = (copy, space), target
        have = plan.rows >= 0
        plan.rows[have] = np.searchsorted(used, plan.rows[have])

    async def _copy_rows(
        self, number: int, copy: int, files: RowFiles, target: RowFiles, rows: Integers
    ) -> None:
        low, high = int(rows[0]), int(rows[-1])
        vectors = await in_thread(lambda: files.read(low, high - low + 1)[rows - low])
        found = await self._connection.execute_fetchall(
            "SELECT row, key, truncated FROM vector WHERE space = ? AND row BETWEEN ? AND ?",
            (number, low, high),
        )
        names = {row: (key, truncated) for row, key, truncated in found}
        first, crcs = await in_thread(target.append, vectors)
        await self._insert(
            copy,
            [
                (names[row][0], first + place, crc, names[row][1])
                for place, (row, crc) in enumerate(zip(rows.tolist(), crcs, strict=True))
            ],
        )

    async def _drop_other_spaces(self) -> None:
        number, _, _ = self._current()
        for statement in (
            "DELETE FROM vector WHERE space <> ?",
            "DELETE FROM failure WHERE space <> ?",
            "DELETE FROM space WHERE id <> ?",
        ):
            await self._connection.execute_fetchall(statement, (number,))
        if self.folder.with_suffix(".damaged").exists():
            return  # its rows are here, too
        keep = {rows_path(self.folder, number), planes_path(self.folder, number)}
        for file in self.folder.iterdir():
            if file not in keep:
                with suppress(OSError):  # on Windows, mapped by a reader: the next run removes it
                    file.unlink()

    async def _insert(self, space: int, rows: Sequence[tuple[bytes, int, int, int]]) -> None:
        for start in range(0, len(rows), _ROWS):
            part = rows[start : start + _ROWS]
            await self._connection.execute_fetchall(
                "INSERT OR REPLACE INTO vector (space, key, row, crc, truncated)"
                f" VALUES {', '.join(['(?, ?, ?, ?, ?)'] * len(part))}",
                [value for row in part for value in (space, *row)],
            )

    async def _spaces(self) -> AsyncIterator[tuple[int, VectorSpace]]:
        for number, *fields in await self._connection.execute_fetchall(
            "SELECT id, model, dimension, query_prefix, document_prefix, probe FROM space"
            " ORDER BY id"
        ):
            yield number, VectorSpace(*fields)

    async def _new_space(self, space: VectorSpace, *, ready: bool) -> int:
        # A number not used by this database, nor by a damaged one that was renamed.
        files = (int(file.stem) for file in self.folder.glob("*.rows") if file.stem.isdecimal())
        rows = await self._connection.execute_fetchall("SELECT coalesce(max(id), 0) FROM space")
        number: int = 1 + max([*files, *(row[0] for row in rows)])
        await self._connection.execute_fetchall(
            "INSERT INTO space (id, model, dimension, query_prefix, document_prefix, probe, ready)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (number, *astuple(space), ready),
        )
        return number

    async def _open_files(self, number: int, space: VectorSpace) -> RowFiles:
        """Open a space's files, and check the rows that a power cut may have damaged or cut off."""
        ((last, synced),) = await self._connection.execute_fetchall(
            "SELECT (SELECT coalesce(max(row), -1) FROM vector WHERE space = id), synced"
            " FROM space WHERE id = ?",
            (number,),
        )
        files = await in_thread(
            lambda: RowFiles(self.folder, number, space.dimension, max(last + 1, synced))
        )
        try:
            await self._check_rows(number, files, last, synced)
        except BaseException:
            files.close()
            raise
        return files

    async def _check_rows(self, number: int, files: RowFiles, last: int, synced: int) -> None:
        """Drop damaged rows. `last` is the last row in use, and `synced` rows may be in a map.

        The first row that was cut off is kept in a file until a map without such rows is published.
        Else a kill before that would leave rows of zeros that look whole.
        """
        lost = self._lost_from(number)
        first = int(read_state(lost)) if lost.exists() else files.complete
        first = min(first, files.complete)
        if first < min(last + 1, synced):
            await in_thread(replace_file, lost, str(first).encode())
        await in_thread(files.fill_up)
        doubtful = min(first, synced)
        if doubtful <= last:
            await self._drop_damaged(number, files, doubtful)
            await in_thread(files.rebuild_planes, doubtful)

    def _lost_from(self, space: int) -> Path:
        """Return the file with the first row that was cut off. It is missing if none was."""
        return self.folder / f"{space}.lost"

    async def _drop_damaged(self, space: int, files: RowFiles, first: int) -> None:
        """Remove the damaged vectors from row `first` on."""
        lost: list[bytes] = []
        after = b""
        while page := list(
            await self._connection.execute_fetchall(
                "SELECT key, row, crc FROM vector WHERE space = ? AND key > ? AND row >= ?"
                " ORDER BY key LIMIT ?",
                (space, after, first, _ROWS),
            )
        ):
            lost += await in_thread(_damaged, lambda row: files.read(row, 1), page)
            after = page[-1][0]
        await self._connection.executemany(
            "DELETE FROM vector WHERE space = ? AND key = ?", [(space, key) for key in lost]
        )

    def _current(self) -> tuple[int, VectorSpace, RowFiles]:
        if self._space is None or self._files is None:
            raise RuntimeError("no space is in use")
        return *self._space, self._files


def _damaged(read: Callable[[int], Floats], vectors: Sequence[Sequence[Any]]) -> list[bytes]:
    """Return the keys of damaged rows; `vectors` are (key, row, CRC-32)."""
    return [key for key, row, crc in vectors if zlib.crc32(read(row).tobytes()) != crc]
