"""Sections of a note's current text: its outline, and the lines of one heading or block."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

from . import frontmatter
from .anchors import anchor_key
from .links import mask
from .structure import scan

_BLOCK = re.compile(r"(?<!\S)\^([A-Za-z0-9-]++)[ \t]*+\r?$", re.MULTILINE)
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")


class OutlineEntry(NamedTuple):
    """A heading: its level, its text, and its line in the file."""

    level: int
    text: str
    line: int


class Outline(NamedTuple):
    """The parts of a note's text. Lines are numbered from 1."""

    starts: list[int]  # the offset of each line
    first_line: int  # of the body, after the frontmatter
    headings: list[OutlineEntry]
    blocks: dict[str, int]  # the line of each block, by its folded name

    def line_at(self, offset: int) -> int:
        """Return the line of an offset."""
        return max(1, bisect_right(self.starts, offset))


def outline(text: str) -> Outline:
    """Return the outline of a note's text. Linear; never raises."""
    starts = line_starts(text)
    front = frontmatter.read(text)
    body = text[front.end :]
    source = body if "\r" not in body else re.sub(r"\r(?!\n)", "\n", body)
    structure = scan(source)
    found = Outline(starts, 1, [], {})
    found = found._replace(first_line=found.line_at(front.end))
    for heading in structure.headings:
        line = found.line_at(front.end + heading.start)
        found.headings.append(OutlineEntry(heading.level, heading.text, line))
    if "^" in body:
        for match in _BLOCK.finditer(mask(source, structure.opaque)):
            line = found.line_at(front.end + match.start(1))
            found.blocks.setdefault(anchor_key(match[1]), line)
    return found


def line_starts(text: str) -> list[int]:
    """Return the offset of each line. Lines end in LF, CR LF or CR."""
    starts = [0]
    starts += (match.end() for match in re.finditer(r"\r\n|\r|\n", text))
    if len(starts) > 1 and starts[-1] == len(text):
        starts.pop()  # the text ends with a line end
    return starts


def section_lines(text: str, found: Outline, name: str) -> tuple[int, int] | None:
    """Return the first and last line of a section, or None if there is no such section.

    `name` is a heading, a path of headings (`A > B`), or a block (`^id`). A section reaches to the
    next heading of its level or above. If several headings have the name, the first one counts.
    """
    name = name.strip()
    if name.startswith("^"):
        line = found.blocks.get(anchor_key(name[1:]))
        return None if line is None else _block_lines(text, found, line)
    whole = anchor_key(name.lstrip("#"))
    parts = [anchor_key(part.lstrip("# ")) for part in name.split(">")]
    # A heading may contain the sign itself.
    for wanted in ([whole], parts):
        if (index := _heading(found.headings, wanted)) is not None:
            level, _, line = found.headings[index]
            after = found.headings[index + 1 :]
            end = next((each.line - 1 for each in after if each.level <= level), len(found.starts))
            return line, max(line, end)
    return None


def _heading(headings: list[OutlineEntry], wanted: list[str]) -> int | None:
    """Return the index of the first heading that ends this path of headings."""
    above: list[tuple[int, str]] = []
    for index, each in enumerate(headings):
        above = [(level, key) for level, key in above if level < each.level]
        above.append((each.level, anchor_key(each.text)))
        keys = [key for _, key in above]
        if keys[-1] == wanted[-1] and _in_order(wanted, keys):
            return index
    return None


def _in_order(wanted: list[str], keys: list[str]) -> bool:
    """Whether the wanted keys occur in this order."""
    remaining = iter(keys)
    return all(each in remaining for each in wanted)


def _block_lines(text: str, found: Outline, line: int) -> tuple[int, int]:
    """Return the lines of the paragraph or list item that ends with a block's name."""

    def content(number: int) -> str:
        match = _LINE.match(text, found.starts[number - 1])
        return match[0].strip() if match else ""

    first = line
    # A name on a line of its own belongs to the paragraph, list or table before it.
    if content(line).startswith("^"):
        while first > found.first_line and not content(first - 1):
            first -= 1
        first = max(found.first_line, first - 1)
    elif _ITEM.match(content(line)):
        return line, line
    headings = {each.line for each in found.headings}
    while first > found.first_line and content(first - 1) and first - 1 not in headings:
        first -= 1
    return first, line
