"""Write the fragments of links anew when a heading gets another text. Pure.

A fragment names a heading (`#Log`), or a heading below others (`#Project#Log`). A Markdown link may
also name it as renderers do (`#project-log`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

from vault_agent.errors import Conflict
from vault_agent.model.notes import LinkKind

from .edit import Splice
from .headings import anchor_key
from .relink import ADDRESSES, writer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from vault_agent.model.notes import Link

    from .headings import Headings

    Write = Callable[[str], str | None]

_NO_WIKILINK = re.compile(r"[\[\]#|^\\`\r\n]|%%|<!--")
_WIKI_FRAGMENT = re.compile(r"[ \t]*#[ \t]*(?P<text>[^|\r\n]*?)[ \t]*(?=\\?\||\]\])")
_YAML_FRAGMENT = re.compile(
    r"[ \t]*#[ \t]*(?P<text>[^|\r\n]*?)[ \t]*(?=\\?\||\]\]|[\"']?[ \t]*[\r\n])"
)
_BARE_FRAGMENT = re.compile(r"#(?P<text>(?:\\.|[^\s<>\\])*)")
_ANGLE_FRAGMENT = re.compile(r"#(?P<text>(?:\\.|[^<>\\\r\n])*)")
_BACKSLASH = re.compile(r"\\([!-/:-@\[-`{-~])")
_MAX_BYTES = 4_096


def named(headings: Headings, kind: LinkKind, fragment: str) -> tuple[int, ...]:
    """Return the index of the heading that each part of a fragment names.

    Nothing is returned for a block, and if there is no such heading.
    """
    parts = [part.strip() for part in fragment.split("#") if part.strip()]
    if not parts or parts[-1].startswith("^"):
        return ()
    found = headings.walk([anchor_key(part) for part in parts])
    if not found and kind in ADDRESSES:
        return tuple(headings.find_slug(parts[-1])[:1])
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
        fragments: dict[tuple[int, int], bytes] = {}
        for link in links:
            found = named(self.before, link.kind, link.fragment or "")
            if not self._is_changed(link, found):
                continue
            span = _span(link, note)
            text = self._respelled(link, note, span, found) if span else None
            if span is None or text is None or fragments.setdefault(span, text) != text:
                raise not_expressible(link.line)
        return tuple(Splice(*span, text) for span, text in sorted(fragments.items()))

    def changes(self, links: Iterable[Link]) -> bool:
        """Whether any of these links must be rewritten."""
        return any(
            self._is_changed(link, named(self.before, link.kind, link.fragment or ""))
            for link in links
        )

    def _is_changed(self, link: Link, found: tuple[int, ...]) -> bool:
        """Whether a link names a heading by its old text, or would name another one."""
        if not found:
            return False
        now = named(self.after, link.kind, link.fragment or "")
        return now[-1:] != found[-1:] or self.index in found

    def _respelled(
        self, link: Link, note: bytes, span: tuple[int, int], path: tuple[int, ...]
    ) -> bytes | None:
        """Return the fragment with which a link leads to its heading."""
        written = note[slice(*span)].decode()
        at = link.span[0] if link.span else 0
        write = writer(link.kind, note, at, written)
        for parts in self._ways(link, written, path, write):
            if None in parts:
                continue
            fragment = "#".join(filter(None, parts))
            if named(self.after, link.kind, _read(link.kind, fragment))[-1:] == path[-1:]:
                return fragment.encode()
        return None

    def _ways(
        self, link: Link, written: str, path: tuple[int, ...], write: Write
    ) -> Iterator[list[str | None]]:
        """Yield ways to write a fragment, as parts: like it was, and as the whole path."""
        last = path[-1]
        parts: list[str | None] = [*written.split("#")]
        if anchor_key((link.fragment or "").rpartition("#")[2]) != self.before.all[last].key:
            yield [*parts[:-1], self.after.slug(last)]
        first = len(parts) - len(path)
        for place, index in enumerate(path, first):
            if place >= 0 and self.before.all[index].key != self.after.all[index].key:
                parts[place] = self._written(index, link, write)
        yield parts
        yield [self._written(index, link, write) for index in self.after.above(last)]

    def _written(self, index: int, link: Link, write: Write) -> str | None:
        heading = self.after.all[index]
        text = heading.text if anchor_key(heading.text) == heading.key else heading.key
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
