"""Searches by the notes of a scope alone, for callers who may not learn of others.

The engine's scores depend on how many notes of the whole index have a term, and on their lengths.
So BM25 is computed here: by the frequencies of the scope, and by a usual length that is the same
for every vault. How often a document has a term, and its length, follow from two scores of the
engine: as it is, and as if the term were there once.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import orjson
from tantivy import Query

from vault_agent.model.lexical import rarity
from vault_agent.model.search import Filters
from vault_agent.store.fulltext.clauses import combined, silent
from vault_agent.store.fulltext.searching import (
    CHUNK_FIELDS,
    CHUNKS,
    NOTES,
    OPENINGS,
    Search,
    go_on,
)
from vault_agent.store.fulltext.shelf import ranked
from vault_agent.store.fulltext.spelling import Speller

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from typing import Any

    from vault_agent.model.lexical import LexicalQuery, Terms
    from vault_agent.model.scope import Scope
    from vault_agent.store.fulltext.clauses import Limits
    from vault_agent.store.fulltext.shelf import Passing, Shelf
    from vault_agent.system.threads import Stopped

_K1, _B = 1.2, 0.75  # of BM25, as the engine has them
_USUAL_LENGTHS = {"body": 400.0, "names": 10.0, "text": 120.0, "context": 15.0}
_MOST_TIMES = 1_000  # more say nothing more
_LONGEST = 60_000  # terms; longer texts count as this long, because scores tell no more
_WIDE = 200  # notes whose chunks are scored
# So many notes with a query's rarer terms are enough: the more common terms only order them.
_ENOUGH = 1_000
_COMMON = 4  # a term in so many times as many notes is more common: looking up notes takes longer


class Statistics:
    """What the notes of a scope say about terms. Counts are kept, because a revision is fixed."""

    def __init__(self, notes: Shelf, chunks: Shelf, scope: Scope) -> None:
        """Take the two indexes of one revision."""
        self._notes = notes
        self._chunks = chunks
        self._inside = notes.clauses.filters(Filters(scope=scope))
        self._frequencies: dict[str, int] = {}
        self.notes = notes.count(combined(must=[*self._inside], must_not=[]))
        self._passages: int | None = None

    @property
    def passages(self) -> int:
        """How many chunks the notes have."""
        if self._passages is None:
            every = combined(must=[*self._inside], must_not=[])
            rowids = self._notes.first(every, max(self.notes, 1))
            self._passages = self._chunks.count(self._chunks.clauses.rowids(rowids))
        return self._passages

    def frequency(self, term: str) -> int:
        """Return how many of the notes have a term."""
        if term not in self._frequencies:
            has = self._notes.clauses.term("body", term, positions=False)
            found = self._notes.count(combined(must=[has, *self._inside], must_not=[]))
            self._frequencies[term] = found
        return self._frequencies[term]

    def is_repeated(self, term: str) -> bool:
        """Whether one of the notes has a term in a line that many notes have."""
        has = self._notes.clauses.term("repeated", term, positions=False)
        return bool(self._notes.count(combined(must=[has, *self._inside], must_not=[])))

    def rarity(self, term: str) -> float:
        """Return the inverse document frequency of a term."""
        return rarity(self.notes, self.frequency(term))


class Condition(NamedTuple):
    """Clauses of which all must match, and clauses of which none may."""

    must: Sequence[Query] = ()
    must_not: Sequence[Query] = ()


def bm25(
    shelf: Shelf,
    fields: Iterable[tuple[str, float]],
    weights: Mapping[str, float],
    statistics: Statistics,
    condition: Condition,
) -> dict[int, float]:
    """Return BM25 of the documents that have any of the terms, by the statistics of a scope."""
    scores: defaultdict[int, float] = defaultdict(float)
    known = [term for term in weights if statistics.frequency(term)]
    rarest_first = sorted(known, key=lambda term: (statistics.frequency(term), term))
    for field, share in fields:
        usual = _USUAL_LENGTHS[field]
        for term in rarest_first:
            if shelf.has_notes and len(scores) >= _ENOUGH < statistics.frequency(term) // _COMMON:
                best = ranked(scores, _ENOUGH)
                only = shelf.clauses.rowids(best)
                condition = Condition([*condition.must, only], condition.must_not)
            most = share * weights[term] * statistics.rarity(term) * (_K1 + 1)
            for key, times, length in _occurrences(shelf, field, term, condition):
                scores[key] += most * times / (times + _K1 * (1 - _B + _B * length / usual))
    return scores


def _occurrences(
    shelf: Shelf, field: str, term: str, condition: Condition
) -> list[tuple[int, int, int]]:
    """Return the documents that have a term, how often they have it, and their lengths."""
    must, must_not = list(condition.must), condition.must_not
    counted = shelf.clauses.term(field, term)
    wanted = combined(must=[counted, *must], must_not=must_not)
    count = shelf.count(wanted)
    if not count:
        return []
    once = shelf.clauses.term(field, term, positions=False)
    one = dict(shelf.scores(combined(must=[once, *must], must_not=must_not), count))
    idf, usual = _explained(shelf, counted)
    found = []
    for key, score in shelf.scores(wanted, count):
        norm = idf * (_K1 + 1) / one[key] - 1
        length = min(round((norm / _K1 - 1 + _B) / _B * usual), _LONGEST)
        norm = _K1 * (1 - _B + _B * length / usual) if length < _LONGEST else norm
        rest = idf * (_K1 + 1) - score
        times = round(score * norm / rest) if rest > 0 else _MOST_TIMES
        found.append((key, max(1, min(times, _MOST_TIMES)), length))
    return found


def _explained(shelf: Shelf, query: Query) -> tuple[float, float]:
    """Return the inverse document frequency by which the engine scores a term, and the length."""
    address = shelf.searcher.search(query, 1, count=False).hits[0][1]
    values: dict[str, float] = {}
    _collect(orjson.loads(query.explain(shelf.searcher, address).to_json()), values)
    return values["idf"], values["avgdl"]


def _collect(explanation: dict[str, Any], values: dict[str, float]) -> None:
    values[explanation["description"].split(",")[0]] = explanation["value"]
    for part in explanation.get("details", ()):
        _collect(part, values)


class ScopedSearch(Search):
    """A search whose statistics and scores are those of the notes of a scope."""

    def __init__(  # noqa: PLR0917 - as `Search`
        self,
        notes: Shelf,
        chunks: Shelf,
        query: LexicalQuery,
        passing: Passing | None,
        limits: Limits,
        stopped: Stopped,
        statistics: Statistics,
    ) -> None:
        self._statistics = statistics
        super().__init__(notes, chunks, query, passing, limits, stopped)

    @property
    def _count(self) -> int:
        return self._statistics.notes

    def _frequency(self, term: str) -> int:
        return self._statistics.frequency(term)

    def _is_repeated(self, term: str) -> bool:
        return self._statistics.is_repeated(term)

    def _make_speller(self) -> Speller:
        return Speller(self._notes.searcher, self._notes.schema, self._statistics.frequency)

    def _opened(self, unit: str) -> Sequence[str]:
        pairs = [pair for pair, _ in self._chunks.searcher.terms_with_prefix("text", unit)]
        counts = {pair: self._frequency(pair) for pair in pairs}
        known = sorted((pair for pair in pairs if counts[pair]), key=lambda it: (-counts[it], it))
        return known[:OPENINGS]

    def _best_notes(
        self,
        field: str,
        weights: Mapping[str, float],
        limit: int,
        among: Collection[int] | None = None,
    ) -> dict[int, float]:
        go_on(self._stopped)
        must = [*self._note_must]
        if among is not None:
            must.append(self._notes.clauses.rowids(among))
        if not weights:
            every = combined(must=[silent(Query.all_query()), *must], must_not=self._note_not)
            return dict.fromkeys(self._notes.first(every, limit), 0.0)
        condition = Condition(must, self._note_not)
        scores = bm25(self._notes, [(field, 1.0)], weights, self._statistics, condition)
        return ranked(scores, limit)

    def _chunks_of(self, among: Collection[int]) -> dict[int, float]:
        go_on(self._stopped)
        inside = self._chunks.clauses.rowids(among)
        condition = Condition([*self._chunk_must, inside], self._chunk_not)
        scores = bm25(self._chunks, CHUNK_FIELDS, self._openings, self._statistics, condition)
        return ranked(scores, CHUNKS)

    def _text(self) -> dict[int, float]:
        if self._passing is not None and self._passing.few is not None:
            return self._chunks_of(self._passing.few)
        words = {**self._query.units, **self._weights}
        return self._chunks_of(self._best_notes("body", words, _WIDE))

    def _with_phrases(self, phrases: Sequence[tuple[Terms, int]]) -> dict[int, float]:
        scores: defaultdict[int, float] = defaultdict(float)
        for parts, gap in phrases:
            value = sum(map(self._statistics.rarity, parts))
            phrase = self._notes.clauses.phrase("body", parts, slop=gap)
            query = combined(must=[phrase, *self._note_must], must_not=self._note_not)
            for rowid in self._notes.first(query, max(self._count, 1)):
                scores[rowid] += value
        return ranked(scores, NOTES)
