"""The links of a vault that lead nowhere."""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio

from vault_agent.markdown.broken import Anchors, Fault, faults, names_folder
from vault_agent.model.graph import Finding, Listed, Page, Wanted
from vault_agent.model.identifiers import CHUNK_BITS
from vault_agent.model.link_resolver import Resolution
from vault_agent.model.notes import LinkKind
from vault_agent.search.links import candidates_of, check_revision
from vault_agent.store.index import links as links_reading
from vault_agent.store.index import notes as reading
from vault_agent.text.names import fold

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from vault_agent.search.graph import Graph
    from vault_agent.store.current import Snapshot
    from vault_agent.store.database import Connection
    from vault_agent.store.index.links import LinkRow

_FAULTS = tuple(Fault)
_NOTES_AT_ONCE = 500  # whose anchors are read together


@dataclass(frozen=True, slots=True)
class _Known:
    """The broken links of one revision by path and line: keys, and places in `_FAULTS`."""

    revision: str
    keys: array[int]
    faults: bytearray


class BrokenLinks:
    """Keeps which links are broken in one revision, found at the first use."""

    def __init__(self) -> None:
        self._known: _Known | None = None
        self._finding = anyio.Lock()

    def forget(self, revision: str | None) -> None:
        """Drop the result if it is of another revision."""
        if self._known is not None and self._known.revision != revision:
            self._known = None

    async def listed(
        self, snapshot: Snapshot, graph: Graph, page: Page, wanted: Collection[str]
    ) -> Listed[Finding]:
        """Return the broken links with one of the `wanted` faults, by path and line.

        Raises:
            InvalidRequest: `CURSOR_EXPIRED`.
        """
        check_revision(snapshot, page)
        known = await self._of(snapshot, graph)
        found = _chosen(known, wanted)
        shown = page.of(found)

        def read(connection: Connection) -> tuple[Finding, ...]:
            written = links_reading.with_keys(connection, {key for key, _ in shown})
            rows = {row.key: row for row in written}
            ambiguous = [rows[key] for key, fault in shown if fault is Fault.AMBIGUOUS]
            candidates = candidates_of(connection, ambiguous)
            return tuple(
                _finding(rows[key], fault, candidates.get(key, ())) for key, fault in shown
            )

        entries = await snapshot.read_unchanged(read)
        return page.listed(snapshot.revision, entries, len(found))

    async def by_target(
        self, snapshot: Snapshot, graph: Graph, page: Page, wanted: Collection[str]
    ) -> Listed[Wanted]:
        """Return the targets of broken links, those with the most links first.

        Raises:
            InvalidRequest: `CURSOR_EXPIRED`.
        """
        check_revision(snapshot, page)
        known = await self._of(snapshot, graph)
        found = _chosen(known, wanted)
        groups = await snapshot.read_unchanged(_grouped, found)
        return page.listed(snapshot.revision, page.of(groups), len(groups))

    async def _of(self, snapshot: Snapshot, graph: Graph) -> _Known:
        async with self._finding:
            if self._known is None or self._known.revision != snapshot.revision:
                self._known = None
                found = await snapshot.read_unchanged(_find, graph)
                self._known = found
                return found
            return self._known


def _chosen(known: _Known, wanted: Collection[str]) -> list[tuple[int, Fault]]:
    return [
        (key, _FAULTS[fault])
        for key, fault in zip(known.keys, known.faults, strict=True)
        if _FAULTS[fault] in wanted
    ]


def _find(connection: Connection, graph: Graph) -> _Known:
    doubtful = links_reading.doubtful(connection)
    folders: set[str] = set()
    if any(link.dest is None and link.kind == LinkKind.MARKDOWN for link in doubtful):
        folders = _folders(reading.all_paths(connection))
    found: list[tuple[int, Fault]] = []
    waiting: list[LinkRow] = []
    for link in doubtful:
        if link.fragment and link.rowid is not None:
            waiting.append(link)
            if len(waiting) == _NOTES_AT_ONCE:
                found += _with_fragment(connection, waiting)
                waiting = []
        else:
            found += [(link.key, fault) for fault in _faults(link, folders, None)]
    found += _with_fragment(connection, waiting)
    positions = graph.positions
    found.sort(key=lambda each: (positions[each[0] >> CHUNK_BITS], each[0]))
    return _Known(
        graph.revision,
        array("q", (key for key, _ in found)),
        bytearray(_FAULTS.index(fault) for _, fault in found),
    )


def _with_fragment(connection: Connection, links: Sequence[LinkRow]) -> list[tuple[int, Fault]]:
    """Return the faults of links to a part of a note."""
    rowids = sorted({link.rowid for link in links if link.rowid is not None})
    read = links_reading.anchors(connection, rowids) or {}
    anchors = {rowid: Anchors(each) for rowid, each in read.items()}
    return [
        (link.key, fault)
        for link in links
        for fault in _faults(link, (), anchors.get(link.rowid or 0))
    ]


def _faults(link: LinkRow, folders: Collection[str], anchors: Anchors | None) -> list[Fault]:
    if link.dest is None and names_folder(link.source, link.kind, link.target, folders):
        return []
    path = None if link.dest is None else ""  # any path: only whether there is one counts
    found = Resolution(path, link.rowid is not None, bool(link.ambiguous))
    return faults(link.kind, link.target, link.fragment, found, anchors)


def _folders(paths: Iterable[str]) -> set[str]:
    """Return the folders of some files and all folders above, folded."""
    found: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return set(map(fold, found))


def _finding(row: LinkRow, fault: Fault, candidates: tuple[str, ...]) -> Finding:
    return Finding(
        row.source,
        row.line,
        row.column,
        fault,
        row.kind,
        row.target,
        row.fragment,
        candidates if fault is Fault.AMBIGUOUS else (),
    )


def _grouped(connection: Connection, found: Sequence[tuple[int, Fault]]) -> list[Wanted]:
    """Group broken links by target. Its most frequent spelling is shown."""
    rows = {row.key: row for row in links_reading.with_keys(connection, {key for key, _ in found})}
    spellings: dict[tuple[str, Fault], Counter[str]] = {}
    sources: dict[tuple[str, Fault], set[int]] = {}
    for key, fault in found:
        row = rows[key]
        with_part = fault in (Fault.HEADING, Fault.BLOCK)
        # A part of a note is wanted in that note, however the link names it.
        target = f"{row.path}#{row.fragment}" if with_part else row.target
        group = fold(target), fault
        spellings.setdefault(group, Counter())[target] += 1
        sources.setdefault(group, set()).add(key >> CHUNK_BITS)
    wanted = [
        Wanted(
            min(counts, key=lambda each: (-counts[each], each)),
            fault,
            counts.total(),
            len(sources[name, fault]),
        )
        for (name, fault), counts in spellings.items()
    ]
    return sorted(wanted, key=lambda each: (-each.count, each.target, each.fault))
