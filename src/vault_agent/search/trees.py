"""Trees of tags and folders with the number of notes in each."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vault_agent.model.graph import Branch
from vault_agent.model.scope import EVERYTHING
from vault_agent.store.index import graph as reading
from vault_agent.system.cancelling import in_thread
from vault_agent.text.names import fold

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vault_agent.model.scope import Scope
    from vault_agent.store.current import Snapshot


@dataclass(frozen=True, slots=True)
class Tree:
    """A tree of tags or folders, cut at the requested depth and number of entries."""

    revision: str
    branches: tuple[Branch, ...]
    count: int  # notes with no tag, or in no folder
    truncated: bool  # whether the limit left entries out


@dataclass(slots=True)
class _Node:
    spellings: Counter[str] = field(default_factory=Counter)
    own: int = 0
    notes: set[int] = field(default_factory=set)  # with this one or one below it
    children: dict[str, _Node] = field(default_factory=dict)


async def tags(
    snapshot: Snapshot, *, prefix: str, depth: int, limit: int, scope: Scope = EVERYTHING
) -> Tree:
    """Return the tags of the notes of `scope`, in their most frequent spelling of letter case."""
    async with snapshot.unchanged() as connection:
        rows = await reading.tags(connection)
        count = snapshot.meta.notes
        if scope != EVERYTHING:
            seen = {
                rowid for rowid, path in await reading.order(connection) if scope.contains(path)
            }
            rows = [row for row in rows if row[2] in seen]
            count = len(seen)
    branches, truncated, notes = await in_thread(_tree, rows, prefix, depth, limit)
    return Tree(snapshot.revision, branches, count - notes, truncated)


async def folders(
    snapshot: Snapshot, *, prefix: str, depth: int, limit: int, scope: Scope = EVERYTHING
) -> Tree:
    """Return the folders that contain notes. They and `prefix` are relative to the scope's."""
    async with snapshot.unchanged() as connection:
        order = await reading.order(connection)
    notes = [(rowid, scope.inner(path)) for rowid, path in order if scope.contains(path)]
    rows = [
        (fold(folder), folder, rowid)
        for rowid, path in notes
        if (folder := path.rpartition("/")[0])
    ]
    branches, truncated, _ = await in_thread(_tree, rows, prefix, depth, limit)
    return Tree(snapshot.revision, branches, len(notes) - len(rows), truncated)


def _tree(
    rows: Iterable[tuple[str, str, int]], prefix: str, depth: int, limit: int
) -> tuple[tuple[Branch, ...], bool, int]:
    """Return the tree of (folded name, spelling, note), whether it is cut, and how many notes.

    The upper levels are kept first, and on one level the first by name.
    """
    root = _Node()
    for name, written, note in rows:
        root.notes.add(note)
        node, spelled = root, ""
        for part, spelling in zip(name.split("/"), written.split("/"), strict=False):
            node = node.children.setdefault(part, _Node())
            spelled = f"{spelled}/{spelling}" if spelled else spelling
            node.spellings[spelled] += 1
            node.notes.add(note)
        node.own += 1
    tops = sorted(_matching(root, "", fold(prefix)))
    kept: set[int] = set()
    level, truncated = [node for _, node in tops], False
    for _ in range(depth):
        room = limit - len(kept)
        truncated = truncated or len(level) > room
        kept.update(map(id, level[:room]))
        level = [child for node in level[:room] for _, child in sorted(node.children.items())]
    return (
        tuple(_branch(node, kept) for _, node in tops if id(node) in kept),
        truncated,
        len(root.notes),
    )


def _matching(node: _Node, name: str, prefix: str) -> list[tuple[str, _Node]]:
    """Return the topmost nodes whose complete name begins with a prefix."""
    found = []
    for part, child in node.children.items():
        whole = f"{name}/{part}" if name else part
        if whole.startswith(prefix):
            found.append((whole, child))
        elif prefix.startswith(f"{whole}/"):
            found += _matching(child, whole, prefix)
    return found


def _branch(node: _Node, kept: set[int]) -> Branch:
    shown = min(node.spellings, key=lambda each: (-node.spellings[each], each))
    children = (child for _, child in sorted(node.children.items()) if id(child) in kept)
    return Branch(
        shown, node.own, len(node.notes), tuple(_branch(child, kept) for child in children)
    )
