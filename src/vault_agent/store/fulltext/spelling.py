"""Spelling suggestions for a term that is in no note.

A term dictionary is long, and reading it takes longer than comparing its terms. So the engine's
automaton first finds out whether there is a near term at all, and a query reads each part of the
dictionary at most once.
"""

from __future__ import annotations

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
_SHORTEST = 4  # a shorter term has too many neighbours
_TWO_EDITS_FROM = 8
_FIELD = "body"


class Speller:
    """Corrects the terms of one query."""

    def __init__(
        self, searcher: Searcher, schema: Schema, frequency: Callable[[str], int] | None = None
    ) -> None:
        """Suggest terms by `frequency`, and none without any; None: by that in the index."""
        self._searcher = searcher
        self._frequency = frequency
        self._schema = schema
        self._read: dict[str, list[tuple[str, int]]] = {}

    def neighbours_of(self, term: str) -> dict[str, int]:
        """Return up to three terms with their document frequencies: completions, else near terms.

        A near term shares the first letter and is one edit away (two if the term is long). An
        edit inserts, drops, changes or swaps letters: the optimal string alignment distance. The
        closest come first, then the most frequent.
        """
        begun = [entry for entry in self._begun(term[:_SHORTEST]) if entry[0].startswith(term)]
        if completions := self._counted(begun):
            return dict(completions[:_NEIGHBOURS])
        most = 2 if len(term) >= _TWO_EDITS_FROM else 1
        if not self._has_near(term, most):
            return {}
        begun = self._begun(term[0])
        found = extract(
            term, [other for other, _ in begun], scorer=OSA.distance, score_cutoff=most, limit=None
        )
        distances = {other: distance for other, distance, _ in found}
        near = self._counted([begun[place] for _, _, place in found])
        near.sort(key=lambda entry: (distances[entry[0]], -entry[1], entry[0]))
        return dict(near[:_NEIGHBOURS])

    def _counted(self, entries: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
        """Return terms with the frequencies that count, most frequent first."""
        if self._frequency is None:
            return list(entries)
        counted = [(term, self._frequency(term)) for term, _ in entries]
        return sorted(
            (entry for entry in counted if entry[1]), key=lambda entry: (-entry[1], entry[0])
        )

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
