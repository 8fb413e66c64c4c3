"""The log of writes: what was changed, how far it came, and the bytes before.

Synchronous: a write runs in a thread from its first read to its last sync. All statements are here.
"""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from vault_agent.errors import Failed, IndexUnavailable, Unavailable, VaultAgentError
from vault_agent.model.identifiers import content_hash
from vault_agent.model.writing import (
    OWNER_CLIENTS,
    SERVER,
    ChangeKind,
    LoggedWrite,
    VaultChange,
    WriteState,
)
from vault_agent.store.database import (
    check_pages,
    json_array,
    migrate,
    open_prepared,
    transaction,
    translated,
)
from vault_agent.system.files import (
    make_private_folder,
    remove_unfinished,
    replace_file,
    sync_file,
    sync_folder,
)

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from vault_agent.model.writing import Author


class KeptBytes:
    """A folder of private files, each named by the SHA-256 of its bytes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def create(self) -> None:
        """Make the folder, and remove what a killed process has left half written."""
        make_private_folder(self._folder)
        remove_unfinished(self._folder)

    def keep(self, durable: Iterable[bytes], others: Iterable[bytes] = ()) -> None:
        """Keep the bytes of files. Those of `durable` are on the disk after this.

        All are written before the first one is synced, which is several times faster.

        Raises:
            OSError: if they cannot be written.
        """
        first = {content_hash(data): data for data in durable}
        for digest, data in {**first, **{content_hash(data): data for data in others}}.items():
            if self.get(digest) is None:
                replace_file(self._folder / digest.hex(), data, durable=False)
        for digest in first:  # it may have been kept without a sync
            sync_file(self._folder / digest.hex())
        if first:
            sync_folder(self._folder)

    def get(self, digest: bytes) -> bytes | None:
        """Return the bytes with this hash, or None if they are not kept, or damaged."""
        try:
            data = (self._folder / digest.hex()).read_bytes()
        except FileNotFoundError:
            return None
        return data if content_hash(data) == digest else None

    def sizes(self) -> dict[bytes, int]:
        """Return the size of all that is kept, by hash."""
        sizes = {}
        with os.scandir(self._folder) as entries:
            for entry in entries:
                with suppress(ValueError, OSError):
                    sizes[bytes.fromhex(entry.name)] = entry.stat().st_size
        return sizes

    def remove_others(self, needed: Collection[bytes]) -> None:
        """Remove all but these."""
        for digest in self.sizes().keys() - set(needed):
            with suppress(OSError):
                (self._folder / digest.hex()).unlink()


KEY_MILLISECONDS = 24 * 3_600_000
ROWS = 100_000
"""How many writes the log remembers. Their bytes are kept for a shorter time."""

_CHANGE = (
    *("kind", "path", "target", "hash_before", "hash_after", "size_before", "size_after"),
    *("temporary", "links"),
)
_WRITE = (
    *("seq", "write_id", "at", "agent", "client", "operation", "state", "key", "request"),
    *("reply", "undoes", "kept", "warning"),
)
"""The columns of the tables `change` and `write`, named as the fields of the values."""


def _insert(table: str, columns: Sequence[str]) -> str:
    """Return the statement that adds a row with these fields of a value."""
    names = ", ".join("id" if name == "write_id" else name for name in columns)
    return f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(columns))})"


_INSERT_WRITE = _insert("write", _WRITE[1:])
_INSERT_CHANGE = _insert("change", ("seq", "position", "in_place", "swept", *_CHANGE))
_OPEN = "('prepared', 'committed')"
_LAST = "state = 'done' AND undoes IS NULL"


class WriteLog:
    """The log of one vault. Safe to share between threads.

    Every method raises `Failed` `DISK_FULL` if the log cannot be written: a write whose bytes
    before are not kept is not allowed. If the log is damaged, it raises `WRITE_LOG_DAMAGED`.
    """

    def __init__(self, connection: sqlite3.Connection, kept: KeptBytes) -> None:
        self._connection = connection
        self._kept = kept
        self._lock = threading.Lock()

    @classmethod
    def open(cls, path: Path, folder: Path) -> WriteLog:
        """Open the log, and create it if it is missing.

        A damaged log is left as it is, with all bytes that it needs. So is an empty one beside
        bytes: it would forget all of them.

        Raises:
            Unavailable: `WRITE_LOG_DAMAGED`, `STATE_TOO_NEW`.
            Failed: `DISK_FULL`, `INDEX_IO_ERROR`.
        """
        kept = KeptBytes(folder)
        with translated():
            kept.create()
            if kept.sizes() and not (path.exists() and path.stat().st_size):
                raise _log_damaged()
            try:
                return cls(open_prepared(path, _prepare), kept)
            except IndexUnavailable:
                raise _log_damaged() from None

    def close(self) -> None:
        """Close the log."""
        with self._lock:
            self._connection.close()

    # --- bytes ----------------------------------------------------------------------------------

    def keep(self, durable: Iterable[bytes], others: Iterable[bytes] = ()) -> None:
        """Keep the bytes of files. Those of `durable` are on the disk after this."""
        with _refuse():
            self._kept.keep(durable, others)

    def bytes_of(self, digest: bytes | None) -> bytes | None:
        """Return the bytes with a hash, or None if they are not kept."""
        with _refuse():
            return None if digest is None else self._kept.get(digest)

    # --- writing --------------------------------------------------------------------------------

    def begin(self, write: LoggedWrite) -> LoggedWrite:
        """Keep the bytes of a write and log it, durably, before it is carried out.

        After a power cut its first change is there, or nothing is: the text after it may be lost.

        Return it with its number.

        Raises:
            Failed: `DISK_FULL`.
        """
        first = write.changes[0]
        durable = [
            text
            for change in write.changes
            if change.kind is not ChangeKind.MOVE
            for text in (change.before, None if change is first else change.after)
            if text is not None
        ]
        self.keep(durable, [] if first.after is None else [first.after])
        with self._transaction(durable=True) as connection:
            fields = [getattr(write, name) for name in _WRITE[1:]]
            cursor = connection.execute(_INSERT_WRITE, fields)
            seq = int(cursor.lastrowid or 0)
            connection.executemany(
                _INSERT_CHANGE,
                [
                    (
                        *(seq, position, False, change.temporary is None),
                        *(getattr(change, name) for name in _CHANGE),
                    )
                    for position, change in enumerate(write.changes)
                ],
            )
            connection.executemany(
                "INSERT INTO made (seq, path) VALUES (?, ?)",
                [(seq, path) for path in write.folders],
            )
            empties = _folders_made_by(connection, write.undoes)
        return replace(write, seq=seq, empties=empties)

    def commit(self, seq: int) -> None:
        """Log that the first change of a write was carried out, so that the others follow."""
        with self._transaction() as connection:
            connection.execute("UPDATE write SET state = 'committed' WHERE seq = ?", (seq,))

    def finish(self, seq: int, *, warning: str | None = None) -> None:
        """Log that a write is done. Not synced: the next start can see it from the files."""
        with self._transaction() as connection:
            connection.execute(
                "UPDATE write SET state = 'done', warning = coalesce(?, warning) WHERE seq = ?",
                (warning, seq),
            )
            # What this one takes back is undone; if that was an undo, its write is done again.
            taken = "SELECT undoes FROM write WHERE seq = ?"
            connection.execute(
                f"UPDATE write SET state = 'done' WHERE state = 'undone' AND id IN"
                f" (SELECT undoes FROM write WHERE id IN ({taken}))",
                (seq,),
            )
            connection.execute(
                f"UPDATE write SET state = 'undone' WHERE state = 'done' AND id IN ({taken})",
                (seq,),
            )

    def fail(self, seq: int) -> None:
        """Log that a write has changed nothing. Its key may be used again."""
        with self._transaction() as connection:
            connection.execute(
                "UPDATE write SET state = 'failed', key = NULL WHERE seq = ?", (seq,)
            )
            # Only the first change may have left temporary files.
            connection.execute("UPDATE change SET swept = 1 WHERE seq = ? AND position > 0", (seq,))

    def warn(self, seq: int, code: str) -> None:
        """Log that a write did not end well."""
        with self._transaction() as connection:
            connection.execute("UPDATE write SET warning = ? WHERE seq = ?", (code, seq))

    def revise(self, seq: int, position: int, change: VaultChange) -> None:
        """Log durably that an edit was planned anew, before it is carried out."""
        self.keep((change.before or b"", change.after or b""))
        with self._transaction(durable=True) as connection:
            connection.execute(
                "UPDATE change SET hash_before = ?, hash_after = ?, size_before = ?,"
                " size_after = ?, temporary = ?, swept = ? WHERE seq = ? AND position = ?",
                (
                    *(change.hash_before, change.hash_after, change.size_before),
                    *(change.size_after, change.temporary, change.temporary is None),
                    *(seq, position),
                ),
            )

    def sweep(self, seq: int, position: int) -> None:
        """Log that the temporary files of a change are gone."""
        with self._transaction() as connection:
            connection.execute(
                "UPDATE change SET swept = 1 WHERE seq = ? AND position = ?", (seq, position)
            )

    # --- reading --------------------------------------------------------------------------------

    def with_key(self, agent: str, key: str) -> LoggedWrite | None:
        """Return the write that an author has asked for with a key."""
        return self._one("agent = ? AND key = ?", agent, key)

    def get(self, write_id: str) -> LoggedWrite | None:
        """Return a write by its ID."""
        return self._one("id = ?", write_id)

    def last_seq(self) -> int:
        """Return the number of the last write, 0 if there is none."""
        with self._reading() as connection:
            return int(connection.execute("SELECT max(seq) FROM write").fetchone()[0] or 0)

    def last_of(self, author: Author | None) -> LoggedWrite | None:
        """Return the last write of one author, or of anyone, that is done and is no undo."""
        if author is None:
            return self._one(_LAST)
        if author.name:
            return self._one(f"{_LAST} AND agent = ? AND client <> ?", author.name, SERVER)
        clients = OWNER_CLIENTS if author.client in OWNER_CLIENTS else (author.client,)
        listed = ", ".join("?" * len(clients))
        return self._one(f"{_LAST} AND agent = '' AND client IN ({listed})", *clients)

    def unfinished(self) -> list[LoggedWrite]:
        """Return the writes that a crash has interrupted, oldest first."""
        return self._all(f"state IN {_OPEN} ORDER BY seq")

    def unswept(self) -> list[tuple[LoggedWrite, int]]:
        """Return the changes whose temporary files may still be there, with their positions."""
        with self._reading() as connection:
            rows = connection.execute(
                "SELECT seq, position FROM change WHERE swept = 0 ORDER BY seq, position"
            ).fetchall()
        writes = {seq: self._one("seq = ?", seq) for seq in {seq for seq, _ in rows}}
        return [(logged, position) for seq, position in rows if (logged := writes[seq]) is not None]

    def hash_at(self, path: str) -> bytes | None:
        """Return the hash that the last write to a path has left there."""
        with self._reading() as connection:
            row = connection.execute(
                "SELECT hash_after FROM change JOIN write USING (seq) WHERE state <> 'failed'"
                " AND (path = ?1 AND target IS NULL OR target = ?1) ORDER BY seq DESC LIMIT 1",
                (path,),
            ).fetchone()
        return None if row is None else row[0]

    def page(
        self,
        *,
        path: str | None = None,
        agent: str | None = None,
        before: int | None = None,
        limit: int = 50,
    ) -> list[LoggedWrite]:
        """Return writes that have changed something, newest first."""
        clauses, values = ["state <> 'failed'"], []
        if path is not None:
            clauses.append("seq IN (SELECT seq FROM change WHERE path = ? OR target = ?)")
            values += [path, path]
        if agent is not None:
            clauses.append("agent = ?")
            values.append(agent)
        if before is not None:
            clauses.append("seq < ?")
            values.append(str(before))
        return self._all(f"{' AND '.join(clauses)} ORDER BY seq DESC LIMIT {limit:d}", *values)

    def conflicts(self) -> list[LoggedWrite]:
        """Return the last writes that did not end well, newest first."""
        return self._all("warning IS NOT NULL ORDER BY seq DESC LIMIT 20")

    # --- expiry ---------------------------------------------------------------------------------

    def expire(self, now: int, *, days: int, size: int) -> None:
        """Forget the bytes of old writes, what was not done, old keys, and the oldest rows.

        `days` and `size` (bytes) are limits of what is kept; the first to be met ends it.
        """
        sizes = self._kept.sizes()
        with self._transaction() as connection:
            self._forget_rows(connection, now)
            rows = connection.execute(
                "SELECT seq, at, hash_before, hash_after FROM write JOIN change USING (seq)"
                f" WHERE kept = 1 AND state NOT IN {_OPEN} ORDER BY seq DESC"
            ).fetchall()
            counted: set[bytes] = set()
            total = 0
            forgotten = set()
            for seq, at, *hashes in rows:
                new = {digest for digest in hashes if digest is not None} - counted
                total += sum(sizes.get(digest, 0) for digest in new)
                counted |= new
                if days == 0 or at < now - days * 86_400_000 or total > size:
                    forgotten.add(seq)
            connection.execute(
                "UPDATE write SET kept = 0 WHERE seq IN (SELECT value FROM json_each(?))",
                (json_array(sorted(forgotten)),),
            )
        self.remove_unneeded()

    def forget(self, *, write_id: str | None = None, before: int | None = None) -> int:
        """Forget the bytes of one write, or of those before a time, or of all. Return how many."""
        with self._transaction() as connection:
            forgotten = connection.execute(
                f"UPDATE write SET kept = 0 WHERE kept = 1 AND state NOT IN {_OPEN}"
                " AND coalesce(id = ?, TRUE) AND coalesce(at < ?, TRUE)",
                (write_id, before),
            )
        self.remove_unneeded()
        return forgotten.rowcount

    def _forget_rows(self, connection: sqlite3.Connection, now: int) -> None:
        unswept = "SELECT seq FROM change WHERE swept = 0"
        connection.execute(
            "DELETE FROM write WHERE (state = 'failed' OR seq <= (SELECT max(seq) FROM write) - ?)"
            f" AND state NOT IN {_OPEN} AND seq NOT IN ({unswept})",
            (ROWS,),
        )
        for table in ("change", "made"):
            connection.execute(f"DELETE FROM {table} WHERE seq NOT IN (SELECT seq FROM write)")
        connection.execute(
            f"UPDATE write SET key = NULL WHERE key NOTNULL AND at < ? AND state NOT IN {_OPEN}",
            (now - KEY_MILLISECONDS,),
        )

    def remove_unneeded(self) -> None:
        """Remove bytes that neither undo nor recovery nor a look at temporary files needs.

        A write may be keeping bytes at this moment, before it is logged, so nothing else may run.
        """
        with self._reading() as connection:
            rows = connection.execute(
                "SELECT hash_before, hash_after FROM change JOIN write USING (seq)"
                " WHERE kept = 1 OR swept = 0"
            ).fetchall()
        self._kept.remove_others({digest for row in rows for digest in row if digest is not None})

    # --- internals ------------------------------------------------------------------------------

    def _one(self, where: str, *values: object) -> LoggedWrite | None:
        writes = self._all(f"{where} ORDER BY seq DESC LIMIT 1", *values)
        return writes[0] if writes else None

    def _all(self, where: str, *values: object) -> list[LoggedWrite]:
        with self._reading() as connection:
            rows = connection.execute(
                f"SELECT {_list_columns(_WRITE)} FROM write WHERE {where}", values
            ).fetchall()
            changes: dict[int, list[VaultChange]] = {}
            for seq, kind, *fields in connection.execute(
                f"SELECT seq, {_list_columns(_CHANGE)} FROM change"
                " WHERE seq IN (SELECT value FROM json_each(?)) ORDER BY seq, position",
                (json_array([row[0] for row in rows]),),
            ):
                named = dict(zip(_CHANGE[1:], fields, strict=True))
                changes.setdefault(seq, []).append(VaultChange(kind=ChangeKind(kind), **named))
            writes = []
            for row in rows:
                named = dict(zip(_WRITE, row, strict=True))
                named |= {"state": WriteState(named["state"]), "kept": bool(named["kept"])}
                empties = _folders_made_by(connection, named["undoes"])
                made = tuple(changes.get(named["seq"], ()))
                writes.append(LoggedWrite(**named, changes=made, empties=empties))
            return writes

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with _refuse(), self._lock:
            yield self._connection

    @contextmanager
    def _transaction(self, *, durable: bool = False) -> Iterator[sqlite3.Connection]:
        with _refuse(), self._lock:
            self._connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            with transaction(self._connection):
                yield self._connection


def _list_columns(columns: Sequence[str]) -> str:
    return ", ".join("id AS write_id" if name == "write_id" else name for name in columns)


def _folders_made_by(connection: sqlite3.Connection, write_id: str | None) -> tuple[str, ...]:
    """Return the folders that a write has made, outermost first."""
    if write_id is None:
        return ()
    rows = connection.execute(
        "SELECT path FROM made WHERE seq = (SELECT seq FROM write WHERE id = ?) ORDER BY path",
        (write_id,),
    )
    return tuple(path for (path,) in rows)


def _prepare(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA journal_mode = WAL")
    check_pages(connection)
    migrate(connection, "write_log.sql")


def _log_damaged() -> Unavailable:
    return Unavailable(
        "WRITE_LOG_DAMAGED",
        "The log of writes is damaged: writes.db and the folder writes, in the folder of the index."
        " Nothing is written or lost, and notes can be read.",
    )


@contextmanager
def _refuse() -> Iterator[None]:
    """Turn damage of the log, and any failure of the disk, into the refusal of a write."""
    try:
        with translated():
            yield
    except IndexUnavailable:
        raise _log_damaged() from None
    except VaultAgentError as error:
        raise Failed(
            "DISK_FULL",
            "The log of writes cannot be read or written, and without it nothing is written.",
            remedy="Free some space on the disk of the index, and check its rights.",
        ) from error
