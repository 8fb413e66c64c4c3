"""Spelling suggestions for a term that is in no note.

A term dictionary is long, and reading it takes longer than comparing its terms. So the engine's
automaton first finds out whether there is a near term at all, and a query reads each part of the
dictionary at most once.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from rapidfuzz.distance import OSA
from rapidfuzz.process import extract
from tantivy import Query

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tantivy import Schema, Searcher

MOST_CORRECTED = 8
"""Limit of corrected terms in one query: the longest, which are the most specific."""

_NEIGHBOURS = 3
_MOST_LOOKED_AT = 100  # each is a query
_SHORTEST = 4  # a shorter term has too many neighbours
_TWO_EDITS_FROM = 8
_FIELD = "body"


class Speller:
    """Corrects the terms of one query."""

    def __init__(
        self, searcher: Searcher, schema: Schema, visible: Callable[[str], bool] | None = None
    ) -> None:
        """Suggest only terms that are `visible`, or all if it is None."""
        self._searcher = searcher
        self._visible = visible
        self._schema = schema
        self._read: dict[str, list[tuple[str, int]]] = {}

    def neighbours_of(self, term: str) -> dict[str, int]:
        """Return up to three terms with their document frequencies: completions, else near terms.

        A near term shares the first letter and is one edit away (two if the term is long). An
        edit inserts, drops, changes or swaps letters: the optimal string alignment distance. The
        closest come first, then the most frequent.
        """
        begun = [entry for entry in self._begun(term[:_SHORTEST]) if entry[0].startswith(term)]
        if completions := self._first_visible(begun):
            return dict(completions)
        most = 2 if len(term) >= _TWO_EDITS_FROM else 1
        if not self._has_near(term, most):
            return {}
        begun = self._begun(term[0])
        found = extract(
            term, [other for other, _ in begun], scorer=OSA.distance, score_cutoff=most, limit=None
        )
        near = sorted((distance, -begun[place][1], other) for other, distance, place in found)
        return dict(self._first_visible([(other, -count) for _, count, other in near]))

    def _first_visible(self, entries: Sequence[tuple[str, int]]) -> Sequence[tuple[str, int]]:
        if self._visible is None:
            return entries[:_NEIGHBOURS]
        visible = (entry for entry in entries[:_MOST_LOOKED_AT] if self._visible(entry[0]))
        return list(islice(visible, _NEIGHBOURS))

    def _has_near(self, term: str, most: int) -> bool:
        query = Query.fuzzy_term_query(self._schema, _FIELD, term, most)
        return bool(self._searcher.search(query, 1, count=False).hits)

    def _begun(self, prefix: str) -> list[tuple[str, int]]:
        """Return terms that begin with `prefix` and their frequencies, most frequent first."""
        if prefix not in self._read:
            self._read[prefix] = self._searcher.terms_with_prefix(_FIELD, prefix)
        return self._read[prefix]


def worth_correcting(terms: Iterable[str]) -> list[str]:
    """Return the `MOST_CORRECTED` longest of the unknown terms, earlier terms first if equal."""
    long_enough = [term for term in terms if len(term) >= _SHORTEST and not term.isdigit()]
    return sorted(long_enough, key=len, reverse=True)[:MOST_CORRECTED]
