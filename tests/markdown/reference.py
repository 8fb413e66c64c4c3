"""marko's view of a body in the form of `structure.scan`, as a reference for the fast parser."""

from __future__ import annotations

import html
from dataclasses import dataclass, field

import marko
from marko import block, inline
from marko.ext.gfm import elements as gfm

# marko takes seconds for a few hundred bytes of deep nesting.
MAX_CHARS = 20_000


@dataclass
class Reading:
    """What both parsers must report equally, in document order."""

    # Line, level, and text without spaces: marko loses a line end within code.
    headings: list[tuple[int, int, str]] = field(default_factory=list)
    code: list[int] = field(default_factory=list)  # the line on which each block or span starts
    links: list[tuple[int, bool, str]] = field(default_factory=list)  # offset, image, destination


def read(source: str) -> Reading:
    """Read a body with marko (CommonMark and the tables of GFM)."""
    assert len(source) <= MAX_CHARS
    document = marko.Markdown(extensions=["gfm"]).parse(source)
    reading = Reading()
    _walk(document, source, reading, top=True)
    reading.code.sort()
    return reading


def _walk(parent, source: str, reading: Reading, *, top: bool) -> None:
    for element in parent.children:
        start = element.source_span[0] if getattr(element, "source_span", None) else None
        match element:
            case block.Heading() | block.SetextHeading() if top:
                text = "".join("".join(_texts(element)).split())
                reading.headings.append((line_of(source, start), element.level, text))
            case block.FencedCode() | block.CodeBlock() | inline.CodeSpan():
                reading.code.append(line_of(source, start))
            case inline.Image():
                reading.links.append((start, True, html.unescape(element.dest)))
            case inline.AutoLink() | gfm.Url():
                continue
            case inline.Link():
                reading.links.append((start, False, html.unescape(element.dest)))
        if isinstance(getattr(element, "children", None), list):
            _walk(element, source, reading, top=False)


def _texts(element):
    for child in element.children:
        match child:
            case inline.LineBreak():
                yield " "
            case inline.InlineHTML():
                continue
            case inline.RawText():
                yield html.unescape(child.children)
            case _ if isinstance(child.children, str):
                yield child.children
            case _:
                yield from _texts(child)


def line_of(source: str, offset: int) -> int:
    """Return the line of an offset, counted from 1."""
    return source.count("\n", 0, offset) + 1
