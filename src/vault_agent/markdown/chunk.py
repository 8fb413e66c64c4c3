"""Chunks: the body cut along its headings, and where a section is long, along its paragraphs.

Promises: the chunks' texts joined are the body; none is blank; none is longer than `MAX_CHARS`,
except where a run of white space is (it has to stay with a neighbour). All of it is linear.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, TypeAlias

from vault_agent.model.notes import Chunk
from vault_agent.text.terms import continues

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .structure import Heading, Structure

TARGET_CHARS = 2000
MAX_CHARS = 4000
_SMALL_CHARS = TARGET_CHARS // 4  # less than this is not worth a chunk where a section is cut
MAX_CHUNKS = 1_000_000
"""Chunks kept of one note, below what its keys can number (2^20)."""
MAX_SECTIONS = 10_000  # a note with more has its small sections joined, so that chunks stay few

_PARAGRAPH_END = re.compile(r"\n(?:[ \t>]*+\r?\n)++")
_LINE_END = re.compile(r"\n")
_SENTENCE_END = re.compile(r"[.!?…][\"'”’»)\]]{0,3}\s++|[。！？｡][」』”’）]{0,3}")
_FINER = (_PARAGRAPH_END, _LINE_END, _SENTENCE_END)
_WHITE_SPACE_BACK = 200
_SEQUENCE_BACK = 32


_Section: TypeAlias = tuple[int, tuple[str, ...]]  # where it starts, and its heading path


def chunk_body(body: str, source: str, structure: Structure, first_line: int) -> tuple[Chunk, ...]:
    """Cut the body into chunks.

    `source` is the body with every lone CR as LF, which lines are counted in; `first_line` is the
    line of the file on which the body starts.
    """
    if not body or body.isspace():
        return ()
    sections = _sections(body, structure.headings)
    if len(sections) > MAX_SECTIONS:
        sections = _joined(sections, len(body))
    chunks: list[Chunk] = []
    line = first_line
    for number, (start, path) in enumerate(sections):
        end = sections[number + 1][0] if number + 1 < len(sections) else len(body)
        for a, b in _pieces(source, start, end, structure.blocks):
            ends = source.count("\n", a, b)
            last = line + ends - (source[b - 1] == "\n")
            chunks.append(Chunk(len(chunks), path, body[a:b], line, last))
            line += ends
    return tuple(chunks)


def _sections(body: str, headings: list[Heading]) -> list[_Section]:
    """Return where each section starts.

    A heading that is followed by nothing but a deeper heading starts that one's section: its text
    is in the path, and a chunk of its own would say nothing.
    """
    sections: list[_Section] = []
    above: list[tuple[int, tuple[str, ...]]] = [(0, ())]  # the open headings' levels and paths
    start = 0
    first = headings[0].start if headings else len(body)
    if first and not body[:first].isspace():
        sections.append((0, ()))
        start = first
    for number, heading in enumerate(headings, 1):
        level = heading.level
        while above[-1][0] >= level:
            above.pop()
        path = above[-1][1]
        if heading.text:
            path = (*path, heading.text)
        above.append((level, path))
        following = headings[number] if number < len(headings) else None
        if following is None:
            sections.append((start, path))
        elif following.level <= level or _has_text(body, heading.end, following.start):
            sections.append((start, path))
            start = following.start
    return sections


def _has_text(body: str, start: int, end: int) -> bool:
    return start < end and not body[start:end].isspace()


def _joined(sections: list[_Section], length: int) -> list[_Section]:
    """Join neighbouring sections up to the target; the path is what they have in common."""
    joined = []
    start, shared = sections[0]
    ends = [section[0] for section in sections[2:]]
    for (after, path), end in zip(sections[1:], [*ends, length], strict=True):
        if end - start > TARGET_CHARS:
            joined.append((start, shared))
            start, shared = after, path
        elif shared and shared != path:
            shared = _in_common(shared, path)
    joined.append((start, shared))
    return joined


def _in_common(path: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    same = 0
    for one, another in zip(path, other, strict=False):
        if one != another:
            break
        same += 1
    return path[:same]


def _pieces(source: str, start: int, end: int, blocks: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the ranges into which one section is cut."""
    if end - start <= TARGET_CHARS:
        yield start, end
        return
    edges = _edges(source, start, end, blocks)
    cuts = [start]
    before = start
    for edge in edges:
        size = edge - cuts[-1]
        if (
            size > TARGET_CHARS
            and before > cuts[-1]
            and (before - cuts[-1] >= _SMALL_CHARS or size > MAX_CHARS)
        ):
            cuts.append(before)
        before = edge
    if len(cuts) > 1 and end - cuts[-1] < _SMALL_CHARS and end - cuts[-2] <= MAX_CHARS:
        cuts.pop()
    cuts.append(end)
    yield from _not_blank(source, cuts)


def _not_blank(source: str, cuts: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the ranges between cuts; what is blank stays with the one before, or else after."""
    start = cuts[0]
    for number in range(1, len(cuts) - 1):
        cut, following = cuts[number], cuts[number + 1]
        if source[cut:following].isspace() or source[start:cut].isspace():
            continue
        yield start, cut
        start = cut
    yield start, cuts[-1]


def _edges(source: str, start: int, end: int, blocks: list[int]) -> list[int]:
    """Return where a section may be cut, `end` last; no step is longer than `MAX_CHARS`."""
    edges: list[int] = []
    before = start
    for edge in [*blocks[bisect_right(blocks, start) : bisect_left(blocks, end)], end]:
        if edge > before:
            _refine(source, before, edge, edges)
            edges.append(edge)
            before = edge
    return edges


def _refine(source: str, start: int, end: int, edges: list[int], level: int = 0) -> None:
    """Append the edges within a block: of paragraphs, and where one is too long, finer ones."""
    if end - start <= MAX_CHARS:
        return
    if level == len(_FINER):
        edges.extend(_by_length(source, start, end))
        return
    before = start
    for match in _FINER[level].finditer(source, start, end):
        edge = match.end()
        if edge > before:
            _refine(source, before, edge, edges, level + 1)
            edges.append(edge)
            before = edge
    _refine(source, before, end, edges, level + 1)


def _by_length(source: str, start: int, end: int) -> Iterator[int]:
    """Yield edges no further apart than the target, at a space or between whole characters."""
    while end - start > TARGET_CHARS:
        edge = start + TARGET_CHARS
        space = source.rfind(" ", edge - _WHITE_SPACE_BACK, edge)
        if space >= 0:
            edge = space + 1
        else:
            floor = edge - _SEQUENCE_BACK
            while edge > floor and continues(source, edge):
                edge -= 1
        yield edge
        start = edge
