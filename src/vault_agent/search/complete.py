"""Suggestions of notes, headings, blocks, tags, folders and attachments, while a person types.

All names are in one string, so that looking through tens of thousands takes a millisecond.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from rapidfuzz.fuzz import ratio
from rapidfuzz.process import extract

from vault_agent.errors import TooLarge
from vault_agent.markdown.document import Document
from vault_agent.markdown.headings import Headings, anchor_key
from vault_agent.model.identifiers import identify
from vault_agent.model.names import Stats, Suggestion, SuggestQuery, TypeCount
from vault_agent.model.notes import LinkKind
from vault_agent.search.note_file import NoteFile, read_file
from vault_agent.store.index import lists as counting
from vault_agent.store.index import notes as stored_notes
from vault_agent.store.index.links import resolver_for
from vault_agent.system.cancelling import in_thread
from vault_agent.system.workers import WorkerCrashed
from vault_agent.text.names import fold, is_note, stem
from vault_agent.vault.paths import folders_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from vault_agent.model.link_resolver import LinkResolver
    from vault_agent.store.current import Snapshot
    from vault_agent.store.database import Connection
    from vault_agent.store.index.lists import NoteNames
    from vault_agent.system.workers import TextWorkers
    from vault_agent.vault.root import VaultRoot


MAX_OUTLINE_BYTES = 4 << 20
_NAMES_OF_A_NOTE = 8
"""So many matching names are looked at for each suggestion, because a note has several names."""
_PATH_RANK = 4  # added to the rank of a match that is only in the path
_NOT_IN_LINKS = re.compile(r"[\[\]|#^%\\]+")


@dataclass(frozen=True, slots=True)
class NameCatalog:
    """All names of one revision. Built once, in a thread."""

    revision: str
    notes: Sequence[NoteNames]
    index: NameIndex
    labels: Sequence[str]  # the names as they are written
    owners: Sequence[tuple[int, str]]  # for each name: the note, and the kind of the name
    others: Mapping[str, tuple[Sequence[str], NameIndex]]  # tags, folders and attachments


async def read_names(snapshot: Snapshot) -> NameCatalog:
    """Read all names of a snapshot."""
    return await snapshot.read_unchanged(_names, snapshot.revision)


def _names(connection: Connection, revision: str) -> NameCatalog:
    notes = counting.by_change(connection)
    texts: list[str] = []
    owners: list[tuple[int, str]] = []
    connections: list[int] = []
    for number, (path, title, aliases, _, connected) in enumerate(notes):
        name = stem(path)
        every = {title: "title", name: "name", **dict.fromkeys(aliases, "alias")}
        if "/" in path:
            every.setdefault(path, "path")
        texts += every
        owners += [(number, what) for what in every.values()]
        connections += [connected] * len(every)
    spellings: dict[str, str] = {}
    used: dict[str, int] = {}
    for folded, spelling, _ in stored_notes.tags(connection):
        spellings.setdefault(folded, spelling)
        used[folded] = used.get(folded, 0) + 1
    lists = {
        "tag": [spellings[name] for name in sorted(used, key=lambda name: (-used[name], name))],
        "folder": sorted({folder for path, *_ in notes for folder in folders_of(path)}),
        "attachment": sorted(stored_notes.attachments(connection)),
    }
    others = {kind: (names, NameIndex(names)) for kind, names in lists.items()}
    return NameCatalog(revision, notes, NameIndex(texts, connections), texts, owners, others)


async def suggest(
    snapshot: Snapshot,
    catalog: NameCatalog,
    query: SuggestQuery,
    open_root: Callable[[], VaultRoot],
    text_workers: TextWorkers,
) -> list[Suggestion]:
    """Return suggestions for what was typed, best first.

    After `#` the headings of a note are suggested, after `#^` its blocks. There are none if finding
    them takes more than the pool allows.
    """
    source = ""
    if query.from_ is not None:
        note = await snapshot.read(stored_notes.note_by_id, query.from_)
        source = note.path if note is not None else ""
    if "#" in query.q and {"heading", "block"} & set(query.chosen):
        return await _parts(snapshot, query, source, open_root, text_workers)
    return await snapshot.read(_matching, catalog, query, source)


def _matching(
    connection: Connection, catalog: NameCatalog, query: SuggestQuery, source: str
) -> list[Suggestion]:
    suggestions = [suggestion for _, suggestion in _hits(catalog, query)]
    if "heading" in query.chosen and len(query.q.strip()) > 1:
        suggestions += _headings(connection, query)
    return _with_links(connection, suggestions[: query.limit], source)


def _hits(catalog: NameCatalog, query: SuggestQuery) -> list[tuple[int, Suggestion]]:
    suggestions: list[tuple[int, Suggestion]] = []
    for kind in query.chosen:
        if kind == "note":
            suggestions += _notes(catalog, query)
        elif kind in catalog.others:
            texts, index = catalog.others[kind]
            for hit in index.find(query.q, query.limit):
                text = texts[hit.number]
                begins_in_folder = hit.ranges and hit.ranges[0][0] < text.rfind("/")
                is_of_path = kind == "attachment" and begins_in_folder
                rank = hit.rank + (_PATH_RANK if is_of_path else 0)
                suggestions.append((rank, Suggestion(kind, text, "", text, hit.ranges, path=text)))
    suggestions.sort(key=itemgetter(0))  # stable: within a rank in the order of the kinds
    return suggestions[: query.limit]


def _notes(catalog: NameCatalog, query: SuggestQuery) -> list[tuple[int, Suggestion]]:
    suggestions: list[tuple[int, Suggestion]] = []
    seen: set[int] = set()
    hits = catalog.index.find(query.q, _NAMES_OF_A_NOTE * query.limit)
    ranked = sorted(hits, key=lambda hit: _rank(catalog, hit)) if query.q.strip() else hits
    for hit in ranked:
        number, what = catalog.owners[hit.number]
        if number in seen or len(seen) == query.limit:
            continue
        seen.add(number)
        suggestions.append((_rank(catalog, hit), _note(catalog, number, what, hit)))
    return suggestions


def _rank(catalog: NameCatalog, hit: NameMatch) -> int:
    return hit.rank + (_PATH_RANK if catalog.owners[hit.number][1] == "path" else 0)


def _note(catalog: NameCatalog, number: int, what: str, hit: NameMatch) -> Suggestion:
    path, title, _, kind, _ = catalog.notes[number]
    label, match = catalog.labels[hit.number], hit.ranges
    if what == "path":
        label, match = title, ()
    alias = f"|{label}" if what == "alias" else ""
    return Suggestion(
        "note", label, path, alias, match, note_id=identify(path), path=path, type=kind
    )


def _headings(connection: Connection, query: SuggestQuery) -> list[Suggestion]:
    part = anchor_key(query.q)
    rows = counting.headings(connection, part, limit=query.limit) if part else []
    suggestions = []
    for row in rows:
        label = next((name for name in row.heading_path if anchor_key(name) == row.name), row.name)
        suggestions.append(
            Suggestion(
                "heading",
                label,
                row.path,
                f"#{_linkable(label)}",
                note_id=identify(row.path),
                path=row.path,
                line=row.line,
            )
        )
    return suggestions


async def _parts(
    snapshot: Snapshot,
    query: SuggestQuery,
    source: str,
    open_root: Callable[[], VaultRoot],
    text_workers: TextWorkers,
) -> list[Suggestion]:
    """Return the headings or blocks of the note that is named before the `#`."""
    name, _, fragment = query.q.partition("#")
    path: str | None = source
    if name.strip():
        resolver = await snapshot.read(resolver_for, [name])
        path = resolver.resolve(source, name.strip(), LinkKind.WIKILINK).path
    if not path or not is_note(path):
        return []

    kind = "block" if fragment.startswith("^") else "heading"
    if kind not in query.chosen:
        return []

    def read() -> NoteFile:
        with open_root() as root:
            return read_file(root, path, MAX_OUTLINE_BYTES)

    try:
        file = await in_thread(read)
        parts = await text_workers.run(file.size, _parts_of, file.text, fragment, kind, query.limit)
    except (TooLarge, WorkerCrashed):
        return []
    suggestions = []
    for text, line, ranges in parts:
        insert = f"#{text}" if kind == "block" else f"#{_linkable(text)}"
        suggestions.append(Suggestion(kind, text, path, insert, ranges, identify(path), path, line))
    if not name.strip():
        return suggestions  # a link within the note needs no name
    return await snapshot.read(_with_links, suggestions, source)


def _parts_of(
    text: str, fragment: str, kind: str, limit: int
) -> list[tuple[str, int, tuple[tuple[int, int], ...]]]:
    """Return the headings or blocks to offer for a fragment: texts, lines, and matching ranges."""
    document = Document(text)
    if kind == "block":
        every = [(f"^{block.id}", block.line) for block in document.blocks]
        hits = NameIndex([name for name, _ in every]).find(fragment.removeprefix("^"))
    else:
        every = [(section.text, section.line) for section in document.sections]
        hits = heading_hits(document.headings, fragment)
    if not fragment.strip("^ "):
        hits = [NameMatch(number, 0, ()) for number in range(len(every))]
    return [(*every[hit.number], hit.ranges) for hit in hits[:limit]]


def heading_hits(headings: Headings, fragment: str) -> list[NameMatch]:
    """Return the headings to offer for a fragment: first the one that the fragment names."""
    named = headings.walk([anchor_key(name) for name in fragment.split("#")])[-1:]
    hits = NameIndex([heading.text for heading in headings.all]).find(fragment)
    numbers = {hit.number for hit in hits}
    hits = [*(NameMatch(number, 0, ()) for number in named if number not in numbers), *hits]
    return sorted(hits, key=lambda hit: hit.number not in named)


def _with_links(
    connection: Connection, suggestions: Sequence[Suggestion], source: str
) -> list[Suggestion]:
    """Make each suggestion insert the shortest link that leads to its file."""
    linked = ("note", "heading", "block", "attachment")
    paths = [one.path for one in suggestions if one.kind in linked and one.path is not None]
    resolver = resolver_for(connection, paths)
    done = []
    for suggestion in suggestions:
        if suggestion.kind in linked and suggestion.path is not None:
            link = _shortest(resolver, source, suggestion.path)
            after = "" if suggestion.kind == "attachment" else suggestion.insert
            # Names of files are compared without case: such an alias needs no link of its own.
            is_name = after.startswith("|") and fold(after[1:]) == fold(link)
            insert = suggestion.label if is_name else f"{link}{after}"
            done.append(replace(suggestion, insert=insert))
        else:
            done.append(suggestion)
    return done


def _shortest(resolver: LinkResolver, source: str, path: str) -> str:
    """Return the shortest target that leads to a file from a note, and to no other."""
    whole = path[: path.rindex(".")] if is_note(path) else path
    parts = whole.split("/")
    for count in range(1, len(parts) + 1):
        target = "/".join(parts[-count:])
        resolution = resolver.resolve(source, target, LinkKind.WIKILINK)
        if resolution.path == path and not resolution.ambiguous:
            return target
    return path


def _linkable(heading: str) -> str:
    """Return a heading without characters that would end a link. Links are compared so too."""
    return " ".join(_NOT_IN_LINKS.sub(" ", heading).split())


async def stats_of(snapshot: Snapshot) -> Stats:
    """Return numbers of a snapshot."""
    counted, types = await snapshot.read_unchanged(
        lambda connection: (counting.counts(connection), counting.types(connection))
    )
    meta = snapshot.meta
    return Stats(
        revision=snapshot.revision,
        notes=meta.notes,
        types=tuple(TypeCount(*row) for row in types),
        attachments=counted.attachments,
        links=meta.links,
        unresolved_links=meta.unresolved_links,
        external_links=counted.external_links,
        tags=counted.tags,
        open_tasks=counted.open_tasks,
        chunks=meta.chunks,
    )


MAX_QUERY = 200
MAX_NAME = 300
MAX_HITS = 500
"""The most names that one way of matching finds."""
ENOUGH = 20
"""If there are fewer hits, similar names are searched too."""
SIMILAR_NAMES = 4_000
_SIMILAR = 70.0  # of 100
_DOUBLING = 4  # characters that a name may be longer for twice as many connections
_FIRST = "\n"
_LEADING_SIGNS = re.compile(r"^[\W_]+(?=\w)")
"""An emoji or a sign at the beginning of a name, which few people type."""
_BREAKS = str.maketrans(dict.fromkeys("-_/.,:;()[]{}'\"+&\t\n\r\\", " "))


class NameMatch(NamedTuple):
    """A name that matches: its number, how well (0 is best), and the matching ranges."""

    number: int
    rank: int
    ranges: tuple[tuple[int, int], ...]


class NameIndex:
    """Finds names by their beginning, a part, their words or initials, or by similarity.

    Args:
        names: the names, the preferred ones first, such as those of the last changed notes.
        connections: for each name, the number of links from and to its note. Of names that match
            equally well, short ones and those with many links come first.
    """

    def __init__(self, names: Sequence[str], connections: Sequence[int] = ()) -> None:
        self._connections = connections
        self._names = [_normal(name[:MAX_NAME]) for name in names]
        self._text, self._starts = _joined(self._names)
        unsigned = [_LEADING_SIGNS.sub("", name) for name in self._names]
        self._unsigned, self._unsigned_starts = _joined(unsigned)
        initials = ["".join(word[0] for word in name.split()) for name in self._names]
        self._initials, self._initial_starts = _joined(initials)

    def find(self, query: str, limit: int = MAX_HITS) -> list[NameMatch]:
        """Return the names that match a query, best first, at most `limit`."""
        wanted = " ".join(_normal(query[:MAX_QUERY]).split())
        if not wanted:
            return [NameMatch(number, 0, ()) for number in range(min(len(self._names), limit))]
        ranks: dict[int, int] = {}
        whole = (self._text, self._starts)
        if not _LEADING_SIGNS.match(wanted):
            whole = (self._unsigned, self._unsigned_starts)
        ways = (
            (*whole, f"{_FIRST}{wanted}{_FIRST}"),
            (*whole, f"{_FIRST}{wanted}"),
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
        order = sorted(ranks, key=lambda number: (ranks[number], self._weight(number), number))
        return [
            NameMatch(number, ranks[number], self._ranges(number, words))
            for number in order[:limit]
        ]

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
        places = ((name.find(word), len(word)) for word in words)
        return tuple(sorted((start, start + length) for start, length in places if start >= 0))


def _normal(name: str) -> str:
    """Return a name as it is compared. Its length changes only if folding changes it."""
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
