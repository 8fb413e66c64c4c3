"""Related: from a note or chunk to its like, by shared words and by links."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

from vault_agent.actions import lexical
from vault_agent.actions.search import fell_back, no_embeddings
from vault_agent.errors import InvalidRequest, NotFound
from vault_agent.model import Answer, Filters, Mode, Reason, Warning
from vault_agent.ranking.rank import Ranked
from vault_agent.ranking.related import MAX_CHARACTERS, count_terms, fuse, related_query
from vault_agent.store import notes as reading
from vault_agent.store.rows import CHUNK_BITS, MAX_CHUNKS

if TYPE_CHECKING:
    from vault_agent.lexical import LexicalQuery
    from vault_agent.model import RelatedQuery
    from vault_agent.ranking.related import Fused
    from vault_agent.store.current import Snapshot
    from vault_agent.store.fulltext import FulltextReader
    from vault_agent.store.notes import StoredChunk, StoredNote

_POOL = 100
"""Lexical candidates that links may still reorder."""
_ID = re.compile(r"([0-9a-f]{32})(?::(0|[1-9][0-9]{0,6}))?")


async def related(
    snapshot: Snapshot, query: RelatedQuery, *, warnings: tuple[Warning, ...] = ()
) -> Answer:
    """Return candidates like a note or chunk; the note itself, and all of it, is left out.

    Raises:
        InvalidRequest: `INVALID_ID`.
        NotFound: `NOTE_NOT_FOUND`, `CHUNK_NOT_FOUND`.
        Unavailable: `EMBEDDING_UNAVAILABLE` where only embeddings would do.
        IndexUnavailable: `INDEX_INCOMPATIBLE` where the index is damaged.
    """
    if query.mode is Mode.EMBEDDING:
        raise no_embeddings()
    if query.mode is Mode.HYBRID:
        warnings = (*warnings, fell_back())
    note, chunks, links = await _input(snapshot, query.id)
    compiled = await asyncio.to_thread(_compile, snapshot.fulltext, note, chunks)
    ranking = await lexical.ranked(
        snapshot, compiled, query.filters, limit=_POOL, without_note=note.rowid
    )
    if query.filters != Filters() and links:
        admitted = await asyncio.to_thread(snapshot.fulltext.admitted, query.filters, links)
        links = {rowid: count for rowid, count in links.items() if rowid in admitted}
    best: dict[int, Ranked] = {}
    for place in ranking.places:
        best.setdefault(place.rowid, place)
    fused = fuse({rowid: place.score for rowid, place in best.items()}, links)
    notes = dict(ranking.notes)
    if missing := links.keys() - notes.keys():
        async with snapshot.connection() as connection:
            found = await reading.notes_by_rowid(connection, missing)
        notes |= {each.rowid: each for each in found}
    order = sorted(
        (rowid for rowid in fused if rowid in notes),
        key=lambda rowid: (-fused[rowid].score, notes[rowid].path),
    )[: query.limit]
    hits = await lexical.hits(
        snapshot,
        [_place(rowid, best.get(rowid), fused[rowid]) for rowid in order],
        notes,
        ranking.candidates.information,
        reasons=[_reason(fused[rowid]) for rowid in order],
        explain=query.explain,
    )
    return Answer(query.mode, Mode.LEXICAL, query.limit, hits, warnings)


async def _input(
    snapshot: Snapshot, identifier: str
) -> tuple[StoredNote, list[StoredChunk], dict[int, int]]:
    """Return the note asked about, the chunks that speak for it, and its links."""
    match = _ID.fullmatch(identifier)
    if match is None:
        raise InvalidRequest(
            "INVALID_ID",
            "A note ID is 32 lowercase hexadecimal digits; a chunk ID adds a colon and an index.",
        )
    async with snapshot.connection() as connection:
        note = await reading.note_by_id(connection, match[1])
        if note is None:
            raise NotFound("NOTE_NOT_FOUND", "There is no note with this ID.")
        index = int(match[2]) if match[2] else None
        # MAX_CHARACTERS of text, at 2,000 characters a chunk; twice that for short sections.
        most = min(note.chunk_count, MAX_CHARACTERS // 1_000)
        wanted = range(most) if index is None else [index] if index < MAX_CHUNKS else []
        base = note.rowid << CHUNK_BITS
        chunks = await reading.chunks(connection, [base | each for each in wanted])
        if index is not None and not chunks:
            raise NotFound("CHUNK_NOT_FOUND", "The note has no such chunk.")
        links = await reading.neighbours(connection, note)
    return note, sorted(chunks), links


def _compile(fulltext: FulltextReader, note: StoredNote, chunks: list[StoredChunk]) -> LexicalQuery:
    names = "\n".join((note.title, *note.metadata.aliases, *note.metadata.tags))
    counts = count_terms("\n".join(chunk.text for chunk in chunks), names)
    return related_query(counts, fulltext.document_frequencies(counts), fulltext.note_count)


def _place(rowid: int, place: Ranked | None, fused: Fused) -> Ranked:
    votes = {"words": round(fused.lexical, 4), "links": round(fused.links, 4)}
    return Ranked(
        rowid,
        place.key if place else None,
        fused.score,
        {vote: value for vote, value in votes.items() if value},
    )


def _reason(fused: Fused) -> Reason:
    return Reason.RELATED_LEXICAL if fused.lexical >= fused.links else Reason.RELATED_LINK
