"""Search: pages of ranked results of a query: lexical, semantic or hybrid.

The pages of a query belong to one revision of the index. A reranker, if the user has one, reorders
the best results.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from vault_agent.errors import InvalidRequest, Unavailable
from vault_agent.model.modes import Mode, Reason
from vault_agent.model.search import MAX_RANKED, RERANKED, Answer, Filters
from vault_agent.models.settings import chunk_input
from vault_agent.search import lexical
from vault_agent.search.every_word import search_every_word
from vault_agent.search.hits import hits_of, shown_key, with_notes
from vault_agent.search.query import compile_query, literals
from vault_agent.search.rank import Ranked, attainable, weigh
from vault_agent.search.warnings import fell_back, filter_warnings, off, unknown_words
from vault_agent.store.fulltext.candidates import raise_if_stopped
from vault_agent.store.index import notes as stored_notes
from vault_agent.store.index.lists import updated_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence

    from vault_agent.model.lexical import LexicalQuery
    from vault_agent.model.search import Coverage, SearchQuery
    from vault_agent.model.warning import Warning
    from vault_agent.models.embedder import Embedder
    from vault_agent.models.reranker import Reranker
    from vault_agent.models.vectors import Vector
    from vault_agent.search.lexical import LexicalRanking
    from vault_agent.search.semantic import NearestNotes
    from vault_agent.store.current import Snapshot
    from vault_agent.store.index.notes import StoredNote
    from vault_agent.system.cancelling import Stopped

POOL = 200
"""Lexical candidates that hybrid ranking may reorder."""
MEANING_SCORE_CAP = 0.5
"""The score of a hit that only vectors have found is multiplied by this, so 0.5 is its maximum."""


class _Results(NamedTuple):
    """The results of a query, best first, of which a page is returned."""

    entries: list[Ranked]
    notes: Mapping[int, StoredNote]
    term_information: Mapping[str, float]  # weight times rarity by term, as in `Candidates`
    reasons: Mapping[int, Reason]  # by rowid
    similar_terms: Mapping[str, Sequence[str]] = {}  # as of `Candidates`
    coverage: Coverage | None = None


_Find: TypeAlias = "Callable[[Stopped], _Results]"


async def search_in(
    snapshot: Snapshot,
    query: SearchQuery,
    *,
    embedder: Embedder | None = None,
    reranker: Reranker | None = None,
    warnings: tuple[Warning, ...] = (),
    indexing: bool = False,
) -> Answer:
    """Return a page of ranked results. Without a mode, the search is hybrid if it can be.

    A query of operators only is answered by its filters, in every mode. A reranker that fails
    leaves the order as it is, with a warning.

    `indexing`: whether a job is running. It selects the remedy when embeddings are missing.

    Raises:
        InvalidRequest: `CURSOR_EXPIRED` if the page before is of another revision of the index, or
            `INVALID_MODE` if every word is wanted in a mode that is not lexical.
        Unavailable: `EMBEDDING_UNAVAILABLE` if the mode is `embedding` and semantic search is
            unavailable.
        IndexUnavailable: `INDEX_INCOMPATIBLE` if the index is damaged.
    """
    if query.revision not in (None, snapshot.revision):
        raise InvalidRequest("CURSOR_EXPIRED", "The index has changed since the first page.")
    every_word = query.match == "all" and literals(query.query)
    if every_word and query.mode not in (None, Mode.LEXICAL):
        raise InvalidRequest("INVALID_MODE", "Only a lexical search can match all words.")
    warnings += await filter_warnings(snapshot, query.filters)
    if every_word:
        return await snapshot.threads.stoppable(
            partial(search_every_word, snapshot, query, warnings)
        )
    compiled = compile_query(query.query)
    mode, find, problems = await _choose_mode(
        snapshot, query, compiled, embedder, indexing=indexing
    )
    warnings += problems
    if reranker is None or not (query.rerank and compiled.text):
        return await snapshot.threads.stoppable(
            lambda stopped: _page(snapshot, query, mode, find(stopped), warnings)
        )
    results = await snapshot.threads.stoppable(find)
    asking = partial(reranker.scores, compiled.text)
    named = partial(snapshot.fulltext.named, compiled.text)
    entries, problems = await rerank(snapshot, results.entries, results.notes, asking, named)
    in_order = results._replace(entries=entries)
    return await snapshot.threads.run(
        _page, snapshot, query, mode, in_order, (*warnings, *problems)
    )


async def _choose_mode(
    snapshot: Snapshot,
    query: SearchQuery,
    compiled: LexicalQuery,
    embedder: Embedder | None,
    *,
    indexing: bool,
) -> tuple[Mode, _Find, tuple[Warning, ...]]:
    """Return the mode, the function that searches in a thread, and warnings of semantic search."""
    mode = query.mode or (Mode.HYBRID if embedder else Mode.LEXICAL)
    by_words: _Find = partial(_by_words, snapshot, query, compiled)
    if mode is Mode.LEXICAL or not compiled.text:  # operators only: no text to embed
        return Mode.LEXICAL, by_words, ()
    try:
        vector = await _vector(snapshot, embedder, compiled.text, indexing=indexing)
    except Unavailable as reason:
        if mode is Mode.EMBEDDING:
            raise
        return Mode.LEXICAL, by_words, (fell_back(reason),)
    from vault_agent.search.semantic import share_warnings

    by_vector = _by_both if mode is Mode.HYBRID else _by_meaning
    missing = share_warnings(snapshot, indexing=indexing)
    return mode, partial(by_vector, snapshot, query, compiled, vector), missing


async def _vector(
    snapshot: Snapshot, embedder: Embedder | None, text: str, *, indexing: bool
) -> Vector:
    if embedder is None:
        raise off()
    from vault_agent.search.semantic import query_vector  # imports numpy

    return await query_vector(snapshot, embedder, text, indexing=indexing)


# --- in a thread ---------------------------------------------------------------------------------


def _by_words(
    snapshot: Snapshot, query: SearchQuery, compiled: LexicalQuery, stopped: Stopped
) -> _Results:
    ranking = lexical.rank_by_words(snapshot, compiled, query.filters, stopped, limit=query.depth)
    return _Results(
        ranking.entries,
        ranking.notes,
        ranking.candidates.term_information,
        dict.fromkeys(ranking.notes, Reason.LEXICAL_MATCH),
        ranking.candidates.similar_terms,
        lexical.coverage(snapshot, compiled, ranking) if query.coverage else None,
    )


def _by_meaning(
    snapshot: Snapshot,
    query: SearchQuery,
    compiled: LexicalQuery,
    vector: Vector,
    stopped: Stopped,
) -> _Results:
    from vault_agent.search.semantic import near, usable_matrix

    admitted = _admitted(snapshot, query, compiled)
    raise_if_stopped(stopped)
    nearby = near(usable_matrix(snapshot), vector, admitted=admitted)
    raise_if_stopped(stopped)
    term_information = lexical.term_information(snapshot.fulltext, compiled)
    entries = _nearest(nearby)
    # Some notes may be gone, so take twice as many as wanted, and all others that score the last
    # one's score.
    least = min((entry.score for entry in entries[: 2 * query.depth]), default=0.0)
    entries = [entry for entry in entries if entry.score >= least]
    notes = with_notes(snapshot, {}, [entry.rowid for entry in entries])
    reasons = dict.fromkeys(notes, Reason.EMBEDDING_MATCH)
    return _in_order(entries, notes, term_information, reasons)


def _by_both(
    snapshot: Snapshot,
    query: SearchQuery,
    compiled: LexicalQuery,
    vector: Vector,
    stopped: Stopped,
) -> _Results:
    from vault_agent.search.semantic import near, usable_matrix

    ranking = lexical.rank_by_words(snapshot, compiled, query.filters, stopped, limit=POOL)
    admitted = _admitted(snapshot, query, compiled)
    raise_if_stopped(stopped)
    nearby = near(
        usable_matrix(snapshot),
        vector,
        admitted=admitted,
        include=ranking.notes,
    )
    raise_if_stopped(stopped)
    candidates = ranking.candidates
    entries, reasons = _fused(ranking, nearby, attainable(compiled, candidates))
    notes = with_notes(snapshot, ranking.notes, nearby.cosines)
    ordered = _in_order(entries, notes, candidates.term_information, reasons)
    return ordered._replace(similar_terms=candidates.similar_terms)


def _admitted(snapshot: Snapshot, query: SearchQuery, compiled: LexicalQuery) -> set[int] | None:
    """Return the notes that pass, or None if the query has no filters or conditions."""
    if query.filters == Filters() and not compiled.conditions:
        return None
    return snapshot.fulltext.admitted(query.filters, query=compiled)


def _in_order(
    entries: list[Ranked],
    notes: Mapping[int, StoredNote],
    term_information: Mapping[str, float],
    reasons: Mapping[int, Reason],
) -> _Results:
    """Return the results whose notes still exist, best first.

    Once they are in order, a hit that only vectors have found gets half of its score, because the
    nearest vector need not be near. Hits after it get at most as much, so the order stays.
    """
    entries = [entry for entry in entries if entry.rowid in notes]
    entries.sort(key=lambda entry: (-entry.score, notes[entry.rowid].path))
    ranked: list[Ranked] = []
    most = 1.0
    for entry in entries:
        by_meaning = reasons[entry.rowid] is Reason.EMBEDDING_MATCH
        own = MEANING_SCORE_CAP * entry.score if by_meaning else entry.score
        most = min(most, round(own, 6))
        ranked.append(entry._replace(score=most))
    return _Results(ranked, notes, term_information, reasons)


def _page(
    snapshot: Snapshot,
    query: SearchQuery,
    mode: Mode,
    results: _Results,
    warnings: tuple[Warning, ...],
) -> Answer:
    ranked = _weighed(snapshot, query, results.entries, results.notes)
    entries = ranked[query.offset : query.end]
    hits = hits_of(
        snapshot,
        entries,
        results.notes,
        results.term_information,
        reasons=[results.reasons[entry.rowid] for entry in entries],
        explain=query.explain,
    )
    return Answer(
        query.mode,
        mode,
        query.limit,
        hits,
        warnings,
        has_more=len(ranked) > query.end,
        unknown=unknown_words(query.query, results.similar_terms, hits),
        revision=snapshot.revision,
        coverage=results.coverage,
    )


def _weighed(
    snapshot: Snapshot,
    query: SearchQuery,
    ranked: list[Ranked],
    notes: Mapping[int, StoredNote],
) -> list[Ranked]:
    """Return the results in their order after the owner's weights of folders and ages."""
    weights = query.weights
    if not any(weights):
        return ranked
    ranked = ranked[:MAX_RANKED]
    dated = {entry.rowid for entry in ranked} if weights.half_life else set[int]()
    updated = snapshot.query(updated_of, dated)
    today = datetime.now(UTC).date()
    weighed = [
        weigh(entry, weights, notes[entry.rowid].path, updated.get(entry.rowid, ""), today)
        for entry in ranked
    ]
    return sorted(weighed, key=lambda entry: -entry.score)  # equal ones stay in their order


def _nearest(nearby: NearestNotes) -> list[Ranked]:
    """Return the notes by their cosines, the nearest first."""
    entries = [
        Ranked(rowid, nearby.chunks[rowid], min(cosine, 1.0), {"cosine": cosine})
        for rowid, exact in nearby.cosines.items()
        if (cosine := round(exact, 6)) > 0
    ]
    return sorted(entries, key=lambda entry: -entry.score)


def _fused(
    ranking: LexicalRanking, nearby: NearestNotes, most: float
) -> tuple[list[Ranked], dict[int, Reason]]:
    """Fuse the lexical and semantic scores of each note."""
    from vault_agent.search.rank import fuse

    best = {entry.rowid: entry for entry in ranking.entries}
    fused = fuse(
        {rowid: sum(entry.votes.values()) for rowid, entry in best.items()},
        nearby.cosines,
        ceiling=most,
        background=nearby.background,
        prominence=nearby.prominence,
    )
    entries: list[Ranked] = []
    reasons: dict[int, Reason] = {}
    for rowid, score in fused.items():
        words = best.get(rowid)
        by_words = words is not None and score.lexical >= score.embedding
        key = words.key if words is not None and by_words else nearby.chunks.get(rowid)
        votes = {"words": round(score.lexical, 4), "meaning": round(score.embedding, 4)}
        votes = {vote: value for vote, value in votes.items() if value}
        if not score.lexical:
            reasons[rowid] = Reason.EMBEDDING_MATCH
        else:
            reasons[rowid] = Reason.HYBRID_MATCH if score.embedding else Reason.LEXICAL_MATCH
        total, is_named = round(min(score.score, 1.0), 6), words is not None and words.is_named
        entries.append(Ranked(rowid, key, total, votes, is_named=is_named))
    return entries, reasons


# --- reranking ------------------------------------------------------------------------------------


_NOT_RERANKED = "These results are not reranked."


async def rerank(
    snapshot: Snapshot,
    entries: list[Ranked],
    notes: Mapping[int, StoredNote],
    scores: Callable[[Sequence[str]], Awaitable[Sequence[float]]],
    named: Callable[[], Collection[int]],
) -> tuple[list[Ranked], tuple[Warning, ...]]:
    """Return the results with the first 30 reordered, or as they are with a warning.

    `scores` returns the relevance of passages, or raises `Unavailable`. `named` blocks, and returns
    the notes whose name is the query: they stay in front. `notes` has the notes of all `entries`.
    """
    first = entries[:RERANKED]
    if len(first) < 2:
        return entries, ()
    texts = await snapshot.threads.run(_passages, snapshot, first, notes)
    try:
        relevance = await scores(texts)
    except Unavailable as reason:
        return entries, (fell_back(reason, _NOT_RERANKED),)
    return reorder(entries, relevance, await snapshot.threads.run(named)), ()


def _passages(
    snapshot: Snapshot, entries: Sequence[Ranked], notes: Mapping[int, StoredNote]
) -> list[str]:
    """Return the text of each result: title, headings, and the chunk that the result shows."""
    keys = [*map(shown_key, entries)]
    chunks = snapshot.query(stored_notes.chunks, keys)
    return [
        chunk_input("", notes[entry.rowid].title, chunk.heading_path, chunk.text)
        if (chunk := chunks.get(key)) is not None
        else notes[entry.rowid].title
        for entry, key in zip(entries, keys, strict=True)
    ]


def reorder(
    entries: Sequence[Ranked], relevance: Sequence[float], named: Collection[int]
) -> list[Ranked]:
    """Return the results by relevance. Each of the reordered ones says what its place was.

    `relevance` has a number for each of the first `entries`, on any scale; the others stay behind
    them. Notes in `named`, whose name is exactly the query, stay in front. The scores stay in their
    order: the new first result gets the highest score, and so on. So they can still be weighed.
    """
    count = len(relevance)
    rowids = [entry.rowid for entry in entries[:count]]
    order = sorted(range(count), key=lambda at: (rowids[at] not in named, -relevance[at], at))
    best = [
        entries[at]._replace(
            score=entries[new].score,
            reranked={"relevance": round(relevance[at], 4), "placeBefore": at + 1},
        )
        for new, at in enumerate(order)
    ]
    return [*best, *entries[count:]]
