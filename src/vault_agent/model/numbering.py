"""One range of row numbers for several indexes, which each number their rows from 1."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from vault_agent.model.identifiers import CHUNK_BITS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence


class Numbered(NamedTuple):
    """A row: the place of its index among several, and its number there."""

    place: int
    rowid: int


class Numbering:
    """The numbers of the rows of several indexes: those of each follow those of the one before.

    A chunk's key follows its note's number, as in one index.
    """

    def __init__(self, counts: Sequence[int]) -> None:
        """Take, for each index, a number that is above all its row numbers."""
        self.bases = tuple(sum(counts[:place]) for place in range(len(counts)))
        self.end = sum(counts)
        """A number above all."""

    def number(self, place: int, rowid: int) -> int:
        """Return the number of a row."""
        return self.bases[place] + rowid

    def place_of(self, number: int) -> int:
        """Return the place of the index that has a row."""
        return bisect_right(self.bases, number) - 1

    def split(self, number: int) -> Numbered:
        """Return the place and the row number there."""
        place = self.place_of(number)
        return Numbered(place, number - self.bases[place])

    def shift(self, place: int) -> int:
        """Return what to add to the key of a chunk."""
        return self.bases[place] << CHUNK_BITS

    def raw(self, numbers: Iterable[int]) -> set[int]:
        """Return the row numbers in their indexes. Different rows may have the same."""
        return {self.split(number).rowid for number in numbers}

    def rowids_at(self, place: int, numbers: Iterable[int]) -> list[int]:
        """Return the row numbers of those rows that are in one index."""
        return [rowid for at, rowid in map(self.split, numbers) if at == place]

    def keys_at(self, place: int, keys: Collection[int]) -> list[int]:
        """Return the keys of those chunks that are in one index, as that index has them."""
        shift = self.shift(place)
        return [key - shift for key in keys if self.place_of(key >> CHUNK_BITS) == place]
