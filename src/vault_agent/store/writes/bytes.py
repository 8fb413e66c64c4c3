"""Files' bytes by their hash, for undo and recovery: `writes/before/{sha256}`."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from vault_agent.model.identifiers import content_hash
from vault_agent.system.files import (
    make_private_folder,
    remove_unfinished,
    replace_file,
    sync_file,
    sync_folder,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path


class KeptBytes:
    """A folder of private files, each named by the SHA-256 of its bytes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def create(self) -> None:
        """Make the folder, and remove what a killed process has left half written."""
        make_private_folder(self._folder)
        remove_unfinished(self._folder)

    def keep(self, data: bytes, *, durable: bool) -> bytes:
        """Keep bytes and return their hash. If `durable`, they are on the disk after this.

        Raises:
            OSError: if they cannot be written.
        """
        digest = content_hash(data)
        path = self._path(digest)
        if self.get(digest) is None:
            replace_file(path, data, durable=durable)
        elif durable:  # it may have been kept without a sync
            sync_file(path)
            sync_folder(self._folder)
        return digest

    def keep_all(self, texts: Sequence[bytes]) -> None:
        """Keep the bytes of several files, on the disk after this.

        All are written before the first one is synced, which is several times faster.

        Raises:
            OSError: if they cannot be written.
        """
        digests = {self.keep(data, durable=False) for data in texts}
        for digest in digests:
            sync_file(self._path(digest))
        if digests:
            sync_folder(self._folder)

    def get(self, digest: bytes) -> bytes | None:
        """Return the bytes with this hash, or None if they are not kept, or damaged."""
        try:
            data = self._path(digest).read_bytes()
        except FileNotFoundError:
            return None
        return data if content_hash(data) == digest else None

    def sizes(self) -> dict[bytes, int]:
        """Return the size of all that is kept, by hash."""
        found = {}
        with os.scandir(self._folder) as entries:
            for entry in entries:
                with suppress(ValueError, OSError):
                    found[bytes.fromhex(entry.name)] = entry.stat().st_size
        return found

    def remove_others(self, needed: Collection[bytes]) -> None:
        """Remove all but these."""
        for digest in self.sizes().keys() - set(needed):
            with suppress(OSError):
                self._path(digest).unlink()

    def _path(self, digest: bytes) -> Path:
        return self._folder / digest.hex()
