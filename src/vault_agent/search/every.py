"""Finds notes that contain every word of a query as a whole word.

The full text returns the notes that have all terms. It does not know words as they are written,
because terms are stems. So each note's text is then searched for the words themselves.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from vault_agent.model.identifiers import CHUNK_BITS
from vault_agent.model.modes import Mode, Reason
from vault_agent.model.search import Answer
from vault_agent.search import lexical
from vault_agent.search.query import compile_query, literals
from vault_agent.search.rank import Ranked
from vault_agent.text.terms import sequence
from vault_agent.text.words import fold_words, whole_word

if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

    from vault_agent.model.lexical import LexicalQuery
    from vault_agent.model.search import Hit, SearchQuery
    from vault_agent.model.warning import Warning
    from vault_agent.store.current import Snapshot
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
    snapshot: Snapshot, query: SearchQuery, warnings: tuple[Warning, ...]
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
    revision = snapshot.revision
    answer = Answer(query.mode, Mode.LEXICAL, query.limit, (), warnings, revision=revision)
    if not words:
        return answer
    candidates = await snapshot.threads.stoppable(
        lambda stopped: _candidates(snapshot, compiled, query, stopped)
    )
    found: list[_Found] = []
    rowids = list(candidates)[:CANDIDATES]
    for first in range(0, len(rowids), _BATCH):
        batch = rowids[first : first + _BATCH]
        verified = await snapshot.threads.stoppable(partial(_verified, snapshot, batch, words))
        found += [_Found(note, candidates[note.rowid]) for note in verified]
        if len(found) >= query.ranked:
            break
    found = found[: query.ranked]  # the last batch may have had more
    truncated = len(candidates) > CANDIDATES and len(found) < query.ranked
    shown = found[query.offset : query.end]

    def hits_of(stopped: Stopped) -> tuple[Hit, ...]:
        return lexical.hits(
            snapshot,
            [_place(snapshot, each, words) for each in shown if not stopped()],
            {each.note.rowid: each.note for each in shown},
            lexical.information(snapshot.fulltext, compiled, query.filters.scope),
            reasons=[Reason.LEXICAL_MATCH] * len(shown),
            explain=query.explain,
        )

    hits = await snapshot.threads.stoppable(hits_of)
    return replace(answer, hits=hits, has_more=len(found) > query.end, truncated=truncated)


def _candidates(
    snapshot: Snapshot, compiled: LexicalQuery, query: SearchQuery, stopped: Stopped
) -> dict[int, float]:
    """Return the score of each note with all terms, best first; first those named like the query.

    There are at most `CANDIDATES` and one more.
    """
    scores = snapshot.fulltext.having(
        compiled, query.filters, limit=CANDIDATES + 1, stopped=stopped
    )
    alike = snapshot.fulltext.named(compiled.text, query.filters.scope)
    named = [rowid for rowid in alike if rowid in scores]
    return {rowid: scores[rowid] for rowid in dict.fromkeys((*named, *scores))}


def _verified(
    snapshot: Snapshot, rowids: Sequence[int], words: Words, stopped: Stopped
) -> list[StoredNote]:
    """Return the notes that have every word, in the order of `rowids`."""
    notes = snapshot.notes(rowids)
    return [
        notes[rowid]
        for rowid, text in zip(rowids, snapshot.bodies(rowids), strict=True)
        if rowid in notes and not stopped() and _has_every(notes[rowid], text, words)
    ]


def _has_every(note: StoredNote, body: bytes, words: Words) -> bool:
    names = fold_words("\n".join((note.title, *note.aliases, *note.metadata.tags)))
    missing = [word for word in words if word.search(names) is None]
    if not missing:
        return True
    text = fold_words(body.decode("utf-8", "replace"))
    return all(word.search(text) is not None for word in missing)


def _place(snapshot: Snapshot, found: _Found, words: Words) -> Ranked:
    """Return the place to show: the chunk of the note that has most of the words."""
    note = found.note
    first = note.rowid << CHUNK_BITS
    chunks = snapshot.chunks(range(first, first + min(note.chunk_count, _CHUNKS)))
    score = round(found.score / (found.score + _HALF), 6)
    best = _best([chunks[key] for key in sorted(chunks)], words)
    return Ranked(note.rowid, best, score, {"body": round(found.score, 4)})


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
