"""Finds the matching lines in the chunks of one note, and cuts long ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vault_agent.store.index.notes import ScannedChunk
    from vault_agent.text.pattern import Pattern

LINE_CHARACTERS = 240
_MATCHES = 20
"""Ranges that are marked in one line."""
_BEFORE = 80
"""Characters kept before the first match of a long line."""


class FoundLine(NamedTuple):
    """A matching line. `matches` are ranges of `text`, in characters."""

    line: int
    text: str
    matches: tuple[tuple[int, int], ...]
    before: tuple[str, ...]
    after: tuple[str, ...]


def matching_lines(
    pattern: Pattern, chunks: Sequence[ScannedChunk], *, after: int, context: int, limit: int
) -> list[FoundLine]:
    """Return the first `limit` lines after the line `after` that match, with lines around them."""
    every = _lines_of(chunks) if context else []
    found: list[FoundLine] = []
    first = 0  # of the chunk's lines, in `every`
    for chunk in chunks:
        data = with_plain_ends(chunk.text)
        number, position, counted = 0, 0, 0
        while (match := pattern.search(data, position)) is not None:
            start = data.rfind(b"\n", 0, match.span()[0]) + 1
            end = data.find(b"\n", match.span()[0])
            end = len(data) if end < 0 else end
            if start == len(data):  # after the last line end
                break
            number += data.count(b"\n", counted, start)
            counted = start
            if chunk.start_line + number > after:
                after = chunk.start_line + number  # parts of one long line give one result
                place = first + number
                found.append(
                    FoundLine(
                        after,
                        *_shown(pattern, data[start:end]),
                        tuple(every[max(0, place - context) : place]),
                        tuple(every[place + 1 : place + 1 + context]),
                    )
                )
                if len(found) == limit:
                    return found
            position = end + 1
            if position > len(data):
                break
        first += len(_split(data))
    return found


def _lines_of(chunks: Sequence[ScannedChunk]) -> list[str]:
    return [
        _cut(line.decode("utf-8", "replace"))
        for chunk in chunks
        for line in _split(with_plain_ends(chunk.text))
    ]


def _split(data: bytes) -> list[bytes]:
    lines = data.split(b"\n")
    if not lines[-1]:
        del lines[-1]
    return lines


def with_plain_ends(text: bytes) -> bytes:
    """Return a text with LF as its line ends."""
    return text.replace(b"\r\n", b"\n") if b"\r" in text else text


def _shown(pattern: Pattern, line: bytes) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return a line, cut around its first match, and the ranges of its matches."""
    spans = list(_spans(pattern, line))
    text = line.decode("utf-8", "replace")
    if len(line) != len(text):
        spans = [(_characters(line, start), _characters(line, end)) for start, end in spans]
    begin = 0
    if len(text) > LINE_CHARACTERS:
        begin = max(0, min(spans[0][0] - _BEFORE, len(text) - LINE_CHARACTERS))
        # The ellipses take the place of a character.
        text = text[begin : begin + LINE_CHARACTERS]
        text = f"…{text[1:]}" if begin else text
        text = f"{text[:-1]}…" if begin + LINE_CHARACTERS < _length(line) else text
    within = [
        (max(start - begin, 0), min(end - begin, len(text)))
        for start, end in spans
        if start - begin < len(text)
    ]
    return text, tuple((start, end) for start, end in within if end > start)


def _spans(pattern: Pattern, line: bytes) -> Iterator[tuple[int, int]]:
    position = 0
    for _ in range(_MATCHES):
        match = pattern.search(line, position)
        if match is None:
            return
        start, end = match.span()
        yield start, end
        position = end + (end == start)
        if position > len(line):
            return


def _characters(line: bytes, count: int) -> int:
    return len(line[:count].decode("utf-8", "replace"))


def _length(line: bytes) -> int:
    return len(line.decode("utf-8", "replace"))


def _cut(text: str) -> str:
    return text if len(text) <= LINE_CHARACTERS else f"{text[: LINE_CHARACTERS - 1]}…"
