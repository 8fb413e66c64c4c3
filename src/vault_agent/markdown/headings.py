"""Which heading a name means: for links as Obsidian resolves them, for requests more leniently.

Obsidian's API documents that headings are compared after `stripHeading`, which turns punctuation
into spaces (docs.obsidian.md, Reference/TypeScript API/stripHeading), and that `resolveSubpath`
resolves `#A#B`. It compares what is written, so a heading `[[x|alias]] end` is `x alias end`, and
the ID of a block behind a heading is part of its name. Each part of a path is the first heading of
its name that comes after the one before it and is deeper; if one is missing, nothing is found.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from vault_agent.markdown.structure import scan
from vault_agent.text.names import fold

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from vault_agent.markdown.structure import Heading

MAX_LEVEL = 6
_NO_PART = re.compile(r"[!\"#$%&()*+,.:;<=>?@^_`{|}~/\[\]\\\s]+")
_MAX_NAME_CHARS = 200
_MARKS = re.compile(r"#{1,6}[ \t]+(?=\S)")
_MARKUP = re.compile(r"[*_`\[\]\\<&!]")
_BLOCK_ID = re.compile(r"[ \t]\^[A-Za-z0-9-]+\Z")
_NOT_SLUG = re.compile(r"[^\w]+|_")
_REPEATED = re.compile(r"-(\d{1,4})\Z")


class KnownHeading(NamedTuple):
    """A heading of a note: its level, the key by which links name it, and the text that it shows.

    The text is empty if only the key is known.
    """

    level: int
    key: str
    text: str = ""


@lru_cache(maxsize=1 << 12)
def anchor_key(name: str) -> str:
    """Return the key by which a fragment is compared with a heading or block.

    The name is folded like all names. Punctuation counts as a space, as in Obsidian.
    """
    return fold(_NO_PART.sub(" ", name).strip())[:_MAX_NAME_CHARS]


def key_of(source: str, heading: Heading) -> str:
    """Return the key of a heading of a body. Of `[[a|b]]` it has both parts."""
    source_text = source[heading.start : heading.end]
    both = "[[" in source_text and "|" in source_text
    return anchor_key(source_text.rstrip("=- \r\n") if both else heading.text)


def without_marks(name: str) -> str:
    """Return a heading without `##` before it."""
    return _MARKS.sub("", name.strip(), count=1)


def plain(name: str) -> str:
    """Return the text of a heading that a caller has written, perhaps with `##` or markup."""
    name = without_marks(name)
    if _MARKUP.search(name):
        headings = scan(f"# {' '.join(name.split())}\n").headings
        name = headings[0].text if headings else name
    return without_id(name)


def without_id(text: str) -> str:
    """Return the text of a heading without the ID of a block behind it."""
    return _BLOCK_ID.sub("", text)


class Headings:
    """The headings of a note in order, to find those that a name means."""

    def __init__(self, headings: Sequence[KnownHeading]) -> None:
        self.all = headings

    def find(self, wanted: Sequence[str]) -> list[int]:
        """Return the indices of the headings that a path of names means.

        A heading may also be named by the text that it shows, headings between those of the path
        may be left out, and one name may be a path itself: `A > B` or `A#B`. What matches exactly
        and without a gap comes first. Links are stricter: `walk`.
        """
        return next(filter(None, map(self._ending_with, _readings(wanted))), [])

    def walk(self, keys: Sequence[str]) -> tuple[int, ...]:
        """Return the heading that each part of a fragment names; nothing if one is missing."""
        named: list[int] = []
        level, last = 0, -1
        for key in filter(None, keys):
            following = [
                places[place]
                for deeper in range(level + 1, MAX_LEVEL + 1)
                if (places := self._places.get((key, deeper), []))
                and (place := bisect_right(places, last)) < len(places)
            ]
            if not following:
                return ()
            last = min(following)
            level = self.all[last].level
            named.append(last)
        return tuple(named)

    def find_slug(self, fragment: str) -> list[int]:
        """Return the headings that a fragment names as renderers do, such as `#late-frost`.

        Renderers number repeated headings: `#frost`, `#frost-1`.
        """
        wanted = fold(fragment)
        headings = self._slugs.get(_NOT_SLUG.sub("", wanted), [])
        number = _REPEATED.search(wanted)
        if headings or number is None:
            return headings
        headings = self._slugs.get(_NOT_SLUG.sub("", wanted[: number.start()]), [])
        return headings[int(number[1]) :][:1]

    @cached_property
    def _places(self) -> dict[tuple[str, int], list[int]]:
        """The headings of each key and level, in order."""
        places: dict[tuple[str, int], list[int]] = {}
        for index, heading in enumerate(self.all):
            places.setdefault((heading.key, heading.level), []).append(index)
        return places

    @cached_property
    def _slugs(self) -> dict[str, list[int]]:
        slugs: dict[str, list[int]] = {}
        for index, heading in enumerate(self.all):
            slugs.setdefault(_NOT_SLUG.sub("", heading.key), []).append(index)
        return slugs

    @cached_property
    def _paths(self) -> list[tuple[int, ...]]:
        paths: list[tuple[int, ...]] = []
        above: tuple[int, ...] = ()
        for index, heading in enumerate(self.all):
            above = (*(outer for outer in above if self.all[outer].level < heading.level), index)
            paths.append(above)
        return paths

    def _ending_with(self, path: Sequence[str]) -> list[int]:
        """Return the headings with which a path of names ends, by the closest way to compare."""
        names = [plain(name) for name in path]
        ways: tuple[tuple[Callable[[KnownHeading], Sequence[str]], Callable[[str], str]], ...] = (
            (_shown, spelling),
            (_keys, anchor_key),
        )
        for names_of, compared in ways:
            wanted = [compared(name) for name in names]
            if not all(wanted):
                return []
            own_names = [names_of(heading) for heading in self.all]
            ends = [index for index, own in enumerate(own_names) if wanted[-1] in own]
            for fits in (_is_end, _is_in_order):
                paths = (
                    (index, [own_names[heading] for heading in self._paths[index]])
                    for index in ends
                )
                if fitting := [index for index, own in paths if fits(wanted, own)]:
                    return fitting
        return []


def _readings(wanted: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield what a path may mean: a heading may contain the sign between those of a path."""
    yield wanted
    if len(wanted) > 1:
        yield (" > ".join(wanted),)
        return
    for sign in (">", "#"):
        parts = [part for part in wanted[0].split(sign) if part.strip()]
        if parts and parts != [wanted[0]]:
            yield parts


def spelling(text: str) -> str:
    """Return the text of a heading as it is compared with what a caller has written."""
    return fold(" ".join(text.split()))


def _shown(heading: KnownHeading) -> Sequence[str]:
    return (spelling(without_id(heading.text)),)


def _keys(heading: KnownHeading) -> Sequence[str]:
    return heading.key, anchor_key(without_id(heading.text))


def _is_end(wanted: Sequence[str], path: Sequence[Sequence[str]]) -> bool:
    """Whether the wanted names are the last ones of a path. Each heading may have several names."""
    return len(wanted) <= len(path) and all(
        name in own for name, own in zip(wanted, path[-len(wanted) :], strict=True)
    )


def _is_in_order(wanted: Sequence[str], path: Sequence[Sequence[str]]) -> bool:
    """Whether the wanted names occur in a path in this order, perhaps with others between them."""
    remaining = iter(path)
    return all(any(name in own for own in remaining) for name in wanted)
