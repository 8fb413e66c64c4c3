"""The outline of a note's current text: its sections and blocks, and how they are addressed."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from . import frontmatter
from .anchors import anchor_key
from .blocks import find_blocks
from .structure import scan, with_line_ends

if TYPE_CHECKING:
    from collections.abc import Sequence

_LINE_END = re.compile(r"\r\n|\r|\n")


class Section(NamedTuple):
    """A heading and what belongs to it. Offsets are characters of the text; lines count from 1.

    `id` has the index of the heading and the first eight digits of the SHA-256 of its lines.
    """

    id: str
    level: int
    text: str
    path: tuple[str, ...]  # the headings above it, and itself
    start: int
    content: int  # after the heading's own lines
    own_end: int  # before its first subsection
    end: int  # before the next heading of its level or above
    line: int
    end_line: int  # the last line of the section


class Block(NamedTuple):
    """A block with an ID. It consists of whole lines. Offsets are characters of the text.

    `text_end` is where its text ends: before the ID behind it, or before lines of the ID alone.
    """

    id: str  # without `^`
    kind: str
    start: int
    text_end: int
    end: int
    id_start: int  # of its `^`
    line: int
    end_line: int


@dataclass(frozen=True, slots=True)
class Outline:
    """The parts of a note's text."""

    starts: list[int]  # the offset of each line
    sections: list[Section]
    blocks: list[Block]

    def line_at(self, offset: int) -> int:
        """Return the line of an offset."""
        return max(1, bisect_right(self.starts, offset))


def outline(text: str) -> Outline:
    """Return the outline of a note's text. Linear; never raises."""
    found = Outline(line_starts(text), [], [])
    body = frontmatter.bounds(text).end
    source = with_line_ends(text[body:])
    structure = scan(source)
    headings = structure.headings
    starts = [*(body + each.start for each in headings), len(text)]
    ends = _ends([each.level for each in headings])
    above: list[tuple[int, str]] = []
    for index, heading in enumerate(headings):
        above = [*((level, name) for level, name in above if level < heading.level)]
        above.append((heading.level, heading.text))
        start, end = starts[index], starts[ends[index]]
        last = body + heading.start + len(source[heading.start : heading.end].rstrip())
        match = _LINE_END.search(text, last)
        content = match.end() if match else len(text)
        digits = sha256(text[start:last].encode("utf-8", "replace")).hexdigest()[:8]
        found.sections.append(
            Section(
                f"h:{index}:{digits}",
                heading.level,
                heading.text,
                tuple(name for _, name in above),
                start,
                content,
                max(content, starts[index + 1]),
                max(content, end),
                found.line_at(start),
                found.line_at(max(start, end - 1)),
            )
        )
    for block in find_blocks(source, structure):
        start, text_end, end, at = (
            body + each for each in (block.start, block.text_end, block.end, block.id_start)
        )
        lines = found.line_at(start), found.line_at(max(start, end - 1))
        found.blocks.append(Block(block.name, block.kind, start, text_end, end, at, *lines))
    return found


def _ends(levels: Sequence[int]) -> list[int]:
    """Return for each section the index of the heading before which it ends."""
    ends = [len(levels)] * len(levels)
    open_sections: list[int] = []
    for index, level in enumerate(levels):
        while open_sections and levels[open_sections[-1]] >= level:
            ends[open_sections.pop()] = index
        open_sections.append(index)
    return ends


def line_starts(text: str) -> list[int]:
    """Return the offset of each line. Lines end in LF, CR LF or CR."""
    starts = [0]
    starts += (match.end() for match in _LINE_END.finditer(text))
    if len(starts) > 1 and starts[-1] == len(text):
        starts.pop()  # the text ends with a line end
    return starts


def section_lines(found: Outline, name: str) -> tuple[int, int] | None:
    """Return the first and last line of a section, or None if there is no such section.

    `name` is a heading, a path of headings (`A > B`), or a block (`^id`). A section reaches to the
    next heading of its level or above. If several headings have the name, the first one counts.
    """
    name = name.strip()
    if name.startswith("^"):
        key = anchor_key(name[1:])
        block = next((each for each in found.blocks if anchor_key(each.id) == key), None)
        return None if block is None else (block.line, block.end_line)
    whole = anchor_key(name.lstrip("#"))
    parts = [anchor_key(part.lstrip("# ")) for part in name.split(">")]
    # A heading may contain the sign itself.
    for wanted in ([whole], parts):
        for section in found.sections:
            keys = [anchor_key(each) for each in section.path]
            if keys[-1] == wanted[-1] and in_order(wanted, keys):
                return section.line, section.end_line
    return None


def in_order(wanted: Sequence[str], keys: Sequence[str]) -> bool:
    """Whether the wanted keys occur in this order, perhaps with others between them."""
    remaining = iter(keys)
    return all(each in remaining for each in wanted)
