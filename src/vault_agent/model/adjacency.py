"""The graph of links in flat arrays. Notes are positions from 0; a link to itself is no edge."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Self

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    IntArray = NDArray[np.int64]


class Adjacency:
    """The edges between notes, in both directions.

    An edge has a weight, the number of links. An edge takes 12 bytes: its target, its source and
    its weight. The neighbours of a note are sorted.
    """

    def __init__(self, size: int, pairs: IntArray, weights: IntArray) -> None:
        """Take the number of notes, each edge once as source * size + target, and its weight.

        The edges are sorted. As whole numbers they sort much faster than as pairs.
        """
        self.size = size
        source, target = np.divmod(pairs, max(size, 1))
        other = source != target
        source, target = source[other], target[other]
        self.targets = _array(target)
        self.weights = _array(weights[other])
        self._out = _starts(size, source)
        self.sources = _array(np.sort(target * size + source) % max(size, 1))
        self._in = _starts(size, target)

    @classmethod
    def of(cls, notes: Sequence[int], sources: Sequence[int], targets: Sequence[int]) -> Self:
        """Build the graph from the number of the note at each position, and from all links.

        `sources` and `targets` have the numbers of the notes at both ends of each link.
        """
        if not sources:
            return cls(len(notes), np.zeros(0, np.int64), np.zeros(0, np.int64))
        numbers = np.array(notes, np.int64)
        order = np.argsort(numbers)
        first, last = (
            order[np.searchsorted(numbers, np.array(ends, np.int64), sorter=order)]
            for ends in (sources, targets)
        )
        return cls(len(notes), *np.unique(first * len(notes) + last, return_counts=True))

    def pairs(self) -> list[int]:
        """Return all edges as one list: source, target, source, target …, sorted."""
        starts = np.frombuffer(self._out, np.int32)
        edges = np.empty((len(self.targets), 2), np.int32)
        edges[:, 0] = np.repeat(np.arange(self.size), starts[1:] - starts[:-1])
        edges[:, 1] = np.frombuffer(self.targets, np.int32)
        return list(edges.ravel().tolist())

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


def _array(numbers: IntArray) -> array[int]:
    """Return an array whose items are Python's whole numbers, so that they can be sent as JSON."""
    return array("i", numbers.astype(np.int32).tobytes())


def _starts(size: int, notes: IntArray) -> array[int]:
    """Return where the entries of each note begin, and the end of the last one."""
    counts = np.bincount(notes, minlength=size) if size else np.zeros(0, np.int64)
    return _array(np.concatenate(([0], np.cumsum(counts))))
