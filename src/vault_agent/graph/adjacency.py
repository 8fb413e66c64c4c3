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

    def __init__(self, size: int, edges: Iterable[tuple[int, int, int]]) -> None:
        """Take the number of notes, and edges as (source, target, weight), each pair once."""
        ordered = sorted(edge for edge in edges if edge[0] != edge[1])
        self.size = size
        self.targets = array("i", [target for _, target, _ in ordered])
        self.weights = array("i", [weight for _, _, weight in ordered])
        self._out = _starts(size, [source for source, _, _ in ordered])
        backwards = sorted((target, source) for source, target, _ in ordered)
        self.sources = array("i", [source for _, source in backwards])
        self._in = _starts(size, [target for target, _ in backwards])

    @classmethod
    def of(cls, positions: Mapping[int, int], links: Iterable[tuple[int, int]]) -> Self:
        """Build the graph from the position of each note, by its number, and from all links.

        A link is (number of its note, number of the note that it leads to).
        """
        counts = Counter(links)
        return cls(
            len(positions),
            (
                (positions[source], positions[target], count)
                for (source, target), count in counts.items()
            ),
        )

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
