"""The blocks of a body that have an ID (`^abc`): paragraphs, list items with children, tables."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vault_agent.markdown.structure import Part

BLOCK_ID = re.compile(r"\^(?<!\S\^)([A-Za-z0-9-]++)[ \t]*+\r?$", re.MULTILINE)
"""The ID of a block, in a text with code, HTML and comments masked."""


def find_blocks(
    source: str, masked: str, parts: list[Part]
) -> Iterator[tuple[str, str, int, int, int, int]]:
    """Yield the blocks with an ID, in the order of these, as the first six fields of a `Block`.

    Offsets are those of the body.

    `masked` is `source` with code, HTML and comments masked, and `parts` are its parts. Lines end
    in LF or CR LF.
    """
    if "^" not in masked:
        return
    starts = [part.start for part in parts]
    content_ends: dict[int, int] = {}

    def content_end(index: int) -> int:
        if index not in content_ends:
            part = parts[index]
            content_ends[index] = part.start + len(source[part.start : part.end].rstrip())
        return content_ends[index]

    for match in BLOCK_ID.finditer(masked):
        at, name = match.start(), match[1]
        line_start, next_line = source.rfind("\n", 0, at) + 1, _next_line(source, at)
        index = _innermost(parts, bisect_right(starts, at) - 1, at)
        if index is None:
            yield name, "paragraph", line_start, at, next_line, at
            continue
        part = parts[index]
        alone = part.start == at and content_end(index) == match.end(1)
        if alone and part.previous is not None and parts[part.previous].kind != "heading":
            before = parts[part.previous]
            start = source.rfind("\n", 0, before.start) + 1
            text_end = _next_line(source, content_end(part.previous) - 1)
            yield name, before.kind, start, text_end, next_line, at
            continue
        parent = part.parent if part.kind == "paragraph" else None
        if parent is not None and parts[parent].kind == "item":
            index, part = parent, parts[parent]
        start = source.rfind("\n", 0, part.start) + 1
        end = max(next_line, _next_line(source, content_end(index) - 1))
        text_end = end
        if part.kind == "paragraph":
            text_end = max(start, line_start, line_start + len(source[line_start:at].rstrip()))
            if text_end == line_start > start:  # the ID is alone on the last line
                text_end -= 2 if source[text_end - 2] == "\r" else 1
        yield name, part.kind, start, text_end, end, at


def _innermost(parts: list[Part], index: int, at: int) -> int | None:
    """Return the innermost block around an offset; `index` is the last that starts before it."""
    parent: int | None = index if index >= 0 else None
    while parent is not None and not parts[parent].start <= at < parts[parent].end:
        parent = parts[parent].parent
    return parent


def _next_line(source: str, at: int) -> int:
    return source.find("\n", at) + 1 or len(source)
