"""Queries to one of the two full-text indexes, with chunks filtered by their notes."""

from __future__ import annotations

from itertools import compress
from typing import TYPE_CHECKING, NamedTuple, cast

from tantivy import FieldType, Index, Order, Query

from vault_agent.model.identifiers import CHUNK_BITS
from vault_agent.store.fulltext.clauses import Clauses, any_of, combined, is_costly, silent
from vault_agent.store.fulltext.schema import ANALYZER
from vault_agent.text.terms import splitter

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tantivy import DocAddress, Searcher

    from vault_agent.model.search import Filters

_OFTEN_TIED = 31  # more is rare: two searches take twice as long as one for more documents
_TIED_LIMIT = 1_000
_FEW_NOTES = 200  # up to this many passing notes, the engine is asked for their chunks
_WIDER = 4  # factor for the next attempt if too few documents pass
_DECIMALS = 4  # of a score that do not depend on the order of addition
_UNITS = 10.0**_DECIMALS
_LAST_ROW = 2**63 - 1


class RevisionRows(NamedTuple):
    """The rows of a revision: those below `end`, but for `old`. The full text may have others."""

    end: int = _LAST_ROW
    old: frozenset[int] = frozenset()


class Shelf:
    """One of the two indexes; `key` is the fast field that identifies its documents.

    It is as it was when it was opened, and documents of other rows than `rows` are skipped.
    """

    def __init__(self, directory: Path, key: str, rows: RevisionRows, folder: str = "") -> None:
        index = Index.open(str(directory))
        # The engine's own way watches the files from a thread, and loads them again half a second
        # after the opening, when nobody has checked their sizes.
        index.config_reader("Manual")
        index.register_tokenizer(ANALYZER, splitter())
        self.schema = index.schema
        self.searcher: Searcher = index.searcher()
        self.clauses = Clauses(index.schema, self.searcher, folder)
        self._key = key
        self._bits = 0 if key == "rowid" else CHUNK_BITS
        self._rows = rows
        later = Query.range_query(index.schema, "rowid", FieldType.Unsigned, rows.end, _LAST_ROW)
        others = any_of([later, self.clauses.rowids(rows.old)])
        self._skipped = self._count(others)
        self._others = others if self._skipped else None

    @property
    def documents(self) -> int:
        """How many documents there are."""
        return self.searcher.num_docs - self._skipped

    def top(self, query: Query, limit: int) -> dict[int, float]:
        """Return the best `limit` documents, best first. Ties go by key, also at the cut.

        A score is a sum, and its order depends on the document's segment, which differs between
        runs. So scores tie if they differ by less than `_DECIMALS` decimals show.
        """
        wanted = limit + _OFTEN_TIED
        best = self._best(query, wanted)
        while len(best) == wanted < _TIED_LIMIT and _same(best[limit - 1], best[-1]):
            wanted = min(_WIDER * wanted, _TIED_LIMIT)
            best = self._best(query, wanted)
        return _ranked(best, limit)

    def top_passing(self, query: Query, limit: int, passing: Passing) -> dict[int, float]:
        """Return the best `limit` documents whose notes pass, as `top` does.

        It asks for more documents and drops those that do not pass. That is much faster than asking
        the engine for the chunks of thousands of notes.
        """
        wanted = passing.needed_for(limit + 1)
        while True:
            best = self._best(query, wanted)
            passes = passing.filter([key for _, key in best])
            kept = list(compress(best, passes))[:_TIED_LIMIT]
            if len(best) < wanted or len(kept) == _TIED_LIMIT:
                return _ranked(kept, limit)
            if len(kept) <= limit:
                wanted *= _WIDER
            elif _tied(kept[: limit + 1], limit) and _same(kept[limit], kept[-1]):
                wanted = max(_WIDER * wanted, passing.needed_for(_TIED_LIMIT))
            else:
                return _ranked(kept, limit)

    def count(self, query: Query) -> int:
        """Return how many documents a query matches."""
        count = self._count(query)
        if self._others is not None:
            count -= self._count(combined(must=[query, self._others], must_not=[]))
        return count

    def _count(self, query: Query) -> int:
        result = self.searcher.search(query, 1, count=True)
        count: int = result.count or 0  # type: ignore[attr-defined]
        return count

    def _has(self, key: int) -> bool:
        """Whether a document is of the revision's rows."""
        rowid = key >> self._bits
        return rowid < self._rows.end and rowid not in self._rows.old

    def first_passing(self, query: Query, limit: int, passing: Passing) -> list[int]:
        """Return the keys of the first `limit` documents whose notes pass."""
        wanted = passing.needed_for(limit)
        while True:
            keys = self.first(query, wanted)
            kept = list(compress(keys, passing.filter(keys)))[:limit]
            if len(kept) == limit or len(keys) < wanted:
                return kept
            wanted *= _WIDER

    def _best(self, query: Query, limit: int) -> list[tuple[float, int]]:
        """Return (score, key) of the best documents, best first."""
        hits = self.searcher.search(query, limit + self._skipped, count=False).hits
        addresses = [address for _, address in hits]
        # Every document has a key.
        keys = cast("list[int]", self.searcher.fast_field_values(self._key, addresses))
        best = [(score, key) for (score, _), key in zip(hits, keys, strict=True)]
        return [pair for pair in best if self._has(pair[1])][:limit] if self._skipped else best

    def first(self, query: Query, limit: int) -> list[int]:
        """Return the keys of the first `limit` documents by key, without scoring."""
        most = limit + self._skipped
        result = self.searcher.search(
            query, most, count=False, order_by_field=self._key, order=Order.Asc
        )
        keys = [key for key, _ in cast("list[tuple[int, DocAddress]]", result.hits)]
        return list(filter(self._has, keys))[:limit] if self._skipped else keys


def _same(one: tuple[float, int], other: tuple[float, int]) -> bool:
    return bool(abs(one[0] - other[0]) < 10**-_DECIMALS)


def _tied(best: list[tuple[float, int]], limit: int) -> bool:
    """Whether the cut after `limit` entries separates two that tie."""
    return len(best) > limit and _same(best[-1], best[-2])


def _ranked(best: list[tuple[float, int]], limit: int) -> dict[int, float]:
    """Return the best `limit` of some documents, which are in the order of their exact scores."""
    end = limit
    while end < len(best) and _same(best[limit - 1], best[end]):
        end += 1
    # The engine's scores have 24 bits, so these products are exact. It is faster than to round to
    # decimals.
    ranked = [(-round(score * _UNITS), key) for score, key in best[:end]]
    ranked.sort()
    return {key: -units / _UNITS for units, key in ranked[:limit]}


class Passing:
    """The notes that pass some filters, listed once for all queries of a search."""

    def __init__(self, notes: Shelf, filters: Filters, wanted: Filters, unwanted: Filters) -> None:
        """Take the filters of a request, those its query requires and those it excludes."""
        self.must = notes.clauses.filters(filters) + notes.clauses.filters(wanted)
        self.must_not = notes.clauses.excluded(unwanted)
        query = combined(must=[silent(Query.all_query()), *self.must], must_not=self.must_not)
        rowids = notes.first(query, max(notes.documents, 1))
        self._rowids = frozenset(rowids)
        self._notes = notes.documents
        self.few = rowids if len(rowids) <= _FEW_NOTES else None
        if any(map(is_costly, (filters, wanted, unwanted))):
            self.must, self.must_not = [notes.clauses.rowids(rowids)], []

    def needed_for(self, limit: int) -> int:
        """Return how many documents to ask for so that probably `limit` of them pass."""
        return limit + limit * self._notes // max(len(self._rowids), 1)

    def filter(self, keys: Sequence[int]) -> list[bool]:
        """Return for each chunk whether its note passes."""
        return [key >> CHUNK_BITS in self._rowids for key in keys]
