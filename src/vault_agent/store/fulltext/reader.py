"""Searches full text: one reader for one revision, safe to use from any thread.

Over 300 lines: a search is one sequence of queries that share their conditions.

tantivy releases the interpreter's lock while it searches, so callers run `candidates` in a thread.
A search is a few bounded queries, each well under a millisecond at 100,000 chunks: the best notes,
the best chunks, and notes with adjacent pairs of words. Then notes and chunks found by only one
of the queries are scored by the others.
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
from vault_agent.model.scope import EVERYTHING
from vault_agent.model.search import Filters
from vault_agent.store.fulltext.clauses import any_of, check_patterns, combined, silent, valued
from vault_agent.store.fulltext.conditions import Limits, conditions, kept_by, scored
from vault_agent.store.fulltext.guard import guarded
from vault_agent.store.fulltext.schema import name_key
from vault_agent.store.fulltext.shelf import Passing, Shelf
from vault_agent.store.fulltext.spelling import Speller, worth_correcting
from vault_agent.store.mapped import MappedFiles
from vault_agent.text.terms import is_unit

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from vault_agent.store.fulltext.shelf import Keep
    from vault_agent.store.fulltext.union import Union
    from vault_agent.system.threads import Stopped

NOTES = 60
CHUNKS = 100
NAMES = 30
_NAMED = 50
# A pair counts only if one of its words is in at most this share of the notes. Pairs of common
# words take most of the time and gain nothing.
_RARE_SHARE = 0.1
_PAIR_SLOP = 1
_OPENINGS = 30  # pairs that replace a single character
# Chunks with all words of the query: they are counted up to a limit, for queries of few words. If
# all words are common, the limit would be reached, and looking for the chunks would take long.
WHOLE = 50
_WHOLE_WORDS = 12
_COMMON_NOTES = 1_000
_REMEMBERED_FILTERS = 8  # each takes a byte a note
_NEVER_READ = {".json", ".store"}  # no search reads them, so they need no check


class SearchStopped(Exception):
    """A search was stopped, since its caller has disconnected."""


def go_on(stopped: Stopped) -> None:
    """Raise `SearchStopped` if the caller has disconnected."""
    if stopped():
        raise SearchStopped


def _never() -> bool:
    return False


class FulltextReader:
    """One revision, or several as one, opened once and unchanged until `close`."""

    def __init__(self, directory: Path, union: Union | None = None) -> None:
        """Open the revision in a folder. `union` says what it is made of, if of several."""
        self.directory = directory
        with guarded():
            if union is None:
                self._notes = Shelf(directory / "notes", "rowid")
                self._chunks = Shelf(directory / "chunks", "key")
            else:
                ours = union.numbering
                notes, chunks = directory / "notes", directory / "chunks"
                self._notes = Shelf(notes, "rowid", numbering=ours, places=union.notes)
                self._chunks = Shelf(chunks, "key", numbering=ours, places=union.chunks)
            files = tuple(directory.glob("*/*")) if union is None else union.files
            # The cache holds the notes, not this object, so that no cycle keeps the files open.
            self._passing = lru_cache(_REMEMBERED_FILTERS)(partial(Passing, self._notes))
            self._files = MappedFiles(path for path in files if path.suffix not in _NEVER_READ)

    def close(self) -> None:
        """Release the files. Running searches can finish."""
        del self._notes, self._chunks, self._passing

    @property
    def note_count(self) -> int:
        """How many notes there are, without removed ones."""
        return self._notes.searcher.num_docs

    @property
    def chunk_count(self) -> int:
        """How many chunks there are, without those of removed notes."""
        return self._chunks.searcher.num_docs

    def document_frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        """Return in how many notes each term is."""
        with guarded():
            self._files.check()
            return {term: self._notes.searcher.doc_freq("body", term) for term in terms}

    def named(self, name: str) -> list[int]:
        """Return notes with a title, alias or file name of the same terms as `name`."""
        with guarded():
            self._files.check()
            if not (key := name_key(name)):
                return []
            query = self._notes.clauses.term("name", key, positions=False)
            return self._notes.first(query, _NAMED)

    def notes_with(self, phrase: Sequence[str], limit: int) -> tuple[int, list[int]]:
        """Return how many notes contain a phrase, and the best `limit` of them."""
        with guarded():
            self._files.check()
            query = self._notes.clauses.phrase("body", phrase)
            found = self._notes.searcher.search(query, 1, count=True)
            count: int = found.count or 0  # type: ignore[attr-defined]
            return count, list(self._notes.top(query, limit)) if count else []

    def notes_named_with(self, phrase: Sequence[str], limit: int) -> list[int]:
        """Return notes with a title, alias or file name that contains a phrase."""
        with guarded():
            self._files.check()
            return self._notes.first(self._notes.clauses.phrase("names", phrase), limit)

    def unknown_paths(self, filters: Filters) -> list[str]:
        """Return the paths of filters that are neither a folder with notes nor a note."""
        with guarded():
            self._files.check()
            return [path for path in filters.paths if self._notes.clauses.names_nothing(path)]

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
            must = [silent(clauses.phrase("body", phrase)) for phrase in query.phrases]
            must_not = [clauses.phrase("body", phrase) for phrase in query.excluded]
            if passing is not None:
                must, must_not = must + passing.must, must_not + passing.must_not
            if stopped():
                raise SearchStopped
            words = clauses.words("body", {**query.units, **query.weights})
            keep = passing.keep if passing is not None else None
            return self._notes.top(scored(words, must, must_not, None), limit, keep)

    def admitted(
        self,
        filters: Filters,
        rowids: Iterable[int] | None = None,
        *,
        query: LexicalQuery | None = None,
    ) -> set[int]:
        """Return the notes, all or of `rowids`, that pass the filters and a query's conditions.

        It filters notes that links or vectors have found.
        """
        with guarded():
            self._files.check()
            clauses = self._notes.clauses
            query = query or LexicalQuery()
            check_patterns(filters, query.filters, query.without)
            must, must_not = conditions(clauses, query, "body", Limits())
            must += clauses.filters(filters) + clauses.filters(query.filters)
            must_not += clauses.excluded(query.without)
            if rowids is not None:
                rowids = list(rowids)
                must.append(clauses.rowids(rowids))
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
            limits = Limits(without, among, filters.scope)
            return _Search(self._notes, self._chunks, query, passing, limits, stopped).run()

    def most_in_one_chunk(self, words: Mapping[str, float], rowids: Collection[int]) -> float:
        """Return the largest sum of the values of those terms that one chunk of the notes has.

        The title and the headings above a chunk count as its own.
        """
        if not words or not rowids:
            return 0.0
        with guarded():
            self._files.check()
            clauses = self._chunks.clauses
            has = [
                valued(any_of([clauses.term(field, term) for field in ("text", "context")]), value)
                for term, value in words.items()
            ]
            asked = combined(must=[any_of(has), clauses.rowids(rowids)], must_not=[])
            return max(self._chunks.top(asked, 1, set(rowids).__contains__).values(), default=0.0)

    def similarities(
        self, weights: Mapping[str, float], rowids: Collection[int]
    ) -> dict[int, float]:
        """Return BM25 of the whole text of those of some notes that have any of the terms."""
        if not weights or not rowids:
            return {}
        with guarded():
            self._files.check()
            clauses = self._notes.clauses
            asked = scored(clauses.words("body", weights), (), (), clauses.rowids(rowids))
            return self._notes.top(asked, len(rowids), set(rowids).__contains__)


class _Search:
    """One search, from a compiled query to the evidence."""

    def __init__(  # noqa: PLR0917 - one caller, and the arguments' types differ
        self,
        notes: Shelf,
        chunks: Shelf,
        query: LexicalQuery,
        passing: Passing | None,
        limits: Limits,
        stopped: Stopped,
    ) -> None:
        self._scope = limits.scope
        self._stopped = stopped
        self._notes = notes
        self._chunks = chunks
        self._query = query
        self._note_must, self._note_not = conditions(notes.clauses, query, "body", limits)
        self._chunk_must, self._chunk_not = conditions(chunks.clauses, query, "text", limits)
        self._passing = passing  # None where there are no filters
        if passing is not None:
            self._note_must += passing.must
            self._note_not += passing.must_not
        self._keep = kept_by(notes, limits, passing)
        self._neighbours: dict[str, tuple[str, ...]] = {}
        self._frequencies: dict[str, int] = {}
        self._weights = self._look_up(query.weights)
        self._openings = self._open(self._weights)

    def run(self) -> Candidates:
        if not self._weights and (self._query.weights or not self._note_must):
            return Candidates(neighbours=self._neighbours)
        go_on(self._stopped)
        body = self._notes.top(self._body_query(), NOTES, self._keep)
        # Without terms, a query for them would match everything.
        text = self._text() if self._openings else {}
        go_on(self._stopped)
        pairs = self._pairs()
        names = self._notes.top(self._names_query(), NAMES, self._keep) if self._openings else {}
        named = self._named()
        headed = self._headed()
        whole = self._whole()
        go_on(self._stopped)
        few = set(whole) if len(whole) < WHOLE else set()
        self._complete(body, text, named | pairs.keys() | names.keys(), headed | few)
        if self._query.excluded and self._weights:
            # An excluded word excludes the whole note, also chunks without the word.
            text = {key: score for key, score in text.items() if key >> CHUNK_BITS in body}
            headed = {key for key in headed if key >> CHUNK_BITS in body}
            few = {key for key in few if key >> CHUNK_BITS in body}
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
                key: ChunkEvidence(text.get(key, 0.0), key in headed, key in few)
                for key in sorted({*text, *headed, *few})
            },
            information=self._information(),
            whole=len(whole),
            neighbours=self._neighbours,
        )

    def _look_up(self, weights: Mapping[str, float]) -> dict[str, float]:
        """Replace words that are in no note by their neighbours."""
        searcher = self._notes.searcher
        visible = None if self._scope == EVERYTHING else self._is_visible
        frequencies = {term: searcher.doc_freq("body", term) for term in weights}
        if visible is not None:
            frequencies = {term: count * visible(term) for term, count in frequencies.items()}
        unknown = [term for term, count in frequencies.items() if not count and not is_unit(term)]
        if self._query.tolerant:
            self._neighbours = dict.fromkeys(unknown, ())
        corrected: dict[str, dict[str, int]] = {}
        speller = Speller(searcher, self._notes.schema, visible)
        for term in worth_correcting(self._neighbours):
            go_on(self._stopped)
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

    def _is_visible(self, term: str) -> bool:
        """Whether a note in the scope has a term. Other notes' words do not exist."""
        clauses = self._notes.clauses
        within = [
            clauses.term("body", term, positions=False),
            *clauses.filters(Filters(scope=self._scope)),
        ]
        return bool(self._notes.first(combined(must=within, must_not=[]), 1))

    def _open(self, weights: Mapping[str, float]) -> dict[str, float]:
        """Replace single characters by the pairs that begin with them. Chunks have only pairs."""
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
        return scored(words, self._note_must, self._note_not, among)

    def _names_query(self) -> Query:
        clauses = self._notes.clauses
        words = clauses.words("names", self._openings)
        return scored(words, self._note_must, self._note_not, None)

    def _text_query(self, among: Query | None = None) -> Query:
        clauses = self._chunks.clauses
        context = {term: CONTEXT_WEIGHT * weight for term, weight in self._openings.items()}
        words = clauses.words("text", self._openings) + clauses.words("context", context)
        return scored(words, self._chunk_must, self._chunk_not, among)

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
            combined(must=[any_of(words), *self._note_must], must_not=self._note_not),
            NOTES,
            self._keep,
        )

    def _text(self) -> dict[int, float]:
        if (passing := self._passing) is None:
            return self._chunks.top(self._text_query(), CHUNKS, self._keep)
        if passing.few is not None:
            asked = self._chunks.clauses.rowids(passing.few)
            return self._chunks.top(self._text_query(asked), CHUNKS, self._kept_of(passing.few))
        return self._chunks.top_passing(self._text_query(), CHUNKS, passing)

    def _named(self) -> set[int]:
        """Return the notes with a name, path or end of the path equal to the query."""
        if not self._query.name:
            return set()
        clauses = self._notes.clauses
        names = [clauses.term("name", self._query.name, positions=False)]
        if self._query.path and (path := clauses.path_end(self._query.path)) is not None:
            names.append(path)
        query = combined(must=[any_of(names), *self._note_must], must_not=self._note_not)
        return set(self._notes.first(query, _NAMED, self._keep))

    def _headed(self) -> set[int]:
        """Return the chunks whose heading equals the query."""
        if not self._query.name:
            return set()
        name = self._chunks.clauses.term("name", self._query.name, positions=False)
        query = combined(must=[name, *self._chunk_must], must_not=self._chunk_not)
        if (passing := self._passing) is None:
            return set(self._chunks.first(query, _NAMED, self._keep))
        return set(self._chunks.first_passing(query, _NAMED, passing, self._keep))

    def _whole(self) -> Collection[int]:
        """Return the chunks that have all words of the query, at most `WHOLE`."""
        words = [
            found
            for term in self._query.weights
            if (found := [each for each in self._meant(term) if self._frequencies.get(each)])
        ]
        if not words or len(words) > _WHOLE_WORDS:
            return set()
        rarest = min(sum(self._frequencies[each] for each in found) for found in words)
        if rarest > max(_RARE_SHARE * self._notes.searcher.num_docs, _COMMON_NOTES):
            return range(WHOLE)
        clauses = self._chunks.clauses
        every = [
            any_of([clauses.term(field, each) for each in found for field in ("text", "context")])
            for found in words
        ]
        query = combined(must=[*every, *self._chunk_must], must_not=self._chunk_not)
        if (passing := self._passing) is None:
            return set(self._chunks.first(query, WHOLE, self._keep))
        return set(self._chunks.first_passing(query, WHOLE, passing, self._keep))

    def _meant(self, term: str) -> tuple[str, ...]:
        """Return a term, or those that replace it. Chunks have no single characters."""
        if is_unit(term):
            return ()
        return self._neighbours.get(term) or (term,)

    def _complete(
        self, body: dict[int, float], text: dict[int, float], rowids: set[int], headed: set[int]
    ) -> None:
        """Score notes and chunks that only some queries have found by the others too, in place."""
        if not self._weights:
            return
        scored = {key >> CHUNK_BITS for key in text}
        seen = rowids | scored | {key >> CHUNK_BITS for key in headed}
        if missing := sorted(seen - body.keys()):
            asked = self._notes.clauses.rowids(missing)
            body |= self._notes.top(self._body_query(asked), len(missing), self._kept_of(missing))
        if self._openings and (missing := sorted(body.keys() - scored)):
            asked = self._chunks.clauses.rowids(missing)
            text |= self._chunks.top(self._text_query(asked), CHUNKS, self._kept_of(missing))

    def _kept_of(self, rowids: Collection[int]) -> Keep:
        """Return the condition of only these notes. Of one index, the clause is enough."""
        wanted, keep = frozenset(rowids), self._keep
        if keep is None:
            return wanted.__contains__
        return lambda rowid: rowid in wanted and keep(rowid)
