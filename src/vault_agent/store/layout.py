"""Where one vault's index lives on disk, and which generation of it is current.

    {directory}/
        server.lock  writer.lock   advisory locks, each on a file of its own
        server.address             where the server that holds its lock listens
        jobs.db                    the record of jobs
        current                    the number of the generation that serves
        generation-7/
            index.db               notes, chunks, links, meta
            fulltext-3/            the full-text engine's files of revision 3
            vectors.map            which chunk has which vector
        vectors.db  vectors/       vectors by their exact input: they outlive generations

`current` is replaced atomically, and only after the generation is complete and on disk.
"""

from __future__ import annotations

import re
import shutil
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Final

from vault_agent.errors import Busy
from vault_agent.store.failures import no_locks
from vault_agent.system.files import (
    make_private_folder,
    remove_unfinished,
    replace_file,
    sync_file,
    sync_folder,
)
from vault_agent.system.locks import AlreadyLocked, LocksUnsupported, locked

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

WRITER_WAIT_SECONDS: Final = 5.0
"""How long a run waits for another one to end: a server that was killed leaves one for a moment."""

_CURRENT = "current"
_GENERATION = "generation-"
_FULLTEXT = "fulltext-"
_DAMAGED = "damaged-"
_NO_ROOM_BYTES = 4 << 20
_ADDRESS = re.compile(r"http://[0-9A-Za-z.:\[\]-]{1,253}")


class IndexDirectory:
    """The folder of one vault's index; made on first use, readable by its owner only."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def create(self) -> None:
        """Make the folder with its missing parents, all with mode 0700."""
        make_private_folder(self.path)

    @property
    def is_full(self) -> bool:
        """Whether the disk has no room for anything: SQLite does not always say so itself."""
        try:
            return shutil.disk_usage(self.path).free < _NO_ROOM_BYTES
        except OSError:
            return False

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Hold the server's lock.

        Raises:
            Busy: `INDEX_LOCKED` while another server does, and where that listens.
            Failed: `INDEX_IO_ERROR` where the file system has no locks.
        """
        where = self._address()
        lock = self._locked(
            "server.lock",
            taken=f"Another vault-agent server has this index{where and f', at {where}'}. Use "
            "that one, stop it, or give this one another index.dir.",
        )
        with lock:
            self._forget_address()  # of a server that was killed
            try:
                yield
            finally:
                self._forget_address()

    def note_address(self, address: str) -> None:
        """Note where the holder of the server's lock listens, for one that comes too late.

        It is a courtesy: where it can't be written, that one is told no address.
        """
        with suppress(OSError):
            data = address.encode("ascii", "replace")
            replace_file(self.path / "server.address", data, durable=False)

    def _address(self) -> str:
        """Return what was noted, or nothing where that is no address."""
        try:
            noted = (self.path / "server.address").read_text(encoding="ascii")
        except (OSError, UnicodeDecodeError):
            return ""
        return noted if _ADDRESS.fullmatch(noted) else ""

    def _forget_address(self) -> None:
        with suppress(OSError):
            (self.path / "server.address").unlink()

    def writing(self, *, wait: bool = True) -> AbstractContextManager[None]:
        """Hold the writer's lock.

        Raises:
            Busy: `INDEX_LOCKED` while another process does, at once or after a wait.
            Failed: `INDEX_IO_ERROR` where the file system has no locks.
        """
        return self._locked(
            "writer.lock",
            taken="Another process is writing this index. Stop it, or use another index.dir.",
            wait_seconds=WRITER_WAIT_SECONDS if wait else 0.0,
        )

    @contextmanager
    def _locked(self, name: str, *, taken: str, wait_seconds: float = 0.0) -> Iterator[None]:
        with ExitStack() as stack:
            try:
                stack.enter_context(locked(self.path / name, wait_seconds=wait_seconds))
            except AlreadyLocked:
                raise Busy("INDEX_LOCKED", taken) from None
            except LocksUnsupported:
                raise no_locks() from None
            yield

    @property
    def jobs(self) -> Path:
        """The database of jobs."""
        return self.path / "jobs.db"

    @property
    def vectors(self) -> Path:
        """The database of vectors: it outlives generations."""
        return self.path / "vectors.db"

    @property
    def vectors_folder(self) -> Path:
        """The folder of the vectors themselves."""
        return self.vectors.with_suffix("")

    def generation(self, number: int) -> Path:
        """Return the folder of one generation."""
        return self.path / f"{_GENERATION}{number}"

    def database(self, number: int) -> Path:
        """Return the database file of one generation."""
        return self.generation(number) / "index.db"

    def vectors_map(self, number: int) -> Path:
        """Return the file that says which vectors the chunks of one generation have."""
        return self.generation(number) / "vectors.map"

    def fulltext(self, number: int, revision: int) -> Path:
        """Return the full-text folder of one revision of one generation."""
        return self.generation(number) / f"{_FULLTEXT}{revision}"

    def current(self) -> int | None:
        """Return the number of the generation that serves, or None where there never was one.

        Its files may be missing: then it was damaged and put aside, and only a rebuild helps. So it
        is where this very file is damaged: that reads as 0, which no generation is.
        """
        try:
            return int((self.path / _CURRENT).read_text(encoding="ascii"))
        except FileNotFoundError:
            return None
        except ValueError:
            return 0

    def publish(self, number: int) -> None:
        """Make a complete generation current, in one atomic and durable step.

        Its database must be closed: it was written without a sync.
        """
        sync_file(self.database(number))
        sync_folder(self.generation(number))
        replace_file(self.path / _CURRENT, b"%d\n" % number)

    def next_generation(self) -> int:
        """Return a number no generation has had, damaged and abandoned ones included."""
        return max((number for number, _ in self._numbered()), default=0) + 1

    def put_aside(self, number: int) -> None:
        """Rename a damaged generation, so that it is never trusted and can still be looked at.

        Nothing happens where there is no such generation (any more). Only the holder of the
        writer's lock may call this: a run has its files open by name.
        """
        if self.generation(number).exists():
            aside = self.path / f"{_DAMAGED}{number}"
            shutil.rmtree(aside, ignore_errors=True)
            self.generation(number).rename(aside)

    def sweep(self, *, keep: int | None) -> None:
        """Remove abandoned generations, unfinished files, and all but the newest damaged one.

        Nothing is removed where there is no generation `keep` and never was one: then the file
        that names it is damaged, and any of them may be the one that it named.

        Only the holder of the writer's lock may call this. On Windows a file that a reader still
        has open stays for the next sweep.
        """
        numbered = self._numbered()
        if keep is not None and all(number != keep for number, _ in numbered):
            return
        aside = [number for number, path in numbered if path.name.startswith(_DAMAGED)]
        newest_aside = max(aside, default=None)
        for number, path in numbered:
            expected = newest_aside if path.name.startswith(_DAMAGED) else keep
            if number != expected:
                shutil.rmtree(path, ignore_errors=True)
        remove_unfinished(self.path)
        if keep is not None:
            remove_unfinished(self.generation(keep))

    def sweep_fulltext(self, number: int, *, keep: int) -> None:
        """Remove the full-text revisions of a generation that are not in use."""
        kept = (self.fulltext(number, keep), self.merged(number, keep))
        for path in self.generation(number).glob(f"{_FULLTEXT}*"):
            if path not in kept:
                shutil.rmtree(path, ignore_errors=True)

    def merged(self, number: int, revision: int) -> Path:
        """Return the folder of a full-text revision with its segments merged, for the next run."""
        return self.generation(number) / f"{_FULLTEXT}{revision}.merged"

    def remove_fulltext(self, number: int, revision: int) -> None:
        """Remove all folders of one full-text revision of a generation, if there are any.

        Those beside its own may stay for now: the engine may still write there for a run that
        failed.
        """
        for path in self.generation(number).glob(f"{_FULLTEXT}*"):
            name, is_aside, _ = path.name.removeprefix(_FULLTEXT).partition(".")
            if name == str(revision):
                shutil.rmtree(path, ignore_errors=bool(is_aside))

    def remove_older_fulltext(self, number: int, revision: int) -> None:
        """Remove what no run builds on any more once there is a `revision`.

        The revision before it stays: a reader may be about to open it.
        """
        for path in self.generation(number).glob(f"{_FULLTEXT}*"):
            name, is_aside, _ = path.name.removeprefix(_FULLTEXT).partition(".")
            with suppress(ValueError):
                if int(name) < (revision if is_aside else revision - 1):
                    shutil.rmtree(path, ignore_errors=True)

    def _numbered(self) -> list[tuple[int, Path]]:
        found = []
        for prefix in (_GENERATION, _DAMAGED):
            for path in self.path.glob(f"{prefix}*"):
                with suppress(ValueError):
                    found.append((int(path.name.removeprefix(prefix)), path))
        return found
