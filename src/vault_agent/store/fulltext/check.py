"""Compares a full-text revision with the checksums that the engine itself writes.

The engine maps its files, and compares none of them. Each file of a segment ends with a footer: the
CRC-32 of what is before it as JSON, the length of that JSON, and a number that marks footers.
"""

from __future__ import annotations

import os
import struct
import zlib
from typing import TYPE_CHECKING

import orjson

from vault_agent.store.failures import damaged
from vault_agent.store.fulltext.writer import CHANGED_IN_PLACE

if TYPE_CHECKING:
    from pathlib import Path

_END = struct.Struct("<II")
_MARK = 1337
_BLOCK = 1 << 20


def check_files(folder: Path) -> None:
    """Read every file of the segments of a revision.

    Raises:
        IndexUnavailable: `INDEX_INCOMPATIBLE` if a file is damaged.
    """
    for path in folder.glob("*/*"):
        if path.name not in CHANGED_IN_PLACE and path.suffix != ".lock" and not _is_whole(path):
            raise damaged()


def _is_whole(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            at_end = file.seek(-_END.size, os.SEEK_END)
            length, mark = _END.unpack(file.read())
            left = file.seek(at_end - length)
            footer = orjson.loads(file.read(length))
            file.seek(0)
            crc = 0
            while block := file.read(min(left, _BLOCK)):
                crc = zlib.crc32(block, crc)
                left -= len(block)
    except (OSError, ValueError):
        return False
    return mark == _MARK and isinstance(footer, dict) and footer.get("crc") == crc
