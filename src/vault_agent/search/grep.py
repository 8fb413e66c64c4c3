"""Finds lines by a regular expression, note after note in the order of their paths.

The text is that of the index, without frontmatter, and a line that was cut into several chunks
is searched in these parts. A block of notes is scanned as one piece of memory. Only notes with a
match are then read line by line.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

import orjson

from vault_agent.errors import InvalidRequest
from vault_agent.model.identifiers import identify
from vault_agent.model.search import GrepAnswer, GrepLine, GrepPlace
from vault_agent.model.warning import Warning
from vault_agent.search.lists import admitted, note_key, path_of_key
from vault_agent.search.warnings import filter_warnings
from vault_agent.store.index import notes as reading
from vault_agent.store.index.rows import MAX_CHUNKS
from vault_agent.text.pattern import UnsupportedPattern, compile_re2

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from vault_agent.model.search import GrepQuery
    from vault_agent.store.current import Snapshot
    from vault_agent.store.database import Connection
    from vault_agent.store.index.notes import ScannedChunk, ScannedNote
    from vault_agent.text.pattern import Pattern


LINES_OF_NOTE = 20
"""Lines of one note in all pages together, unless only one note is searched."""
BLOCK_NOTES = 256
BLOCK_BYTES = 1 << 20
_PAGE_NOTES = 2_048
_PAGE_CHUNKS = 256  # at most 1 MiB of ASCII
_EVERY_LINE = 1 << 40
_NEXT = "\0"
"""Added to a path, it gives the next possible one."""
_PAGE_BYTES = 192 << 10
"""JSON of a page: less than the limit of a reply, so that no line of a page is left out."""
_FIELD_BYTES = 160  # names of fields, and the ID


async def grep(
    snapshot: Snapshot, query: GrepQuery, *, seconds: float, start: GrepPlace | None = None
) -> GrepAnswer:
    """Return matching lines, at most `query.limit`, after the place `start`.

    After `seconds`, looked at after each block, it returns what it has found.

    Raises:
        InvalidRequest: `REGEX_INVALID`, `CURSOR_EXPIRED` if the note of `start` is gone.
    """
    try:
        pattern = await snapshot.threads.run(
            compile_re2, query.pattern, ignore_case=query.ignore_case, one_line=True
        )
    except UnsupportedPattern as error:
        raise InvalidRequest("REGEX_INVALID", str(error)) from None
    passing = await admitted(snapshot, query.filters)
    warnings = await filter_warnings(snapshot, query.filters)
    scan = _Scan(snapshot, query, pattern, passing)
    answer = await scan.run(start, time.monotonic() + seconds)
    if answer.incomplete:
        what = f"The time was over after {answer.share:.0%} of the notes."
        late = Warning.of("REGEX_INCOMPLETE", what, {"share": round(answer.share, 3)})
        warnings = (*warnings, late)
    return replace(answer, warnings=warnings)


class _Scan:
    """One scan: it collects lines until it has enough, or its time is over."""

    def __init__(
        self, snapshot: Snapshot, query: GrepQuery, pattern: Pattern, passing: set[int] | None
    ) -> None:
        self._snapshot = snapshot
        self._query = query
        self._pattern = pattern
        self._passing = passing
        only_one = passing is not None and len(passing) == 1
        self._most_of_note = _EVERY_LINE if only_one else LINES_OF_NOTE
        self._lines: list[GrepLine] = []  # one more than the limit, if there are more
        self._counts: list[int] = []  # of each line: how many of its note are found by then
        self._bytes = 0
        self._count = 0  # lines of the current note, with those of earlier pages

    async def run(self, start: GrepPlace | None, deadline: float) -> GrepAnswer:
        path = ""
        if start is not None:
            path = await self._snapshot.read(path_of_key, start.path)
            if start.line >= _EVERY_LINE:
                path, start = path + _NEXT, None
        while True:
            page = await self._snapshot.read(reading.notes_from, path, limit=_PAGE_NOTES)
            for block in self._blocks(page):
                after = start if start is not None and block[0].path == path else None
                await self._search(block, after)
                if self._full:
                    return self._page()
                if time.monotonic() > deadline:
                    return await self._unfinished(block[-1].path)
            if len(page) < _PAGE_NOTES:
                return GrepAnswer(tuple(self._lines))
            path, start = page[-1].path + _NEXT, None

    @property
    def _full(self) -> bool:
        return len(self._lines) > self._query.limit or self._bytes > _PAGE_BYTES

    def _page(self) -> GrepAnswer:
        """Return a full page. It ends before the last line, which belongs to the next page."""
        lines = self._lines[:-1]
        place = GrepPlace(note_key(lines[-1].path), lines[-1].line, self._counts[-2])
        return GrepAnswer(tuple(lines), place=place)

    async def _unfinished(self, last: str) -> GrepAnswer:
        """Return what was found up to the end of the note `last`."""
        share = await self._snapshot.read(reading.share_up_to, last, self._passing)
        place = GrepPlace(note_key(last), _EVERY_LINE, 0)
        return GrepAnswer(tuple(self._lines), incomplete=True, place=place, share=share)

    def _blocks(self, notes: Iterable[ScannedNote]) -> Iterator[list[ScannedNote]]:
        """Yield the notes that pass the filters, in blocks of limited number and size."""
        block: list[ScannedNote] = []
        size = 0
        for note in notes:
            if self._passing is not None and note.rowid not in self._passing:
                continue
            if block and (len(block) == BLOCK_NOTES or size + note.size > BLOCK_BYTES):
                yield block
                block, size = [], 0
            block.append(note)
            size += note.size
        if block:
            yield block

    async def _search(self, block: Sequence[ScannedNote], after: GrepPlace | None) -> None:
        """Collect the lines of a block.

        `after` is the end of the earlier page if that is in the block's first note.
        """
        matching = [0]
        if len(block) > 1 or block[0].size <= BLOCK_BYTES:
            matching = await self._snapshot.read(_matching, self._pattern, block)
        for number in matching:
            resumed = after is not None and number == 0
            self._count = after.returned if after is not None and resumed else 0
            line = after.line if after is not None and resumed else 0
            await self._search_note(block[number], line)
            if self._full:
                return

    async def _search_note(self, note: ScannedNote, line: int) -> None:
        """Collect the lines of a note after a line, some chunks at a time."""
        index = await self._snapshot.read(reading.chunk_of_line, note.rowid, line)
        while self._count < self._most_of_note:
            chunks = await self._snapshot.read(
                reading.chunks_from, note.rowid, index, limit=_PAGE_CHUNKS
            )
            room = self._query.limit + 1 - len(self._lines)
            most = min(room, self._most_of_note - self._count + 1)
            lines = await self._snapshot.threads.run(
                matching_lines,
                self._pattern,
                chunks,
                after=line,
                context=self._query.context,
                limit=most,
            )
            self._add(note, lines)
            line = lines[-1].line if lines else line
            if self._full or len(chunks) < _PAGE_CHUNKS:
                return
            index = (chunks[-1].key & (MAX_CHUNKS - 1)) + 1

    def _add(self, note: ScannedNote, lines: Sequence[FoundLine]) -> None:
        """Add lines of a note. Its last one says if the note has more than may be returned."""
        note_id = identify(note.path)
        for line in lines:
            if self._count == self._most_of_note:
                self._lines[-1] = replace(self._lines[-1], more_in_note=True)
                return
            self._count += 1
            self._lines.append(GrepLine(note_id, note.path, *line))
            self._counts.append(self._count)
            self._bytes += len(orjson.dumps((note.path, *line))) + _FIELD_BYTES
            if self._full:
                return


def _matching(connection: Connection, pattern: Pattern, block: Sequence[ScannedNote]) -> list[int]:
    """Return which of the notes have a match. Their texts are searched as one."""
    bodies = reading.bodies(connection, [note.rowid for note in block])
    texts = [with_plain_ends(text) for text in bodies]
    whole = b"\n".join(texts)
    ends = list(accumulate(len(text) + 1 for text in texts))
    matching: list[int] = []
    position = 0
    while position < len(whole) and (match := pattern.search(whole, position)) is not None:
        number = bisect_right(ends, match.span()[0])
        if number == len(texts):
            break
        matching.append(number)
        position = ends[number]
    return matching


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
    lines: list[FoundLine] = []
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
                lines.append(
                    FoundLine(
                        after,
                        *_shown(pattern, data[start:end]),
                        tuple(every[max(0, place - context) : place]),
                        tuple(every[place + 1 : place + 1 + context]),
                    )
                )
                if len(lines) == limit:
                    return lines
            position = end + 1
            if position > len(data):
                break
        first += len(_split(data))
    return lines


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
