"""Trees of tags and folders with the number of notes in each."""

from __future__ import annotations

from collections import Counter, defaultdict
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from vault_agent.model.graph import FolderBranch, FolderTree, TagBranch, TagTree
from vault_agent.store.index import notes as reading
from vault_agent.text.names import fold

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from vault_agent.model.graph import TreeQuery
    from vault_agent.store.current import Snapshot
    from vault_agent.store.database import Connection


Entry = TypeVar("Entry")


async def tags(snapshot: Snapshot, query: TreeQuery) -> TagTree:
    """Return the tags of notes, in their most frequent spelling of letter case."""

    def read(connection: Connection) -> TagTree:
        rows = reading.tags(connection)
        tags, covered, truncated = _tree(TagBranch, _counted(rows), query)
        return TagTree(snapshot.revision, tags, snapshot.meta.notes - covered, truncated)

    return await snapshot.read_unchanged(read)


async def folders(snapshot: Snapshot, query: TreeQuery) -> FolderTree:
    """Return the folders that contain notes, relative to that of the index, as is `prefix`."""

    def read(connection: Connection) -> FolderTree:
        paths = [snapshot.scope.inner(path) for _, path in reading.order(connection)]
        written = Counter(path.rpartition("/")[0] for path in paths)
        outside = written.pop("", 0)
        folders, _, truncated = _tree(FolderBranch, _summed(written), query)
        return FolderTree(snapshot.revision, folders, outside, truncated)

    return await snapshot.read_unchanged(read)


class _Counts(NamedTuple):
    """How many notes have each name. Names are folded."""

    own: dict[str, int]
    notes: dict[str, int]  # with those of the names below it; "" is all notes
    written: Iterable[tuple[str, str, int]]  # name, spelling, how often


def _counted(rows: Iterable[tuple[str, str, int]]) -> _Counts:
    """Count (folded name, spelling, note). A note may have several names."""
    rows = sorted(rows, key=itemgetter(2))
    own: dict[str, int] = {}
    notes: dict[str, int] = {}
    last: dict[str, int] = {}  # the last note that was counted: rows are in their order
    for name, _, note in rows:
        own[name] = own.get(name, 0) + 1
        for each in ("", *_levels(name)):
            if last.get(each) != note:
                last[each] = note
                notes[each] = notes.get(each, 0) + 1
    return _Counts(own, notes, ((name, written, 1) for name, written, _ in rows))


def _summed(written: Mapping[str, int]) -> _Counts:
    """Sum the notes of spellings. Each note has one name, so no note is counted twice."""
    own: dict[str, int] = {}
    notes: dict[str, int] = {}
    rows = [(fold(spelled), spelled, count) for spelled, count in written.items()]
    for name, _, count in rows:
        own[name] = own.get(name, 0) + count
        for each in ("", *_levels(name)):
            notes[each] = notes.get(each, 0) + count
    return _Counts(own, notes, rows)


def _tree(
    make: Callable[[str, int, int, tuple[Any, ...]], Entry],
    counts: _Counts,
    query: TreeQuery,
) -> tuple[tuple[Entry, ...], int, bool]:
    """Return the tree of the counted names, how many notes, and whether it is cut.

    The upper levels are kept first, and on one level the first by name or by number. There may be
    hundreds of thousands of names, so only the kept ones get objects of their own.
    """
    own, notes = counts.own, dict(counts.notes)
    whole = notes.pop("", 0)
    children, truncated = _kept(
        notes, fold(query.prefix), query.depth, query.limit, by_count=query.sort == "count"
    )
    written = _spellings(counts.written, {name for names in children.values() for name in names})

    def branch(name: str) -> Entry:
        below = tuple(branch(child) for child in children.get(name, ()))
        return make(written[name], own.get(name, 0), notes[name], below)

    return tuple(branch(name) for name in children[""]), whole, truncated


def _levels(name: str) -> Iterator[str]:
    """Yield `a`, `a/b` and `a/b/c` for `a/b/c`."""
    place = name.find("/")
    while place >= 0:
        yield name[:place]
        place = name.find("/", place + 1)
    yield name


def _kept(
    notes: Mapping[str, int], prefix: str, depth: int, limit: int, *, by_count: bool
) -> tuple[dict[str, list[str]], bool]:
    """Return the kept names by the name above them, and whether the limit left some out.

    "" has the topmost names that begin with `prefix`. `notes` has the number of notes of each.
    """

    def rank(name: str) -> str | tuple[int, str]:
        return (-notes[name], name) if by_count else name

    levels: defaultdict[int, list[str]] = defaultdict(list)
    tops = []
    for name in notes:
        if name.startswith(prefix):
            above = name.rpartition("/")[0]
            if above and above.startswith(prefix):
                levels[name.count("/")].append(name)
            else:
                tops.append(name)
    children = {"": sorted(tops, key=rank)[:limit]}
    truncated = len(tops) > limit
    room, level = limit - len(children[""]), children[""]
    for _ in range(depth - 1):
        places = {name: place for place, name in enumerate(level)}
        found = [
            name
            for number in sorted({each.count("/") + 1 for each in level})
            for name in levels[number]
            if name.rpartition("/")[0] in places
        ]
        found.sort(key=lambda name: (places[name.rpartition("/")[0]], rank(name)))
        truncated = truncated or len(found) > room
        level = found[:room]
        room -= len(level)
        for name in level:
            children.setdefault(name.rpartition("/")[0], []).append(name)
    return children, truncated


def _spellings(spelled: Iterable[tuple[str, str, int]], names: Collection[str]) -> dict[str, str]:
    """Return the most frequent spelling of each of some names."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in names}
    for name, written, count in spelled:
        for each, level in zip(_levels(name), _levels(written), strict=False):
            if each in counts:
                counts[each][level] += count
    return {
        name: min(found, key=lambda each: (-found[each], each)) for name, found in counts.items()
    }
