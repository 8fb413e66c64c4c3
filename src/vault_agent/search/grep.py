"""Finds lines by a regular expression, note by note in the order of their paths.

It searches the text in the index, which has no frontmatter.
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import orjson

from vault_agent.errors import InvalidRequest
from vault_agent.model.identifiers import identify
from vault_agent.model.search import GrepAnswer, GrepLine, GrepPlace
from vault_agent.model.warning import Warning
from vault_agent.search.lists import admitted, note_of_cursor
from vault_agent.search.warnings import filter_warnings
from vault_agent.store.fulltext.candidates import raise_if_stopped
from vault_agent.store.index import notes as stored_notes
from vault_agent.text.names import shorten
from vault_agent.text.pattern import UnsupportedPattern, compile_re2

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

    from vault_agent.model.search import GrepQuery
    from vault_agent.store.current import Snapshot
    from vault_agent.store.index.notes import NoteText
    from vault_agent.system.cancelling import Stopped


LINES_OF_NOTE = 20
"""The most lines of one note in all pages together, unless only one note is searched."""
LINE_CHARACTERS = 240
_EVERY_LINE = 1 << 40
_PAGE_BYTES = 192 << 10
"""The most JSON of a page: less than a reply may have, so that no line is left out of it."""
_FIELD_BYTES = 160  # names of fields, and the ID
_MATCHES = 20
"""Ranges that are marked in one line."""
_BEFORE = 80
"""Characters kept before the first match of a long line."""


async def grep(
    snapshot: Snapshot, query: GrepQuery, *, seconds: float, start: GrepPlace | None = None
) -> GrepAnswer:
    """Return matching lines, at most `query.limit`, after the place `start`.

    After `seconds`, return the lines found so far. The time is checked after each note.

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
    deadline = time.monotonic() + seconds
    answer = await snapshot.threads.stoppable(
        partial(_scan, snapshot, query, pattern, passing, start, deadline)
    )
    if answer.incomplete:
        what = f"The time was over after {answer.share:.0%} of the notes."
        late = Warning.of("REGEX_INCOMPLETE", what, {"share": round(answer.share, 3)})
        warnings = (*warnings, late)
    return replace(answer, warnings=warnings)


def _scan(  # noqa: PLR0917 - private, one caller
    snapshot: Snapshot,
    query: GrepQuery,
    pattern: re.Pattern[bytes],
    passing: set[int] | None,
    start: GrepPlace | None,
    deadline: float,
    stopped: Stopped,
) -> GrepAnswer:
    """Collect lines until there are enough, or the time is over."""
    most_of_note = LINES_OF_NOTE
    if passing is not None and len(passing) == 1:
        most_of_note = _EVERY_LINE
    path, after, count = "", 0, 0  # of the current note: its path, last line, and number of lines
    lines: list[GrepLine] = []
    counts: list[int] = []  # for each line, how many lines of its note were returned by then
    size = 0
    with snapshot.connection() as connection:
        if start is not None:
            path = note_of_cursor(connection, start.note_id).path
            after, count = start.line, start.returned
        for note in stored_notes.note_texts(connection, path, passing):
            raise_if_stopped(stopped)
            if note.path != path:
                path, after, count = note.path, 0, 0
            elif after == _EVERY_LINE:
                continue
            for line in _matching_lines(pattern, note, after, query.context):
                if count == most_of_note:
                    if lines:
                        lines[-1] = replace(lines[-1], more_in_note=True)
                    break
                count += 1
                lines.append(line)
                counts.append(count)
                size += len(orjson.dumps(line)) + _FIELD_BYTES
                if len(lines) > query.limit or size > _PAGE_BYTES:
                    last = lines[-2]
                    place = GrepPlace(last.note_id, last.line, counts[-2])
                    return GrepAnswer(tuple(lines[:-1]), place=place)
            if time.monotonic() > deadline:
                return GrepAnswer(
                    tuple(lines),
                    incomplete=True,
                    place=GrepPlace(identify(path), _EVERY_LINE, 0),
                    share=stored_notes.share_up_to(connection, path, passing),
                )
    return GrepAnswer(tuple(lines))


def _matching_lines(
    pattern: re.Pattern[bytes], note: NoteText, after: int, context: int
) -> Iterator[GrepLine]:
    """Yield the lines of a note after the line `after` that match, with lines around them."""
    text = note.text
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if pattern.search(text, 0) is None:
        return
    lines = text.removesuffix(b"\n").split(b"\n")
    for place, line in enumerate(lines):
        number = note.first_line + place
        if number > after and pattern.search(line, 0) is not None:
            before = lines[max(0, place - context) : place]
            behind = lines[place + 1 : place + 1 + context]
            yield GrepLine(
                identify(note.path),
                note.path,
                number,
                *_shown(pattern, line),
                tuple(map(_cut, before)),
                tuple(map(_cut, behind)),
            )


def _shown(pattern: re.Pattern[bytes], line: bytes) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return a line, cut around its first match, and the ranges of its matches."""
    spans = list(_spans(pattern, line))
    text = line.decode("utf-8", "replace")
    if len(line) != len(text):
        spans = [(_characters(line, start), _characters(line, end)) for start, end in spans]
    begin, length = 0, len(text)
    if length > LINE_CHARACTERS:
        begin = max(0, min(spans[0][0] - _BEFORE, length - LINE_CHARACTERS))
        # Each ellipsis replaces a character.
        text = text[begin : begin + LINE_CHARACTERS]
        text = f"…{text[1:]}" if begin else text
        text = f"{text[:-1]}…" if begin + LINE_CHARACTERS < length else text
    within = [
        (max(start - begin, 0), min(end - begin, len(text)))
        for start, end in spans
        if start - begin < len(text)
    ]
    return text, tuple((start, end) for start, end in within if end > start)


def _spans(pattern: re.Pattern[bytes], line: bytes) -> Iterator[tuple[int, int]]:
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


def _cut(line: bytes) -> str:
    return shorten(line.decode("utf-8", "replace"), LINE_CHARACTERS)
