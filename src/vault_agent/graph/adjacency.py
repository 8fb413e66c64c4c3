"""The graph of links in flat arrays. Notes are positions from 0; a link to itself is no edge."""

from __future__ import annotations

from array import array
from collections import Counter
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


class Adjacency:
    """The edges between notes, in both directions.

    An edge has a weight, the number of links. An edge takes 12 bytes: its target, its source and
    its weight. The neighbours of a note are sorted.
    """

    def __init__(self, size: int, weights: Mapping[int, int]) -> None:
        """Take the number of notes, and the weight of each edge by source * size + target.

        A pair of notes as one whole number sorts much faster than as a tuple.
        """
        self.size = size
        pairs = sorted([pair for pair in weights if pair // size != pair % size])
        self.targets = array("i", [pair % size for pair in pairs])
        self.weights = array("i", [weights[pair] for pair in pairs])
        self._out = _starts(size, [pair // size for pair in pairs])
        pairs = sorted([pair % size * size + pair // size for pair in pairs])
        self.sources = array("i", [pair % size for pair in pairs])
        self._in = _starts(size, [pair // size for pair in pairs])

    @classmethod
    def of(cls, positions: Mapping[int, int], links: Iterable[tuple[int, int]]) -> Self:
        """Build the graph from the position of each note, by its number, and from all links.

        A link is (number of its note, number of the note that it leads to).
        """
        size = len(positions)
        pairs = [positions[source] * size + positions[target] for source, target in links]
        return cls(size, Counter(pairs))

    def pairs(self) -> list[int]:
        """Return all edges as one list: source, target, source, target …, sorted."""
        found = [0] * (2 * len(self.targets))
        found[1::2] = self.targets
        found[::2] = [note for note in range(self.size) for _ in range(self.out_degree(note))]
        return found

    @property
    def edges(self) -> int:
        """How many pairs of notes are linked, each direction counted separately."""
        return len(self.targets)

    def outgoing(self, note: int) -> Sequence[int]:
        """Return the notes that a note links to, sorted."""
        return self.targets[self._out[note] : self._out[note + 1]]

    def incoming(self, note: int) -> Sequence[int]:
        """Return the notes that link to a note, sorted."""
        return self.sources[self._in[note] : self._in[note + 1]]

    def weighted(self, note: int) -> Iterable[tuple[int, int]]:
        """Return the notes that a note links to, with the number of links."""
        first, end = self._out[note], self._out[note + 1]
        return zip(self.targets[first:end], self.weights[first:end], strict=True)

    def out_degree(self, note: int) -> int:
        """Return how many notes a note links to."""
        return self._out[note + 1] - self._out[note]

    def in_degree(self, note: int) -> int:
        """Return how many notes link to a note."""
        return self._in[note + 1] - self._in[note]

    def neighbours(self, note: int) -> list[int]:
        """Return the notes that a note links to or that link to it, sorted."""
        return sorted({*self.outgoing(note), *self.incoming(note)})

    def degree(self, note: int) -> int:
        """Return how many notes a note is linked with, in either direction."""
        if not (self.out_degree(note) and self.in_degree(note)):
            return self.out_degree(note) + self.in_degree(note)
        return len({*self.outgoing(note), *self.incoming(note)})


def _starts(size: int, ordered: Iterable[int]) -> array[int]:
    """Return where the entries of each note begin, and the end of the last one."""
    counts = [0] * (size + 1)
    for note in ordered:
        counts[note + 1] += 1
    total = 0
    for index, count in enumerate(counts):
        total += count
        counts[index] = total
    return array("i", counts)
