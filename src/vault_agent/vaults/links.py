"""The links and the graph of one open vault."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import anyio

from vault_agent.errors import Failed
from vault_agent.indexing.protocol import Clustered, RequestFailed
from vault_agent.search import graph, links
from vault_agent.store.current import SnapshotOutdated
from vault_agent.system.cancelling import in_thread

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection

    from vault_agent.indexing.protocol import Answer
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
    from vault_agent.search.graph import Clusters, Graph
    from vault_agent.store.current import Snapshot
    from vault_agent.vaults.shared import Read

Entry = TypeVar("Entry")


class Links:
    """Reads the links of one vault. What it builds is kept until the next revision.

    Args:
        read: answers from the current snapshot, and again if a run replaces it meanwhile.
        cluster: asks the keeper for the communities of the notes.
        warnings: returns the warnings of every reply from the index.
    """

    def __init__(
        self,
        read: Read,
        cluster: Callable[[], Awaitable[Answer | None]],
        warnings: Callable[[], tuple[Warning, ...]],
    ) -> None:
        self._read = read
        self._cluster = cluster
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
        """Return the current revision."""

        async def answer(now: Snapshot) -> str:
            return now.revision

        revision: str = await self._read(answer)
        return revision

    async def local(self, note_id: str, *, depth: int, limit: int) -> LocalGraph:
        """Return the notes near a note."""
        nearby: LocalGraph = await self._of_graph(
            lambda now, whole: graph.local(now, whole, note_id, depth=depth, limit=limit)
        )
        return replace(nearby, warnings=self.warnings())

    async def path(
        self, start: str, end: str, *, directed: bool, longest: int
    ) -> tuple[GraphNote, ...]:
        """Return the notes on a shortest path between two notes."""
        notes: tuple[GraphNote, ...] = await self._of_graph(
            lambda now, whole: graph.path(
                now, whole, start, end, directed=directed, longest=longest
            )
        )
        return notes

    async def communities(self, page: Page) -> tuple[Listed[Community], Clusters, list[int]]:
        """Return a page of the communities, all of them, and the community of every note.

        The notes are those of `columns` without filters, in the same order.
        """
        clusters = graph.Clusters("", (), 0.0, ())
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

        rows: dict[str, Any] = await self._of_graph(answer)
        return rows

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
        page: Listed[Entry] = await self._of_graph(answer)
        return replace(page, warnings=(*self.warnings(), *page.warnings))

    async def _of_graph(self, answer: Callable[[Snapshot, Graph], Awaitable[Any]]) -> Any:
        async def of(now: Snapshot) -> Any:
            return await answer(now, await self._graphs.of(now))

        return await self._read(of)

    async def _clusters_of(self, whole: Graph) -> Clusters:
        """Return the communities of a graph. The keeper finds them, at the first use."""
        async with self._clustering:
            if self._clusters is None or self._clusters.revision != whole.revision:
                self._clusters = None
                answer = await self._cluster()
                if isinstance(answer, RequestFailed):
                    raise answer.error
                if not isinstance(answer, Clustered):
                    raise Failed("INDEXER_FAILED", "The communities could not be found.")
                revision = f"{answer.generation}.{answer.revision}"
                if revision != whole.revision:
                    raise SnapshotOutdated
                clusters = graph.Clusters(
                    revision, answer.members, answer.modularity, answer.labels
                )
                self._clusters = clusters
                return clusters
            return self._clusters
