"""The positions of the notes in the drawing of the graph, as the web page reads them."""

from __future__ import annotations

import hashlib
import struct
from typing import TYPE_CHECKING, Any, NamedTuple

from vault_agent.errors import Busy
from vault_agent.system.cancelling import in_thread

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from vault_agent.indexing.protocol import Answer
    from vault_agent.library.background import Background

MAGIC = b"VAL1"
RETRY_SECONDS = 2


class Layout(NamedTuple):
    """The positions of one revision, in the order of `GET /graph`, and their binary form."""

    revision: str
    body: bytes


class GraphLayout:
    """Keeps the positions of one revision, and asks the keeper for those of another.

    Args:
        file: the file that the keeper writes.
        compute: asks the keeper to compute them.
        revision: returns the revision that is served.
        background: runs the computation.
    """

    def __init__(
        self,
        file: Path,
        compute: Callable[[], Awaitable[Answer | None]],
        revision: Callable[[], Awaitable[str]],
        background: Background,
    ) -> None:
        self._file = file
        self._compute = compute
        self._revision = revision
        self._background = background
        self._kept: Layout | None = None
        self._computing = False
        self._wanted = False  # whether anybody has asked since the start

    async def get(self) -> Layout:
        """Return the positions of the current revision.

        Raises:
            Busy: `LAYOUT_PENDING` with `details.retryAfter` while they are computed.
            IndexUnavailable: if there is no index.
        """
        self._wanted = True
        revision = await self._revision()
        if self._kept is None or self._kept.revision != revision:
            self._kept = await in_thread(_read, self._file)
        if self._kept is not None and self._kept.revision == revision:
            return self._kept
        self._start()
        raise Busy(
            "LAYOUT_PENDING",
            "The positions of this revision are being computed.",
            {"retryAfter": RETRY_SECONDS},
        )

    def renew(self) -> None:
        """Compute the positions of a new revision, if anybody has looked at some before."""
        if self._wanted:
            self._start()

    def _start(self) -> None:
        if not self._computing:
            self._computing = True
            self._background.spawn(self._run)

    async def _run(self) -> None:
        try:
            await self._compute()
        finally:
            self._computing = False


def packed(revision: str, places: Any) -> bytes:
    """Return positions in binary: magic, nodes, hash of the revision, all x, all y.

    `places` is an array of shape (nodes, 2).
    """
    digest = hashlib.sha256(revision.encode()).digest()[:8]
    columns = places.astype("<f4").T
    return struct.pack("<4sI8s", MAGIC, len(places), digest) + bytes(columns.tobytes())


def _read(file: Path) -> Layout | None:
    from vault_agent.store.positions import read_positions  # imports numpy

    found = read_positions(file)
    return None if found is None else Layout(found.revision, packed(found.revision, found.places))
