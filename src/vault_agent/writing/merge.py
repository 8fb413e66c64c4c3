"""Merges two changes of one text, line by line, if they do not touch. Pure."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING, NamedTuple

from vault_agent.markdown.lines import equal_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_MOST_LINES = 3_000
"""If more lines than this are compared, all between the first and the last change is one change."""


class _Hunk(NamedTuple):
    """Replace the lines [start, end) of the base by `lines`."""

    start: int
    end: int
    lines: Sequence[bytes]


def merge_texts(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """Return `theirs` with the change from `base` to `ours`, or None if the changes touch."""
    lines = base.splitlines(keepends=True)
    one = list(_hunks(lines, ours.splitlines(keepends=True)))
    other = list(_hunks(lines, theirs.splitlines(keepends=True)))
    pieces: list[bytes] = []
    done = 0
    for hunk in sorted([*one, *other], key=lambda hunk: (hunk.start, hunk.end)):
        if hunk.start < done:
            return None
        pieces += lines[done : hunk.start]
        pieces += hunk.lines
        done = hunk.end
    pieces += lines[done:]
    insertions = [{hunk.start for hunk in side if hunk.start == hunk.end} for side in (one, other)]
    return None if insertions[0] & insertions[1] else b"".join(pieces)


def _hunks(base: list[bytes], text: list[bytes]) -> Iterator[_Hunk]:
    first = equal_lines(base, text)
    last = equal_lines(base[first:][::-1], text[first:][::-1])
    old, new = base[first : len(base) - last], text[first : len(text) - last]
    if len(old) + len(new) > _MOST_LINES:
        yield _Hunk(first, first + len(old), new)
        return
    for kind, start, end, new_start, new_end in SequenceMatcher(
        None, old, new, autojunk=False
    ).get_opcodes():
        if kind != "equal":
            yield _Hunk(first + start, first + end, new[new_start:new_end])
