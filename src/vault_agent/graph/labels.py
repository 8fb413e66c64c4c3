"""Names of communities: the folder or tag that its notes share, or else its best-connected note.

Words of titles are no names: the rarest words tell communities apart best, and say nothing.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_SHARED = 0.6
"""The least share of a community's notes that its folder or tag has."""
_OWN = 0.5
"""The least share of the folder's or tag's notes that are in the community."""


class Named(NamedTuple):
    """What a community may be named after."""

    path: str
    title: str
    tags: Sequence[str]
    degree: int  # the number of its neighbours


def labels(members: Sequence[int], notes: Sequence[Named]) -> list[str]:
    """Return the name of every community with two notes or more. No two are equal, but for case.

    Args:
        members: the community of each note. Communities are numbered by size, the largest first.
        notes: the notes.
    """
    sizes = Counter(members)
    count = sum(size > 1 for size in sizes.values())
    shared = [Counter[str]() for _ in range(count)]
    everywhere = Counter[str]()
    central: list[list[Named]] = [[] for _ in range(count)]
    for community, note in zip(members, notes, strict=True):
        names = set(_names(note))
        everywhere.update(names)
        if community < count:
            shared[community].update(names)
            central[community].append(note)
    found: list[str] = []
    taken: set[str] = set()
    for community in range(count):
        name = _best(shared[community], everywhere, sizes[community], taken)
        if name is None:
            name = _title(central[community], taken)
        taken.add(name.casefold())
        found.append(name)
    return found


def _names(note: Named) -> Iterator[str]:
    """Give the folders that a note is in, as paths that end with `/`, and its tags."""
    end = note.path.find("/")
    while end >= 0:
        yield note.path[: end + 1]
        end = note.path.find("/", end + 1)
    for tag in note.tags:
        yield f"#{tag}"


def _best(
    shared: Counter[str], everywhere: Counter[str], size: int, taken: Iterable[str]
) -> str | None:
    """Return the folder or tag that tells most about a community, or None if none does."""
    fitting = [
        (-min(number / size, number / everywhere[name]), -name.count("/"), name)
        for name, number in shared.items()
        if number >= _SHARED * size and number >= _OWN * everywhere[name]
    ]
    for _, _, name in sorted(fitting):  # of equal ones the deepest folder, then a tag
        shown = name if name.startswith("#") else name.rstrip("/").rpartition("/")[2]
        if shown.casefold() not in taken:
            return shown
    return None


def _title(notes: Sequence[Named], taken: Iterable[str]) -> str:
    """Return the title of the best-connected note whose title is free, else the best one's path."""
    ranked = sorted(notes, key=lambda note: (-note.degree, note.path))
    for note in ranked:
        if note.title.strip() and note.title.casefold() not in taken:
            return note.title
    return ranked[0].path
