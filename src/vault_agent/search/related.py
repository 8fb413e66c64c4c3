"""Related: notes and chunks similar to a note or chunk, by terms, vectors and links."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from vault_agent.errors import InvalidRequest, Unavailable
from vault_agent.model.identifiers import CHUNK_BITS
from vault_agent.model.search import Answer, Filters, Mode, Reason
from vault_agent.ranking.rank import Ranked
from vault_agent.ranking.related import MAX_CHARACTERS, count_terms, fuse, related_query
from vault_agent.search import lexical
from vault_agent.search.fallback import OFF, fell_back, unavailable
from vault_agent.search.named import named_chunk, named_note
from vault_agent.store.index import notes as reading

if TYPE_CHECKING:
    from vault_agent.model.lexical import LexicalQuery
    from vault_agent.model.search import Hit, RelatedQuery
    from vault_agent.model.warning import Warning
    from vault_agent.ranking.related import Fused
    from vault_agent.search.lexical import Ranking
    from vault_agent.search.semantic import Near
    from vault_agent.store.current import Snapshot
    from vault_agent.store.fulltext.reader import FulltextReader
    from vault_agent.store.index.notes import StoredChunk, StoredNote
    from vault_agent.system.threads import Stopped

_POOL = 100
"""Lexical candidates that links may reorder."""
_ID = re.compile(r"([0-9a-f]{32})(?::(0|[1-9][0-9]{0,6}))?")


async def related(
    snapshot: Snapshot,
    query: RelatedQuery,
    *,
    embeddings: bool = False,
    warnings: tuple[Warning, ...] = (),
    indexing: bool = False,
) -> Answer:
    """Return candidates similar to a note or chunk, without the note itself.

    Without a mode, use vectors if there are any, otherwise terms. Links count in every mode. The
    vectors come from the index, so the endpoint is not called.

    `embeddings`: whether embeddings are on. `indexing`: whether a job is running. It selects the
    remedy when embeddings are missing.

    Raises:
        InvalidRequest: `INVALID_ID`.
        NotFound: `NOTE_NOT_FOUND`, `CHUNK_NOT_FOUND`.
        Unavailable: `EMBEDDING_UNAVAILABLE` if the mode is `embedding` and semantic search is
            unavailable.
        IndexUnavailable: `INDEX_INCOMPATIBLE` if the index is damaged.
    """
    mode = query.mode or (Mode.EMBEDDING if embeddings else Mode.LEXICAL)
    asked = await _input(snapshot, query.id)
    found = None
    if mode is not Mode.LEXICAL:
        try:
            found = await _near(snapshot, query, asked, embeddings=embeddings, indexing=indexing)
        except Unavailable as reason:
            if query.mode is Mode.EMBEDDING:
                raise
            mode, warnings = Mode.LEXICAL, (*warnings, fell_back(reason))
        else:
            from vault_agent.search.semantic import share_warnings

            warnings = (*warnings, *share_warnings(snapshot, indexing=indexing))
    ranking = None if mode is Mode.EMBEDDING else await _ranked(snapshot, query, asked)
    candidates = _joined(ranking, found)
    links = await _admitted_links(snapshot, query, asked.links)
    fused = fuse({rowid: each.score for rowid, each in candidates.items()}, links)
    hits = await snapshot.threads.run(_hits, snapshot, query, ranking, candidates, fused)
    return Answer(query.mode, mode, query.limit, hits, warnings)


def _hits(
    snapshot: Snapshot,
    query: RelatedQuery,
    ranking: Ranking | None,
    candidates: dict[int, _Candidate],
    fused: dict[int, Fused],
) -> tuple[Hit, ...]:
    notes = lexical.with_notes(snapshot, ranking.notes if ranking else {}, fused)
    order = sorted(
        (rowid for rowid in fused if rowid in notes),
        key=lambda rowid: (-fused[rowid].score, notes[rowid].path),
    )[: query.limit]
    return lexical.hits(
        snapshot,
        [_place(rowid, candidates.get(rowid), fused[rowid]) for rowid in order],
        notes,
        ranking.candidates.information if ranking else {},
        reasons=[_reason(candidates.get(rowid), fused[rowid]) for rowid in order],
        explain=query.explain,
    )


class _Asked(NamedTuple):
    """The requested note or chunk."""

    note: StoredNote
    chunks: list[StoredChunk]  # whose text represents it
    keys: list[int]  # of the chunks whose vectors represent it
    links: dict[int, int]  # number of links, by rowid of the other note


class _Candidate(NamedTuple):
    """A similar note, before links are counted."""

    score: float
    key: int | None
    votes: dict[str, float]
    reason: Reason


async def _ranked(snapshot: Snapshot, query: RelatedQuery, asked: _Asked) -> Ranking:
    def rank(stopped: Stopped) -> Ranking:
        compiled = _compile(snapshot.fulltext, asked.note, asked.chunks)
        return lexical.ranked(
            snapshot,
            compiled,
            query.filters,
            stopped,
            limit=_POOL,
            without_note=asked.note.rowid,
        )

    return await snapshot.threads.stoppable(rank)


async def _near(
    snapshot: Snapshot, query: RelatedQuery, asked: _Asked, *, embeddings: bool, indexing: bool
) -> Near:
    if not embeddings:
        raise unavailable(OFF)
    from vault_agent.search.semantic import near, of_chunks, usable_matrix  # imports numpy

    matrix = usable_matrix(snapshot, indexing=indexing)
    admitted = None
    if query.filters != Filters():
        admitted = await snapshot.threads.run(snapshot.fulltext.admitted, query.filters)
    vector = await snapshot.threads.run(of_chunks, matrix, asked.keys, indexing=indexing)
    return await snapshot.threads.run(
        near, matrix, vector, admitted=admitted, without_note=asked.note.rowid
    )


async def _admitted_links(
    snapshot: Snapshot, query: RelatedQuery, links: dict[int, int]
) -> dict[int, int]:
    if query.filters == Filters() or not links:
        return links
    admitted = await snapshot.threads.run(snapshot.fulltext.admitted, query.filters, links)
    return {rowid: count for rowid, count in links.items() if rowid in admitted}


def _joined(ranking: Ranking | None, found: Near | None) -> dict[int, _Candidate]:
    """Return each note once, with its lexical score, its cosine, or both."""
    words: dict[int, Ranked] = {}
    for place in ranking.places if ranking else ():
        words.setdefault(place.rowid, place)
    if found is None:
        return {
            rowid: _Candidate(
                place.score, place.key, {"words": place.score}, Reason.RELATED_LEXICAL
            )
            for rowid, place in words.items()
        }
    joined = {}
    for rowid in {**words, **found.cosines}:
        cosine = max(0.0, round(found.cosines.get(rowid, 0.0), 6))
        by_words = words[rowid].score if rowid in words else 0.0
        votes = {"words": by_words, "meaning": cosine}
        if ranking is None:
            score, reason = cosine, Reason.RELATED_EMBEDDING
        else:
            score, reason = round((by_words + cosine) / 2, 6), Reason.RELATED_HYBRID
        key = found.chunks.get(rowid, words[rowid].key if rowid in words else None)
        joined[rowid] = _Candidate(score, key, votes, reason)
    return joined


async def _input(snapshot: Snapshot, identifier: str) -> _Asked:
    """Return the requested note, the chunks that represent it, and its links."""
    match = _ID.fullmatch(identifier)
    if match is None:
        raise InvalidRequest(
            "INVALID_ID",
            "A note ID is 32 lowercase hexadecimal digits; a chunk ID adds a colon and an index.",
        )
    async with snapshot.connection() as connection:
        note = await named_note(connection, match[1])
        if match[2]:
            chunks = [await named_chunk(connection, note, int(match[2]))]
            keys = [chunk.key for chunk in chunks]
        else:
            first = note.rowid << CHUNK_BITS
            keys = [first | index for index in range(note.chunk_count)]
            # MAX_CHARACTERS at 2,000 per chunk, times two because some chunks are short.
            chunks = sorted(await reading.chunks(connection, keys[: MAX_CHARACTERS // 1_000]))
        links = await reading.neighbours(connection, note)
    return _Asked(note, chunks, keys, links)


def _compile(fulltext: FulltextReader, note: StoredNote, chunks: list[StoredChunk]) -> LexicalQuery:
    names = "\n".join((note.title, *note.aliases, *note.metadata.tags))
    counts = count_terms("\n".join(chunk.text for chunk in chunks), names)
    return related_query(counts, fulltext.document_frequencies(counts), fulltext.note_count)


def _place(rowid: int, candidate: _Candidate | None, fused: Fused) -> Ranked:
    votes = {**(candidate.votes if candidate else {}), "links": fused.links}
    return Ranked(
        rowid,
        candidate.key if candidate else None,
        fused.score,
        {vote: round(value, 4) for vote, value in votes.items() if value},
    )


def _reason(candidate: _Candidate | None, fused: Fused) -> Reason:
    if candidate is None or candidate.score < fused.links:
        return Reason.RELATED_LINK
    return candidate.reason
