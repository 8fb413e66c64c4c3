"""A note's current file, or the indexed text of an attachment: as a whole, a part, an outline."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from itertools import groupby
from time import sleep
from typing import TYPE_CHECKING, Final, TypeVar

from vault_agent.errors import InvalidRequest, NotFound, TooLarge
from vault_agent.markdown.document import Document, section_hash
from vault_agent.markdown.frontmatter_edit import keys_of
from vault_agent.markdown.lines import Lines, with_line_ends
from vault_agent.markdown.tag_edit import tags_in
from vault_agent.model.identifiers import content_hash, identify
from vault_agent.model.reading import (
    MARKDOWN,
    PLAIN,
    ChunkContent,
    LinkSummary,
    NoteContent,
    NoteFrontmatter,
    NoteOutline,
    NotePart,
    OutlineBlock,
    OutlineHeading,
    PartQuery,
)
from vault_agent.search.resolve import (
    named_chunk,
    named_note,
    no_file,
    no_note,
    not_indexed,
    note_or_file,
)
from vault_agent.store.index import documents
from vault_agent.store.index import links as stored_links
from vault_agent.store.index.notes import bodies, chunks_of
from vault_agent.system.cancelling import in_thread
from vault_agent.system.workers import WorkerCrashed
from vault_agent.text.names import fold, is_note, kind_of, page_of
from vault_agent.vault.read import Skipped, decode, read_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vault_agent.markdown.document import Block, Section
    from vault_agent.model.warning import Warning
    from vault_agent.store.current import Snapshot
    from vault_agent.store.database import Connection
    from vault_agent.store.index.links import LinkRow
    from vault_agent.store.index.notes import StoredChunk, StoredNote
    from vault_agent.system.workers import TextWorkers
    from vault_agent.vault.read import Content
    from vault_agent.vault.root import VaultRoot

_T = TypeVar("_T")

REPLY_LIMIT_BYTES: Final = 200 << 10
"""The largest note that is sent whole without `allow_large`."""
FILE_LIMIT_BYTES: Final = 64 << 20
"""The largest note that is read."""
MAX_LINKS: Final = 2_000
"""The most links and attachments in a reply."""
MAX_PARTS: Final = 20_000
"""The most headings and blocks of an outline."""
MAX_HEADINGS: Final = 20
"""Headings that an error lists."""
_PAUSES: Final = (0.01, 0.04, 0.2)
"""Seconds between looks for a missing file."""


@dataclass(frozen=True, slots=True)
class NoteFile:
    """The decoded text of a note's file, or of an attachment as it was indexed.

    `labels` are the parts of an attachment, such as its pages: each with its first and last line.
    The methods parse the text. They are pure, and may take long for a hostile note.
    """

    text: str
    size: int  # bytes
    hash: bytes
    warnings: tuple[Warning, ...] = ()
    labels: tuple[tuple[str, int, int], ...] | None = None

    def part(self, stored: StoredNote, query: PartQuery, max_bytes: int) -> NotePart:
        """Return a page of a part, at most `max_bytes` of UTF-8.

        A page ends at the end of a line, unless that line alone is longer than a page. The hashes
        are those that an edit of the whole note or of the section needs.

        Raises:
            InvalidRequest: `INVALID_REQUEST` for lines that the note does not have.
            NotFound: `HEADING_NOT_FOUND` with up to 20 headings in `details.headings`.
        """
        document = Document(self.text) if self.labels is None else None
        lines = Lines(with_line_ends(self.text)) if document is None else document.lines
        titles = self.labels or ()
        if document is not None:
            titles = tuple(
                (f"{'#' * section.level} {section.text}", section.line, section.end_line)
                for section in document.sections
            )
        count = len(lines.starts)
        begin = 0
        if query.view == "outline":
            text = "".join(f"{line}: {title}\n" for title, line, _ in titles)
        elif query.view == "properties":
            text = "" if document is None else self.text[: document.body]
        else:
            first, last = query.first_line, min(query.last_line or count, count)
            if query.section is not None:
                limits = _lines_of(document, titles, query.section.strip())
                first, last = max(first, limits[0]), min(last, limits[1])
            if first > last:
                raise InvalidRequest(
                    "INVALID_REQUEST", f"The part has no such lines; it has {count}."
                )
            begin = lines.starts[first - 1] if first <= count else len(self.text)
            end = lines.starts[last] if last < count else len(self.text)
            text = self.text[begin:end]
        start = min(query.offset or 0, len(text))
        stop = start + _fitting(text, start, max_bytes)
        is_done, is_text = stop >= len(text), query.view == "text"
        is_whole = is_text and begin == 0 and len(text) == len(self.text)
        is_hashed = is_done and document is not None
        is_section = query.section is not None and not is_whole
        return NotePart(
            note_id=stored.id,
            path=stored.path,
            title=stored.title,
            text=text[start:stop],
            start_line=lines.line(begin + start) if is_text else 1,
            end_line=lines.line(max(begin + stop - 1, begin + start)) if is_text else count,
            lines=count,
            etag=self.hash.hex(),
            next_offset=None if is_done else stop,
            note_hash=self.hash.hex() if is_hashed and is_whole else None,
            section_hash=sha256(text.encode()).hexdigest() if is_hashed and is_section else None,
            warnings=self.warnings,
        )

    def outline(self, stored: StoredNote) -> NoteOutline:
        """Return the headings and blocks, as edits address them.

        Raises:
            TooLarge: `NOTE_TOO_LARGE` over `MAX_PARTS`.
        """
        document = Document(self.text)
        if (count := len(document.sections) + len(document.blocks)) > MAX_PARTS:
            raise TooLarge(
                "NOTE_TOO_LARGE",
                f"The note has over {MAX_PARTS:,} headings and blocks.",
                {"parts": count, "limit": MAX_PARTS},
                remedy="Search in it instead.",
            )
        headings = tuple(
            OutlineHeading(
                section.id,
                section.level,
                section.text,
                section.path,
                section.line,
                section.end_line,
                section_hash(self.text, section),
            )
            for section in document.sections
        )
        blocks = tuple(
            OutlineBlock(f"^{block.id}", block.line, block.end_line, section_hash(self.text, block))
            for block in document.blocks
        )
        return NoteOutline(stored.id, stored.path, headings, blocks, self.hash.hex())

    def frontmatter(self, stored: StoredNote) -> NoteFrontmatter:
        """Return the frontmatter and the tags.

        Raises:
            Conflict: `FRONTMATTER_INVALID` with the line if it cannot be read.
        """
        values = keys_of(self.text)
        tags = tags_in(self.text, values)
        return NoteFrontmatter(stored.id, stored.path, values, tags, self.hash.hex())


def _lines_of(
    document: Document | None, titles: Sequence[tuple[str, int, int]], name: str
) -> tuple[int, int]:
    """Return the first and last line of the section, block or labelled part with a name."""
    if document is not None:
        section = named_part(document, name)
        limits = None if section is None else (section.line, section.end_line)
    else:
        wanted = fold(name)
        limits = next(
            ((first, last) for label, first, last in titles if fold(label) == wanted), None
        )
    if limits is None:
        raise NotFound(
            "HEADING_NOT_FOUND",
            "The note has no such heading or block.",
            {
                "headings": [title for title, _, _ in titles[:MAX_HEADINGS]],
                "more": max(0, len(titles) - MAX_HEADINGS),
            },
        )
    return limits


def named_part(document: Document, name: str) -> Section | Block | None:
    """Return the first section that a heading or a path of headings names, or block by its ID."""
    if name.startswith("^"):
        return next(iter(document.blocks_named(name)), None)
    indices = document.headings.find((name,))
    return document.sections[indices[0]] if indices else None


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


async def read_note(
    snapshot: Snapshot,
    root: VaultRoot,
    note_id: str,
    path: str | None,
    *,
    limit: int = FILE_LIMIT_BYTES,
    attachments: bool = True,
) -> tuple[StoredNote, NoteFile]:
    """Return a note with its current file.

    With `attachments`, also an attachment with its indexed text. The exact `path` finds the file of
    a note that is not in the index yet.

    Raises:
        InvalidRequest: `INVALID_ID`.
        NotFound: `NOTE_NOT_FOUND`, also if the file is missing or unreadable now.
        TooLarge: `NOTE_TOO_LARGE` over `limit` bytes.
    """
    stored = await note_or_file(snapshot, root, note_id, path, attachments=attachments)
    if is_note(stored.path):
        return stored, await in_thread(read_file, root, stored.path, limit)
    file = await snapshot.read(indexed_text, stored)
    if (size := len(file.text.encode())) > limit:
        raise _too_large(size, limit)
    return stored, file


def read_file(root: VaultRoot, path: str, limit: int = FILE_LIMIT_BYTES) -> NoteFile:
    """Read and decode a note's file.

    Call it in a thread: 64 MiB take a while, and for a missing file it waits up to 0.25 s.

    Raises:
        NotFound: `NOTE_NOT_FOUND` if the file is missing or no longer readable as a note.
        TooLarge: `NOTE_TOO_LARGE` over `limit` bytes, with its `size`.
    """
    try:
        content = _read_again(root, path, limit)
        if not content.complete:
            raise _too_large(content.entry.size, limit)
        text, warnings = decode(content.data, path)
    except Skipped as skipped:
        raise no_file(vanished=skipped.warning.code == "FILE_VANISHED") from skipped
    size, digest = len(content.data), content_hash(content.data)
    return NoteFile(text, size, digest, content.warnings + warnings)


def _read_again(root: VaultRoot, path: str, limit: int) -> Content:
    """Read a file of the index. If it is missing, try again after pauses.

    To save a note, some editors rename it and write a new file.
    """
    for pause in _PAUSES:
        try:
            return read_bytes(root, path, limit)
        except Skipped as skipped:
            if skipped.warning.code != "FILE_VANISHED":
                raise
            sleep(pause)
    return read_bytes(root, path, limit)


def indexed_text(connection: Connection, document: StoredNote) -> NoteFile:
    """Return the text of an attachment as it was indexed.

    Raises:
        NotFound: `NOTE_NOT_FOUND` if it is gone meanwhile.
    """
    content = documents.content_of(connection, document.rowid)
    if content is None:
        raise no_note()
    [text] = bodies(connection, [document.rowid])
    labels = []
    for heading_path, group in groupby(
        chunks_of(connection, document), key=lambda chunk: chunk.heading_path[-1:]
    ):
        chunks = list(group)
        if heading_path and heading_path[0]:
            labels.append((heading_path[0], chunks[0].start_line, chunks[-1].end_line))
    return NoteFile(text.decode(), *content, labels=tuple(labels))


def note_file(text: str, limit: int = FILE_LIMIT_BYTES) -> NoteFile:
    """Return a text as if it were read from a file. Raises `NOTE_TOO_LARGE` as `read_file`."""
    data = text.encode("utf-8", "replace")
    if len(data) > limit:
        raise _too_large(len(data), limit)
    return NoteFile(data.decode(), len(data), content_hash(data))


def _too_large(size: int, limit: int) -> TooLarge:
    if limit == FILE_LIMIT_BYTES:
        what, remedy = "The note is larger than 64 MiB.", "Ask for its chunks, or search in it."
    else:
        what, remedy = f"The note is larger than {limit >> 10} KiB.", None
    return TooLarge("NOTE_TOO_LARGE", what, {"size": size, "limit": limit}, remedy=remedy)


async def read_part(
    snapshot: Snapshot,
    root: VaultRoot,
    note_id: str,
    query: PartQuery,
    text_workers: TextWorkers,
    *,
    max_bytes: int,
) -> NotePart:
    """Return a page of a note's current text. Raises as `read_parsed` and `NoteFile.part`."""
    view = partial(NoteFile.part, query=query, max_bytes=max_bytes)
    return await read_parsed(
        snapshot, root, note_id, query.path, view, text_workers=text_workers, attachments=True
    )


async def read_parsed(
    snapshot: Snapshot,
    root: VaultRoot,
    note_id: str,
    path: str | None,
    view: Callable[[NoteFile, StoredNote], _T],
    *,
    text_workers: TextWorkers,
    attachments: bool = False,
) -> _T:
    """Return a `view` of a note, such as `NoteFile.outline`, within the limits of `text_workers`.

    Raises:
        TooLarge: `NOTE_TOO_LARGE` if it takes too much time or memory.
        VaultAgentError: as `read_note` and the view.
    """
    stored, file = await read_note(snapshot, root, note_id, path, attachments=attachments)
    try:
        return await text_workers.run(file.size, view, file, stored)
    except WorkerCrashed:
        raise TooLarge(
            "NOTE_TOO_LARGE",
            "Finding the parts of this note takes more time or memory than one request may use.",
            remedy="Read it by lines, or search in it instead.",
        ) from None


async def read_whole(
    snapshot: Snapshot,
    root: VaultRoot,
    note_id: str,
    *,
    allow_large: bool,
    path: str | None = None,
) -> NoteContent:
    """Return a note's original Markdown from its current file, or an attachment's indexed text.

    The limit is 200 KiB, or 64 MiB with `allow_large`. The links are those of the last indexing
    run, at most the first 2,000.

    Raises:
        VaultAgentError: as `read_note`.
    """
    limit = FILE_LIMIT_BYTES if allow_large else REPLY_LIMIT_BYTES
    stored, file = await read_note(snapshot, root, note_id, path, limit=limit)
    rows = await snapshot.read(stored_links.outgoing, stored.rowid, limit=MAX_LINKS)
    count = len(rows)
    if count == MAX_LINKS:
        count = await snapshot.read(stored_links.count_links, stored.rowid)
    # Links to notes are links; links to other files are attachments.
    links: list[LinkSummary] = []
    attachments: list[LinkSummary] = []
    for row in rows:
        (links if row.attachment_path is None else attachments).append(_summary(row))
    return NoteContent(
        id=note_id,
        path=stored.path,
        title=stored.title,
        metadata=stored.metadata,
        content=file.text,
        content_type=_content_type(stored),
        size=file.size,
        content_hash=file.hash.hex(),
        links=tuple(links),
        attachments=tuple(attachments),
        links_truncated=len(rows) < count,
        link_count=count,
        warnings=(*file.warnings, *not_indexed(stored)),
    )


def _summary(link: LinkRow) -> LinkSummary:
    return LinkSummary(
        kind=link.kind,
        target=link.target,
        fragment=link.fragment,
        text=link.text,
        line=link.line,
        resolved=link.dest is not None,
        ambiguous=bool(link.ambiguous),
        path=link.path,
        note_id=identify(link.note_path) if link.note_path else None,
    )


async def read_chunk(
    snapshot: Snapshot, note_id: str, index: int, *, warnings: tuple[Warning, ...] = ()
) -> ChunkContent:
    """Return one chunk as it was indexed, without frontmatter.

    Raises:
        InvalidRequest: `INVALID_ID`.
        NotFound: `NOTE_NOT_FOUND`, `CHUNK_NOT_FOUND`.
    """

    def read(connection: Connection) -> tuple[StoredNote, StoredChunk]:
        stored = named_note(connection, note_id, attachments=True)
        return stored, named_chunk(connection, stored, index)

    stored, row = await snapshot.read(read)
    return ChunkContent(
        id=f"{note_id}:{index}",
        note_id=note_id,
        chunk_index=index,
        path=stored.path,
        title=stored.title,
        heading=row.heading_path[-1] if row.heading_path else None,
        heading_path=row.heading_path,
        start_line=row.start_line,
        end_line=row.end_line,
        metadata=stored.metadata,
        content=row.text,
        content_type=_content_type(stored),
        size=len(row.text.encode()),
        kind=kind_of(stored.path),
        page=page_of(stored.path, row.heading_path),
        warnings=warnings,
    )


def _content_type(stored: StoredNote) -> str:
    return MARKDOWN if is_note(stored.path) else PLAIN
