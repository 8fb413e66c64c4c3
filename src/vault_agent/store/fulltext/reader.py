"""Searches full text: a reader is as it was opened, and safe to use from any thread.

tantivy releases the interpreter's lock while it searches, so callers run `candidates` in a thread.
A search is a few bounded queries, each well under a millisecond at 100,000 chunks: the best notes,
the best chunks, and notes with adjacent pairs of words. Then notes and chunks found by only one
of the queries are scored by the others.
"""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple

import orjson
from tantivy import Query

from vault_agent.model.identifiers import CHUNK_BITS
from vault_agent.model.lexical import LexicalQuery, rarity
from vault_agent.model.scope import EVERYTHING
from vault_agent.model.search import Filters
from vault_agent.store.failures import MappedFiles, guarded
from vault_agent.store.fulltext.clauses import (
    Limits,
    any_of,
    check_patterns,
    combined,
    conditions,
    scored,
    silent,
    valued,
    words_or_phrases,
)
from vault_agent.store.fulltext.schema import name_key
from vault_agent.store.fulltext.searching import (
    CHUNK_FIELDS,
    CHUNKS,
    NAMED,
    NOTES,
    OPENINGS,
    Search,
    SearchStopped,
    Speller,
    go_on,
)
from vault_agent.store.fulltext.shelf import Passing, Rows, Shelf, ranked

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from vault_agent.model.lexical import Candidates, Terms
    from vault_agent.model.scope import Scope
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


_CHUNKS_OF_NOTE = 8  # on average, among those that are looked at
_REMEMBERED_FILTERS = 4  # each takes up to 80 bytes a note
_NEVER_READ = {".json", ".store"}  # no search reads them, so they need no check
EVERY_ROW = Rows()


def _never() -> bool:
    return False


class FulltextReader:
    """The full text of one revision, unchanged until `close`."""

    def __init__(self, directory: Path, rows: Rows = EVERY_ROW) -> None:
        """Open the full text in a folder, and show no other rows than those of a revision."""
        self._commits = [directory / shelf / "meta.json" for shelf in ("notes", "chunks")]
        with guarded():
            self._opened = self._commit()
            self._notes = Shelf(directory / "notes", "rowid", rows)
            self._chunks = Shelf(directory / "chunks", "key", rows)
            # The cache holds the notes, not this object, so that no cycle keeps the files open.
            self._passing = lru_cache(_REMEMBERED_FILTERS)(partial(Passing, self._notes))
            self._within = lru_cache(_REMEMBERED_FILTERS)(
                partial(Statistics, self._notes, self._chunks)
            )
            # Names of files that the engine is about to replace begin with a dot.
            files = [path for path in directory.glob("*/*") if not path.name.startswith(".")]
            self._files = MappedFiles(path for path in files if path.suffix not in _NEVER_READ)

    def close(self) -> None:
        """Release the files. Running searches can finish."""
        del self._notes, self._chunks, self._passing, self._within

    def is_newest(self) -> bool:
        """Whether nothing was written since this was opened."""
        with guarded():
            return self._opened == self._commit()

    def _commit(self) -> list[tuple[int, int]]:
        """Identify the last commit or merge of each index."""
        found = [path.stat() for path in self._commits]
        return [(file.st_ino, file.st_mtime_ns) for file in found]

    def note_count(self, scope: Scope) -> int:
        """Return how many notes a scope has."""
        if scope == EVERYTHING:
            return self._notes.documents
        with guarded():
            self._files.check()
            return self._within(scope).notes

    def chunk_count(self, scope: Scope) -> int:
        """Return how many chunks the notes of a scope have."""
        if scope == EVERYTHING:
            return self._chunks.documents
        with guarded():
            self._files.check()
            return self._within(scope).passages

    def document_frequencies(self, terms: Iterable[str], scope: Scope) -> dict[str, int]:
        """Return in how many notes of a scope each term is."""
        with guarded():
            self._files.check()
            if scope != EVERYTHING:
                return {term: self._within(scope).frequency(term) for term in terms}
            return {term: self._notes.clauses.frequency("body", term) for term in terms}

    def named(self, name: str, scope: Scope) -> list[int]:
        """Return notes of a scope with a title, alias or file name of the same terms as `name`."""
        with guarded():
            self._files.check()
            if not (key := name_key(name)):
                return []
            clauses = self._notes.clauses
            must = [clauses.term("name", key, positions=False)]
            must += clauses.filters(Filters(scope=scope))
            return self._notes.first(combined(must=must, must_not=[]), NAMED)

    def notes_with(self, phrase: Sequence[str], limit: int) -> tuple[int, list[int]]:
        """Return how many notes contain a phrase, and the best `limit` of them."""
        with guarded():
            self._files.check()
            clauses = self._notes.clauses
            query = clauses.of_notes(clauses.phrase("body", phrase))
            count = self._notes.count(query)
            return count, list(self._notes.top(query, limit)) if count else []

    def notes_named_with(self, phrase: Sequence[str], limit: int) -> list[int]:
        """Return notes with a title, alias or file name that contains a phrase."""
        with guarded():
            self._files.check()
            clauses = self._notes.clauses
            return self._notes.first(clauses.of_notes(clauses.phrase("names", phrase)), limit)

    def unknown_paths(self, filters: Filters) -> list[str]:
        """Return the paths of filters that are neither a folder with notes nor a note."""
        with guarded():
            self._files.check()
            names_nothing, scope = self._notes.clauses.names_nothing, filters.scope
            return [path for path in filters.paths if names_nothing(path, scope)]

    def having(
        self, query: LexicalQuery, filters: Filters, *, limit: int, stopped: Stopped = _never
    ) -> dict[int, float]:
        """Return the best notes that have all phrases of a query anywhere, with their BM25.

        Raises:
            InvalidRequest: `INVALID_REQUEST` if path patterns are too complex.
            SearchStopped: if `stopped` returned True.
        """
        with guarded():
            self._files.check()
            asked = (filters, query.filters, query.without)
            check_patterns(*asked)
            passing = self._passing(*asked) if any(each != Filters() for each in asked) else None
            clauses = self._notes.clauses
            must, must_not = conditions(clauses, query, "body", Limits())
            if passing is not None:
                must, must_not = must + passing.must, must_not + passing.must_not
            if stopped():
                raise SearchStopped
            weights = {**query.units, **query.weights}
            if filters.scope != EVERYTHING:
                asked_of = Condition(must, must_not)
                statistics = self._within(filters.scope)
                return ranked(
                    bm25(self._notes, [("body", 1.0)], weights, statistics, asked_of), limit
                )
            words = words_or_phrases(clauses, query, weights)
            return self._notes.top(scored(words, must, must_not, None), limit)

    def admitted(
        self,
        filters: Filters,
        rowids: Iterable[int] | None = None,
        *,
        query: LexicalQuery | None = None,
        attachments: bool = True,
    ) -> set[int]:
        """Return the notes, all or of `rowids`, that pass the filters and a query's conditions.

        It filters notes that links or vectors have found. Attachments whose text is indexed are
        among them unless `attachments` is False.
        """
        with guarded():
            self._files.check()
            clauses = self._notes.clauses
            query = query or LexicalQuery()
            check_patterns(filters, query.filters, query.without)
            must, must_not = conditions(clauses, query, "body", Limits())
            must += clauses.filters(filters) + clauses.filters(query.filters, filters.scope)
            must_not += clauses.excluded(query.without, filters.scope)
            if rowids is not None:
                rowids = list(rowids)
                must.append(clauses.rowids(rowids))
            if not attachments:
                must_not.append(clauses.attachments())
            every = combined(must=[silent(Query.all_query()), *must], must_not=must_not)
            found = set(self._notes.first(every, max(self._notes.searcher.num_docs, 1)))
            return found if rowids is None else found & set(rowids)

    def candidates(
        self,
        query: LexicalQuery,
        filters: Filters,
        *,
        without: Collection[int] = (),
        among: Collection[int] | None = None,
        stopped: Stopped = _never,
    ) -> Candidates:
        """Return the notes and chunks to rank for a query. Filters apply before scoring.

        The notes `without` are left out. If `among` is given, only these notes are searched.

        The same index and query give the same candidates: ties at the cut go to lower rowids.
        `stopped` is called between the steps.

        Raises:
            IndexUnavailable: `INDEX_INCOMPATIBLE` if the files are damaged.
            InvalidRequest: `INVALID_REQUEST` if path patterns are too complex.
            SearchStopped: if `stopped` returned True.
        """
        with guarded():
            self._files.check()
            asked = (filters, query.filters, query.without)
            check_patterns(*asked)
            passing = self._passing(*asked) if any(each != Filters() for each in asked) else None
            limits = Limits(without, among)
            asked_of = (self._notes, self._chunks, query, passing, limits, stopped)
            if filters.scope == EVERYTHING:
                return Search(*asked_of).run()
            return ScopedSearch(*asked_of, self._within(filters.scope)).run()

    def most_in_one_chunk(
        self, words: Mapping[str, float], rowids: Collection[int]
    ) -> dict[int, float]:
        """Return, by note, the largest sum of the values of those terms that one chunk has.

        The title and the headings above a chunk count as its own. A note with none is left out.
        """
        if not words or not rowids:
            return {}
        with guarded():
            self._files.check()
            clauses = self._chunks.clauses
            has = [valued(any_of(clauses.in_chunk(term)), value) for term, value in words.items()]
            asked = combined(must=[any_of(has), clauses.rowids(rowids)], must_not=[])
            most = _CHUNKS_OF_NOTE * len(rowids)
            found: dict[int, float] = {}
            for key, value in self._chunks.top(asked, most).items():
                found.setdefault(key >> CHUNK_BITS, value)  # the best chunk comes first
            return found

    def similarities(
        self, weights: Mapping[str, float], rowids: Collection[int], scope: Scope
    ) -> dict[int, float]:
        """Return BM25 of the whole text of those of some notes that have any of the terms.

        The statistics are those of the notes of a scope.
        """
        if not weights or not rowids:
            return {}
        with guarded():
            self._files.check()
            clauses = self._notes.clauses
            if scope != EVERYTHING:
                among = Condition([clauses.rowids(rowids)])
                found = bm25(self._notes, [("body", 1.0)], weights, self._within(scope), among)
                return ranked({key: found[key] for key in rowids if key in found}, len(rowids))
            asked = scored(clauses.words("body", weights), (), (), clauses.rowids(rowids))
            return self._notes.top(asked, len(rowids))
