"""The index of a vault that was moved becomes the index of its new folder.

A vault's index is found by the path of its folder. So a moved vault would be indexed anew, and
what cannot be made again, such as the log of writes, would be lost to it.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Final

from vault_agent.errors import Busy, Failed
from vault_agent.store.layout import LOCKS, IndexDirectory
from vault_agent.system.address import noted_vault

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

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
        known = noted_vault(folder)
        if folder == directory.path or known is None or os.path.lexists(known):
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
        with closing(_connect(directory.database(number))) as connection:
            # A handle is a hash, so the first ones are a sample of all.
            rows = connection.execute(
                "SELECT path, size FROM note ORDER BY handle LIMIT ?", (_SAMPLE,)
            ).fetchall()
    except sqlite3.Error:
        return False
    same = sum(size_of(path) == size for path, size in rows)
    return bool(rows) and same >= _LEAST_IN_COMMON * len(rows)


def _move(other: IndexDirectory, directory: IndexDirectory, vault: str) -> None:
    with other.serving(), other.writing(wait=False), other.embedding(wait=False):
        directory.create()
        number = other.current()
        if number is not None and not _give_to(other.database(number), vault):
            other.forget_current()
        # `current` goes last: before, the index is not used.
        names = sorted(os.listdir(other.path), key=lambda name: name == "current")  # noqa: PTH208
        for name in names:
            if name not in LOCKS and not (directory.path / name).exists():
                (other.path / name).rename(directory.path / name)
    shutil.rmtree(other.path, ignore_errors=True)


def _give_to(database: Path, vault: str) -> bool:
    """Write another vault's identity into a generation. Return False if it is damaged."""
    try:
        with closing(_connect(database)) as connection, connection:
            connection.execute("UPDATE meta SET value = ? WHERE key = 'vault'", (vault,))
    except sqlite3.Error:
        return False
    return True


def _connect(database: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{database.absolute().as_uri()}?mode=rw", uri=True)
