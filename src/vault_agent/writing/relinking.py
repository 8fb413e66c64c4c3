"""Rewrite the links of notes when files change their paths.

The links of the index say which notes may be affected. Only these notes are read from the disk, and
only the files that their links name are read from the index. A link is rewritten only if it would
lead elsewhere: it leads to a file that moves, it is a relative link of a note that moves, or it is
a bystander, whose target has another meaning after a name appeared or went.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from vault_agent.errors import Conflict
from vault_agent.markdown.edit import TextChange, editable
from vault_agent.markdown.parse import beside_links
from vault_agent.markdown.relink import (
    ADDRESSES,
    Places,
    is_relative_to,
    leads_by_path,
    respell_link,
)
from vault_agent.model.identifiers import content_hash
from vault_agent.model.link_resolver import LinkResolver, names_of, target_key
from vault_agent.model.note_types import type_of_folder
from vault_agent.text.names import TYPE_MARK, escaped, stem
from vault_agent.writing.disk import naming

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from vault_agent.markdown.edit import Splice
    from vault_agent.model.link_resolver import Resolution
    from vault_agent.model.notes import Link
    from vault_agent.store.index.links import LinkFrom, LinkReader


# --- the links of one note, over values -----------------------------------------------------------


def moved_aliases(aliases: Iterable[str], path: str, to: str) -> tuple[str, ...]:
    """Return the stored aliases of a note after a move. The key of type and name has the new name.

    The key is left out if the note may have had its type only from the old folder.
    """
    if path == to:
        return tuple(aliases)
    kept = []
    for alias in aliases:
        if not alias.startswith(TYPE_MARK):
            kept.append(alias)
            continue
        kind = alias.removeprefix(TYPE_MARK).removesuffix(f"-{stem(path)}")
        if kind != type_of_folder(path) or kind == type_of_folder(to):
            kept.append(f"{TYPE_MARK}{kind}-{stem(to)}")
    return tuple(kept)


@dataclass(frozen=True, slots=True)
class PathChange:
    """The files that are moved, each with its new path, and those that are added or removed."""

    moved: Mapping[str, str] = field(default_factory=dict)
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


class LinkTargets:
    """Where links lead before and after files of a vault change their paths."""

    def __init__(
        self,
        notes: Iterable[tuple[str, Iterable[str]]],
        attachments: Iterable[str] = (),
        *,
        change: PathChange,
    ) -> None:
        """Take the path and aliases of each note, the paths of the other files, and the change."""
        self.moved = change.moved
        gone = set(change.removed)
        notes = [(path, tuple(aliases)) for path, aliases in notes]
        attachments = list(attachments)
        later = [
            (self.place(path), moved_aliases(aliases, path, self.place(path)))
            for path, aliases in notes
            if path not in gone
        ]
        others = [self.place(path) for path in attachments if path not in gone]
        others += change.added  # a new note has no aliases yet, so it is a file like any other
        self._before = LinkResolver(notes, attachments)
        self._after = LinkResolver(later, others)
        paths = [path for path, _ in later] + others
        self._named = Counter(name for path in paths for name in names_of(path))

    def place(self, path: str) -> str:
        """Return the path of a file after the change."""
        return self.moved.get(path, path)

    def before(self, source: str, link: Link) -> Resolution:
        """Return where a link of the note at `source` leads before the change."""
        return self._before.resolve(source, link.target, link.kind)

    def resolve(self, source_path: str, target: str, kind: str) -> Resolution:
        """Return where a link of the note at `source_path` leads, both after the change."""
        return self._after.resolve(source_path, target, kind)

    def is_unique(self, path: str) -> bool:
        """Whether no other file has the name of the one at `path` after the change."""
        return all(self._named[name] == 1 for name in names_of(path))


def find_stale_links(
    source: str, links: Iterable[Link], targets: LinkTargets
) -> Iterator[tuple[Link, Places]]:
    """Yield the links of a note that must be rewritten, each with its places before the change.

    A path that begins with `./` or `../` stays a path from the note's folder, even if the link
    would find its file by the name alone. A Markdown link that is a path from the note's folder
    stays one, too: programs other than Obsidian find files only by exact paths.
    """
    place = targets.place(source)
    for link in links:
        before = targets.before(source, link).path
        if not link.target or before is None:
            continue
        was, now = Places(source, before), Places(place, targets.place(before))
        after = targets.resolve(place, link.target, link.kind).path
        if after != now.dest or (was != now and _loses_path(link, was, now)):
            yield link, was


def _loses_path(link: Link, was: Places, now: Places) -> bool:
    """Whether a link was a path from its note's folder, and no longer is."""
    target = link.target
    return is_relative_to(target, was) > is_relative_to(target, now) or (
        leads_by_path(link.kind, target, was) > leads_by_path(link.kind, target, now)
    )


class NoteLinks(NamedTuple):
    """The links of a note."""

    links: tuple[Link, ...]
    rest: bytes  # the hash of all but the links, which stays the same when links are rewritten


def note_links(note: bytes) -> NoteLinks:
    """Parse a note. Raises Conflict `ENCODING_NOT_WRITABLE`."""
    document = editable(note).document
    rest = content_hash(repr(beside_links(document)).encode())
    return NoteLinks(tuple(document.links), rest)


def rewrite_links(
    note: bytes,
    source: str,
    targets: LinkTargets,
    parsed: NoteLinks | None = None,
) -> tuple[Splice, ...]:
    """Return the splices after which each link of a note leads to the same file as before.

    `source` is the path of the note before the change, and `parsed` is what `note_links` returned
    for it, if it was called already. The result is proven: the note is parsed again, and its links
    must be the same and lead to the same files.

    Raises:
        Conflict: `LINK_NOT_EXPRESSIBLE` if a link can't be written so that it leads to its file;
            `ENCODING_NOT_WRITABLE` if a link must be rewritten and the note isn't UTF-8.
    """
    parsed = parsed or note_links(note)
    place = targets.place(source)
    text = editable(note)
    texts: dict[tuple[int, int], str] = {}  # a definition of several links is written once
    for link, was in find_stale_links(source, parsed.links, targets):
        target = respell_link(link, text.text, was, Places(place, targets.place(was.dest)), targets)
        if target is None or link.span is None:
            raise not_expressible(source, link.line)
        if texts.setdefault(link.span, target) != target:
            raise not_expressible(source, link.line)
    edit = text.edited(TextChange(*span, target) for span, target in sorted(texts.items()))
    if edit.splices:
        after = note_links(edit.note)
        if after.rest != parsed.rest or len(after.links) != len(parsed.links):
            raise not_expressible(source, 1)
        _prove(parsed.links, after.links, source, targets)
    return edit.splices


def _prove(
    links: Iterable[Link],
    after: Iterable[Link],
    source: str,
    targets: LinkTargets,
) -> None:
    """Check that the links of a changed note are the same, and lead to the same files.

    Raises:
        Conflict: `LINK_NOT_EXPRESSIBLE`.
    """
    place = targets.place(source)
    for old, new in zip(links, after, strict=True):
        before = targets.before(source, old).path
        new_path = targets.resolve(place, new.target, new.kind).path
        same = (old.kind, old.fragment) == (new.kind, new.fragment)
        same = same and (old.kind in ADDRESSES or old.text == new.text)
        if before is None:
            same = same and old.target == new.target
        else:
            was, after_it = Places(source, before), Places(place, targets.place(before))
            same = same and new_path == after_it.dest
            same = same and (
                leads_by_path(old.kind, old.target, was)
                <= leads_by_path(new.kind, new.target, after_it)
            )
        if not same:
            raise not_expressible(source, old.line)


def not_expressible(source: str, line: int) -> Conflict:
    """Return the error of a link that can't be written so that it leads to its file."""
    return Conflict(
        "LINK_NOT_EXPRESSIBLE",
        f"{escaped(source)}: A link cannot be written so that it leads to the same file as before.",
        {"path": source, "line": line},
    )


# --- the notes that are affected ------------------------------------------------------------------


class NamedFiles:
    """The files that links may lead to, read from the index as they are needed."""

    def __init__(self, reader: LinkReader, change: PathChange) -> None:
        self.change = change
        self._reader = reader
        self._read: set[str] = set()  # names
        self._notes: dict[str, tuple[str, ...]] = {}
        self._attachments: set[str] = set()
        self._targets: LinkTargets | None = None
        self.changing = self._changing()
        """Names of the changed files, before and after. Only links by these names are affected."""
        self.read(self.changing)

    def _changing(self) -> set[str]:
        change = self.change
        names = {name for path in change.added for name in names_of(path)}
        own = {*change.moved, *change.removed}
        for path in own:
            names |= names_of(path) | names_of(change.moved.get(path, path))
        for path, aliases in self._reader.files_named(names)[0]:
            if path in own:
                to = change.moved.get(path, path)
                names |= names_of(path, aliases)
                names |= names_of(to, moved_aliases(aliases, path, to))
        return names

    def read(self, names: Iterable[str]) -> None:
        """Read the files with these names, unless they have been read."""
        missing = set(names) - self._read
        if not missing:
            return
        self._read |= missing
        notes, attachments = self._reader.files_named(missing)
        self._notes.update(notes)
        self._attachments.update(attachments)
        self._targets = None

    def read_for(self, links: Mapping[str, Sequence[Link]]) -> LinkTargets:
        """Read all files that decide where these links lead. Return the targets.

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
        """Where links by the names read so far lead, before and after the change."""
        if self._targets is None:
            self._targets = LinkTargets(self._notes.items(), self._attachments, change=self.change)
        return self._targets


@dataclass(frozen=True, slots=True)
class Affected:
    """What a change of paths does to links, by the index."""

    notes: tuple[str, ...]
    """Paths of the notes with a link that must be rewritten, before the change."""
    links: tuple[LinkFrom, ...]
    """Links that would lead elsewhere or nowhere."""
    targets: frozenset[str]
    """Paths of the files that the links lead to, before the change."""
    count: int
    """The number of links. All equal ones in a line count here, and `links` has one of them. A link
    of a moved note to a moved note counts twice."""


def find_affected(reader: LinkReader, change: PathChange) -> tuple[Affected, NamedFiles]:
    """Return the links that a change of paths affects, and the files to judge them by."""
    files = NamedFiles(reader, change)
    # A link of a moved note to a moved note is in both lists.
    rows = Counter((*reader.links_to(files.changing), *reader.links_of(change.moved)))
    links = [row for row in rows if row.link.target]
    by_source: dict[str, list[Link]] = {}
    for row in links:
        by_source.setdefault(row.source, []).append(row.link)
    targets = files.read_for(by_source)
    gone = set(change.removed)
    changed = {
        row: was.dest
        for row in links
        if row.source not in gone
        for _, was in find_stale_links(row.source, [row.link], targets)
    }
    notes = tuple(dict.fromkeys(row.source for row in changed))
    count = sum(rows[row] for row in changed)
    return Affected(notes, tuple(changed), frozenset(changed.values()), count), files


def links_taken(reader: LinkReader, path: str) -> tuple[LinkFrom, ...]:
    """Return the links that lead to a new file, and would lead to another file without it."""
    if reader.paths_at(path):
        result, files = find_affected(reader, PathChange(removed=(path,)))
        resolve = files.targets.resolve
        return tuple(
            row
            for row in result.links
            if resolve(row.source, row.link.target, row.link.kind).path is not None
        )
    result, _ = find_affected(reader, PathChange(added=(path,)))
    return result.links


def rewrite_notes(notes: Mapping[str, bytes], files: NamedFiles) -> dict[str, tuple[Splice, ...]]:
    """Rewrite the links of notes as they are on the disk, by their paths before the change.

    The notes are parsed without a limit of time: an index run has parsed them before, within its
    limits. See `rewrite_links`.

    Raises, with `details.path`:
        Conflict: `LINK_NOT_EXPRESSIBLE`, `ENCODING_NOT_WRITABLE`.
    """
    parsed: dict[str, NoteLinks] = {}
    for source, note in notes.items():
        with naming(source):
            parsed[source] = note_links(note)
    targets = files.read_for({source: note.links for source, note in parsed.items()})
    return {
        source: rewrite_links(note, source, targets, parsed[source])
        for source, note in notes.items()
    }
