"""Find the notes whose links lead elsewhere when files change their paths.

The links of the index say which notes may be affected. Only these are read from the disk, and only
the names that their links use are read from the index.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vault_agent.model.link_resolver import names_of, target_key
from vault_agent.writing.relinking import (
    LinkTargets,
    changes,
    leading,
    moved_aliases,
    note_links,
    rewritten,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from vault_agent.markdown.edit import Splice
    from vault_agent.model.notes import Link
    from vault_agent.store.index.links import LinkFrom, LinkReader
    from vault_agent.writing.costly import NoteWork
    from vault_agent.writing.relinking import NoteLinks


@dataclass(frozen=True, slots=True)
class PathChange:
    """Files that change their paths, come into being or go."""

    moved: Mapping[str, str] = field(default_factory=dict)
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


class NamedFiles:
    """The files that links may mean, read from the index as they are needed."""

    def __init__(self, reader: LinkReader, change: PathChange) -> None:
        self.change = change
        self._reader = reader
        self._read: set[str] = set()  # names
        self._notes: dict[str, tuple[str, ...]] = {}
        self._attachments: set[str] = set()
        self._targets: LinkTargets | None = None
        self.changing = self._changing()
        """Names of the files that change, before and after. Only links to these are affected."""
        self.read(self.changing)

    def _changing(self) -> set[str]:
        change = self.change
        names = {name for path in change.added for name in names_of(path)}
        own = {*change.moved, *change.removed}
        for path in own:
            names |= names_of(path) | names_of(change.moved.get(path, path))
        for path, aliases in self._reader.files_named(names):
            if path in own:
                to = change.moved.get(path, path)
                names |= names_of(path, aliases or ())
                names |= names_of(to, moved_aliases(aliases or (), path, to))
        return names

    def read(self, names: Iterable[str]) -> None:
        """Read the files with these names, unless they are known."""
        missing = set(names) - self._read
        if not missing:
            return
        self._read |= missing
        for path, aliases in self._reader.files_named(missing):
            if aliases is None:
                self._attachments.add(path)
            else:
                self._notes[path] = aliases
        self._targets = None

    def read_for(self, links: Mapping[str, Sequence[Link]]) -> LinkTargets:
        """Return the names with all that decide where links lead, before and after.

        Args:
            links: the links of each note, by its path before the change.
        """
        self.read({target_key(link.target) for own in links.values() for link in own})
        targets, moved = self.targets, self.change.moved
        led_to = {
            targets.before(source, link).path for source, own in links.items() for link in own
        }
        paths = {place for path in led_to if path for place in (path, moved.get(path, path))}
        self.read(name for path in paths for name in names_of(path))
        return self.targets

    @property
    def targets(self) -> LinkTargets:
        """Where links with the names read so far lead, before and after the change."""
        if self._targets is None:
            self._targets = LinkTargets(
                self._notes.items(),
                self._attachments,
                moved=self.change.moved,
                added=self.change.added,
                removed=self.change.removed,
            )
        return self._targets


@dataclass(frozen=True, slots=True)
class Affected:
    """What a change of paths does to links, by the index."""

    notes: tuple[str, ...]
    """Paths of the notes with a link that must be rewritten, before the change."""
    links: tuple[LinkFrom, ...]
    """Links that would lead elsewhere or nowhere."""
    surprises: tuple[LinkFrom, ...]
    """Links that lead nowhere now, and would lead to a file."""
    count: int
    """The number of `links`, each of one line counted."""


def affected(reader: LinkReader, change: PathChange) -> tuple[Affected, NamedFiles]:
    """Return the links that a change of paths affects, and the files to judge them by."""
    files = NamedFiles(reader, change)
    # A link of a moved note to a moved note is there twice.
    rows = Counter((*reader.links_to(files.changing), *reader.links_of(change.moved)))
    links = [row for row in rows if row.link.target]
    by_source: dict[str, list[Link]] = {}
    for row in links:
        by_source.setdefault(row.source, []).append(row.link)
    targets = files.read_for(by_source)
    gone = set(change.removed)
    changed: list[LinkFrom] = []
    surprises: list[LinkFrom] = []
    for row in links:
        if row.source in gone:
            continue
        [(link, before)] = leading(row.source, [row.link], targets)
        if any(changes(row.source, [(link, before)], targets)):
            changed.append(row)
        elif before is None and _leads_later(row, targets):
            surprises.append(row)
    notes = tuple(dict.fromkeys(row.source for row in changed))
    count = sum(rows[row] for row in changed)
    return Affected(notes, tuple(changed), tuple(surprises), count), files


def links_taken(reader: LinkReader, path: str) -> tuple[LinkFrom, ...]:
    """Return the links that lead to a new file, and would lead to another one without it."""
    if reader.files_at(path):
        result, files = affected(reader, PathChange(removed=(path,)))
        resolve = files.targets.resolve
        return tuple(
            row
            for row in result.links
            if resolve(row.source, row.link.target, row.link.kind).path is not None
        )
    result, _ = affected(reader, PathChange(added=(path,)))
    return result.links


def _leads_later(row: LinkFrom, targets: LinkTargets) -> bool:
    place = targets.place(row.source)
    return targets.resolve(place, row.link.target, row.link.kind).path is not None


def rewrite(
    notes: Mapping[str, bytes], files: NamedFiles, work: NoteWork
) -> dict[str, tuple[Splice, ...]]:
    """Rewrite the links of notes as they are on the disk, by their paths before the change.

    See `relinking.rewritten`.

    Raises:
        TooLarge: `NOTE_TOO_LARGE`.
        Conflict: `LINK_NOT_EXPRESSIBLE`, `ENCODING_NOT_WRITABLE`.
    """
    parsed = dict(
        zip(notes, work.all([(note_links, note) for note in notes.values()]), strict=True)
    )

    def parse(note: bytes) -> NoteLinks:
        return work.all([(note_links, note)])[0]

    targets = files.read_for({source: note.links for source, note in parsed.items()})
    return {
        source: rewritten(note, source, targets, parsed[source], parse)
        for source, note in notes.items()
    }
