"""A trial of what writing needs, with files of its own that are removed again."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vault_agent.errors import Unavailable
from vault_agent.vault.mounts import file_system, is_durable
from vault_agent.vault.renames import exchange
from vault_agent.vault.write import Way, move_new, remove_temporary, temporary_name

if TYPE_CHECKING:
    from vault_agent.vault.folder import Folder


@dataclass(frozen=True, slots=True)
class Probe:
    """What the file system of a folder can do."""

    way: Way
    durable: bool  # what was synced survives a power cut


def probe(folder: Folder) -> Probe:
    """Try in a folder what writing needs.

    Raises:
        Unavailable: `WRITE_UNSUPPORTED_HERE` if files cannot be created safely.
    """
    first, second = temporary_name(), temporary_name()
    try:
        folder.make(first, b"1")
        _expect(not _replaces(folder, first), "a new file can replace another one")
        move_new(folder, first, folder, second)
        _expect(folder.read(second).data == b"1", "a renamed file has other bytes")
        folder.make(first, b"2")
        way = _way(folder, first, second)
        folder.sync()
        return Probe(way, is_durable(file_system(folder.call_path("."), folder.fd)))
    except OSError as error:
        raise _unsupported(error.strerror or "it failed") from None
    finally:
        for name in (first, second):
            with suppress(OSError):
                remove_temporary(folder, name)


def _replaces(folder: Folder, name: str) -> bool:
    try:
        folder.make(name, b"")
    except FileExistsError:
        return False
    return True


def _way(folder: Folder, first: str, second: str) -> Way:
    try:
        exchange(folder.fd, folder.call_path(first), folder.call_path(second))
    except OSError:
        return Way.RENAME
    swapped = (folder.read(first).data, folder.read(second).data) == (b"1", b"2")
    _expect(swapped, "an exchange of two files does not work")
    return Way.EXCHANGE


def _expect(holds: bool, what: str) -> None:
    if not holds:
        raise _unsupported(what)


def _unsupported(what: str) -> Unavailable:
    return Unavailable(
        "WRITE_UNSUPPORTED_HERE",
        f"The vault's file system does not allow safe writes: {what.lower()}. With rclone, mount"
        " with --vfs-cache-mode writes. Reading works.",
    )
