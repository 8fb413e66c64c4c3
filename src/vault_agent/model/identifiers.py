"""Identifiers of notes, chunks and vaults. Standard library only: the hook of agents imports it."""

from __future__ import annotations

import hashlib
from typing import Final

GLOBAL: Final = "global"
"""The address of the global vault."""
IN_GLOBAL: Final = "global:"
"""What the paths of its notes begin with, in replies, links and `promoted_to`."""
PROJECT: Final = "project:"
"""What the addresses of projects' vaults begin with."""
CHUNK_BITS = 20
"""A chunk's key is its note's rowid, shifted left by this many bits, plus the chunk's index.

Links and all other rows of a note have such keys too: a note has fewer than 2^20 of each.
"""


def identify(text: str) -> str:
    """Return the opaque identifier of a vault-relative path or a vault root: 32 hex digits.

    It is the first 16 bytes of a SHA-256. A name that is not UTF-8 keeps its bytes
    (surrogateescape), so that two different files never share an identifier.
    """
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def content_hash(data: bytes) -> bytes:
    """Return the SHA-256 of a note's bytes, its content hash in the index and in replies."""
    return hashlib.sha256(data).digest()
