"""The links of one note: those it contains, and those that lead to it."""

from __future__ import annotations

from heapq import merge
from typing import TYPE_CHECKING

from vault_agent.errors import InvalidRequest
from vault_agent.markdown.broken import Anchors
from vault_agent.model.graph import MAX_CANDIDATES, Backlink, Listed, NoteLink, Page, Place
from vault_agent.model.identifiers import CHUNK_BITS, identify
from vault_agent.search.named import named_handle, named_note
from vault_agent.search.snippet import snippet_around
from vault_agent.store.index import links as reading
from vault_agent.store.index import notes as notes_reading
from vault_agent.store.index.links import LinkFilter, LinkRow, resolver_for

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vault_agent.store.current import Snapshot
    from vault_agent.store.database import Connection
    from vault_agent.store.index.links import WebLink
    from vault_agent.store.index.notes import StoredChunk

    _Shown = LinkRow | WebLink
    _Known = tuple[Mapping[int, Anchors], dict[int, tuple[str, ...]]]

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
    # The numbers of the next link in the vault and of the next one to the web. Each list is in
    # order, so a page takes the first of both.
    inside, outside = page.start or (0, 0)
    own = None if kinds is None else tuple(kind for kind in kinds if kind != EXTERNAL)
    wants_inside = status != EXTERNAL and own != ()
    wants_outside = status in (None, EXTERNAL) and (kinds is None or EXTERNAL in kinds)
    some = page.limit + 1

    def read(connection: Connection) -> tuple[list[_Shown], _Known]:
        note = named_note(connection, note_id)
        into: list[LinkRow] = []
        out: list[WebLink] = []
        if wants_inside:
            wanted = LinkFilter(own, status)
            into = reading.outgoing(connection, note.rowid, wanted, start=inside, limit=some)
        if wants_outside:
            out = reading.external(connection, note.rowid, start=outside, limit=some)
        both: tuple[Sequence[_Shown], Sequence[_Shown]] = (into, out)
        ordered = list(merge(*both, key=_in_order))
        ours = [link for link in ordered[: page.limit] if isinstance(link, LinkRow)]
        anchors = anchors_of(
            connection, [link.rowid for link in ours if link.fragment and link.rowid]
        )
        candidates = candidates_of(connection, [link for link in ours if link.ambiguous])
        return ordered, (anchors, candidates)

    ordered, (anchors, candidates) = await snapshot.read_unchanged(read)
    shown = ordered[: page.limit]
    entries, ends = [], []
    for link in shown:
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


def _in_order(link: _Shown) -> tuple[int, int]:
    return link.line, link.column


def check_revision(snapshot: Snapshot, page: Page) -> None:
    """Raise `CURSOR_EXPIRED` if the page's cursor is of another revision."""
    if page.revision is not None and page.revision != snapshot.revision:
        raise InvalidRequest("CURSOR_EXPIRED", "The index has changed since the first page.")


def anchors_of(connection: Connection, rowids: Sequence[int]) -> Mapping[int, Anchors]:
    """Return the anchors of some notes, by rowid. Those that are not known are left out."""
    found = reading.anchors(connection, sorted(set(rowids))) if rowids else {}
    return {rowid: Anchors(anchors) for rowid, anchors in (found or {}).items()}


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
    """Return the notes that link to a note or an attachment: those with the most links first.

    Of equal ones, the first by path. Each has its first `contexts` links with a snippet.

    Raises:
        InvalidRequest: `INVALID_ID`, `CURSOR_EXPIRED`.
        NotFound: `NOTE_NOT_FOUND`.
    """
    check_revision(snapshot, page)

    def read(connection: Connection) -> tuple[tuple[Backlink, ...], int]:
        handle, own = named_handle(connection, note_id)
        others = [each for each in reading.linking(connection, handle) if each[0] != own]
        others.sort(key=lambda each: (-each[1], each[2]))
        shown = page.of(others)
        rowids = [rowid for rowid, _, _ in shown]
        found_notes = notes_reading.by_rowid(connection, rowids)
        at = reading.places(connection, handle, rowids, limit=contexts) if contexts else {}
        chunks = _chunks(connection, at)
        entries = tuple(
            Backlink(
                identify(path),
                path,
                found_notes[rowid].title,
                count,
                tuple(_place(place, chunks) for place in at.get(rowid, ())),
            )
            for rowid, count, path in shown
        )
        return entries, len(others)

    entries, total = await snapshot.read_unchanged(read)
    return page.listed(snapshot.revision, entries, total)


def _chunks(connection: Connection, at: Mapping[int, Sequence[LinkRow]]) -> dict[int, StoredChunk]:
    keys = {
        rowid << CHUNK_BITS | place.chunk
        for rowid, found in at.items()
        for place in found
        if place.chunk is not None
    }
    return notes_reading.chunks(connection, keys)


def _place(place: LinkRow, chunks: Mapping[int, StoredChunk]) -> Place:
    chunk = None
    if place.chunk is not None:
        chunk = chunks.get(place.key >> CHUNK_BITS << CHUNK_BITS | place.chunk)
    if chunk is None:
        return Place(place.line, None, None, "")
    heading = chunk.heading_path[-1] if chunk.heading_path else None
    excerpt = snippet_around(chunk.text, place.first or 0, place.past or 0)
    return Place(place.line, heading, place.chunk, excerpt.text, excerpt.matches)
