"""The folder of one vault's index: its files, its locks and its current generation.

    {user data}/vault-agent/indexes/{vault identity}/    mode 0700
        server.lock  writer.lock   advisory locks, each a separate file
        server.address             the URL and process ID of the server that holds server.lock
        server.settings            its flags, which config text it has seen, why it refuses that
        server.log                 the log of servers that run in the background
        vault.json                 the folder of the notes, and the uid of a registered vault
        last-results               the IDs of the results that were printed last
        current                    the number of the current generation
        generation-7/
            index.db               notes and their parts, links, names, attachments, meta
            fulltext/              the full text of notes and of chunks
        jobs.db                    the record of jobs
        vectors.lock               held while chunks are embedded
        vectors.db  vectors/       vectors by their exact input, shared by all generations
        texts/                     texts of attachments by the hash of their content
        write.lock                 held by the server that may change notes
        writes.db  writes/before/  the log of writes, and bytes of files by their hash
        graph.positions            where the notes are in the drawing of the graph
        secret  sessions.ended     what sessions of the web page are checked with
        agents/{name}/             what an agent sees: the same, without vectors and writes

`current` is replaced atomically, and only after the generation is complete and on disk.
"""

from __future__ import annotations

import os
import shutil
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Final

from vault_agent.errors import Busy, Failed, VaultAgentError
from vault_agent.store.database import fetch, open_reader, open_writer
from vault_agent.store.failures import no_locks
from vault_agent.system.address import (
    SERVER_LOCK,
    forget_address,
    recorded_address,
    recorded_vault,
)
from vault_agent.system.files import (
    AlreadyLocked,
    LocksUnsupported,
    locked,
    make_private_folder,
    read_state,
    remove_unfinished,
    replace_file,
    sync_file,
    sync_folder,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path


WRITER_WAIT_SECONDS: Final = 5.0
"""How long a run waits for another to end. After a server is killed, its run lasts a moment."""

_CURRENT = "current"
_MOST_DIGITS = 100
_GENERATION = "generation-"
LOCKS: Final = (SERVER_LOCK, "writer.lock", "vectors.lock", "write.lock")
_NO_ROOM_BYTES = 4 << 20
SERVER_WAIT_SECONDS: Final = 0.3
"""How long a server waits for its lock. A client holds it for a moment to see who serves."""


class IndexDirectory:
    """The folder of one vault's index. `create` makes it; only its owner can read it.

    Its attributes are the paths of the files that the module's docstring names.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.writes = path / "writes.db"
        self.bytes_before = path / "writes" / "before"
        self.texts = path / "texts"
        self.jobs = path / "jobs.db"
        self.positions = path / "graph.positions"
        self.vectors = path / "vectors.db"

    def create(self) -> None:
        """Create the folder and its missing parents with mode 0700."""
        make_private_folder(self.path)

    @property
    def is_full(self) -> bool:
        """Whether the disk is full. SQLite does not always report that."""
        try:
            return shutil.disk_usage(self.path).free < _NO_ROOM_BYTES
        except OSError:
            return False

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Hold the server's lock.

        Raises:
            Busy: `INDEX_LOCKED` while another server holds it; the message has its address.
            Failed: `INDEX_IO_ERROR` if the file system has no locks.
        """
        first = recorded_address(self.path)
        where = f", at {first.endpoint}" if first is not None else ""
        lock = self._locked(
            SERVER_LOCK,
            taken=f"Another vault-agent server has this index{where}. Use that one, stop it, or"
            " give this one another index.dir.",
            wait_seconds=SERVER_WAIT_SECONDS,
        )
        with lock:
            forget_address(self.path)  # left by a server that was killed
            try:
                yield
            finally:
                forget_address(self.path)

    def writing(self, *, wait: bool = True) -> AbstractContextManager[None]:
        """Hold the writer's lock. Raises as `_locked`, at once or after a wait."""
        return self._locked(
            "writer.lock",
            taken="Another process is writing this index. Stop it, or use another index.dir.",
            wait_seconds=WRITER_WAIT_SECONDS if wait else 0.0,
        )

    def embedding(self, *, wait: bool = True) -> AbstractContextManager[None]:
        """Hold the lock of the vectors. An index run may write meanwhile. Raises as `writing`."""
        return self._locked(
            "vectors.lock",
            taken="Another process is embedding for this index. Stop it, or use another index.dir.",
            wait_seconds=WRITER_WAIT_SECONDS if wait else 0.0,
        )

    def changing_notes(self) -> AbstractContextManager[None]:
        """Hold the lock of those who may change the notes of the vault. Raises as `_locked`."""
        return self._locked(
            "write.lock",
            taken="Another process may be changing the notes of this vault. Stop it first.",
            wait_seconds=SERVER_WAIT_SECONDS,
        )

    @contextmanager
    def _locked(self, name: str, *, taken: str, wait_seconds: float) -> Iterator[None]:
        """Hold a lock.

        Raises:
            Busy: `INDEX_LOCKED` if another process holds it.
            Failed: `INDEX_IO_ERROR` if the file system has no locks.
        """
        with ExitStack() as stack:
            try:
                stack.enter_context(locked(self.path / name, wait_seconds=wait_seconds))
            except AlreadyLocked:
                raise Busy("INDEX_LOCKED", taken) from None
            except LocksUnsupported:
                raise no_locks() from None
            yield

    def generation(self, number: int) -> Path:
        """Return the folder of one generation."""
        return self.path / f"{_GENERATION}{number}"

    def database(self, number: int) -> Path:
        """Return the database file of one generation."""
        return self.generation(number) / "index.db"

    def fulltext(self, number: int) -> Path:
        """Return the full-text folder of one generation."""
        return self.generation(number) / "fulltext"

    def current(self) -> int | None:
        """Return the number of the current generation, or None if there was none yet.

        Return 0, the number of no generation, if the file `current` is damaged.

        Raises:
            Failed: `INDEX_IO_ERROR` if it is no regular file.
        """
        try:
            return int(read_state(self.path / _CURRENT, _MOST_DIGITS))
        except FileNotFoundError:
            return None
        except ValueError:
            return 0

    def make_current(self, number: int) -> None:
        """Make a complete generation the current one, in one atomic and durable step.

        Its database must be closed. It was written without a sync, so it is synced here.
        """
        sync_file(self.database(number))
        sync_folder(self.generation(number))
        replace_file(self.path / _CURRENT, b"%d\n" % number)

    def next_generation(self) -> int:
        """Return a number above those of all generations, including abandoned ones."""
        return max(self._numbered(), default=0) + 1

    def sweep(self, *, keep: int | None) -> None:
        """Remove abandoned generations and unfinished files.

        Nothing is removed if there is no generation `keep`. The file `current` is damaged then, and
        any generation may be the current one.

        Only the holder of the writer's lock may call this. On Windows a file that a reader has open
        stays until the next sweep.
        """
        numbered = self._numbered()
        if keep is not None and keep not in numbered:
            return
        for number, path in numbered.items():
            if number != keep:
                shutil.rmtree(path, ignore_errors=True)
        remove_unfinished(self.path)
        if keep is not None:
            remove_unfinished(self.generation(keep))

    def _numbered(self) -> dict[int, Path]:
        """Return the folders of all generations."""
        folders = {}
        for path in self.path.glob(f"{_GENERATION}*"):
            with suppress(ValueError):
                folders[int(path.name.removeprefix(_GENERATION))] = path
        return folders


class ServerLock:
    """The server's lock of one index, which is held while the server opens it again."""

    def __init__(self) -> None:
        self._held = ExitStack()
        self._path: Path | None = None

    def hold(self, directory: IndexDirectory) -> None:
        """Hold the lock of an index, and that of no other.

        Raises:
            VaultAgentError: as `IndexDirectory.serving`. No lock is held then.
        """
        self.release_others(directory)
        if self._path is None:
            self._held.enter_context(directory.serving())
            self._path = directory.path

    def release_others(self, directory: IndexDirectory) -> None:
        """Release the lock, unless it is that of this index."""
        if directory.path != self._path:
            self.close()

    def close(self) -> None:
        """Release the lock."""
        self._held.close()
        self._path = None


_SAMPLE: Final = 200
_LEAST_IN_COMMON: Final = 0.8


def take_over(
    directory: IndexDirectory, vault: str, is_ours: Callable[[IndexDirectory], bool]
) -> bool:
    """Move the files of a moved vault's index here, unless there is an index already.

    `vault` is the identity of the vault here. `is_ours` tells the index of this vault among those
    whose folder of notes is gone. An index that is in use is left alone.
    """
    if directory.current() is not None or directory.jobs.exists():
        return False
    for folder in sorted(directory.path.parent.glob("*/")):
        other = IndexDirectory(folder)
        vault_path = recorded_vault(folder)
        if folder == directory.path or vault_path is None or os.path.lexists(vault_path):
            continue
        with suppress(Busy, Failed, OSError):
            if is_ours(other):
                _move(other, directory, vault)
                return True
    return False


def has_notes(directory: IndexDirectory, size_of: Callable[[str], int | None]) -> bool:
    """Whether a vault has the notes of an index, by a sample of their paths and sizes.

    `size_of` returns the size of a note in the vault, None if it is missing.
    """
    number = directory.current()
    if not number:
        return False
    try:
        with open_reader(directory.database(number)) as connection:
            # A handle is a hash, so the first ones are a sample of all.
            rows = fetch(
                connection, "SELECT path, size FROM note ORDER BY handle LIMIT ?", (_SAMPLE,)
            )
    except VaultAgentError:
        return False
    same = sum(size_of(path) == size for path, size in rows)
    return bool(rows) and same >= _LEAST_IN_COMMON * len(rows)


def _move(other: IndexDirectory, directory: IndexDirectory, vault: str) -> None:
    with other.serving(), other.writing(wait=False), other.embedding(wait=False):
        directory.create()
        number = other.current()
        if number is not None and not _give_to(other.database(number), vault):
            (other.path / _CURRENT).unlink(missing_ok=True)  # it is built again
        # `current` goes last: before, the index is not used.
        names = sorted(os.listdir(other.path), key=lambda name: name == "current")  # noqa: PTH208
        for name in names:
            if name not in LOCKS and not (directory.path / name).exists():
                (other.path / name).rename(directory.path / name)
    shutil.rmtree(other.path, ignore_errors=True)


def _give_to(database: Path, vault: str) -> bool:
    """Write another vault's identity into a generation. Return False if it is damaged."""
    try:
        with open_writer(database) as connection:
            fetch(connection, "UPDATE meta SET value = ? WHERE key = 'vault'", (vault,))
    except VaultAgentError:
        return False
    return True
