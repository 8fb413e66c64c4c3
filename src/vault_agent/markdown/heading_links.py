"""Write the fragments of links anew when a heading gets another text. Pure.

A fragment names a heading (`#Log`), or a heading below others (`#Project#Log`). A Markdown link may
also name it as renderers do (`#project-log`).
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING
from urllib.parse import unquote

from vault_agent.errors import Conflict
from vault_agent.model.notes import LinkKind
from vault_agent.text.names import fold

from .anchors import anchor_key
from .edit import Splice
from .parse import parse_note
from .relink import ADDRESSES, writer
from .sections import outline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from vault_agent.model.notes import Link

    Write = Callable[[str], str | None]

_NO_WIKILINK = re.compile(r"[\[\]#|^\\`\r\n]|%%|<!--")
_WIKI_FRAGMENT = re.compile(r"[ \t]*#[ \t]*(?P<text>[^|\r\n]*?)[ \t]*(?=\\?\||\]\])")
_YAML_FRAGMENT = re.compile(
    r"[ \t]*#[ \t]*(?P<text>[^|\r\n]*?)[ \t]*(?=\\?\||\]\]|[\"']?[ \t]*[\r\n])"
)
_BARE_FRAGMENT = re.compile(r"#(?P<text>(?:\\.|[^\s<>\\])*)")
_ANGLE_FRAGMENT = re.compile(r"#(?P<text>(?:\\.|[^<>\\\r\n])*)")
_BACKSLASH = re.compile(r"\\([!-/:-@\[-`{-~])")
_NO_SLUG = re.compile(r"[^\w\- ]")
_MAX_BYTES = 4_096


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading as fragments name it."""

    level: int
    key: str  # as returned by `anchor_key`
    text: str


class Headings:
    """The headings of one note, in order."""

    def __init__(self, text: str) -> None:
        """Take the text of a note without byte order mark."""
        keys = {each.line: each.name for each in parse_note(text, path="").anchors if each.level}
        self.all = tuple(
            Heading(each.level, keys.get(each.line, ""), each.text)
            for each in outline(text).sections
        )
        self._slugs = _slugs(self.all)
        self._by_slug = {slug: at for at, slug in reversed([*enumerate(self._slugs)])}
        self._paths: list[tuple[int, ...]] = []  # each heading, with those above it
        self._by_key: dict[str, list[int]] = {}
        self._below: dict[str, dict[tuple[str, ...], tuple[int, ...]]] = {}  # see `_named_below`
        above: tuple[int, ...] = ()
        for index, heading in enumerate(self.all):
            above = (*(each for each in above if self.all[each].level < heading.level), index)
            self._paths.append(above)
            self._by_key.setdefault(heading.key, []).append(index)

    def named(self, kind: LinkKind, fragment: str) -> tuple[int, ...] | None:
        """Return the index of the heading that each part of a fragment names.

        If no heading lies below the others of a path, the last part counts, as in Obsidian. Return
        None for a block, and if there is no such heading.
        """
        parts = [part.strip() for part in fragment.split("#") if part.strip()]
        if not parts or parts[-1].startswith("^"):
            return None
        keys = tuple(anchor_key(part) for part in parts)
        if keys[-1] in self._by_key and keys[-1]:
            first = (self._by_key[keys[-1]][0],)
            return first if len(keys) == 1 else self._named_below(keys[-1]).get(keys, first)
        at = self._by_slug.get(fold(parts[-1])) if kind in ADDRESSES else None
        return None if at is None else (at,)

    def slug(self, index: int) -> str:
        """Return the fragment that renderers give a heading."""
        return self._slugs[index]

    def path(self, index: int) -> tuple[int, ...]:
        """Return the indexes of a heading and of those above it, the outermost first."""
        return self._paths[index]

    def _named_below(self, key: str) -> dict[tuple[str, ...], tuple[int, ...]]:
        """Return the headings that each path to a key names, the first where there are several.

        Made once for each key: a note may have very many links to headings of one name. A heading
        has at most five above it.
        """
        if key not in self._below:
            named = self._below.setdefault(key, {})
            for index in self._by_key[key]:
                above = self._paths[index][:-1]
                for count in range(1, len(above) + 1):
                    for chosen in combinations(above, count):
                        keys = (*(self.all[each].key for each in chosen), key)
                        named.setdefault(keys, (*chosen, index))
        return self._below[key]


def _slugs(headings: Iterable[Heading]) -> list[str]:
    seen = Counter[str]()
    found = []
    for heading in headings:
        slug = _NO_SLUG.sub("", fold(heading.text)).replace(" ", "-")
        found.append(f"{slug}-{seen[slug]}" if seen[slug] else slug)
        seen[slug] += 1
    return found


@dataclass(frozen=True, slots=True)
class RenamedHeading:
    """The headings of a note before and after one of them, at `index`, gets another text."""

    before: Headings
    after: Headings
    index: int

    def splices(self, note: bytes, links: Sequence[Link]) -> tuple[Splice, ...]:
        """Return the splices after which links name the same headings as before.

        Args:
            note: the bytes of the note that contains the links, in UTF-8.
            links: those of its links that lead to the note with the heading.

        Raises:
            Conflict: `LINK_NOT_EXPRESSIBLE` with `details.line`.
        """
        found: dict[tuple[int, int], bytes] = {}
        for link in links:
            named = self.before.named(link.kind, link.fragment) if link.fragment else None
            if named is None or link.fragment is None or not self._is_changed(link, named):
                continue
            span = _span(link, note)
            text = self._respelled(link, note, span, named) if span else None
            if span is None or text is None or found.setdefault(span, text) != text:
                raise not_expressible(link.line)
        return tuple(Splice(*span, text) for span, text in sorted(found.items()))

    def changes(self, links: Iterable[Link]) -> bool:
        """Whether any of these links must be rewritten."""
        named = ((link, self.before.named(link.kind, link.fragment or "")) for link in links)
        return any(found is not None and self._is_changed(link, found) for link, found in named)

    def _is_changed(self, link: Link, named: tuple[int, ...]) -> bool:
        """Whether a link has the old text, or would name another heading."""
        now = self.after.named(link.kind, link.fragment or "")
        return now is None or now[-1] != named[-1] or self.index in named

    def _respelled(
        self, link: Link, note: bytes, span: tuple[int, int], named: tuple[int, ...]
    ) -> bytes | None:
        """Return the fragment with which a link leads to its heading."""
        written = note[slice(*span)].decode()
        at = link.span[0] if link.span else 0
        write = writer(link.kind, note, at, written)
        for parts in self._ways(link, written, named, write):
            if None in parts:
                continue
            fragment = "#".join(filter(None, parts))
            found = self.after.named(link.kind, _read(link.kind, fragment))
            if found is not None and found[-1] == named[-1]:
                return fragment.encode()
        return None

    def _ways(
        self, link: Link, written: str, named: tuple[int, ...], write: Write
    ) -> Iterator[list[str | None]]:
        """Yield ways to write a fragment, as parts: like it was, and as the whole path."""
        last = named[-1]
        parts: list[str | None] = [*written.split("#")]
        if anchor_key((link.fragment or "").rpartition("#")[2]) != self.before.all[last].key:
            yield [*parts[:-1], self.after.slug(last)]
        first = len(parts) - len(named)
        for place, index in enumerate(named, first):
            if place >= 0 and self.before.all[index].key != self.after.all[index].key:
                parts[place] = self._written(index, link, write)
        yield parts
        yield [self._written(index, link, write) for index in self.after.path(last)]

    def _written(self, index: int, link: Link, write: Write) -> str | None:
        text = self.after.all[index].text
        # What a wikilink can't contain does not matter in the name of a heading.
        plain = text if link.kind in ADDRESSES else " ".join(_NO_WIKILINK.sub(" ", text).split())
        return write(plain)


def not_expressible(line: int) -> Conflict:
    """Return the error of a link that can't name its heading."""
    return Conflict(
        "LINK_NOT_EXPRESSIBLE",
        "A link could not be written so that it leads to the same heading as before.",
        {"line": line},
    )


def _span(link: Link, note: bytes) -> tuple[int, int] | None:
    """Return the range of a link's fragment as written, without `#`; None if it isn't found."""
    if link.span is None:
        return None
    start = link.span[1]
    rest = note[start : start + _MAX_BYTES].decode("utf-8", "ignore")
    if link.kind in ADDRESSES:
        before = note[: link.span[0]].rstrip(b" \t")
        pattern = _ANGLE_FRAGMENT if before.endswith(b"<") else _BARE_FRAGMENT
    else:
        pattern = _YAML_FRAGMENT if link.kind is LinkKind.FRONTMATTER else _WIKI_FRAGMENT
    match = pattern.match(rest)
    if match is None:
        return None
    text = match["text"]
    while text and _read(link.kind, text) != link.fragment:
        text = text[:-1]  # a destination ends before the bracket of the link
    first = start + len(rest[: match.start("text")].encode())
    return (first, first + len(text.encode())) if text else None


def _read(kind: LinkKind, written: str) -> str:
    """Return a fragment as the parser reads it."""
    if kind in ADDRESSES:
        return unquote(_BACKSLASH.sub(r"\1", written))
    return written.strip().replace("''", "'")
