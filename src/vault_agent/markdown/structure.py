"""The structure of a note's body, as offsets into the text. A CommonMark parser finds it.

pyromark (pulldown-cmark) is linear and about two hundred times faster than marko. A differential
test checks that both agree on headings, code and links. Obsidian's `%%` comments are not part of
CommonMark, so they are blanked out before the final pass.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from pyromark import Markdown, Options

from vault_agent.text.placeholders import unfilled_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyromark.event import Range

MAX_HEADING_CHARS = 500
MAX_LINK_TEXT_CHARS = 500
_MAX_TEXT_PIECES = 256

# Wikilinks are found by links.py, whose rules are Obsidian's.
_MARKDOWN = Markdown(options=Options.ENABLE_TABLES | Options.ENABLE_FOOTNOTES)
_WIKILINK_IN_HEADING = re.compile(r"!?\[\[([^\[\]|]*+)(?:\|([^\[\]]*+))?\]\]")
_COMMENT_PASSES = 4
_BLOCK_ID = re.compile(r"\^(?<!\S\^)[A-Za-z0-9-]")


@dataclass(slots=True)
class Heading:
    """A heading at the top level of the body. It starts at the first character of its line."""

    start: int
    end: int
    level: int
    text: str


@dataclass(slots=True)
class MarkdownLink:
    """A Markdown link or image. `tail` is the offset after its text, before its destination.

    `reference` is the label of the definition with the destination, or "" for an inline link.
    """

    start: int
    tail: int
    end: int
    image: bool
    destination: str
    text: str
    reference: str = ""


class BodyPart(NamedTuple):
    """A block at any depth, as offsets of the body. `parent` and `previous` are indices of parts.

    `kind` is "paragraph", "heading", "list", "item", "table", "quote", "code", "html" or
    "footnote".
    """

    kind: str
    start: int
    end: int
    parent: int | None
    previous: int | None  # the block before it that has the same parent


BLOCKS = {
    "Paragraph": "paragraph",
    "Item": "item",
    "List": "list",
    "Table": "table",
    "Heading": "heading",
    "BlockQuote": "quote",
    "CodeBlock": "code",
    "HtmlBlock": "html",
    "FootnoteDefinition": "footnote",
}
"""The kinds of blocks by the names of the parser."""


@dataclass(slots=True)
class Structure:
    """The parts of a body. Offsets are characters, and each list is in document order.

    `opaque` are code, HTML, comments and unfilled lines of a template, which contain no links or
    tags.
    """

    parsed: str = ""  # the body as it was parsed, with comments blanked
    headings: list[Heading] = field(default_factory=list)
    block_bytes: list[int] = field(default_factory=list)  # see `block_starts`
    code: list[tuple[int, int]] = field(default_factory=list)
    html: list[tuple[int, int]] = field(default_factory=list)
    comments: list[tuple[int, int]] = field(default_factory=list)
    unfilled: list[tuple[int, int]] = field(default_factory=list)  # lines of a template
    links: list[MarkdownLink] = field(default_factory=list)
    autolinks: list[MarkdownLink] = field(default_factory=list)  # `<https://…>`
    parts: list[BodyPart] = field(default_factory=list)  # if asked for

    @property
    def opaque(self) -> list[tuple[int, int]]:
        """All that has no links or tags, sorted; ranges may touch or overlap."""
        return sorted([*self.code, *self.html, *self.comments, *self.unfilled])

    def block_starts(self) -> list[int]:
        """Return the line starts of top-level blocks and of the items of top-level lists.

        A long section may be split there. Most notes have none, so this is not done before.
        """
        source, starts = self.parsed, self.block_bytes
        if not source.isascii():
            characters = _characters(source, starts)
            starts = [characters[start] for start in starts]
        return [source.rfind("\n", 0, start) + 1 for start in starts]


def scan(source: str, *, parts: bool = False) -> Structure:
    """Return the structure of a body whose lines end in LF or CR LF. Linear; never raises.

    With `parts`, it has the parts of the body, if one may have an ID.
    """
    parts = parts and _BLOCK_ID.search(source) is not None
    if "%%" not in source:
        return _parse(source, parts)
    # Mostly no comment opens in code, so that one parse is enough.
    comments = find_comments(source, ())
    if all(keeps_code(source, start, end) for start, end in comments):
        structure = _parse(without_comments(source, comments), parts)
        if not structure.code or find_comments(source, structure.code) == comments:
            structure.comments = comments
            return structure
    # A comment may contain text like a fence, and a fence text like a comment. So blank the
    # comments out and parse again, until nothing changes.
    structure = _parse(source, parts)
    comments = []
    for _ in range(_COMMENT_PASSES):
        new_comments = find_comments(source, structure.code)
        if new_comments == comments:
            break
        comments = new_comments
        structure = _parse(without_comments(source, comments), parts)
    structure.comments = comments
    return structure


# One loop is three times faster than calls for each event.
def _parse(source: str, with_parts: bool) -> Structure:  # noqa: PLR0912, PLR0915
    """Collect the structure from the parser's events."""
    structure = Structure(source, unfilled=unfilled_lines(source))
    headings, blocks, links = structure.headings, structure.block_bytes, structure.links
    code, html = structure.code, structure.html
    autolinks = structure.autolinks
    open_links: list[tuple[int, MarkdownLink]] = []
    heading: Heading | None = None
    depth = 0
    wanted = False  # whether a heading or link is open, so that text counts
    texts: list[str] = []  # the pieces of text since the outermost of them opened
    inner_end = 0  # the end of the last piece within a link
    parts = structure.parts
    parents: list[int | None] = []  # for each open tag, the part around it
    parent: int | None = None
    last: dict[int | None, int] = {}  # the last part of each parent

    # An event is a string or a dict with one key. pyromark's type is a union of 40 types, which
    # does not help a type checker here. Text is the most frequent event, so it comes first.
    events: Iterator[tuple[Any, Range]] = _MARKDOWN.events_with_range(source)
    for event, span in events:
        if event.__class__ is str:
            if wanted:
                texts.append(" ")
                inner_end = span["end"]
            elif depth == 0:  # a thematic break
                blocks.append(span["start"])
        elif "Text" in event:
            if wanted:
                texts.append(event["Text"])
                inner_end = span["end"]
        elif "Start" in event:
            value = event["Start"]
            if depth == 0:
                blocks.append(span["start"])
            depth += 1
            if with_parts:
                parents.append(parent)
                kind = BLOCKS.get(value if value.__class__ is str else next(iter(value)))
                if kind is not None:
                    start, end = span["start"], span["end"]
                    parts.append(BodyPart(kind, start, end, parent, last.get(parent)))
                    last[parent] = parent = len(parts) - 1
            if value.__class__ is str:
                if value == "Item":
                    if depth == 2:
                        blocks.append(span["start"])
                elif value == "HtmlBlock":
                    html.append((span["start"], span["end"]))
            elif "Heading" in value:
                if depth == 1:
                    level = int(value["Heading"]["level"][1])
                    heading = Heading(span["start"], span["end"], level, "")
                    headings.append(heading)
                    texts = []
                    wanted = True
            elif "Link" in value or "Image" in value:
                image = "Image" in value
                fields = value["Image" if image else "Link"]
                if not wanted:
                    texts = []
                    wanted = True
                inner_end = span["start"] + 1
                link = MarkdownLink(
                    span["start"], 0, span["end"], image, fields["dest_url"], "", fields["id"]
                )
                written_as = fields["link_type"]
                if written_as != "Email":
                    (autolinks if written_as == "Autolink" else links).append(link)
                open_links.append((len(texts), link))
            elif "CodeBlock" in value:
                code.append((span["start"], span["end"]))
        elif "End" in event:
            depth -= 1
            if with_parts:
                parent = parents.pop()
            if not wanted:
                continue
            if open_links and event["End"] in ("Link", "Image"):
                mark, link = open_links.pop()
                text = "".join(texts[mark : mark + _MAX_TEXT_PIECES])[: 2 * MAX_LINK_TEXT_CHARS]
                link.text = " ".join(text.split())[:MAX_LINK_TEXT_CHARS]
                link.tail = inner_end
                inner_end = span["end"]
                wanted = heading is not None or bool(open_links)
            elif heading is not None and depth == 0:
                if texts:
                    heading.text = _heading_text(texts[:_MAX_TEXT_PIECES])
                heading = None
                wanted = False
        elif "Code" in event:
            code.append((span["start"], span["end"]))
            if wanted:
                texts.append(event["Code"])
                inner_end = span["end"]
        elif "InlineHtml" in event:
            html.append((span["start"], span["end"]))
            inner_end = span["end"]

    _to_characters(source, structure)
    return structure


def _heading_text(pieces: list[str]) -> str:
    """Return a heading as displayed, on one line: wikilinks by the text they show."""
    text = "".join(pieces)[: 4 * MAX_HEADING_CHARS]
    if "[[" in text:
        text = _WIKILINK_IN_HEADING.sub(lambda match: match[2] or match[1], text)
    return " ".join(text.split())[:MAX_HEADING_CHARS]


def _to_characters(source: str, structure: Structure) -> None:
    """Turn the parser's byte offsets into character offsets, except those of blocks."""
    if not source.isascii():
        offsets: set[int] = set()
        for heading in structure.headings:
            offsets |= {heading.start, heading.end}
        for link in (*structure.links, *structure.autolinks):
            offsets.update((link.start, link.tail, link.end))
        for pair in (*structure.code, *structure.html):
            offsets.update(pair)
        for part in structure.parts:
            offsets.update(part[1:3])
        characters = _characters(source, offsets)
        structure.code = [(characters[a], characters[b]) for a, b in structure.code]
        structure.html = [(characters[a], characters[b]) for a, b in structure.html]
        for heading in structure.headings:
            heading.start, heading.end = characters[heading.start], characters[heading.end]
        for link in (*structure.links, *structure.autolinks):
            link.start, link.end = characters[link.start], characters[link.end]
            link.tail = characters[link.tail]
        structure.parts = [
            part._replace(start=characters[part.start], end=characters[part.end])
            for part in structure.parts
        ]
    for heading in structure.headings:
        heading.start = source.rfind("\n", 0, heading.start) + 1


def _characters(source: str, offsets: Iterable[int]) -> dict[int, int]:
    """Return the character offset of each byte offset."""
    data = source.encode()
    characters = {}
    byte = character = 0
    for offset in sorted(offsets):
        character += len(data[byte:offset].decode("utf-8", "replace"))
        characters[offset] = character
        byte = offset
    return characters


_BLANK_LINE = re.compile(r"\n[ \t]*+\n")
_NOT_LINE_END = re.compile(r"[^\n]")
_MAX_INDENTATION = 200


def keeps_code(source: str, start: int, end: int) -> bool:
    """Whether a comment does certainly not change where the code around it starts and ends.

    Its backticks, if any, must be in pairs, and nothing before it may pair with one of them.
    """
    if "`" not in (text := source[start:end]):
        return "~~~" not in text
    return (
        "\n" not in text
        and "``" not in text
        and text.count("`") % 2 == 0
        and (start == 0 or source.endswith("\n\n", 0, start))
    )


def find_comments(source: str, code: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the ranges of `%% … %%` that do not open inside code.

    A comment that does not start its line must end within its paragraph. An unclosed one is text,
    so that a stray `%%` hides nothing.
    """
    comments = []
    fences = iter(sorted(code))
    fence = next(fences, None)
    at = source.find("%%")
    while at >= 0:
        while fence is not None and fence[1] <= at:
            fence = next(fences, None)
        if fence is not None and fence[0] <= at:
            at = source.find("%%", fence[1])
            continue
        close = source.find("%%", at + 2)
        if close < 0:
            break
        if not _starts_line(source, at) and _BLANK_LINE.search(source, at, close):
            at = close
            continue
        comments.append((at, close + 2))
        at = source.find("%%", close + 2)
    return comments


def _starts_line(source: str, at: int) -> bool:
    """Whether only indentation precedes `at` on its line."""
    if not at or source[at - 1] == "\n":
        return True
    floor = max(0, at - _MAX_INDENTATION)
    line = source.rfind("\n", floor, at) + 1
    return (line > 0 or floor == 0) and not source[line:at].strip()


def without_comments(source: str, comments: Iterable[tuple[int, int]]) -> str:
    """Replace the comments by letters. Spaces could turn a line into code."""
    pieces: list[str] = []
    done = 0
    for start, end in comments:
        text = source[start:end]
        blank = _NOT_LINE_END.sub("x", text) if "\n" in text else "x" * len(text)
        pieces += source[done:start], blank
        done = end
    pieces.append(source[done:])
    return "".join(pieces)
