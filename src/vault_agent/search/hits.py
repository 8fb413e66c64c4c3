"""Hits: what a search shows of each ranked note, with an excerpt of its best chunk.

All functions block, and are called in one of the snapshot's threads.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from vault_agent.model.identifiers import CHUNK_BITS
from vault_agent.model.search import Hit
from vault_agent.search.snippet import snippets, text_below_heading
from vault_agent.store.current import SnapshotOutdated
from vault_agent.store.fulltext.schema import dated
from vault_agent.store.index import documents
from vault_agent.store.index import notes as stored_notes
from vault_agent.store.index.meta import repeated_lines
from vault_agent.store.index.rows import MAX_CHUNKS
from vault_agent.text.names import kind_of, page_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from vault_agent.model.modes import Reason
    from vault_agent.search.rank import Ranked
    from vault_agent.search.snippet import Snippet
    from vault_agent.store.current import Snapshot
    from vault_agent.store.index.notes import StoredChunk, StoredNote


_WORD = re.compile(r"\w+")
_FIRST_CHUNKS = 8
"""So many chunks of a note are read to find the first one with a text."""


def with_notes(
    snapshot: Snapshot, notes: Mapping[int, StoredNote], rowids: Iterable[int]
) -> dict[int, StoredNote]:
    """Return `notes` plus the notes of `rowids` that still exist."""
    missing = set(rowids) - notes.keys()
    if not missing:
        return dict(notes)
    return {**notes, **snapshot.query(documents.notes_and_documents, missing)}


def hits_of(
    snapshot: Snapshot,
    entries: Sequence[Ranked],
    notes: Mapping[int, StoredNote],
    term_information: Mapping[str, float],
    *,
    reasons: Sequence[Reason],
    explain: bool,
) -> tuple[Hit, ...]:
    """Return a hit with a snippet for each result. `reasons` has one reason per result."""
    keys = [*map(shown_key, entries)]
    chunks = snapshot.query(stored_notes.chunks, keys)
    if any(entry.key is not None and entry.key not in chunks for entry in entries):
        raise SnapshotOutdated
    opening_chunks = _opening_chunks(snapshot, entries, notes, chunks)
    entries = [
        entry._replace(key=opening_chunks[entry.rowid].key)
        if entry.key is not None and entry.rowid in opening_chunks
        else entry
        for entry in entries
    ]
    excerpted = [
        opening_chunks.get(entry.rowid) or chunks.get(key)
        for entry, key in zip(entries, keys, strict=True)
    ]
    excerpts = snippets(
        [chunk.text if chunk is not None else "" for chunk in excerpted], term_information
    )
    return tuple(
        [
            _hit(entry, notes[entry.rowid], chunk, excerpt, reason, explain=explain)
            for entry, chunk, excerpt, reason in zip(
                entries, excerpted, excerpts, reasons, strict=True
            )
        ]
    )


def _opening_chunks(
    snapshot: Snapshot,
    entries: Sequence[Ranked],
    notes: Mapping[int, StoredNote],
    chunks: Mapping[int, StoredChunk],
) -> dict[int, StoredChunk]:
    """Return, by note, the first chunk with a text of its own, for hits that show that chunk.

    These are hits whose note the query names, and hits whose best chunk has no text below its
    heading, unless a heading below the title matches the query.
    """
    rowids = [
        entry.rowid
        for entry in entries
        if entry.is_named
        or (
            (chunk := chunks.get(shown_key(entry))) is not None
            and not text_below_heading(chunk.text)
            and ("heading" not in entry.votes or len(chunk.heading_path) < 2)
        )
    ]
    if not rowids:
        return {}
    common = [_words(line) for line in snapshot.query(repeated_lines)]
    keys = [
        rowid << CHUNK_BITS | index
        for rowid in rowids
        for index in range(min(notes[rowid].chunk_count, _FIRST_CHUNKS))
    ]
    first_chunks: dict[int, StoredChunk] = {}
    for key, chunk in sorted(snapshot.query(stored_notes.chunks, keys).items()):
        words = _words(text_below_heading(chunk.text))
        for line in common:
            words = words.replace(line, "")
        if words.strip():
            first_chunks.setdefault(key >> CHUNK_BITS, chunk)
    return first_chunks


def _words(text: str) -> str:
    return " ".join(_WORD.findall(text))


def shown_key(entry: Ranked) -> int:
    """Return the key of the chunk that a hit shows: its own, or else the note's first one."""
    return entry.rowid << CHUNK_BITS if entry.key is None else entry.key


def _hit(
    entry: Ranked,
    note: StoredNote,
    chunk: StoredChunk | None,
    excerpt: Snippet,
    reason: Reason,
    *,
    explain: bool,
) -> Hit:
    index = entry.key & (MAX_CHUNKS - 1) if entry.key is not None else None
    passage = chunk if index is not None else None
    heading_path = passage.heading_path if passage is not None else ()
    return Hit(
        id=note.id if index is None else f"{note.id}:{index}",
        type="note" if index is None else "chunk",
        note_id=note.id,
        chunk_index=index,
        path=note.path,
        title=note.title,
        heading=heading_path[-1] if heading_path else None,
        heading_path=heading_path,
        snippet=excerpt.text,
        matches=excerpt.matches,
        score=entry.score,
        reason=reason,
        metadata=note.metadata,
        explanation=_explanation(entry, note) if explain else None,
        start_line=passage.start_line if passage is not None else None,
        end_line=passage.end_line if passage is not None else None,
        # The line of the match in the note's file. Without a match, the first line of the chunk.
        line=passage.start_line + (excerpt.line or 0) if passage is not None else None,
        kind=kind_of(note.path),
        page=page_of(note.path, heading_path),
    )


def _explanation(entry: Ranked, note: StoredNote) -> dict[str, Any]:
    parts = {"weights": entry.weights, "reranked": entry.reranked}
    own = note.metadata
    return {
        "votes": entry.votes,
        **{name: dict(part) for name, part in parts.items() if part},
        "dated": dated(note.path, own.date, own.created, own.updated)[1],
    }
