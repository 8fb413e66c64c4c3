"""The links and the graph of one open vault, and the positions of its notes in the drawing."""

from __future__ import annotations

import asyncio
import hashlib
import struct
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import anyio

from vault_agent.errors import Busy
from vault_agent.indexing.protocol import Cluster, LayOut
from vault_agent.model.graph import Clusters
from vault_agent.search import graph, links
from vault_agent.store.current import SnapshotOutdated
from vault_agent.system.cancelling import in_thread

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection
    from pathlib import Path

    from vault_agent.model.graph import (
        Community,
        Finding,
        GraphNote,
        GraphQuery,
        Listed,
        LocalGraph,
        Page,
        Wanted,
    )
    from vault_agent.model.warning import Warning
    from vault_agent.search.graph import Graph
    from vault_agent.store.current import Snapshot
    from vault_agent.vaults.runs import VaultCore
    from vault_agent.vaults.shared import Read

Entry = TypeVar("Entry")
Reply = TypeVar("Reply")


class Links:
    """Reads the links of one vault. Keeps the graph and its communities until the next revision.

    Args:
        core: what the parts of this vault share.
        read: answers from the current snapshot, and again if a run replaces it meanwhile.
        warnings: returns the warnings of every reply from the index.
    """

    def __init__(
        self, core: VaultCore, read: Read, warnings: Callable[[], tuple[Warning, ...]]
    ) -> None:
        self._core = core
        self._read = read
        self.warnings = warnings
        self._graphs = graph.Graphs()
        self._clusters: Clusters | None = None
        self._clustering = anyio.Lock()

    def forget(self, revision: str | None) -> None:
        """Drop everything that is kept of other revisions."""
        self._graphs.forget(revision)
        if self._clusters is not None and self._clusters.revision != revision:
            self._clusters = None

    async def revision(self) -> str:
        """Return the revision that is served."""

        async def answer(now: Snapshot) -> str:
            return now.revision

        return await self._read(answer)

    async def local(self, note_id: str, *, depth: int, limit: int) -> LocalGraph:
        """Return the notes near a note."""
        nearby = await self._of_graph(
            lambda now, whole: graph.local(now, whole, note_id, depth=depth, limit=limit)
        )
        return replace(nearby, warnings=self.warnings())

    async def path(
        self, start: str, end: str, *, directed: bool, longest: int
    ) -> tuple[GraphNote, ...]:
        """Return the notes on a shortest path between two notes."""
        return await self._of_graph(
            lambda now, whole: graph.path(
                now, whole, start, end, directed=directed, longest=longest
            )
        )

    async def communities(self, page: Page) -> tuple[Listed[Community], Clusters, list[int]]:
        """Return a page of the communities, all of them, and the community of every note.

        The notes are those of `columns` without filters, in the same order.
        """
        clusters = Clusters("", (), 0.0, ())
        members: list[int] = []

        async def answer(now: Snapshot, whole: Graph) -> Listed[Community]:
            nonlocal clusters, members
            clusters = await self._clusters_of(whole)
            members = [clusters.members[at] for at in graph.best_connected(whole)]
            return await graph.communities(now, whole, clusters, page)

        return await self.listed_of_graph(answer), clusters, members

    async def columns(self, query: GraphQuery, *, member: bool) -> dict[str, Any]:
        """Return the whole graph as plain data for JSON."""

        async def answer(now: Snapshot, whole: Graph) -> dict[str, Any]:
            clusters = await self._clusters_of(whole) if member else None
            read = await graph.read_rows(now, query)
            if query.as_objects:
                return await in_thread(graph.to_objects, whole, read, query)
            return await in_thread(graph.to_columns, whole, read, query, clusters)

        return await self._of_graph(answer)

    async def broken(self, page: Page, faults: Collection[str]) -> Listed[Finding]:
        """Return the links that lead nowhere."""
        return await self.listed_of_graph(
            lambda now, whole: links.broken_links(now, whole, page, faults)
        )

    async def wanted(self, page: Page, faults: Collection[str]) -> Listed[Wanted]:
        """Return the targets of links that lead nowhere."""
        return await self.listed_of_graph(
            lambda now, whole: links.broken_targets(now, whole, page, faults)
        )

    async def listed_of_graph(
        self, answer: Callable[[Snapshot, Graph], Awaitable[Listed[Entry]]]
    ) -> Listed[Entry]:
        """Return what a function of the snapshot and its graph lists, and the warnings."""
        page = await self._of_graph(answer)
        return replace(page, warnings=(*self.warnings(), *page.warnings))

    async def _of_graph(self, answer: Callable[[Snapshot, Graph], Awaitable[Reply]]) -> Reply:
        async def of(now: Snapshot) -> Reply:
            return await answer(now, await self._graphs.of(now))

        return await self._read(of)

    async def _clusters_of(self, whole: Graph) -> Clusters:
        """Return the communities of a graph. The keeper finds them, at the first use."""
        async with self._clustering:
            if self._clusters is None or self._clusters.revision != whole.revision:
                self._clusters = None
                answer: Clusters = await self._core.indexer.ask(Cluster(self._core.spec))
                if answer.revision != whole.revision:
                    raise SnapshotOutdated
                self._clusters = answer
            return self._clusters


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
        core: what the parts of this vault share.
        revision: returns the revision that is served.
        ahead: whether the first positions are computed before anybody asks for them.
    """

    def __init__(
        self, core: VaultCore, revision: Callable[[], Awaitable[str]], *, ahead: bool
    ) -> None:
        self._core = core
        self._file = core.directory.positions  # the keeper writes it
        self._revision = revision
        self._kept: Layout | None = None
        self._computing: asyncio.Event | None = None  # set when it has ended
        self._wanted = False  # whether anybody has asked since the start
        self._ahead = ahead and not self._file.exists()

    async def get(self) -> Layout:
        """Return the positions of the current revision, and compute them if they are missing.

        Raises:
            Busy: `LAYOUT_PENDING` with `details.retryAfter` if it takes over `WAIT_SECONDS`.
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
        """Compute the positions of a new revision, if anybody has asked, or none were computed."""
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
            self._core.background.spawn(self._run)
        return self._computing

    async def _run(self) -> None:
        try:
            await self._core.indexer.ask(LayOut(self._core.spec))
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
    from vault_agent.indexing.graph_layout import read_positions  # imports numpy

    positions = read_positions(file)
    return (
        None
        if positions is None
        else Layout(positions.revision, packed(positions.revision, positions.places))
    )
