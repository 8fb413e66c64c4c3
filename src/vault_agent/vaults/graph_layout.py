"""The positions of the notes in the drawing of the graph, as the web page reads them."""

from __future__ import annotations

import asyncio
import hashlib
import struct
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio

from vault_agent.errors import Busy
from vault_agent.system.cancelling import in_thread

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from vault_agent.indexing.protocol import Answer
    from vault_agent.vaults.background import Background

MAGIC = b"VAL1"
RETRY_SECONDS = 2
WAIT_SECONDS = 15.0
"""How long a request waits for positions: a page shows the final picture first."""


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
        ahead: whether the first positions are computed before anybody asks for them.
    """

    def __init__(
        self,
        file: Path,
        compute: Callable[[], Awaitable[Answer | None]],
        revision: Callable[[], Awaitable[str]],
        background: Background,
        *,
        ahead: bool,
    ) -> None:
        self._file = file
        self._compute = compute
        self._revision = revision
        self._background = background
        self._kept: Layout | None = None
        self._computing: asyncio.Event | None = None  # set when it has ended
        self._wanted = False  # whether anybody has asked since the start
        self._ahead = ahead and not file.exists()

    async def get(self) -> Layout:
        """Return the positions of the current revision. Wait a while if they are being computed.

        Raises:
            Busy: `LAYOUT_PENDING` with `details.retryAfter` if that takes longer.
            IndexUnavailable: if there is no index.
        """
        self._wanted = True
        if (layout := await self._current()) is not None:
            return layout
        with anyio.move_on_after(WAIT_SECONDS):
            await self._start().wait()
            if (layout := await self._current()) is not None:
                return layout
        raise Busy(
            "LAYOUT_PENDING",
            "The positions of this revision are being computed.",
            {"retryAfter": RETRY_SECONDS},
        )

    def renew(self) -> None:
        """Compute the positions of a new revision: of the first one, or if anybody has asked."""
        if self._wanted or self._ahead:
            self._start()

    async def _current(self) -> Layout | None:
        revision = await self._revision()
        if self._kept is None or self._kept.revision != revision:
            self._kept = await in_thread(_read, self._file)
        return self._kept if self._kept is not None and self._kept.revision == revision else None

    def _start(self) -> asyncio.Event:
        if self._computing is None:
            self._computing = asyncio.Event()
            self._background.spawn(self._run)
        return self._computing

    async def _run(self) -> None:
        try:
            await self._compute()
            self._ahead = False
        finally:
            if self._computing is not None:
                self._computing.set()
            self._computing = None


def packed(revision: str, places: Any) -> bytes:
    """Return positions in binary: magic, nodes, hash of the revision, all x, all y.

    `places` is an array of shape (nodes, 2).
    """
    digest = hashlib.sha256(revision.encode()).digest()[:8]
    columns = places.astype("<f4").T
    return struct.pack("<4sI8s", MAGIC, len(places), digest) + bytes(columns.tobytes())


def _read(file: Path) -> Layout | None:
    from vault_agent.indexing.lay_out import read_positions  # imports numpy

    positions = read_positions(file)
    return (
        None
        if positions is None
        else Layout(positions.revision, packed(positions.revision, positions.places))
    )
