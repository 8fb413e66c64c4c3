"""Finds the communities of an index's notes. The keeper does, because it takes seconds of CPU."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import orjson

from vault_agent.errors import IndexUnavailable
from vault_agent.indexing.communities import Named, communities, labels
from vault_agent.indexing.protocol import Clustered
from vault_agent.model.adjacency import Adjacency
from vault_agent.store.database import open_reader
from vault_agent.store.index import links
from vault_agent.store.index import notes as reading
from vault_agent.store.index.meta import check_compatible, read_meta
from vault_agent.store.layout import IndexDirectory

if TYPE_CHECKING:
    from vault_agent.indexing.task import IndexTask
    from vault_agent.store.index.meta import Meta


class StoredGraph(NamedTuple):
    """The notes by path and the links of one revision."""

    meta: Meta
    order: list[tuple[int, str]]
    links: tuple[list[int], list[int]]  # the rowids at both ends
    notes: dict[int, reading.NoteColumns]  # by rowid


def cluster(task: IndexTask) -> Clustered:
    """Return the communities of the current revision.

    Raises:
        IndexUnavailable: `INDEX_NOT_FOUND`, `INDEX_INCOMPATIBLE`.
    """
    graph = read_graph(task)
    adjacency = Adjacency.of([rowid for rowid, _ in graph.order], *graph.links)
    found = communities(adjacency)
    notes = [
        _named(graph.notes[rowid], adjacency.degree(position))
        for position, (rowid, _) in enumerate(graph.order)
    ]
    return Clustered(
        graph.meta.generation,
        graph.meta.revision,
        tuple(found.members),
        found.modularity,
        tuple(labels(found.members, notes)),
    )


def read_graph(task: IndexTask) -> StoredGraph:
    """Read the graph of the current revision.

    Raises:
        IndexUnavailable: `INDEX_NOT_FOUND`, `INDEX_INCOMPATIBLE`.
    """
    directory = IndexDirectory(Path(task.directory))
    number = directory.current()
    if number is None:
        raise IndexUnavailable("INDEX_NOT_FOUND", "There is no index yet.")
    with open_reader(directory.database(number)) as connection:
        # A transaction reads one state, even if a run commits another meanwhile.
        connection.execute("BEGIN")
        meta = read_meta(connection)
        check_compatible(meta, vault=task.vault, fingerprint=task.fingerprint)
        order = reading.order(connection)
        edges = links.edges(connection)
        notes = {row.rowid: row for row in reading.columns(connection)}
    return StoredGraph(meta, order, edges, notes)


def _named(note: reading.NoteColumns, degree: int) -> Named:
    tags = (orjson.loads(note.metadata).get("tags") or ()) if note.metadata else ()
    return Named(note.path, note.title, tags, degree)
