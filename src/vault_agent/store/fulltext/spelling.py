"""What a word that is in no note may have been meant to be."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tantivy import Searcher

_NEIGHBOURS = 3
_SHORTEST = 4  # a shorter word has too many neighbours to mean any of them
_TWO_EDITS_FROM = 8


def neighbours_of(searcher: Searcher, term: str) -> dict[str, int]:
    """Return up to three terms with their document frequencies: completions, else near spellings.

    A near spelling shares the first letter and is one edit away (two in long words), where an edit
    inserts, drops, changes or swaps; the closest first, then the most frequent.
    """
    if len(term) < _SHORTEST or term.isdigit():
        return {}
    if completions := searcher.terms_with_prefix("body", term, None, _NEIGHBOURS):
        return dict(completions)
    most = 2 if len(term) >= _TWO_EDITS_FROM else 1
    near = []
    for other, count in searcher.terms_with_prefix("body", term[0]):
        if abs(len(other) - len(term)) <= most:
            distance = edits(term, other, most)
            if distance <= most:
                near.append((distance, -count, other))
    return {other: -count for _, count, other in sorted(near)[:_NEIGHBOURS]}


def edits(one: str, other: str, most: int) -> int:
    """Return the optimal string alignment distance, or anything above `most` once it is exceeded.

    Source: Damerau 1964; restricted so that no swapped pair is edited again.
    """
    before: list[int] = []
    previous = list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        current = [row]
        for column, opposite in enumerate(other, 1):
            cost = min(
                previous[column] + 1,
                current[-1] + 1,
                previous[column - 1] + (letter != opposite),
            )
            if row > 1 and column > 1 and letter == other[column - 2] and one[row - 2] == opposite:
                cost = min(cost, before[column - 2] + 1)
            current.append(cost)
        if min(current) > most and (not previous or min(previous) > most):
            return most + 1
        before, previous = previous, current
    return previous[-1]
