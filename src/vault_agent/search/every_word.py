"""Search for the notes that contain every word of a query as it is written.

All functions block, and are called in one of the snapshot's threads.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from vault_agent.model.identifiers import CHUNK_BITS
from vault_agent.model.modes import Mode, Reason
from vault_agent.model.search import Answer
from vault_agent.search.hits import hits_of
from vault_agent.search.lexical import term_information
from vault_agent.search.query import compile_query, literals
from vault_agent.search.rank import Ranked
from vault_agent.store.fulltext.candidates import raise_if_stopped
from vault_agent.store.index import documents
from vault_agent.store.index import notes as stored_notes
from vault_agent.text.terms import sequence
from vault_agent.text.words import fold_words, whole_word

if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

    from vault_agent.model.lexical import LexicalQuery
    from vault_agent.model.search import SearchQuery
    from vault_agent.model.warning import Warning
    from vault_agent.store.current import Snapshot
    from vault_agent.store.index.notes import StoredChunk, StoredNote
    from vault_agent.system.cancelling import Stopped


CANDIDATES = 2_000
"""The most notes that are verified: the best ones."""
_BATCH = 100
_CHUNKS = 2_000
"""So many chunks of a note are read to choose the one to show."""
_HALF = 10.0
"""The score of BM25 that is mapped to one half."""

Words = tuple["re.Pattern[str]", ...]


def search_every_word(
    snapshot: Snapshot, query: SearchQuery, warnings: tuple[Warning, ...], stopped: Stopped
) -> Answer:
    """Return the notes that have every word, best first, one result a note.

    The full text returns the notes that have all terms, those of a phrase side by side. Terms are
    stems, so the words as they are written are then searched in the text of each note. There,
    markup may stand between the words of a phrase.

    A note whose name is the query comes first. `truncated` is set if there were more candidates
    than are verified.

    Raises:
        InvalidRequest: `INVALID_REQUEST` if path patterns are too complex.
        SearchStopped: if `stopped` returned True.
    """
    texts = literals(query.query)
    words = tuple(filter(None, map(whole_word, " ".join(texts).split())))
    phrases = tuple(filter(None, (whole_word(text) for text in texts if text.split()[1:])))
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
        raise_if_stopped(stopped)
        notes += _verified(snapshot, rowids[first : first + _BATCH], words)
        if len(notes) >= query.depth:
            break
    notes = notes[: query.depth]  # the last batch may have had more
    page = notes[query.offset : query.end]
    raise_if_stopped(stopped)
    hits = hits_of(
        snapshot,
        [_place(snapshot, note, candidates[note.rowid], words + phrases) for note in page],
        {note.rowid: note for note in page},
        term_information(snapshot.fulltext, compiled),
        reasons=[Reason.LEXICAL_MATCH] * len(page),
        explain=query.explain,
    )
    return replace(
        answer,
        results=hits,
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
    notes = snapshot.query(documents.notes_and_documents, rowids)
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
