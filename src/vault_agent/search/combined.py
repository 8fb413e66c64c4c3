"""Revisions of several vaults, searched as one index of all their notes.

Row numbers are those of one `Numbering`. Statistics are summed by the full-text engine, and vectors
are of one space, so results are ranked as in one index.
"""

from __future__ import annotations

from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from vault_agent.model.numbering import Numbering
from vault_agent.store.current import Snapshot, SnapshotOutdated
from vault_agent.store.fulltext.union import open_union

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from pathlib import Path

    from vault_agent.search.semantic import Matrices
    from vault_agent.store.fulltext.reader import FulltextReader
    from vault_agent.store.index.notes import StoredChunk, StoredNote


class Part(NamedTuple):
    """One of the vaults: its name in results, and its current revision."""

    name: str
    identity: str
    snapshot: Snapshot

    @property
    def key(self) -> tuple[str, str]:
        """What the full text of this revision is known by."""
        return (self.identity, self.snapshot.revision)


class CombinedText(NamedTuple):
    """The full text of several revisions, and the numbers of their rows."""

    keys: tuple[tuple[str, str], ...]
    numbering: Numbering
    fulltext: FulltextReader


def combine_text(parts: Sequence[Part], workplace: Path) -> CombinedText:
    """Open the full text of several revisions as one. Blocking: call it in a thread.

    Raises:
        SnapshotOutdated: if a revision was removed meanwhile.
        IndexUnavailable: `INDEX_INCOMPATIBLE` if files are damaged.
    """
    numbering = Numbering([part.snapshot.meta.next_rowid for part in parts])
    readers = [part.snapshot.fulltext for part in parts]
    try:
        fulltext = open_union(readers, numbering, workplace)
    except FileNotFoundError:
        raise SnapshotOutdated from None
    return CombinedText(tuple(part.key for part in parts), numbering, fulltext)


class CombinedSnapshot:
    """Several revisions that are read as one. It has the methods of `Snapshot` that searches use.

    `home` is the place of the vault that a request names a note of.
    """

    def __init__(self, parts: Sequence[Part], text: CombinedText, home: int = 0) -> None:
        self.parts = tuple(parts)
        self.numbering = text.numbering
        self.fulltext = text.fulltext
        self.threads = parts[0].snapshot.threads
        self.home = home

    @property
    def revision(self) -> str:
        """The revisions of all vaults."""
        text = repr([part.key for part in self.parts])
        return blake2b(text.encode(), digest_size=8).hexdigest()

    @property
    def origin(self) -> tuple[Snapshot, int]:
        """The revision that has a requested note, and what to add to its row numbers."""
        return self.parts[self.home].snapshot, self.numbering.bases[self.home]

    @property
    def note_count(self) -> int:
        """How many notes the vaults have together."""
        return sum(part.snapshot.note_count for part in self.parts)

    @property
    def embedded_share(self) -> float:
        """Share of the chunks that have a vector."""
        chunks = sum(part.snapshot.meta.chunks for part in self.parts)
        if not chunks:
            return 1.0
        return sum(p.snapshot.embedded_share * p.snapshot.meta.chunks for p in self.parts) / chunks

    @cached_property
    def matrix(self) -> Matrices | None:
        """The vectors of all vaults, or None if none has any."""
        from vault_agent.search.semantic import Matrices, PlacedMatrix  # imports numpy

        found = [
            PlacedMatrix(place, part.snapshot.matrix)
            for place, part in enumerate(self.parts)
            if part.snapshot.matrix is not None and part.snapshot.matrix.count
        ]
        return Matrices(found, self.numbering) if found else None

    def vault_of(self, rowid: int) -> str | None:
        """Return the name of the vault that has a note."""
        return self.parts[self.numbering.place_of(rowid)].name

    def notes(self, rowids: Iterable[int]) -> dict[int, StoredNote]:
        """Return the notes with these rowids. Missing ones are left out."""
        rowids = list(rowids)
        return {
            (number := self.numbering.number(place, rowid)): note._replace(rowid=number)
            for place, part in enumerate(self.parts)
            if (asked := self.numbering.rowids_at(place, rowids))
            for rowid, note in part.snapshot.notes(asked).items()
        }

    def headings(self, keys: Iterable[int]) -> dict[int, str | None]:
        """Return the innermost heading of each of these chunks."""
        keys = list(keys)
        return {
            key + self.numbering.shift(place): heading
            for place, part in enumerate(self.parts)
            if (asked := self.numbering.keys_at(place, keys))
            for key, heading in part.snapshot.headings(asked).items()
        }

    def chunks(self, keys: Iterable[int]) -> dict[int, StoredChunk]:
        """Return the chunks with these keys. Missing ones are left out."""
        keys = list(keys)
        return {
            (moved := key + self.numbering.shift(place)): chunk._replace(key=moved)
            for place, part in enumerate(self.parts)
            if (asked := self.numbering.keys_at(place, keys))
            for key, chunk in part.snapshot.chunks(asked).items()
        }

    def circles(
        self, rowids: Sequence[int], within: Collection[int] | None = None
    ) -> dict[int, set[int]]:
        """Return the notes linked with each of some notes. Links do not leave a vault."""
        return {
            self.numbering.number(place, rowid): {
                self.numbering.number(place, other) for other in others
            }
            for place, part in enumerate(self.parts)
            if (asked := self.numbering.rowids_at(place, rowids))
            for rowid, others in part.snapshot.circles(
                asked, None if within is None else set(self.numbering.rowids_at(place, within))
            ).items()
        }

    def bodies(self, rowids: Sequence[int]) -> list[bytes]:
        """Return the text of each of these notes, in their order; a missing note's is empty."""
        found: dict[int, bytes] = {}
        for place, part in enumerate(self.parts):
            if asked := self.numbering.rowids_at(place, rowids):
                texts = part.snapshot.bodies(asked)
                numbers = (self.numbering.number(place, rowid) for rowid in asked)
                found.update(zip(numbers, texts, strict=True))
        return [found[rowid] for rowid in rowids]

    def updated(self, rowids: Iterable[int]) -> dict[int, str]:
        """Return when each of these notes was changed, see `lists.updated_of`."""
        rowids = list(rowids)
        return {
            self.numbering.number(place, rowid): updated
            for place, part in enumerate(self.parts)
            if (asked := self.numbering.rowids_at(place, rowids))
            for rowid, updated in part.snapshot.updated(asked).items()
        }

    def names(self) -> list[tuple[str, tuple[str, ...]]]:
        """Return every note's path with its aliases."""
        return [each for part in self.parts for each in part.snapshot.names()]


AnySnapshot: TypeAlias = Snapshot | CombinedSnapshot
"""What a search reads."""
