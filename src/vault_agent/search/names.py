"""Finds names as they are typed: exact, by their beginning, by words, within, or similar ones.

All names are in one string, so that looking through tens of thousands takes a millisecond.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from rapidfuzz.fuzz import ratio
from rapidfuzz.process import extract

from vault_agent.text.names import fold

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_QUERY = 200
MAX_NAME = 300
MAX_HITS = 500
"""The most names that one way of matching finds."""
ENOUGH = 20
"""With fewer hits, similar names are searched too."""
SIMILAR_NAMES = 4_000
_SIMILAR = 70.0  # of 100
_DOUBLING = 4  # characters that a name may be longer for twice as many connections
_FIRST = "\n"
_BREAKS = str.maketrans(dict.fromkeys("-_/.,:;()[]{}'\"+&\t\n\r\\", " "))


class Hit(NamedTuple):
    """A name that matches: its number, how well (0 is best), and the matching ranges."""

    number: int
    rank: int
    ranges: tuple[tuple[int, int], ...]


class NameIndex:
    """Names in the order in which they are preferred, such as the last changed first.

    Args:
        names: the names.
        connections: of what each name names, how many links lead to it and from it. Of names that
            match equally well, a short one and a well connected one come first.
    """

    def __init__(self, names: Sequence[str], connections: Sequence[int] = ()) -> None:
        self._connections = connections
        self._names = [_normal(name[:MAX_NAME]) for name in names]
        self._text, self._starts = _joined(self._names)
        initials = ["".join(word[0] for word in name.split()) for name in self._names]
        self._initials, self._initial_starts = _joined(initials)

    def find(self, query: str, limit: int = MAX_HITS) -> list[Hit]:
        """Return the names that match a query, best first, at most `limit`."""
        wanted = " ".join(_normal(query[:MAX_QUERY]).split())
        if not wanted:
            return [Hit(number, 0, ()) for number in range(min(len(self._names), limit))]
        ranks: dict[int, int] = {}
        ways = (
            (self._text, self._starts, f"{_FIRST}{wanted}{_FIRST}"),
            (self._text, self._starts, f"{_FIRST}{wanted}"),
            (self._text, self._starts, f" {wanted}"),
            (self._text, self._starts, wanted),
            (self._initials, self._initial_starts, f"{_FIRST}{wanted.replace(' ', '')}"),
        )
        for rank, (text, starts, part) in enumerate(ways):
            for number in _numbers(text, starts, part):
                ranks.setdefault(number, rank)
        words = wanted.split()
        if len(words) > 1 and len(ranks) < ENOUGH:
            for number in self._with_all(words):
                ranks.setdefault(number, len(ways))
        if len(ranks) < ENOUGH and len(wanted) > 2:
            recent = self._names[:SIMILAR_NAMES]
            similar = extract(wanted, recent, scorer=ratio, score_cutoff=_SIMILAR, limit=2 * ENOUGH)
            for _, _, number in similar:
                ranks.setdefault(number, len(ways) + 1)
        order = sorted(ranks, key=lambda each: (ranks[each], self._weight(each), each))
        return [Hit(number, ranks[number], self._ranges(number, words)) for number in order[:limit]]

    def _weight(self, number: int) -> int:
        """Return the length of a name, less for each doubling of the connections."""
        connections = self._connections[number] if self._connections else 0
        return len(self._names[number]) - _DOUBLING * connections.bit_length()

    def _with_all(self, words: Sequence[str]) -> Iterator[int]:
        longest = max(words, key=len)
        for number in _numbers(self._text, self._starts, longest):
            if all(word in self._names[number] for word in words):
                yield number

    def _ranges(self, number: int, words: Sequence[str]) -> tuple[tuple[int, int], ...]:
        name = self._names[number]
        whole = name.find(" ".join(words))
        if whole >= 0:
            return ((whole, whole + len(" ".join(words))),)
        found = ((name.find(word), len(word)) for word in words)
        return tuple(sorted((start, start + length) for start, length in found if start >= 0))


def _normal(name: str) -> str:
    """Return a name as it is compared, of the same length if folding keeps that."""
    return fold(name).translate(_BREAKS)


def _joined(names: Sequence[str]) -> tuple[str, list[int]]:
    """Return all names in one string, and where each begins."""
    starts = []
    at = 1
    for name in names:
        starts.append(at)
        at += len(name) + 1
    return f"{_FIRST}{_FIRST.join(names)}{_FIRST}", starts


def _numbers(text: str, starts: Sequence[int], part: str) -> Iterator[int]:
    """Yield the numbers of the names that contain a part, each once."""
    skip = len(part) - len(part.lstrip(_FIRST))
    at = text.find(part)
    for _ in range(MAX_HITS):
        if at < 0:
            return
        number = bisect_right(starts, at + skip) - 1
        yield number
        if number + 1 >= len(starts):
            return
        at = text.find(part, starts[number + 1] - 1)
