"""Searching full text: one reader for one revision, safe to use from any thread.

Over 300 lines, since a search is one sequence of queries that share their conditions.

tantivy releases the interpreter's lock while it searches, so callers run `candidates` in a thread.
A search is a handful of bounded queries, each of which costs well under a millisecond at 100,000
chunks: the best notes, the best chunks, the pairs of words that stand together, and then the
missing half of the evidence for whatever only one of them has found.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING

from tantivy import Query

from vault_agent.model.identifiers import CHUNK_BITS
from vault_agent.model.lexical import (
    CONTEXT_WEIGHT,
    Candidates,
    ChunkEvidence,
    LexicalQuery,
    NoteEvidence,
    rarity,
)
from vault_agent.model.search import Filters
from vault_agent.store.fulltext.clauses import any_of, check_patterns, combined, silent
from vault_agent.store.fulltext.guard import guarded
from vault_agent.store.fulltext.shelf import Passing, Shelf
from vault_agent.store.fulltext.spelling import Speller, worth_correcting
from vault_agent.store.mapped import MappedFiles
from vault_agent.text.terms import is_unit

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from vault_agent.store.fulltext.clauses import Clauses
    from vault_agent.system.threads import Stopped

NOTES = 60
CHUNKS = 100
NAMES = 30
_NAMED = 50
# A pair counts only where one of its words is in at most this share of the notes: the rest is
# grammar, costs most of the time and gains nothing.
_RARE_SHARE = 0.1
_PAIR_SLOP = 1
_OPENINGS = 30  # pairs that a single character stands for
_REMEMBERED_FILTERS = 8  # a byte a note each


class SearchStopped(Exception):
    """A search was given up, since nobody waits for it."""


def _never() -> bool:
    return False


class FulltextReader:
    """One revision, opened once and unchanged until `close`."""

    def __init__(self, directory: Path) -> None:
        with guarded():
            self._notes = Shelf(directory / "notes", "rowid")
            self._chunks = Shelf(directory / "chunks", "key")
            # Of the notes and not of this object, so that no cycle keeps the files open.
            self._passing = lru_cache(_REMEMBERED_FILTERS)(partial(Passing, self._notes))
            self._files = MappedFiles(path for path in directory.glob("*/*") if path.is_file())

    def close(self) -> None:
        """Let go of the files; searches under way end undisturbed."""
        del self._notes, self._chunks, self._passing

    @property
    def note_count(self) -> int:
        """How many notes there are, removed ones not counted."""
        return self._notes.searcher.num_docs

    def document_frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        """Return in how many notes each term stands."""
        with guarded():
            self._files.check()
            return {term: self._notes.searcher.doc_freq("body", term) for term in terms}

    def admitted(
        self,
        filters: Filters,
        rowids: Iterable[int] | None = None,
        *,
        query: LexicalQuery | None = None,
    ) -> set[int]:
        """Return the notes that pass the filters and a query's conditions, of all or of `rowids`.

        For evidence that full text knows nothing of: links and vectors.
        """
        with guarded():
            self._files.check()
            clauses = self._notes.clauses
            query = query or LexicalQuery()
            check_patterns(filters, query.filters, query.without)
            must, must_not = _conditions(clauses, query, "body", None)
            must += clauses.filters(filters) + clauses.filters(query.filters)
            must_not += clauses.excluded(query.without)
            if rowids is not None:
                must.append(clauses.rowids(rowids))
            every = combined(must=[silent(Query.all_query()), *must], must_not=must_not)
            return set(self._notes.first(every, max(self._notes.searcher.num_docs, 1)))

    def candidates(
        self,
        query: LexicalQuery,
        filters: Filters,
        *,
        without_note: int | None = None,
        stopped: Stopped = _never,
    ) -> Candidates:
        """Return what is worth ranking for a query; filters hold before anything is scored.

        The same index and query give the same candidates: ties at the cut go to lower rowids.
        `stopped` is asked between the steps.

        Raises:
            InvalidRequest: where the path patterns have too many wildcards.
            IndexUnavailable: `INDEX_INCOMPATIBLE` where the files are damaged.
            SearchStopped: where `stopped` said so.
        """
        with guarded():
            self._files.check()
            asked = (filters, query.filters, query.without)
            check_patterns(*asked)
            passing = self._passing(*asked) if any(each != Filters() for each in asked) else None
            return _Search(self._notes, self._chunks, query, passing, without_note, stopped).run()


class _Search:
    """One search, from a compiled query to the evidence."""

    def __init__(  # noqa: PLR0917 - one caller, and each argument a type of its own
        self,
        notes: Shelf,
        chunks: Shelf,
        query: LexicalQuery,
        passing: Passing | None,
        without_note: int | None,
        stopped: Stopped,
    ) -> None:
        self._stopped = stopped
        self._notes = notes
        self._chunks = chunks
        self._query = query
        self._note_must, self._note_not = _conditions(notes.clauses, query, "body", without_note)
        self._chunk_must, self._chunk_not = _conditions(chunks.clauses, query, "text", without_note)
        self._passing = passing  # None where there are no filters
        if passing is not None:
            self._note_must += passing.must
            self._note_not += passing.must_not
        self._neighbours: dict[str, tuple[str, ...]] = {}
        self._frequencies: dict[str, int] = {}
        self._weights = self._look_up(query.weights)
        self._openings = self._open(self._weights)

    def run(self) -> Candidates:
        if not self._weights and (self._query.weights or not self._note_must):
            return Candidates(neighbours=self._neighbours)
        self._go_on()
        body = self._notes.top(self._body_query(), NOTES)
        # Without openings their queries would have no words, and so match everything.
        text = self._text() if self._openings else {}
        self._go_on()
        pairs = self._pairs()
        names = self._notes.top(self._names_query(), NAMES) if self._openings else {}
        named = self._named()
        headed = self._headed()
        self._go_on()
        self._complete(body, text, named | pairs.keys() | names.keys(), headed)
        if self._query.excluded and self._weights:
            # Asked of a whole note: a part that lacks the word does not bring the note back.
            text = {key: score for key, score in text.items() if key >> CHUNK_BITS in body}
            headed = {key for key in headed if key >> CHUNK_BITS in body}
        return Candidates(
            notes={
                rowid: NoteEvidence(
                    body.get(rowid, 0.0),
                    pairs.get(rowid, 0.0),
                    names.get(rowid, 0.0),
                    rowid in named,
                )
                for rowid in sorted({*body, *named})
            },
            chunks={
                key: ChunkEvidence(text.get(key, 0.0), key in headed)
                for key in sorted({*text, *headed})
            },
            information=self._information(),
            neighbours=self._neighbours,
        )

    def _go_on(self) -> None:
        """Raise `SearchStopped` where the caller has gone."""
        if self._stopped():
            raise SearchStopped

    def _look_up(self, weights: Mapping[str, float]) -> dict[str, float]:
        """Replace words that are in no note by their neighbours."""
        searcher = self._notes.searcher
        frequencies = {term: searcher.doc_freq("body", term) for term in weights}
        unknown = [term for term, count in frequencies.items() if not count and not is_unit(term)]
        if self._query.tolerant:
            self._neighbours = dict.fromkeys(unknown, ())
        corrected: dict[str, dict[str, int]] = {}
        speller = Speller(searcher, self._notes.schema)
        for term in worth_correcting(self._neighbours):
            self._go_on()
            corrected[term] = speller.neighbours_of(term)
            self._neighbours[term] = tuple(corrected[term])
        found: dict[str, float] = {}
        for term, weight in weights.items():
            if term in self._neighbours:
                known = corrected.get(term, {})
            else:
                known = {term: frequencies[term]}
            for each, count in known.items():
                found[each] = found.get(each, 0.0) + weight
                self._frequencies[each] = count
        return found

    def _open(self, weights: Mapping[str, float]) -> dict[str, float]:
        """Replace words of one character by the pairs they begin: a chunk has no other terms."""
        found: dict[str, float] = {}
        for term, weight in weights.items():
            if is_unit(term):
                opened = self._chunks.searcher.terms_with_prefix("text", term, None, _OPENINGS)
                found |= dict.fromkeys((pair for pair, _ in opened), weight)
            else:
                found[term] = weight
        return found

    def _information(self) -> dict[str, float]:
        """Return BM25's inverse document frequency of each term, times its weight."""
        count = self._notes.searcher.num_docs
        return {
            term: weight * rarity(count, self._frequencies[term])
            for term, weight in self._weights.items()
        }

    def _body_query(self, among: Query | None = None) -> Query:
        clauses = self._notes.clauses
        words = clauses.words("body", {**self._query.units, **self._weights})
        return _scored(words, self._note_must, self._note_not, among)

    def _names_query(self) -> Query:
        clauses = self._notes.clauses
        words = clauses.words("names", self._openings)
        return _scored(words, self._note_must, self._note_not, None)

    def _text_query(self, among: Query | None = None) -> Query:
        clauses = self._chunks.clauses
        context = {term: CONTEXT_WEIGHT * weight for term, weight in self._openings.items()}
        words = clauses.words("text", self._openings) + clauses.words("context", context)
        return _scored(words, self._chunk_must, self._chunk_not, among)

    def _pairs(self) -> dict[int, float]:
        rare = _RARE_SHARE * self._notes.searcher.num_docs
        clauses = self._notes.clauses
        words = [
            clauses.phrase("body", pair, slop=_PAIR_SLOP)
            for pair in self._query.pairs
            if min(self._frequencies.get(term, 0) for term in pair) <= rare
            and all(self._frequencies.get(term) for term in pair)
        ]
        words += [clauses.phrase("body", parts) for parts in self._query.compounds]
        if not words:
            return {}
        return self._notes.top(
            combined(must=[any_of(words), *self._note_must], must_not=self._note_not), NOTES
        )

    def _text(self) -> dict[int, float]:
        if (passing := self._passing) is None:
            return self._chunks.top(self._text_query(), CHUNKS)
        if passing.few is not None:
            asked = self._chunks.clauses.rowids(passing.few)
            return self._chunks.top(self._text_query(asked), CHUNKS)
        return self._chunks.top_passing(self._text_query(), CHUNKS, passing)

    def _named(self) -> set[int]:
        """Return the notes of which a name, the path or the path's end is the query."""
        if not self._query.name:
            return set()
        clauses = self._notes.clauses
        names = [clauses.term("name", self._query.name, positions=False)]
        if self._query.path and (path := clauses.path_end(self._query.path)) is not None:
            names.append(path)
        query = combined(must=[any_of(names), *self._note_must], must_not=self._note_not)
        return set(self._notes.first(query, _NAMED))

    def _headed(self) -> set[int]:
        """Return the chunks whose heading is the query."""
        if not self._query.name:
            return set()
        name = self._chunks.clauses.term("name", self._query.name, positions=False)
        query = combined(must=[name, *self._chunk_must], must_not=self._chunk_not)
        if (passing := self._passing) is None:
            return set(self._chunks.first(query, _NAMED))
        return set(self._chunks.first_passing(query, _NAMED, passing))

    def _complete(
        self, body: dict[int, float], text: dict[int, float], rowids: set[int], headed: set[int]
    ) -> None:
        """Score what only some of the queries have found in the others too, in place."""
        if not self._weights:
            return
        scored = {key >> CHUNK_BITS for key in text}
        seen = rowids | scored | {key >> CHUNK_BITS for key in headed}
        if missing := sorted(seen - body.keys()):
            asked = self._notes.clauses.rowids(missing)
            body |= self._notes.top(self._body_query(asked), len(missing))
        if self._openings and (missing := sorted(body.keys() - scored)):
            asked = self._chunks.clauses.rowids(missing)
            text |= self._chunks.top(self._text_query(asked), CHUNKS)


def _conditions(
    clauses: Clauses, query: LexicalQuery, field: str, without_note: int | None
) -> tuple[list[Query], list[Query]]:
    """Return what must and what must not hold, on top of the words, filters aside."""
    must = [silent(clauses.phrase(field, phrase)) for phrase in query.phrases]
    must_not = [clauses.phrase(field, phrase) for phrase in query.excluded]
    if without_note is not None:
        must_not.append(clauses.rowids([without_note]))
    return must, must_not


def _scored(
    words: list[Query],
    must: Sequence[Query],
    must_not: Sequence[Query],
    among: Query | None,
) -> Query:
    conditions = [*must, among] if among is not None else list(must)
    if not words:
        return combined(must=[silent(Query.all_query()), *conditions], must_not=must_not)
    if not conditions and not must_not:
        return any_of(words)  # the plain disjunction is what the engine prunes best
    return combined(must=[any_of(words), *conditions], must_not=must_not)
