"""Asking one of the two full-text indexes, with chunks filtered by their notes."""

from __future__ import annotations

from itertools import compress
from typing import TYPE_CHECKING

from tantivy import Index, Order, Query

from vault_agent.model.identifiers import CHUNK_BITS
from vault_agent.store.fulltext.clauses import Clauses, combined, is_glob, silent
from vault_agent.store.fulltext.schema import ANALYZER
from vault_agent.text.terms import analyzer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tantivy import Searcher

    from vault_agent.model.search import Filters

_TIED_LIMIT = 1_000
_FEW_NOTES = 200  # so few that the engine is asked for their chunks
_CHEAPER_TO_LIST = 8  # to list a note costs an eighth of looking it up (measured)
_UNKNOWN, _PASSES, _FAILS = range(3)
_WIDER = 4  # times as many, where too few of those looked at pass
_DECIMALS = 4  # of a score that hold, whatever the order of addition
_USUAL_LIMIT = 100  # documents that a search wants


class Shelf:
    """One of the two indexes, with the fast field that names its documents."""

    def __init__(self, directory: Path, key: str) -> None:
        index = Index.open(str(directory))
        index.register_tokenizer(ANALYZER, analyzer())
        self.schema = index.schema
        self.searcher: Searcher = index.searcher()
        self.clauses = Clauses(index.schema)
        self._key = key

    def top(self, query: Query, limit: int) -> dict[int, float]:
        """Return the best `limit` documents, best first; ties by key, also at the cut.

        Which segment a document is in differs from run to run, and with it the order in which its
        score was added up: what differs by less than that ties.
        """
        found = self._best(query, limit + 1)
        if _tied(found, limit):
            found = self._best(query, _TIED_LIMIT)
        return _ranked(found, limit)

    def top_passing(self, query: Query, limit: int, passing: Passing) -> dict[int, float]:
        """Return the best `limit` documents whose notes pass, as `top` does.

        By looking at more and leaving out: that is far cheaper than to ask the engine for chunks of
        thousands of notes.
        """
        wanted = passing.looked_at_for(limit + 1)
        while True:
            found = self._best(query, wanted)
            passes = passing.filter([key for _, key in found])
            kept = list(compress(found, passes))[:_TIED_LIMIT]
            if len(found) < wanted or len(kept) == _TIED_LIMIT:
                return _ranked(kept, limit)
            if len(kept) <= limit:
                wanted *= _WIDER
            elif _tied(kept[: limit + 1], limit) and _same(kept[limit], kept[-1]):
                wanted = max(_WIDER * wanted, passing.looked_at_for(_TIED_LIMIT))
            else:
                return _ranked(kept, limit)

    def first_passing(self, query: Query, limit: int, passing: Passing) -> list[int]:
        """Return the keys of the first `limit` documents whose notes pass."""
        wanted = passing.looked_at_for(limit)
        while True:
            found = self.first(query, wanted)
            kept = list(compress(found, passing.filter(found)))[:limit]
            if len(kept) == limit or len(found) < wanted:
                return kept
            wanted *= _WIDER

    def last_key(self) -> int:
        """Return the highest key there is, 0 where there is none."""
        query = Query.all_query()
        found = self.searcher.search(
            query, 1, count=False, order_by_field=self._key, order=Order.Desc
        )
        return max((key for key, _ in found.hits), default=0)

    def _best(self, query: Query, limit: int) -> list[tuple[float, int]]:
        """Return (score, key) of the best documents, best first."""
        hits = self.searcher.search(query, limit, count=False).hits
        keys = self.searcher.fast_field_values(self._key, [address for _, address in hits])
        return [
            (score, key)
            for (score, _), key in zip(hits, keys, strict=True)
            if isinstance(key, int)  # always: the column is whole
        ]

    def first(self, query: Query, limit: int) -> list[int]:
        """Return the keys of the first `limit` documents by key, whatever their score."""
        found = self.searcher.search(
            query, limit, count=False, order_by_field=self._key, order=Order.Asc
        )
        return [key for key, _ in found.hits]


def _same(one: tuple[float, int], other: tuple[float, int]) -> bool:
    return bool(abs(one[0] - other[0]) < 10**-_DECIMALS)


def _tied(found: list[tuple[float, int]], limit: int) -> bool:
    """Whether the last entry of `limit` and one ties with the one before it."""
    return len(found) > limit and _same(found[-1], found[-2])


def _ranked(found: list[tuple[float, int]], limit: int) -> dict[int, float]:
    ranked = sorted((-round(score, _DECIMALS), key) for score, key in found)
    return {key: -score for score, key in ranked[:limit]}


class Passing:
    """Which notes pass some filters; kept, since clients ask with the same filters again.

    Used by several threads at once: what one of them finds out twice is the same.
    """

    def __init__(self, notes: Shelf, filters: Filters, wanted: Filters, unwanted: Filters) -> None:
        """Take a request's filters, and those that its query wants and does not want."""
        self._notes = notes
        self.must = notes.clauses.filters(filters) + notes.clauses.filters(wanted)
        self.must_not = notes.clauses.excluded(unwanted)
        query = combined(must=[silent(Query.all_query()), *self.must], must_not=self.must_not)
        self._verdicts = bytearray(notes.last_key() + 1)
        self.few: list[int] | None = None
        patterns = {*filters.paths, *wanted.paths, *unwanted.paths}
        # A pattern reads every path, and a search asks several queries: patterns are asked once.
        costly = any(map(is_glob, patterns))
        passing = notes.first(query, max(notes.searcher.num_docs, 1)) if costly else None
        if passing is None:
            found = notes.searcher.search(query, 1, count=True)
            self._count: int = found.count or 0  # type: ignore[attr-defined]
            if self._count <= _CHEAPER_TO_LIST * self.looked_at_for(_USUAL_LIMIT):
                passing = notes.first(query, max(self._count, 1))
        else:
            self._count = len(passing)
        if passing is not None:
            self._verdicts = bytearray([_FAILS]) * len(self._verdicts)
            for rowid in passing:
                self._verdicts[rowid] = _PASSES
            if len(passing) <= _FEW_NOTES:
                self.few = passing
            if costly:
                self.must, self.must_not = [notes.clauses.rowids(passing)], []

    def looked_at_for(self, limit: int) -> int:
        """Return among how many documents there are probably `limit` that pass."""
        return limit + limit * self._notes.searcher.num_docs // max(self._count, 1)

    def filter(self, keys: Sequence[int]) -> list[bool]:
        """Return of each chunk whether its note passes."""
        rowids = [key >> CHUNK_BITS for key in keys]
        unknown = sorted({rowid for rowid in rowids if not self._verdicts[rowid]})
        if unknown:
            must = [self._notes.clauses.rowids(unknown), *self.must]
            query = combined(must=must, must_not=self.must_not)
            passing = set(self._notes.first(query, len(unknown)))
            for rowid in unknown:
                self._verdicts[rowid] = _PASSES if rowid in passing else _FAILS
        return [self._verdicts[rowid] == _PASSES for rowid in rowids]
