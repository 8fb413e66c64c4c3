"""Links: wikilinks and embeds by Obsidian's rules, Markdown links and images by CommonMark's."""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, NamedTuple, TypeAlias
from urllib.parse import unquote

from vault_agent.markdown.frontmatter import named_texts_of
from vault_agent.markdown.yaml_values import DOUBLE, within
from vault_agent.model.notes import ExternalLink, Link, LinkKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from vault_agent.markdown.frontmatter import Frontmatter
    from vault_agent.markdown.lines import Lines
    from vault_agent.markdown.structure import MarkdownLink, Structure
    from vault_agent.markdown.yaml_values import Scalar

MASK = "\0"  # replaces code, HTML and comments; never in a note's text
MAX_TARGET_CHARS = 1000
MAX_LINKS = 100_000
"""The first links of a note are kept, and as many external ones."""

# A wikilink is on one line. It may contain single brackets but not another "[[", which keeps the
# search linear.
_WIKILINK = re.compile(r"\[\[(?!\[)((?:[^\[\]\n]++|\[(?!\[)|\](?!\]))*+)\]\]")
_NO_TARGET = re.compile(r"`|%%|<!--|\n")  # but a target may contain HTML: [[List<Text>]]
_BRACKET = re.compile(r"[\[\]]")
_ELSEWHERE = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*+:(?=\S)|//|\\\\")
_ADDRESS = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.\-]*+:)?//(?:[^/?#@]*+@)*+(?P<host>[^/?#@]*+)(?P<path>[^?#]*+)"
)
_PORT = re.compile(r":\d*\Z")
_BACKSLASH = re.compile(r"\\([!-/:-@\[-`{-~])")
_FRAGMENT = re.compile(r"(?<!&)#")  # not that of "&#35;"
_DESTINATION = re.compile(
    r"[ \t\r\n]*+(?:<(?P<angle>(?:\\.|[^<>\\\n])*+)>|(?P<bare>(?:\\.|[^\s\\])*+))"
)
_DEFINITION = re.compile(
    r"^[ \t>]*+(?:(?:[-*+]|\d{1,9}[.)])[ \t]++)*+\[(?P<label>(?:\\.|[^\[\]\\]){1,999}+)\]:"
    r"[ \t]*+(?:\n[ \t>]*+)?"
    r"(?:<(?P<angle>(?:\\.|[^<>\\\n])*+)>|(?P<bare>(?:\\.|[^\s\\])++))",
    re.MULTILINE,
)
_WHOLE_MARKDOWN_LINK = re.compile(r"!?\[([^\[\]]*+)\]\(<?([^()<>]*+)>?\)\Z")


Written: TypeAlias = tuple[int, int, LinkKind, str, str | None, str | None, int, int]
"""A link in the body: its range, kind, target, fragment, text, range of the target.

Offsets are characters. The range is (-1, -1) if the target cannot be located, because it is written
differently. Plain tuples, because a note may have a link for every ten of its bytes.
"""

WrittenExternal: TypeAlias = tuple[int, str, str, str | None]
"""A web address in the body: offset, URL, host, text."""


def mask(text: str, ranges: Sequence[tuple[int, int]]) -> str:
    """Return the text with the ranges masked. They are sorted by start. Offsets do not change."""
    if not ranges:
        return text
    pieces: list[str] = []
    done = 0
    for start, end in ranges:
        if end > done:  # ranges may overlap: HTML within a comment is already masked
            pieces += text[done:start], MASK * (end - max(start, done))
            done = end
    pieces.append(text[done:])
    return "".join(pieces)


class BodyLinks(NamedTuple):
    """The first links of a body in order, and the number of all."""

    links: list[Written]
    link_count: int
    external: list[WrittenExternal]
    external_count: int
    ranges: list[tuple[int, int]]  # of all wikilinks


def body_links(source: str, text: str, structure: Structure) -> BodyLinks:
    """Return the links of a body; `text` is `source` with code, HTML and comments masked."""
    wiki, ranges = wikilinks(source, text)
    count = len(ranges)
    if not (structure.links or structure.autolinks):
        return BodyLinks(wiki, count, [], 0, ranges)
    more, more_count, external, external_count = markdown_links(source, text, structure, ranges)
    if more:
        wiki = sorted([*wiki, *more], key=itemgetter(0))[:MAX_LINKS]
    return BodyLinks(wiki, count + more_count, external, external_count, ranges)


def placed(
    wikilinks: Iterable[Written], lines: Lines, body: int, chunk_ends: Sequence[int]
) -> list[Link]:
    """Return links of the body that starts at an offset of a text, with their places there.

    `chunk_ends` are where the chunks of the body end. One loop, because a vault has ten links a
    note.
    """
    starts, chunks = lines.starts, len(chunk_ends)
    links = []
    for at, end, kind, target, fragment, text, first, last in wikilinks:
        line, chunk = bisect_right(starts, body + at), bisect_right(chunk_ends, at)
        span = (body + first, body + last) if first >= 0 else None
        column = body + at - starts[line - 1] + 1
        number, place = None, None
        if chunk < chunks:
            start = chunk_ends[chunk - 1] if chunk else 0
            number, place = chunk, (at - start, end - start)
        links.append(Link(kind, target, fragment, text, line, column, span, number, place))
    return links


def placed_addresses(
    addresses: Iterable[WrittenExternal], lines: Lines, body: int
) -> list[ExternalLink]:
    """Return web addresses of the body that starts at an offset of a text."""
    links = []
    for at, url, _, text in addresses:
        line = bisect_right(lines.starts, body + at)
        links.append(ExternalLink(url, text, line, body + at - lines.starts[line - 1] + 1))
    return links


def wikilinks(source: str, text: str) -> tuple[list[Written], list[tuple[int, int]]]:
    """Return the first wikilinks and embeds of `source`, and the ranges of all.

    `text` is `source` with code, HTML and comments masked.
    """
    links: list[Written] = []
    spans: list[tuple[int, int]] = []
    if "[[" not in text:
        return links, spans
    for match in _WIKILINK.finditer(text):
        start, end = match.span()
        inner = match[1]
        if "[" in inner or "]" in inner:
            start, end = _extent(match)
        embed = False
        if start:
            before = text[start - 1]
            if before == "\\" and _escaped(text, start):
                continue
            embed = before == "!" and not _escaped(text, start - 1)
        if MASK in inner:
            inner = source[start + 2 : end - 2]
            if "\n" in inner or _NO_TARGET.search(inner.partition("|")[0]):
                continue
        else:
            inner = text[start + 2 : end - 2]
        link = _wikilink(inner)
        if link is None:
            continue
        at = start - embed
        spans.append((at, end))
        if len(links) == MAX_LINKS:
            continue
        name, fragment, label, offset = link
        offset += start + 2
        kind = LinkKind.EMBED if embed else LinkKind.WIKILINK
        links.append((at, end, kind, name, fragment, label, offset, offset + len(name)))
    return links, spans


def markdown_links(
    source: str,
    text: str,
    structure: Structure,
    wikilink_spans: Sequence[tuple[int, int]],
) -> tuple[list[Written], int, list[WrittenExternal], int]:
    """Return the first Markdown links and images into the vault, and the number of all.

    Then return the same for links to web addresses. Links that overlap a wikilink are ignored:
    CommonMark finds links in its brackets too. `text` is `source` with code, HTML and comments
    masked.
    """
    inside_vault: list[Written] = []
    external: list[WrittenExternal] = []
    count = external_count = 0
    spans = iter(wikilink_spans)
    span = next(spans, None)
    destinations = _Destinations(source, text)
    links: Iterable[MarkdownLink] = structure.links
    if structure.autolinks:
        links = sorted([*structure.links, *structure.autolinks], key=attrgetter("start"))
    for link in links:
        while span is not None and span[1] <= link.start:
            span = next(spans, None)
        if span is not None and span[0] <= link.start:
            continue
        destination = link.destination.strip()
        at, label = link.start, link.text or None
        if _ELSEWHERE.match(destination):
            address = _address(destination)
            if address is not None:
                external_count += 1
                if len(external) < MAX_LINKS:
                    external.append((at, *address, label))
            continue
        inside = _destination(destination)
        if inside is not None:
            count += 1
            if len(inside_vault) < MAX_LINKS:
                kind = LinkKind.IMAGE if link.image else LinkKind.MARKDOWN
                target = destinations.range(link, destination.partition("#")[0])
                inside_vault.append((at, link.end, kind, *inside, label, *target))
    return inside_vault, count, external, external_count


class _Destinations:
    """Locates the destinations of Markdown links in the source."""

    def __init__(self, source: str, text: str) -> None:
        self._source = source
        self._text = text
        self._definitions: dict[str, tuple[int, int]] | None = None  # by label

    def range(self, link: MarkdownLink, wanted: str) -> tuple[int, int]:
        """Return the range of `wanted`, which is the destination or its path.

        Return (-1, -1) if it cannot be located.
        """
        source = self._source
        start, end = self._whole(link)
        text = source[start:end] if start >= 0 else ""
        hash_mark = _FRAGMENT.search(text) if "#" not in wanted else None
        if hash_mark:
            end = start + hash_mark.start()
            text = source[start:end]
        return (start, end) if _unescaped(text) == wanted else (-1, -1)

    def _whole(self, link: MarkdownLink) -> tuple[int, int]:
        source = self._source
        if link.reference:
            if self._definitions is None:
                self._definitions = _definitions(source, self._text)
            return self._definitions.get(_label(link.reference), (-1, -1))
        if source[link.start] == "<":
            return link.start + 1, link.end - 1
        opening = source.find("](", link.tail, link.end)
        match = _DESTINATION.match(source, opening + 2, link.end - 1) if opening >= 0 else None
        return _trimmed(source, match) if match else (-1, -1)


def _trimmed(source: str, match: re.Match[str]) -> tuple[int, int]:
    """Return the range of a destination's match without the spaces inside `<…>`."""
    start, end = match.span("angle") if match["angle"] is not None else match.span("bare")
    text = source[start:end]
    start += len(text) - len(text.lstrip())
    return start, max(start, end - (len(text) - len(text.rstrip())))


def _definitions(source: str, text: str) -> dict[str, tuple[int, int]]:
    """Return the ranges of the destinations of reference definitions, by label. The first wins."""
    ranges: dict[str, tuple[int, int]] = {}
    for match in _DEFINITION.finditer(text):
        ranges.setdefault(_label(source[slice(*match.span("label"))]), _trimmed(source, match))
    return ranges


def _label(text: str) -> str:
    return " ".join(text.split()).casefold()


def _unescaped(destination: str) -> str:
    """Return a destination without escapes, as CommonMark reads it."""
    if "\\" in destination:
        destination = _BACKSLASH.sub(r"\1", destination)
    return html.unescape(destination) if "&" in destination else destination


def _address(destination: str) -> tuple[str, str] | None:
    """Return a web address as (URL, host), or None for another destination.

    User info, query and fragment are removed, because they may contain secrets.
    """
    match = _ADDRESS.match(destination)
    if match is None or len(destination) > 3 * MAX_TARGET_CHARS:
        return None
    scheme, authority, path = match.group("scheme", "host", "path")
    host = (_PORT.sub("", authority) if ":" in authority else authority).lower()
    url = f"{scheme or ''}//{authority}{path}"
    return (url[:MAX_TARGET_CHARS].replace(MASK, "\ufffd"), host) if host else None


def _escaped(text: str, at: int) -> bool:
    """Whether an odd number of backslashes precedes `at`. Counts at most eight."""
    before = text[max(0, at - 8) : at]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def _extent(match: re.Match[str]) -> tuple[int, int]:
    """Return the start and end of a wikilink. A third bracket can belong to its name.

    `[[[a] b]]` and `[[a [b]]]` are links to "[a] b" and "a [b]". `[[[a]]]` is a link in brackets.
    """
    text, (start, end) = match.string, match.span()
    opened = closed = 0  # unmatched brackets
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


def _wikilink(inner: str) -> tuple[str, str | None, str | None, int] | None:
    """Return a wikilink's name, fragment, text shown, and the offset of the name."""
    target, text, fragment = inner, None, ""
    if "|" in inner:
        target, _, label = inner.partition("|")
        # In a table the pipe is escaped. The backslash is not part of the name.
        target = target.removesuffix("\\")
        text = " ".join(label.split())[:MAX_TARGET_CHARS] or None
    if len(target) > MAX_TARGET_CHARS:
        return None
    if "#" in target:
        target, _, fragment = target.partition("#")
        fragment = fragment.strip().rstrip("\\")
    name = target.strip()
    if not (name or fragment):
        return None
    offset = 0 if len(name) == len(target) else len(target) - len(target.lstrip())
    return name, fragment or None, text, offset


def target_of_wikilink(text: str) -> str | None:
    """Return the target of a text that is one wikilink, or None for any other text."""
    links, ranges = wikilinks(text, text)
    return links[0][3] if ranges == [(0, len(text))] else None


def target_of_destination(text: str) -> str | None:
    """Return the target of a Markdown link by its destination as written, without `<` and `>`.

    Return None if the destination has a fragment or leads out of the vault.
    """
    destination = _unescaped(text).strip()
    inside = None if _ELSEWHERE.match(destination) else _destination(destination)
    return inside[0] if inside is not None and inside[1] is None else None


def _destination(destination: str) -> tuple[str, str | None] | None:
    """Return path and fragment of a destination within the vault, decoded."""
    if not destination or len(destination) > 3 * MAX_TARGET_CHARS:
        return None
    path, _, fragment = destination.partition("#")
    path, fragment = _decoded(path), _decoded(fragment)
    return (path, fragment or None) if path or fragment else None


def is_elsewhere(destination: str) -> bool:
    """Whether the destination of a Markdown link is not in the vault."""
    return _ELSEWHERE.match(destination) is not None


def place_in_vault(destination: str, *, image: bool) -> tuple[LinkKind, str, str | None] | None:
    """Return kind, path and fragment of a destination within the vault, or None if it has none."""
    inside = _destination(destination)
    return inside and (LinkKind.IMAGE if image else LinkKind.MARKDOWN, *inside)


def _decoded(text: str) -> str:
    """Percent-decode a text. If the result is not UTF-8, return the text unchanged."""
    if "%" not in text:
        return text
    try:
        decoded = unquote(text, errors="strict")
    except UnicodeDecodeError:
        return text
    return decoded.replace("\0", "\ufffd")


def frontmatter_links(front: Frontmatter, text: str) -> Iterator[Link]:
    """Yield the links of the frontmatter of `text`.

    The `links` list contains wikilinks, Markdown links or plain paths. In other properties, nested
    ones included, a value counts if all of it is one wikilink, as in Obsidian.
    """
    for key, value in front.values.items():
        if key != "links" and isinstance(value, str) and "[[" not in value:
            continue  # fast path for most values
        for _, scalar in named_texts_of(value):
            link = _frontmatter_link(scalar, plain=key == "links")
            if link is None:
                continue
            target, fragment, label, offset, length = link
            span = _written_in(text, front, scalar, offset, offset + length)
            yield Link(
                LinkKind.FRONTMATTER, target, fragment, label, scalar.line, scalar.column, span
            )


def _written_in(
    text: str, front: Frontmatter, scalar: Scalar, start: int, end: int
) -> tuple[int, int] | None:
    """Return where a part of a scalar is written, or None if it can't be located.

    A quoted scalar may be written differently from its value. One of several lines is not located.
    """
    first, last = front.block + scalar.start, front.block + scalar.end
    at = text.find(scalar, first, last) if scalar else -1
    if at >= 0:
        return at + start, at + end
    for quote in ("'", DOUBLE) if scalar else ():
        before, target, after = (
            within(part, quote) or "" for part in (scalar[:start], scalar[start:end], scalar[end:])
        )
        at = text.find(f"{before}{target}{after}", first, last)
        if at >= 0:
            return at + len(before), at + len(before) + len(target)
    return None


def target_of(text: str) -> str | None:
    """Return the target of a property's value if all of it is one wikilink, else None."""
    link = _frontmatter_link(text, plain=False)
    return link[0] if link is not None else None


def _frontmatter_link(
    text: str, *, plain: bool
) -> tuple[str, str | None, str | None, int, int] | None:
    """Return target, fragment, text, and the target's offset and length in a value's text."""
    stripped = text.strip()
    at = text.find(stripped)
    link_text = stripped.removeprefix("!")
    match = _WIKILINK.search(link_text)
    if match and _extent(match) == (0, len(link_text)):
        at += len(stripped) - len(link_text) + 2
        return _at(_wikilink(link_text[2:-2]), at)
    if not plain:
        return None
    match = _WHOLE_MARKDOWN_LINK.match(stripped)
    if match:
        destination = match[2].strip()
        if _ELSEWHERE.match(destination):
            return None
        inside = _destination(destination)
        length = len(destination.partition("#")[0])
        at += match.start(2) + len(match[2]) - len(match[2].lstrip())
        return inside and (*inside, match[1] or None, at, length)
    if _ELSEWHERE.match(stripped) or "\n" in stripped:
        return None
    return _at(_wikilink(stripped), at)


def _at(
    link: tuple[str, str | None, str | None, int] | None, at: int
) -> tuple[str, str | None, str | None, int, int] | None:
    return link and (*link[:3], at + link[3], len(link[0]))
