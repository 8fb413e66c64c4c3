"""Ranked lexical candidates of a snapshot, and the notes that contain every word of a query.

All functions block, and are called in one of the snapshot's threads.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from vault_agent.model.identifiers import CHUNK_BITS
from vault_agent.model.lexical import rarity
from vault_agent.model.modes import Mode, Reason
from vault_agent.model.search import Answer, Coverage, Filters, Hit, Match
from vault_agent.search.query import compile_query, literals
from vault_agent.search.rank import OwnNames, Ranked, rank, shortlist
from vault_agent.search.snippet import snippets, text_below_heading
from vault_agent.store.current import SnapshotOutdated
from vault_agent.store.fulltext.schema import dated
from vault_agent.store.fulltext.searching import go_on
from vault_agent.store.index import documents
from vault_agent.store.index import notes as stored_notes
from vault_agent.store.index.meta import repeated_lines
from vault_agent.store.index.rows import MAX_CHUNKS
from vault_agent.text.names import kind_of, page_of
from vault_agent.text.terms import is_unit, sequence
from vault_agent.text.words import common_terms, fold_words, whole_word

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from vault_agent.model.lexical import Candidates, LexicalQuery
    from vault_agent.model.search import SearchQuery
    from vault_agent.model.warning import Warning
    from vault_agent.search.snippet import Snippet
    from vault_agent.store.current import Snapshot
    from vault_agent.store.fulltext.reader import FulltextReader
    from vault_agent.store.index.notes import StoredChunk, StoredNote
    from vault_agent.system.cancelling import Stopped


_WORD = re.compile(r"\w+")
_FIRST_CHUNKS = 8
"""So many chunks of a note are read to find the first one with a text."""
_NOTES_FOR_RARITY = 30
"""Rarity is computed for at least so many notes: fewer do not tell which words are rare."""
_NOTES_FOR_SUBJECT = 3
"""Fewer notes do not tell what the vault is about."""
_SUBJECT_SHARE = 0.78
"""A word that a larger share of the notes has tells what the vault is about."""


class RankedNotes(NamedTuple):
    """The best results, with their candidates and notes."""

    entries: list[Ranked]
    candidates: Candidates
    notes: Mapping[int, StoredNote]


def ranked(
    snapshot: Snapshot,
    compiled: LexicalQuery,
    filters: Filters,
    stopped: Stopped,
    *,
    limit: int,
    without: Collection[int] = (),
    among: Collection[int] | None = None,
) -> RankedNotes:
    """Return the best `limit` results of a compiled query, with `among` only of these notes.

    Raises:
        SearchStopped: if `stopped` returned True.
    """
    candidates = snapshot.fulltext.candidates(
        compiled, filters, without=without, among=among, stopped=stopped
    )
    wanted = shortlist(candidates, limit)
    notes = snapshot.query(documents.notes_and_attachments, wanted.rowids)
    headings = snapshot.query(stored_notes.headings, wanted.keys)
    if len(notes) < len(wanted.rowids):
        raise SnapshotOutdated
    names = {rowid: OwnNames(note.path, note.title, note.aliases) for rowid, note in notes.items()}
    entries = rank(candidates, names, headings, limit=limit, chosen=wanted)
    return RankedNotes(entries, candidates, notes)


def term_information(fulltext: FulltextReader, compiled: LexicalQuery) -> dict[str, float]:
    """Return weight times rarity of each term of a query, if any note has the term."""
    frequencies = fulltext.document_frequencies(compiled.term_weights)
    notes = fulltext.note_count
    return {
        term: compiled.term_weights[term] * rarity(notes, count)
        for term, count in frequencies.items()
        if count
    }


def coverage(snapshot: Snapshot, compiled: LexicalQuery, ranking: RankedNotes) -> Coverage:
    """Return, for each ranked note, the largest part of the query that one chunk of it has.

    A word that is in no note counts as the rarest, also if similar words were searched instead. A
    vault of fewer than 30 notes is treated as one of 30, because few notes do not tell which words
    are rare. A word that more than 78 % of the notes have does not count as content.
    """
    information, similar_terms = ranking.candidates.information, ranking.candidates.similar_terms
    searched = ranking.candidates.searched
    notes = max(searched, _NOTES_FOR_RARITY)
    # Rarity is log((notes + 1) / (notes with the word + 0.5)): more notes add the same to all.
    added = math.log((notes + 1) / (searched + 1))
    words = {
        term: information[term] / weight + added
        if term in information and term not in similar_terms
        else rarity(notes, 0)
        for term, weight in compiled.term_weights.items()
        if not is_unit(term)
    }
    usual = math.log((searched + 1) / (_SUBJECT_SHARE * searched + 0.5))
    content = {
        term: 1.0
        for term in words.keys() & information.keys() - similar_terms - common_terms()
        if searched < _NOTES_FOR_SUBJECT or information[term] / compiled.term_weights[term] >= usual
    }
    rowids = {entry.rowid for entry in ranking.entries}
    total = sum(words.values())
    most = snapshot.fulltext.most_in_one_chunk(words, rowids)
    counts = snapshot.fulltext.most_in_one_chunk(content, rowids)
    return Coverage(
        len(words),
        snapshot.fulltext.chunk_count,
        {
            (None, ranking.notes[rowid].id): Match(
                most.get(rowid, 0.0) / total if total else 0.0, round(counts.get(rowid, 0.0))
            )
            for rowid in rowids
        },
    )


def with_notes(
    snapshot: Snapshot, notes: Mapping[int, StoredNote], rowids: Iterable[int]
) -> dict[int, StoredNote]:
    """Return `notes` plus the notes of `rowids` that still exist."""
    missing = set(rowids) - notes.keys()
    if not missing:
        return dict(notes)
    return {**notes, **snapshot.query(documents.notes_and_attachments, missing)}


def hits(
    snapshot: Snapshot,
    entries: Sequence[Ranked],
    notes: Mapping[int, StoredNote],
    information: Mapping[str, float],
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
        [chunk.text if chunk is not None else "" for chunk in excerpted], information
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


CANDIDATES = 2_000
"""The most notes that are verified: the best ones."""
_BATCH = 100
_CHUNKS = 2_000
"""So many chunks of a note are read to choose the one to show."""
_HALF = 10.0
"""The score of BM25 that is mapped to one half."""

Words = tuple["re.Pattern[str]", ...]


def search_every(
    snapshot: Snapshot, query: SearchQuery, warnings: tuple[Warning, ...], stopped: Stopped
) -> Answer:
    """Return the notes that have every word, best first, one result a note.

    The full text returns the notes that have all terms. Terms are stems, so the words as they are
    written are then searched in the text of each note.

    A note whose name is the query comes first. `truncated` is set if there were more candidates
    than are verified.

    Raises:
        InvalidRequest: `INVALID_REQUEST` if path patterns are too complex.
        SearchStopped: if `stopped` returned True.
    """
    texts = literals(query.query)
    words = tuple(word for text in texts if (word := whole_word(text)) is not None)
    compiled = replace(
        compile_query(query.query),
        phrases=tuple(filter(None, (tuple(sequence(text)) for text in texts))),
    )
    revision = snapshot.revision
    answer = Answer(query.mode, Mode.LEXICAL, query.limit, (), warnings, revision=revision)
    if not words:
        return answer
    candidates = _candidates(snapshot, compiled, query, stopped)
    notes: list[StoredNote] = []
    rowids = list(candidates)[:CANDIDATES]
    for first in range(0, len(rowids), _BATCH):
        go_on(stopped)
        notes += _verified(snapshot, rowids[first : first + _BATCH], words)
        if len(notes) >= query.depth:
            break
    notes = notes[: query.depth]  # the last batch may have had more
    page = notes[query.offset : query.end]
    go_on(stopped)
    hits_of_page = hits(
        snapshot,
        [_place(snapshot, note, candidates[note.rowid], words) for note in page],
        {note.rowid: note for note in page},
        term_information(snapshot.fulltext, compiled),
        reasons=[Reason.LEXICAL_MATCH] * len(page),
        explain=query.explain,
    )
    return replace(
        answer,
        results=hits_of_page,
        has_more=len(notes) > query.end,
        truncated=len(candidates) > CANDIDATES and len(notes) < query.depth,
    )


def _candidates(
    snapshot: Snapshot, compiled: LexicalQuery, query: SearchQuery, stopped: Stopped
) -> dict[int, float]:
    """Return the scores of notes with all terms: notes named like the query first, then the best.

    There are at most `CANDIDATES + 1`.
    """
    scores = snapshot.fulltext.having(
        compiled, query.filters, limit=CANDIDATES + 1, stopped=stopped
    )
    alike = snapshot.fulltext.named(compiled.text)
    named = [rowid for rowid in alike if rowid in scores]
    return {rowid: scores[rowid] for rowid in dict.fromkeys((*named, *scores))}


def _verified(snapshot: Snapshot, rowids: Sequence[int], words: Words) -> list[StoredNote]:
    """Return the notes that have every word, in the order of `rowids`."""
    notes = snapshot.query(documents.notes_and_attachments, rowids)
    return [
        notes[rowid]
        for rowid, text in zip(rowids, snapshot.query(stored_notes.bodies, rowids), strict=True)
        if rowid in notes and _has_every(notes[rowid], text, words)
    ]


def _has_every(note: StoredNote, body: bytes, words: Words) -> bool:
    names = fold_words("\n".join((note.title, *note.aliases, *note.metadata.tags)))
    missing = [word for word in words if word.search(names) is None]
    if not missing:
        return True
    text = fold_words(body.decode("utf-8", "replace"))
    return all(word.search(text) is not None for word in missing)


def _place(snapshot: Snapshot, note: StoredNote, score: float, words: Words) -> Ranked:
    """Return the place to show: the chunk of the note that has most of the words."""
    first = note.rowid << CHUNK_BITS
    chunks = snapshot.query(
        stored_notes.chunks, range(first, first + min(note.chunk_count, _CHUNKS))
    )
    best = _best([chunks[key] for key in sorted(chunks)], words)
    return Ranked(note.rowid, best, round(score / (score + _HALF), 6), {"body": round(score, 4)})


def _best(chunks: Sequence[StoredChunk], words: Words) -> int | None:
    """Return the key of the first chunk with the most words; None if no chunk has any."""
    best, most = None, 0
    for chunk in chunks:
        text = fold_words(chunk.text)
        count = sum(word.search(text) is not None for word in words)
        if count > most:
            best, most = chunk.key, count
            if most == len(words):
                break
    return best
