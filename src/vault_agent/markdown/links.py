"""Links: wikilinks and embeds by Obsidian's rules, Markdown links and images by CommonMark's."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

from vault_agent.model.notes import Link, LinkKind

from .frontmatter import texts_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from .frontmatter import Scalar, Value
    from .structure import MarkdownLink

MASK = "\0"  # stands for what is code, HTML or comment; never in a note's text
MAX_TARGET_CHARS = 1000

# A wikilink is on one line. It may hold single brackets but not another "[[", which keeps the
# search linear.
_WIKILINK = re.compile(r"\[\[(?!\[)((?:[^\[\]\n]++|\[(?!\[)|\](?!\]))*+)\]\]")
_NO_TARGET = re.compile(r"`|%%|<!--|\n")  # within HTML, which a target may hold: [[List<Text>]]
_BRACKET = re.compile(r"[\[\]]")
_ELSEWHERE = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*+:(?=\S)|//|\\\\")
_WHOLE_MARKDOWN_LINK = re.compile(r"!?\[([^\[\]]*+)\]\(<?([^()<>]*+)>?\)\Z")


class _Lines:
    """Counts lines up to ascending offsets, each character once."""

    __slots__ = ("_line", "_offset", "_source")

    def __init__(self, source: str, first_line: int) -> None:
        self._source = source
        self._offset = 0
        self._line = first_line

    def at(self, offset: int) -> int:
        """Return the line of `offset`, which is not smaller than the last one asked for."""
        self._line += self._source.count("\n", self._offset, offset)
        self._offset = offset
        return self._line


def mask(text: str, ranges: Sequence[tuple[int, int]]) -> str:
    """Return the text with the ranges, sorted by start, masked out; offsets stay what they were."""
    if not ranges:
        return text
    pieces: list[str] = []
    done = 0
    for start, end in ranges:
        if end > done:  # ranges may overlap: HTML within a comment was masked with it
            pieces += text[done:start], MASK * (end - max(start, done))
            done = end
    pieces.append(text[done:])
    return "".join(pieces)


def wikilinks(
    source: str, text: str, first_line: int
) -> tuple[list[tuple[int, Link]], list[tuple[int, int]]]:
    """Return the wikilinks and embeds of `source`, with their offsets, and their ranges.

    `text` is `source` with code, HTML and comments masked.
    """
    found: list[tuple[int, Link]] = []
    spans: list[tuple[int, int]] = []
    if "[[" not in text:
        return found, spans
    lines = _Lines(source, first_line)
    for match in _WIKILINK.finditer(text):
        start, end = _extent(match)
        before = text[start - 1] if start else ""
        if before == "\\" and _escaped(text, start):
            continue
        embed = before == "!" and not _escaped(text, start - 1)
        inner = source[start + 2 : end - 2]
        if MASK in match[1]:
            bar = match[1].find("|")
            if "\n" in inner or _NO_TARGET.search(inner[:bar] if bar >= 0 else inner):
                continue
        kind = LinkKind.EMBED if embed else LinkKind.WIKILINK
        link = _wikilink(inner, kind, lines.at(start))
        if link is not None:
            found.append((start - embed, link))
            spans.append((start - embed, end))
    return found, spans


def markdown_links(
    source: str,
    written: Iterable[MarkdownLink],
    wikilink_spans: Sequence[tuple[int, int]],
    first_line: int,
) -> Iterator[tuple[int, Link]]:
    """Yield (offset, link) for the Markdown links and images that stay within the vault.

    CommonMark sees a link in the brackets of a wikilink too; there the wikilink stands alone.
    """
    lines = _Lines(source, first_line)
    spans = iter(wikilink_spans)
    span = next(spans, None)
    for link in written:
        while span is not None and span[1] <= link.start:
            span = next(spans, None)
        if span is not None and span[0] <= link.start:
            continue
        kind = LinkKind.IMAGE if link.image else LinkKind.MARKDOWN
        kept = _destination(link.destination, link.text or None, kind, lines.at(link.start))
        if kept is not None:
            yield link.start, kept


def _escaped(text: str, at: int) -> bool:
    """Whether an odd number of backslashes stands before `at`; counts at most a handful."""
    before = text[max(0, at - 8) : at]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def _extent(match: re.Match[str]) -> tuple[int, int]:
    """Return where a wikilink starts and ends; a third bracket is the name's if it has the other.

    `[[[a] b]]` and `[[a [b]]]` are links to "[a] b" and "a [b]", `[[[a]]]` is one in brackets.
    """
    text, (start, end) = match.string, match.span()
    opened = closed = 0  # brackets without their other
    for bracket in _BRACKET.findall(match[1]):
        if bracket == "[":
            opened += 1
        elif opened:
            opened -= 1
        else:
            closed += 1
    if opened and text.startswith("]", end):
        end += 1
    if closed and text.startswith("[[[", max(0, start - 1)):
        start -= 1
    return start, end


def _wikilink(inner: str, kind: LinkKind, line: int) -> Link | None:
    target, bar, shown = inner.partition("|")
    if bar:
        # In a table the pipe is escaped; the backslash belongs to no name.
        target = target.removesuffix("\\")
    name, mark, fragment = target.partition("#")
    name, fragment = name.strip(), fragment.strip().rstrip("\\")
    if not (name or fragment) or len(target) > MAX_TARGET_CHARS:
        return None
    text = " ".join(shown.split())[:MAX_TARGET_CHARS] if shown else None
    return Link(kind, name, fragment if mark and fragment else None, text or None, line)


def _destination(destination: str, text: str | None, kind: LinkKind, line: int) -> Link | None:
    destination = destination.strip()
    if not destination or _ELSEWHERE.match(destination) or len(destination) > 3 * MAX_TARGET_CHARS:
        return None
    path, _, fragment = destination.partition("#")
    path, fragment = _decoded(path), _decoded(fragment)
    if not (path or fragment):
        return None
    return Link(kind, path, fragment or None, text, line)


def _decoded(text: str) -> str:
    """Percent-decode; what would not be UTF-8 stays as it was written."""
    if "%" not in text:
        return text
    try:
        decoded = unquote(text, errors="strict")
    except UnicodeDecodeError:
        return text
    return decoded.replace("\0", "\ufffd")


def frontmatter_links(values: Mapping[str, Value]) -> Iterator[Link]:
    """Yield the links of the frontmatter.

    The `links` list holds wikilinks, Markdown links or plain paths. In every other property,
    nested ones included, a value that is one whole wikilink counts, as it does for Obsidian.
    """
    for key, value in values.items():
        for text in texts_of(value, nested=True):
            link = _frontmatter_link(text, plain=key == "links")
            if link is not None:
                yield link


def _frontmatter_link(text: Scalar, *, plain: bool) -> Link | None:
    stripped = text.strip()
    written = stripped.removeprefix("!")
    match = _WIKILINK.search(written)
    if match and _extent(match) == (0, len(written)):
        return _wikilink(written[2:-2], LinkKind.FRONTMATTER, text.line)
    if not plain:
        return None
    match = _WHOLE_MARKDOWN_LINK.match(stripped)
    if match:
        return _destination(match[2], match[1] or None, LinkKind.FRONTMATTER, text.line)
    if _ELSEWHERE.match(stripped) or "\n" in stripped:
        return None
    return _wikilink(stripped, LinkKind.FRONTMATTER, text.line)
