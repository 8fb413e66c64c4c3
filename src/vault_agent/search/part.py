"""Parts of a note's current text: pages, line ranges, sections, the outline, the properties."""

from __future__ import annotations

from contextlib import contextmanager
from hashlib import sha256
from typing import TYPE_CHECKING

from vault_agent.errors import InvalidRequest, NotFound, TooLarge
from vault_agent.markdown.document import Document
from vault_agent.markdown.lines import Lines, with_line_ends
from vault_agent.model.reading import NotePart, PartQuery
from vault_agent.search.fetch import indexed_text, read_file
from vault_agent.search.named import note_or_file
from vault_agent.store.index.notes import chunks_of
from vault_agent.system.cancelling import in_thread
from vault_agent.system.workers import WorkerCrashed
from vault_agent.text.names import fold, is_note

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vault_agent.markdown.document import Block, Section
    from vault_agent.search.fetch import NoteFile
    from vault_agent.store.current import Snapshot
    from vault_agent.store.database import Connection
    from vault_agent.store.index.notes import StoredNote
    from vault_agent.system.allowance import Allowance
    from vault_agent.vault.root import VaultRoot

MAX_BYTES = 16 << 20
"""The largest note that is read in parts."""
MAX_HEADINGS = 20
"""Headings that an error lists."""


async def part(
    snapshot: Snapshot,
    root: VaultRoot,
    note_id: str,
    query: PartQuery,
    allowance: Allowance,
    *,
    max_bytes: int,
) -> NotePart:
    """Return a page of a note's current text, at most `max_bytes` of UTF-8.

    Of an attachment, it is the text as it was indexed, and its sections are pages.

    A page ends at the end of a line, unless that line alone is longer than a page.

    Raises:
        InvalidRequest: `INVALID_ID`; `INVALID_REQUEST` for lines that the note does not have.
        NotFound: `NOTE_NOT_FOUND`, also if the file is missing now; `HEADING_NOT_FOUND` with up to
            20 headings in `details.headings`.
        TooLarge: `NOTE_TOO_LARGE` over 16 MiB, or if its headings take too long to find.
    """
    stored = await note_or_file(snapshot, root, note_id, query.path, query.scope)
    if not is_note(stored.path):
        return await snapshot.read(attachment_part, stored, query, max_bytes)
    file = await in_thread(read_whole, root, stored.path)
    with too_costly():
        return await allowance.run(file.size, _part, stored, file, query, max_bytes)


def read_whole(root: VaultRoot, path: str) -> NoteFile:
    """Read a note that is read in parts. Call it in a thread.

    Raises:
        NotFound: `NOTE_NOT_FOUND` if the file is missing or no longer readable as a note.
        TooLarge: `NOTE_TOO_LARGE` over 16 MiB.
    """
    file = read_file(root, path, MAX_BYTES)
    if isinstance(file, int):
        raise TooLarge(
            "NOTE_TOO_LARGE",
            "The note is larger than 16 MiB.",
            {"size": file, "limit": MAX_BYTES},
            remedy="Search in it instead.",
        )
    return file


@contextmanager
def too_costly() -> Iterator[None]:
    """Refuse a note whose parts cannot be read within the allowance: `NOTE_TOO_LARGE`."""
    try:
        yield
    except WorkerCrashed:
        raise TooLarge(
            "NOTE_TOO_LARGE",
            "Finding the parts of this note takes more time or memory than one request may use.",
            remedy="Read it by lines, or search in it instead.",
        ) from None


def attachment_part(
    connection: Connection, stored: StoredNote, query: PartQuery, max_bytes: int
) -> NotePart:
    """Return a page of an attachment's indexed text. Its outline has its pages or other parts.

    Raises:
        InvalidRequest: `INVALID_REQUEST` for lines that it does not have.
        NotFound: `HEADING_NOT_FOUND`, `NOTE_NOT_FOUND`.
    """
    file = indexed_text(connection, stored)
    lines = Lines(with_line_ends(file.text))
    parts = _labelled(connection, stored)
    if query.view == "properties":
        text, begin, listed = "", 0, True
    elif query.view == "outline":
        text = "".join(f"{first}: {label}\n" for label, first, _ in parts)
        begin, listed = 0, True
    else:
        text, begin = _between(file.text, lines, *_lines_of(parts, lines, query))
        listed = False
    return _page(
        stored,
        file,
        lines,
        query,
        text,
        max_bytes=max_bytes,
        begin=begin,
        listed=listed,
        hashed=False,
    )


def _labelled(connection: Connection, stored: StoredNote) -> list[tuple[str, int, int]]:
    """Return each labelled part of an attachment with its first and its last line."""
    found: list[tuple[str, int, int]] = []
    for chunk in chunks_of(connection, stored):
        label = chunk.heading_path[-1] if chunk.heading_path else ""
        if found and found[-1][0] == label:
            found[-1] = (label, found[-1][1], chunk.end_line)
        else:
            found.append((label, chunk.start_line, chunk.end_line))
    return [each for each in found if each[0]]


def _lines_of(
    parts: Sequence[tuple[str, int, int]], lines: Lines, query: PartQuery
) -> tuple[int, int]:
    """Return the first and the last line of the part of an attachment."""
    count = len(lines.starts)
    first, last = query.first_line, min(query.last_line or count, count)
    if query.section is not None:
        wanted = fold(query.section.strip())
        named = next((each for each in parts if fold(each[0]) == wanted), None)
        if named is None:
            raise _no_heading([label for label, _, _ in parts])
        first, last = max(first, named[1]), min(last, named[2])
    _check_lines(first, last, count)
    return first, last


def _part(stored: StoredNote, file: NoteFile, query: PartQuery, max_bytes: int) -> NotePart:
    found = Document(file.text, has_blocks=True)
    if query.view == "outline":
        return _page(
            stored, file, found.lines, query, _outline_text(found), max_bytes=max_bytes, listed=True
        )
    if query.view == "properties":
        head = file.text[: found.body]
        return _page(stored, file, found.lines, query, head, max_bytes=max_bytes, listed=True)
    text, begin = _between(file.text, found.lines, *_range(found, query))
    return _page(stored, file, found.lines, query, text, max_bytes=max_bytes, begin=begin)


def _between(text: str, lines: Lines, first: int, last: int) -> tuple[str, int]:
    """Return the text of some lines, and where it begins."""
    starts = lines.starts
    begin = starts[first - 1] if first <= len(starts) else len(text)
    end = starts[last] if last < len(starts) else len(text)
    return text[begin:end], begin


def _range(found: Document, query: PartQuery) -> tuple[int, int]:
    """Return the first and the last line of the part."""
    count = len(found.lines.starts)
    first, last = query.first_line, min(query.last_line or count, count)
    if query.section is not None:
        section = named_part(found, query.section.strip())
        if section is None:
            raise _no_heading([f"{'#' * each.level} {each.text}" for each in found.sections])
        first, last = max(first, section.line), min(last, section.end_line)
    _check_lines(first, last, count)
    return first, last


def _check_lines(first: int, last: int, count: int) -> None:
    if first > last:
        raise InvalidRequest("INVALID_REQUEST", f"The part has no such lines; it has {count}.")


def named_part(found: Document, name: str) -> Section | Block | None:
    """Return the first section of a heading or path of headings, or the first block of an ID."""
    if name.startswith("^"):
        return next(iter(found.blocks_named(name)), None)
    indices = found.headings.find((name,), strict=False)
    return found.sections[indices[0]] if indices else None


def _page(
    stored: StoredNote,
    file: NoteFile,
    lines: Lines,
    query: PartQuery,
    text: str,
    *,
    max_bytes: int,
    begin: int = 0,
    listed: bool = False,
    hashed: bool = True,
) -> NotePart:
    """Return the page of `text` at `query.offset`. `listed`: the text is not a range of lines.

    Only what can be changed is `hashed`.
    """
    start = min(query.offset or 0, len(text))
    length = _fitting(text, start, max_bytes)
    end = start + length
    done = end >= len(text)
    whole = begin == 0 and begin + len(text) == len(file.text) and query.view == "text"
    section = query.section is not None and not whole
    count = len(lines.starts)
    return NotePart(
        note_id=stored.id,
        path=stored.path,
        title=stored.title,
        text=text[start:end],
        start_line=1 if listed else lines.line(begin + start),
        end_line=count if listed else lines.line(max(begin + end - 1, begin + start)),
        lines=count,
        etag=file.hash.hex(),
        next_offset=None if done else end,
        note_hash=file.hash.hex() if hashed and done and whole else None,
        section_hash=sha256(text.encode()).hexdigest() if hashed and done and section else None,
        warnings=file.warnings,
    )


def _fitting(text: str, start: int, max_bytes: int) -> int:
    """Return how many characters from `start` fit, cut after a line end if there is one."""
    piece = text[start : start + max_bytes]  # a character takes at least one byte
    encoded = piece.encode()
    if len(encoded) > max_bytes:
        piece = encoded[:max_bytes].decode("utf-8", "ignore")
    if start + len(piece) >= len(text):
        return len(piece)
    line_end = max(piece.rfind("\n"), piece.rfind("\r", 0, -1)) + 1
    return line_end or len(piece)


def _outline_text(found: Document) -> str:
    return "".join(f"{each.line}: {'#' * each.level} {each.text}\n" for each in found.sections)


def _no_heading(headings: Sequence[str]) -> NotFound:
    return NotFound(
        "HEADING_NOT_FOUND",
        "The note has no such heading or block.",
        {
            "headings": list(headings[:MAX_HEADINGS]),
            "more": max(0, len(headings) - MAX_HEADINGS),
        },
    )
