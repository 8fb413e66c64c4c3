"""Finds notes that contain every word of a query as a whole word.

The full text returns the notes that have all terms. It does not know words as they are written,
because terms are stems. So each note's text is then searched for the words themselves.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from vault_agent.model.identifiers import CHUNK_BITS
from vault_agent.model.lexical import rarity
from vault_agent.model.search import Answer, Hit, Mode, Reason
from vault_agent.ranking.query import compile_query, literals
from vault_agent.ranking.snippet import Snippet, snippet
from vault_agent.text.terms import sequence
from vault_agent.text.words import fold_words, whole_word

if TYPE_CHECKING:
    import re
    from collections.abc import Mapping, Sequence

    from vault_agent.model.lexical import LexicalQuery
    from vault_agent.model.search import SearchQuery
    from vault_agent.model.warning import Warning
    from vault_agent.search.combined import AnySnapshot
    from vault_agent.store.fulltext.reader import FulltextReader
    from vault_agent.store.index.notes import StoredChunk, StoredNote
    from vault_agent.system.threads import Stopped

CANDIDATES = 2_000
"""Notes that are verified. If there are more, the best of them."""
_BATCH = 100
_CHUNKS = 2_000
"""Chunks of a note among which the one to show is chosen."""
_HALF = 10.0
"""A score of BM25 that is mapped to one half."""

Words = tuple["re.Pattern[str]", ...]


class _Found(NamedTuple):
    note: StoredNote
    score: float


async def search_every(
    snapshot: AnySnapshot, query: SearchQuery, warnings: tuple[Warning, ...]
) -> Answer:
    """Return the notes that have every word, best first, one result a note.

    A note whose name is the query comes first. `truncated` says that there were more candidates
    than are verified.

    Raises:
        InvalidRequest: `INVALID_REQUEST` if path patterns are too complex.
    """
    asked = literals(query.query)
    words = tuple(word for text in asked if (word := whole_word(text)) is not None)
    compiled = replace(
        compile_query(query.query),
        phrases=tuple(filter(None, (tuple(sequence(text)) for text in asked))),
    )
    answer = Answer(query.mode, Mode.LEXICAL, query.limit, (), warnings)
    if not words:
        return answer
    candidates = await snapshot.threads.stoppable(
        lambda stopped: _candidates(snapshot, compiled, query, stopped)
    )
    found: list[_Found] = []
    rowids = list(candidates)[:CANDIDATES]
    for first in range(0, len(rowids), _BATCH):
        batch = rowids[first : first + _BATCH]
        found += [
            _Found(note, candidates[note.rowid]) for note in await _verified(snapshot, batch, words)
        ]
        if len(found) >= query.limit:
            break
    truncated = len(candidates) > CANDIDATES and len(found) < query.limit
    information = await snapshot.threads.run(_information, snapshot.fulltext, compiled)
    hits = [
        await _hit(snapshot, each, words, information, explain=query.explain)
        for each in found[: query.limit]
    ]
    return replace(answer, hits=tuple(hits), truncated=truncated)


def _candidates(
    snapshot: AnySnapshot, compiled: LexicalQuery, query: SearchQuery, stopped: Stopped
) -> dict[int, float]:
    """Return the score of each note with all terms, best first; first those named like the query.

    There are at most `CANDIDATES` and one more.
    """
    scores = snapshot.fulltext.having(
        compiled, query.filters, limit=CANDIDATES + 1, stopped=stopped
    )
    named = [rowid for rowid in snapshot.fulltext.named(compiled.text) if rowid in scores]
    return {rowid: scores[rowid] for rowid in dict.fromkeys((*named, *scores))}


async def _verified(snapshot: AnySnapshot, rowids: Sequence[int], words: Words) -> list[StoredNote]:
    """Return the notes that have every word, in the order of `rowids`."""
    notes = {note.rowid: note for note in await snapshot.notes_by_rowid(rowids)}
    texts = await snapshot.bodies(rowids)

    def verify(stopped: Stopped) -> list[StoredNote]:
        return [
            notes[rowid]
            for rowid, text in zip(rowids, texts, strict=True)
            if rowid in notes and not stopped() and _has_every(notes[rowid], text, words)
        ]

    return await snapshot.threads.stoppable(verify)


def _has_every(note: StoredNote, body: bytes, words: Words) -> bool:
    names = fold_words("\n".join((note.title, *note.aliases, *note.metadata.tags)))
    missing = [word for word in words if word.search(names) is None]
    if not missing:
        return True
    text = fold_words(body.decode("utf-8", "replace"))
    return all(word.search(text) is not None for word in missing)


def _information(fulltext: FulltextReader, compiled: LexicalQuery) -> dict[str, float]:
    frequencies = fulltext.document_frequencies(compiled.weights)
    return {
        term: compiled.weights[term] * rarity(fulltext.note_count, count)
        for term, count in frequencies.items()
        if count
    }


async def _hit(
    snapshot: AnySnapshot,
    found: _Found,
    words: Words,
    information: Mapping[str, float],
    *,
    explain: bool,
) -> Hit:
    """Return the result for a note, with the chunk that has most of the words."""
    note = found.note
    count = min(note.chunk_count, _CHUNKS)
    first = note.rowid << CHUNK_BITS
    chunks = sorted(await snapshot.chunks_by_key(range(first, first + count)))
    shown, matching = await snapshot.threads.run(_best, chunks, words)
    excerpt = Snippet("", ())
    if shown is not None:
        excerpt = await snapshot.threads.run(snippet, shown.text, information)
    index = shown.key - first if shown is not None and matching else None
    headings = shown.heading_path if shown is not None and index is not None else ()
    score = round(found.score / (found.score + _HALF), 6)
    return Hit(
        id=note.id if index is None else f"{note.id}:{index}",
        type="note" if index is None else "chunk",
        note_id=note.id,
        chunk_index=index,
        path=note.path,
        title=note.title,
        heading=headings[-1] if headings else None,
        heading_path=headings,
        snippet=excerpt.text,
        matches=excerpt.matches,
        score=score,
        reason=Reason.LEXICAL_MATCH,
        metadata=note.metadata,
        explanation={"votes": {"body": round(found.score, 4)}} if explain else None,
        vault=snapshot.vault_of(note.rowid),
    )


def _best(chunks: Sequence[StoredChunk], words: Words) -> tuple[StoredChunk | None, int]:
    """Return the first chunk with the most words, and how many it has."""
    best, most = (chunks[0] if chunks else None), 0
    for chunk in chunks:
        text = fold_words(chunk.text)
        count = sum(word.search(text) is not None for word in words)
        if count > most:
            best, most = chunk, count
            if most == len(words):
                break
    return best, most
