"""Chunks: the body split at its headings, and long sections at their paragraphs.

The texts of the chunks, joined, are the body. No chunk is blank. None is longer than `MAX_CHARS`,
except for a longer run of white space, which stays with a neighbour. The time is linear.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, TypeAlias

from vault_agent.markdown.lines import Lines, equal_lines, with_line_ends
from vault_agent.model.notes import Chunk
from vault_agent.text.terms import continues

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from vault_agent.markdown.structure import Heading, Structure

TARGET_CHARS = 2000
MAX_CHARS = 4000
_SMALL_CHARS = TARGET_CHARS // 4  # smaller parts of a split section are joined with a neighbour
MAX_CHUNKS = 1_000_000
"""Chunks kept of one note. The keys of chunks allow 2^20."""
MAX_SECTIONS = 10_000  # above this, small sections are joined to limit the number of chunks

_PARAGRAPH_END = re.compile(r"\n(?:[ \t>]*+\r?\n)++")
_LINE_END = re.compile(r"\n")
_SENTENCE_END = re.compile(r"[.!?…][\"'”’»)\]]{0,3}\s++|[。！？｡][」』”’）]{0,3}")
_FINER = (_PARAGRAPH_END, _LINE_END, _SENTENCE_END)
_WHITE_SPACE_BACK = 200
_SEQUENCE_BACK = 32


_Section: TypeAlias = tuple[int, tuple[str, ...]]  # its start and its heading path


def chunk_body(
    body: str, source: str, structure: Structure, lines: Lines, start: int
) -> tuple[Chunk, ...]:
    """Split the body into chunks.

    `source` is the body with every lone CR replaced by LF. `lines` are those of the whole text, in
    which the body starts at an offset.
    """
    if not body or body.isspace():
        return ()
    sections = _sections(body, structure.headings)
    return _chunks((body, source), sections, lines, start, structure.block_starts)


def chunk_parts(parts: Iterable[tuple[str | None, str]]) -> tuple[Chunk, ...]:
    """Split plain text in parts, such as pages: a label, which becomes the heading, and a text.

    No text may be blank. Lines are those of the joined texts. At most `MAX_CHUNKS` are returned.
    """
    sections: list[_Section] = []
    texts: list[str] = []
    start = 0
    for label, text in parts:
        whole = text if text.endswith("\n") else text + "\n"
        sections.append((start, (label,) if label else ()))
        texts.append(whole)
        start += len(whole)
    if not sections:
        return ()
    joined = "".join(texts)
    source = with_line_ends(joined)
    return _chunks((joined, source), sections, Lines(source), 0, list)[:MAX_CHUNKS]


def _chunks(
    texts: tuple[str, str],
    sections: list[_Section],
    lines: Lines,
    start: int,
    block_starts: Callable[[], list[int]],
) -> tuple[Chunk, ...]:
    """Split a text, given as it is and with all line ends as LF, in its sections."""
    body, source = texts
    if len(sections) > MAX_SECTIONS:
        sections = _joined(sections, len(body))
    ends_of = [*(start for start, _ in sections[1:]), len(body)]
    is_long = any(
        end - first > TARGET_CHARS for (first, _), end in zip(sections, ends_of, strict=True)
    )
    blocks = block_starts() if is_long else []
    chunks: list[Chunk] = []
    starts = lines.starts
    for (first, path), end in zip(sections, ends_of, strict=True):
        for a, b in _pieces(source, first, end, blocks):
            line, last = bisect_right(starts, start + a), bisect_right(starts, start + b - 1)
            chunks.append(Chunk(len(chunks), path, body[a:b], line, last))
    return tuple(chunks)


def _sections(body: str, headings: list[Heading]) -> list[_Section]:
    """Return the sections in order.

    A heading directly followed by a deeper heading has no section of its own. Its text is in the
    heading path of the next section, which starts at it.
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
        elif following.level <= level or body[heading.end : following.start].strip():
            sections.append((start, path))
            start = following.start
    return sections


def _joined(sections: list[_Section], length: int) -> list[_Section]:
    """Join neighbouring sections up to the target size. The path is their common prefix."""
    joined = []
    start, shared = sections[0]
    ends = [section[0] for section in sections[2:]]
    for (after, path), end in zip(sections[1:], [*ends, length], strict=True):
        if end - start > TARGET_CHARS:
            joined.append((start, shared))
            start, shared = after, path
        elif shared and shared != path:
            shared = shared[: equal_lines(shared, path)]
    joined.append((start, shared))
    return joined


def _pieces(source: str, start: int, end: int, blocks: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the ranges of the chunks of one section."""
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
    """Yield the ranges between cuts. A blank range is joined with the one before or after it."""
    start = cuts[0]
    for number in range(1, len(cuts) - 1):
        cut, following = cuts[number], cuts[number + 1]
        if source[cut:following].isspace() or source[start:cut].isspace():
            continue
        yield start, cut
        start = cut
    yield start, cuts[-1]


def _edges(source: str, start: int, end: int, blocks: list[int]) -> list[int]:
    """Return the possible cuts of a section, `end` last, at most `MAX_CHARS` apart."""
    edges: list[int] = []
    before = start
    for edge in [*blocks[bisect_right(blocks, start) : bisect_left(blocks, end)], end]:
        if edge > before:
            _refine(source, before, edge, edges)
            edges.append(edge)
            before = edge
    return edges


def _refine(source: str, start: int, end: int, edges: list[int], level: int = 0) -> None:
    """Append the edges within a block that is too long: paragraphs, then lines, then sentences."""
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
    """Yield edges at most `TARGET_CHARS` apart, at a space or between whole characters."""
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
