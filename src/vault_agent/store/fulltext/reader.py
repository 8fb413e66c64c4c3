"""Searches full text: a reader is as it was opened, and safe to use from any thread.

tantivy releases the interpreter's lock while it searches, so callers run `candidates` in a thread.
A search is a few bounded queries, each well under a millisecond at 100,000 chunks: the best notes,
the best chunks, and notes with adjacent pairs of words. Then notes and chunks found by only one
of the queries are scored by the others.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from tantivy import Query

from vault_agent.model.identifiers import CHUNK_BITS
from vault_agent.model.lexical import LexicalQuery
from vault_agent.model.search import Filters
from vault_agent.store.failures import MappedFiles, guarded
from vault_agent.store.fulltext.candidates import (
    NAMED,
    CandidateSearch,
    Passing,
    RevisionRows,
    Shelf,
    raise_if_stopped,
)
from vault_agent.store.fulltext.clauses import (
    NoteLimits,
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

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from vault_agent.model.lexical import Candidates
    from vault_agent.system.cancelling import Stopped


_CHUNKS_OF_NOTE = 8  # on average, among those that are looked at
_REMEMBERED_FILTERS = 4  # each takes up to 80 bytes a note
_NEVER_READ = {".json", ".store"}  # no search reads them, so they need no check
EVERY_ROW = RevisionRows()


def _never() -> bool:
    return False


class FulltextReader:
    """The full text of one revision, unchanged until `close`."""

    def __init__(self, directory: Path, rows: RevisionRows = EVERY_ROW, folder: str = "") -> None:
        """Open the full text in a folder, and show no other rows than those of a revision.

        The operator `path:` takes paths relative to `folder`, too.
        """
        with guarded():
            self._notes = Shelf(directory / "notes", "rowid", rows, folder)
            self._chunks = Shelf(directory / "chunks", "key", rows, folder)
            self.note_count = self._notes.documents
            self.chunk_count = self._chunks.documents
            # The cache holds the notes, not this object, so that no cycle keeps the files open.
            self._passing = lru_cache(_REMEMBERED_FILTERS)(partial(Passing, self._notes))
            # Names of files that the engine is about to replace begin with a dot.
            files = [path for path in directory.glob("*/*") if not path.name.startswith(".")]
            self._files = MappedFiles(path for path in files if path.suffix not in _NEVER_READ)

    def close(self) -> None:
        """Release the files. Running searches can finish."""
        del self._notes, self._chunks, self._passing

    @contextmanager
    def _checked(self) -> Iterator[None]:
        """Raise `INDEX_INCOMPATIBLE` if the files are damaged, before or by what is read."""
        with guarded():
            self._files.check()
            yield

    def document_frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        """Return in how many notes each term is."""
        with self._checked():
            return {term: self._notes.clauses.frequency(term) for term in terms}

    def named(self, name: str) -> list[int]:
        """Return notes with a title, alias or file name of the same terms as `name`."""
        with self._checked():
            if not (key := name_key(name)):
                return []
            clauses = self._notes.clauses
            return self._notes.first(clauses.term("name", key, positions=False), NAMED)

    def notes_with(self, phrase: Sequence[str], limit: int) -> tuple[int, list[int]]:
        """Return how many notes contain a phrase, and the best `limit` of them."""
        with self._checked():
            clauses = self._notes.clauses
            query = clauses.of_notes(clauses.phrase("body", phrase))
            count = self._notes.count(query)
            return count, list(self._notes.top(query, limit)) if count else []

    def notes_named_with(self, phrase: Sequence[str], limit: int) -> list[int]:
        """Return notes with a title, alias or file name that contains a phrase."""
        with self._checked():
            clauses = self._notes.clauses
            return self._notes.first(clauses.of_notes(clauses.phrase("names", phrase)), limit)

    def unknown_paths(self, filters: Filters) -> list[str]:
        """Return the paths of filters that are neither a folder with notes nor a note."""
        with self._checked():
            return list(filter(self._notes.clauses.names_nothing, filters.paths))

    def having(
        self, query: LexicalQuery, filters: Filters, *, limit: int, stopped: Stopped = _never
    ) -> dict[int, float]:
        """Return the best notes that have all phrases of a query anywhere, with their BM25.

        Raises:
            InvalidRequest: `INVALID_REQUEST` if path patterns are too complex.
            SearchStopped: if `stopped` returned True.
        """
        with self._checked():
            passing = self._passing_of(query, filters)
            clauses = self._notes.clauses
            must, must_not = conditions(clauses, query, "body", NoteLimits())
            if passing is not None:
                must, must_not = must + passing.must, must_not + passing.must_not
            raise_if_stopped(stopped)
            weights = {**query.units, **query.term_weights}
            words = words_or_phrases(clauses, query, weights)
            return self._notes.top(scored(words, must, must_not, None), limit)

    def _passing_of(self, query: LexicalQuery, filters: Filters) -> Passing | None:
        """Return the notes that pass the filters of a request and of its query. None: all do.

        Raises:
            InvalidRequest: `INVALID_REQUEST` if path patterns are too complex.
        """
        requested = (filters, query.filters, query.without)
        check_patterns(*requested)
        if all(part == Filters() for part in requested):
            return None
        return self._passing(*requested)

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
        with self._checked():
            clauses = self._notes.clauses
            query = query or LexicalQuery()
            check_patterns(filters, query.filters, query.without)
            must, must_not = conditions(clauses, query, "body", NoteLimits())
            must += clauses.filters(filters) + clauses.filters(query.filters)
            must_not += clauses.excluded(query.without)
            if rowids is not None:
                rowids = list(rowids)
                must.append(clauses.rowids(rowids))
            if not attachments:
                must_not.append(clauses.attachments())
            every = combined(must=[silent(Query.all_query()), *must], must_not=must_not)
            passing = set(self._notes.first(every, max(self._notes.searcher.num_docs, 1)))
            return passing if rowids is None else passing & set(rowids)

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
        with self._checked():
            passing = self._passing_of(query, filters)
            limits = NoteLimits(without, among)
            return CandidateSearch(self._notes, self._chunks, query, passing, limits, stopped).run()

    def most_in_one_chunk(
        self, words: Mapping[str, float], rowids: Collection[int]
    ) -> dict[int, float]:
        """Return, by note, the largest sum of the values of those terms that one chunk has.

        The title and the headings above a chunk count as its own. A note with none is left out.
        """
        if not words or not rowids:
            return {}
        with self._checked():
            clauses = self._chunks.clauses
            has = [valued(any_of(clauses.in_chunk(term)), value) for term, value in words.items()]
            query = combined(must=[any_of(has), clauses.rowids(rowids)], must_not=[])
            most = _CHUNKS_OF_NOTE * len(rowids)
            most_of_note: dict[int, float] = {}
            for key, value in self._chunks.top(query, most).items():
                most_of_note.setdefault(key >> CHUNK_BITS, value)  # the best chunk comes first
            return most_of_note

    def similarities(
        self, weights: Mapping[str, float], rowids: Collection[int]
    ) -> dict[int, float]:
        """Return BM25 of the whole text of those of some notes that have any of the terms."""
        if not weights or not rowids:
            return {}
        with self._checked():
            clauses = self._notes.clauses
            query = scored(clauses.words("body", weights), (), (), clauses.rowids(rowids))
            return self._notes.top(query, len(rowids))
