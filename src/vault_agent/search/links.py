"""Links: the links in a note, the links to a note, and the broken links of a vault."""

from __future__ import annotations

from collections import Counter
from heapq import merge
from operator import attrgetter
from typing import TYPE_CHECKING

from vault_agent.markdown.broken import Anchors, Fault, faults, names_folder
from vault_agent.model.graph import (
    MAX_CANDIDATES,
    Backlink,
    Finding,
    Listed,
    NoteLink,
    Page,
    Place,
    Wanted,
)
from vault_agent.model.identifiers import CHUNK_BITS, identify
from vault_agent.model.link_resolver import Resolution
from vault_agent.model.notes import LinkKind
from vault_agent.search.lists import check_revision, most_frequent
from vault_agent.search.resolve import named_handle, named_note
from vault_agent.search.snippet import snippet_around
from vault_agent.store.index import links as stored_links
from vault_agent.store.index import notes as stored_notes
from vault_agent.store.index.links import LinkRow, resolver_for
from vault_agent.text.names import fold
from vault_agent.vault.paths import folders_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from vault_agent.search.graph import Graph
    from vault_agent.store.current import Snapshot
    from vault_agent.store.database import Connection
    from vault_agent.store.index.links import WebLink
    from vault_agent.store.index.notes import StoredChunk

    _AnyLink = LinkRow | WebLink
    _About = tuple[Mapping[int, Anchors], dict[int, tuple[str, ...]]]

EXTERNAL = "external"
_NUMBER = (1 << CHUNK_BITS) - 1


async def links(
    snapshot: Snapshot,
    note_id: str,
    page: Page,
    *,
    status: str | None,
    kinds: tuple[str, ...] | None,
) -> Listed[NoteLink]:
    """Return the links of a note in the order in which they are written.

    Raises:
        InvalidRequest: `INVALID_ID`, `CURSOR_EXPIRED`.
        NotFound: `NOTE_NOT_FOUND`.
    """
    check_revision(snapshot, page)
    # The numbers of the next link into the vault and of the next link to the web. Both lists are in
    # order, and a page takes the first links of the merged list.
    inside, outside = page.start or (0, 0)
    own = None if kinds is None else tuple(kind for kind in kinds if kind != EXTERNAL)
    wants_inside = status != EXTERNAL and own != ()
    wants_outside = status in (None, EXTERNAL) and (kinds is None or EXTERNAL in kinds)
    some = page.limit + 1

    def read(connection: Connection) -> tuple[list[_AnyLink], _About]:
        note = named_note(connection, note_id)
        into: Sequence[_AnyLink] = ()
        out: Sequence[_AnyLink] = ()
        if wants_inside:
            into = stored_links.outgoing(
                connection, note.rowid, kinds=own, status=status, start=inside, limit=some
            )
        if wants_outside:
            out = stored_links.external(connection, note.rowid, start=outside, limit=some)
        ordered = list(merge(into, out, key=attrgetter("line", "column")))
        ours = [link for link in ordered[: page.limit] if isinstance(link, LinkRow)]
        anchors = anchors_of(connection, ours)
        candidates = candidates_of(connection, [link for link in ours if link.ambiguous])
        return ordered, (anchors, candidates)

    ordered, (anchors, candidates) = await snapshot.read_unchanged(read)
    links = ordered[: page.limit]
    entries, ends = [], []
    for link in links:
        if isinstance(link, LinkRow):
            inside = (link.key & _NUMBER) + 1
            entries.append(_inside(link, anchors, candidates.get(link.key, ())))
        else:
            outside = (link.key & _NUMBER) + 1
            entries.append(_outside(link))
        ends.append((inside, outside))
    return Listed(
        snapshot.revision,
        tuple(entries),
        tuple(ends),
        more=len(ordered) > page.limit,
    )


def anchors_of(connection: Connection, links: Iterable[LinkRow]) -> dict[int, Anchors]:
    """Return, by rowid, the anchors of notes to a part of which some of the links lead.

    Notes whose anchors are not in the index are left out.
    """
    rowids = sorted({link.rowid for link in links if link.fragment and link.rowid})
    rows = stored_links.anchors(connection, rowids) if rowids else {}
    return {rowid: Anchors(anchors) for rowid, anchors in (rows or {}).items()}


def candidates_of(connection: Connection, links: Sequence[LinkRow]) -> dict[int, tuple[str, ...]]:
    """Return the files that each ambiguous link can mean, the chosen one first, by its key."""
    if not links:
        return {}
    resolver = resolver_for(connection, (link.target for link in links))
    return {
        link.key: tuple(resolver.candidates(link.source, link.target, link.kind)[:MAX_CANDIDATES])
        for link in links
    }


def _inside(link: LinkRow, anchors: Mapping[int, Anchors], candidates: tuple[str, ...]) -> NoteLink:
    path = link.path
    fragment_found = None
    if link.fragment and link.rowid is not None and link.rowid in anchors:
        fragment_found = anchors[link.rowid].fault(link.kind, link.fragment) is None
    status = "unresolved" if path is None else "ambiguous" if link.ambiguous else "resolved"
    return NoteLink(
        link.kind,
        link.target,
        link.fragment,
        fragment_found,
        link.text,
        link.line,
        link.column,
        status,
        identify(link.note_path) if link.note_path else None,
        path,
        link.title,
        candidates,
    )


def _outside(link: WebLink) -> NoteLink:
    return NoteLink(EXTERNAL, link.url, None, None, link.text, link.line, link.column, EXTERNAL)


async def backlinks(
    snapshot: Snapshot,
    note_id: str,
    page: Page,
    *,
    contexts: int,
) -> Listed[Backlink]:
    """Return the notes that link to a note or an attachment, those with the most links first.

    Notes with equally many are ordered by path. Each has its first `contexts` links with a snippet.

    Raises:
        InvalidRequest: `INVALID_ID`, `CURSOR_EXPIRED`.
        NotFound: `NOTE_NOT_FOUND`.
    """
    check_revision(snapshot, page)

    def read(connection: Connection) -> tuple[tuple[Backlink, ...], int]:
        handle, own = named_handle(connection, note_id)
        others = [row for row in stored_links.linking(connection, handle) if row[0] != own]
        others.sort(key=lambda row: (-row[1], row[2]))
        entries = page.of(others)
        rowids = [rowid for rowid, _, _ in entries]
        found_notes = stored_notes.by_rowid(connection, rowids)
        at = stored_links.places(connection, handle, rowids, limit=contexts) if contexts else {}
        chunks = _chunks(connection, at)
        listed = tuple(
            Backlink(
                identify(path),
                path,
                found_notes[rowid].title,
                count,
                tuple(_place(place, chunks) for place in at.get(rowid, ())),
            )
            for rowid, count, path in entries
        )
        return listed, len(others)

    listed, total = await snapshot.read_unchanged(read)
    return page.listed(snapshot.revision, listed, total)


def _chunks(connection: Connection, at: Mapping[int, Sequence[LinkRow]]) -> dict[int, StoredChunk]:
    keys = {
        rowid << CHUNK_BITS | place.chunk
        for rowid, places in at.items()
        for place in places
        if place.chunk is not None
    }
    return stored_notes.chunks(connection, keys)


def _place(place: LinkRow, chunks: Mapping[int, StoredChunk]) -> Place:
    chunk = None
    if place.chunk is not None:
        chunk = chunks.get(place.key >> CHUNK_BITS << CHUNK_BITS | place.chunk)
    if chunk is None:
        return Place(place.line, None, None, "")
    heading = chunk.heading_path[-1] if chunk.heading_path else None
    excerpt = snippet_around(chunk.text, place.first or 0, place.past or 0)
    return Place(place.line, heading, place.chunk, excerpt.text, excerpt.matches)


# --- broken links ---------------------------------------------------------------------------------


async def broken_links(
    snapshot: Snapshot, graph: Graph, page: Page, wanted: Collection[str]
) -> Listed[Finding]:
    """Return the broken links with one of the `wanted` faults, by path and line.

    Raises:
        InvalidRequest: `CURSOR_EXPIRED`.
    """
    links = await _broken(snapshot, graph, page, wanted)
    entries = page.of(links)

    def read(connection: Connection) -> tuple[Finding, ...]:
        stored = stored_links.with_keys(connection, {key for key, _ in entries})
        rows = {row.key: row for row in stored}
        ambiguous = [rows[key] for key, fault in entries if fault is Fault.AMBIGUOUS]
        candidates = candidates_of(connection, ambiguous)
        return tuple(_finding(rows[key], fault, candidates.get(key, ())) for key, fault in entries)

    findings = await snapshot.read_unchanged(read)
    return page.listed(snapshot.revision, findings, len(links))


async def broken_targets(
    snapshot: Snapshot, graph: Graph, page: Page, wanted: Collection[str]
) -> Listed[Wanted]:
    """Return the targets of broken links, those with the most links first.

    Raises:
        InvalidRequest: `CURSOR_EXPIRED`.
    """
    links = await _broken(snapshot, graph, page, wanted)
    groups = await snapshot.read_unchanged(_grouped, links)
    return page.listed(snapshot.revision, page.of(groups), len(groups))


async def _broken(
    snapshot: Snapshot, graph: Graph, page: Page, wanted: Collection[str]
) -> list[tuple[int, Fault]]:
    """Return the broken links with one of the faults. The graph keeps all of them.

    Raises:
        InvalidRequest: `CURSOR_EXPIRED` if the page's cursor is of another revision.
    """
    check_revision(snapshot, page)
    if graph.broken is None:
        graph.broken = await snapshot.read_unchanged(_find_broken, graph.positions)
    return [(key, fault) for key, fault in graph.broken if fault in wanted]


def _find_broken(connection: Connection, positions: Mapping[int, int]) -> list[tuple[int, Fault]]:
    """Return the keys of broken links with their faults, by path and line."""
    doubtful = stored_links.doubtful(connection)
    folders: set[str] = set()
    if any(link.dest is None and link.kind == LinkKind.MARKDOWN for link in doubtful):
        paths = stored_notes.all_paths(connection)
        folders = {fold(folder) for path in paths for folder in folders_of(path)}
    anchors = anchors_of(connection, doubtful)
    links = [
        (link.key, fault)
        for link in doubtful
        for fault in _faults(link, folders, anchors.get(link.rowid or 0))
    ]
    links.sort(key=lambda link: (positions[link[0] >> CHUNK_BITS], link[0]))
    return links


def _faults(link: LinkRow, folders: Collection[str], anchors: Anchors | None) -> list[Fault]:
    if link.dest is None and names_folder(link.source, link.kind, link.target, folders):
        return []
    path = None if link.dest is None else ""  # any path: only None is another case
    resolution = Resolution(path, link.rowid is not None, bool(link.ambiguous))
    return faults(link.kind, link.target, link.fragment, resolution, anchors)


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


def _grouped(connection: Connection, links: Sequence[tuple[int, Fault]]) -> list[Wanted]:
    """Group broken links by target. Its most frequent spelling is shown."""
    rows = {row.key: row for row in stored_links.with_keys(connection, {key for key, _ in links})}
    spellings: dict[tuple[str, Fault], Counter[str]] = {}
    sources: dict[tuple[str, Fault], set[int]] = {}
    for key, fault in links:
        row = rows[key]
        with_part = fault in (Fault.HEADING, Fault.BLOCK)
        # For a missing part of a note, the target is the note's path, however the link names it.
        target = f"{row.path}#{row.fragment}" if with_part else row.target
        group = fold(target), fault
        spellings.setdefault(group, Counter())[target] += 1
        sources.setdefault(group, set()).add(key >> CHUNK_BITS)
    wanted = [
        Wanted(
            most_frequent(counts),
            fault,
            counts.total(),
            len(sources[name, fault]),
        )
        for (name, fault), counts in spellings.items()
    ]
    return sorted(wanted, key=lambda target: (-target.count, target.target, target.fault))
