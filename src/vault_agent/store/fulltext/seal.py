"""Seals: the sizes and CRCs of a full-text revision's files, to detect damage.

The full-text engine maps its files and does not check them. `store.index.check` does the same for
the database.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import orjson

from vault_agent.store.failures import damaged
from vault_agent.store.fulltext.writer import CHANGED_IN_PLACE
from vault_agent.system.files import sync_file, sync_folder

if TYPE_CHECKING:
    from pathlib import Path

_SEAL = "seal.json"
_BLOCK = 1 << 20


def seal(folder: Path, base: Path | None) -> None:
    """Write the seal of a full-text revision. Files shared with `base` are not read again.

    The engine syncs the segments it writes, but not the files it changes in place, nor its folders.
    They and the seal are synced here.

    Raises:
        IndexUnavailable: `INDEX_INCOMPATIBLE` if `base` has no valid seal.
    """
    try:
        known = _read(base) if base is not None else {}
    except (FileNotFoundError, ValueError):
        raise damaged() from None
    sums = {
        name: known[name] if name in known and path.name not in CHANGED_IN_PLACE else _sum(path)
        for name, path in _files(folder)
    }
    (folder / _SEAL).write_bytes(orjson.dumps(sums))
    shelves = [path for path in folder.iterdir() if path.is_dir()]
    for path in (*(shelf / name for shelf in shelves for name in CHANGED_IN_PLACE), folder / _SEAL):
        sync_file(path)
    for path in (*shelves, folder, folder.parent):
        sync_folder(path)


def check_seal(folder: Path) -> None:
    """Compare a revision's files with its seal.

    Raises:
        IndexUnavailable: `INDEX_INCOMPATIBLE` if they differ.
    """
    try:
        intact = _read(folder) == {name: _sum(path) for name, path in _files(folder)}
    except (OSError, ValueError):
        intact = False
    if not intact:
        raise damaged()


def _read(folder: Path) -> dict[str, list[int]]:
    sums: dict[str, list[int]] = orjson.loads((folder / _SEAL).read_bytes())
    return sums


def _files(folder: Path) -> list[tuple[str, Path]]:
    return [
        (path.relative_to(folder).as_posix(), path)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != _SEAL and not path.name.endswith(".lock")
    ]


def _sum(path: Path) -> list[int]:
    size = crc = 0
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            size += len(block)
            crc = zlib.crc32(block, crc)
    return [size, crc]
