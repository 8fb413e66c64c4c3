"""Retrieval of one note or chunk by its ID."""

from __future__ import annotations

from time import sleep
from typing import TYPE_CHECKING, NamedTuple

from vault_agent.errors import TooLarge
from vault_agent.model.identifiers import content_hash, identify
from vault_agent.model.retrieval import MARKDOWN, PLAIN, ChunkContent, LinkSummary, NoteContent
from vault_agent.search.named import (
    named_chunk,
    named_text,
    no_file,
    no_note,
    not_indexed,
    note_or_file,
)
from vault_agent.store.index import documents
from vault_agent.store.index import links as links_reading
from vault_agent.store.index.text import bodies
from vault_agent.system.cancelling import in_thread
from vault_agent.text.attachments import kind_of, page_of
from vault_agent.text.names import is_note
from vault_agent.vault.read import decode, read_bytes
from vault_agent.vault.skipped import Skipped

if TYPE_CHECKING:
    from vault_agent.model.warning import Warning
    from vault_agent.store.current import Snapshot
    from vault_agent.store.database import Connection
    from vault_agent.store.index.links import LinkRow
    from vault_agent.store.index.notes import StoredChunk, StoredNote
    from vault_agent.vault.read import Content
    from vault_agent.vault.root import VaultRoot

NOTE_LIMIT_BYTES = 200 << 10
MAX_NOTE_BYTES = 64 << 20
"""The limit with `allow_large`. A note is sent in one piece."""
MAX_LINKS = 2_000
"""Maximum number of links and attachments in a reply."""
_PAUSES = (0.01, 0.04, 0.2)
"""Seconds between looks for a missing file."""


async def note(
    snapshot: Snapshot,
    root: VaultRoot,
    note_id: str,
    *,
    allow_large: bool,
    path: str | None = None,
) -> NoteContent:
    """Return a note's original Markdown from its current file, or an attachment's indexed text.

    The limit is 200 KiB, or 64 MiB with `allow_large`. The links are those of the last indexing
    run, at most the first 2,000. Of a note that is not in the index yet, the exact `path` finds
    the file.

    Raises:
        InvalidRequest: `INVALID_ID`.
        NotFound: `NOTE_NOT_FOUND`, also if the file is missing or unreadable now.
        TooLarge: `NOTE_TOO_LARGE`.
    """
    stored = await note_or_file(snapshot, root, note_id, path)
    limit = MAX_NOTE_BYTES if allow_large else NOTE_LIMIT_BYTES
    if is_note(stored.path):
        file = await in_thread(_read, root, stored.path, limit)
    else:
        file = await snapshot.read(indexed_text, stored)
        if len(file.text.encode()) > limit:
            raise _too_large(len(file.text.encode()), limit)
    listed = await snapshot.read(links_reading.outgoing, stored.rowid, limit=MAX_LINKS)
    count = len(listed)
    if count == MAX_LINKS:
        count = await snapshot.read(links_reading.count_links, stored.rowid)
    # Links to notes are links; links to other files are attachments.
    links: list[LinkSummary] = []
    attachments: list[LinkSummary] = []
    for link in listed:
        (links if link.attachment_path is None else attachments).append(_summary(link))
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
        links_truncated=len(listed) < count,
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


class NoteFile(NamedTuple):
    """A note's file, decoded."""

    text: str
    size: int  # bytes
    hash: bytes
    warnings: tuple[Warning, ...]


def _read(root: VaultRoot, path: str, limit: int) -> NoteFile:
    file = read_file(root, path, limit)
    if isinstance(file, int):
        raise _too_large(file, limit)
    return file


def read_file(root: VaultRoot, path: str, limit: int) -> NoteFile | int:
    """Read and decode a note's file, or return its size if that is over the limit.

    Call it in a thread: 64 MiB take a while, and a missing file is looked for for 0.25 s.

    Raises:
        NotFound: `NOTE_NOT_FOUND` if the file is missing or no longer readable as a note.
    """
    try:
        content = _read_again(root, path, limit)
        if not content.complete:
            return content.entry.size
        text, warnings = decode(content.data, path)
    except Skipped as skipped:
        raise no_file(vanished=skipped.warning.code == "FILE_VANISHED") from skipped
    size, digest = len(content.data), content_hash(content.data)
    return NoteFile(text, size, digest, content.warnings + warnings)


def indexed_text(connection: Connection, document: StoredNote) -> NoteFile:
    """Return the text of an attachment as it was indexed.

    Raises:
        NotFound: `NOTE_NOT_FOUND` if it is gone meanwhile.
    """
    content = documents.content_of(connection, document.rowid)
    if content is None:
        raise no_note()
    [text] = bodies(connection, [document.rowid])
    return NoteFile(text.decode(), *content, ())


def _content_type(stored: StoredNote) -> str:
    return MARKDOWN if is_note(stored.path) else PLAIN


def _read_again(root: VaultRoot, path: str, limit: int) -> Content:
    """Read a file that the index knows. If it is missing, look again.

    Some editors rename a note away and write it anew to save it.
    """
    for pause in _PAUSES:
        try:
            return read_bytes(root, path, limit)
        except Skipped as skipped:
            if skipped.warning.code != "FILE_VANISHED":
                raise
            sleep(pause)
    return read_bytes(root, path, limit)


async def chunk(
    snapshot: Snapshot, note_id: str, index: int, *, warnings: tuple[Warning, ...] = ()
) -> ChunkContent:
    """Return one chunk as it was indexed, without frontmatter.

    Raises:
        InvalidRequest: `INVALID_ID`.
        NotFound: `NOTE_NOT_FOUND`, `CHUNK_NOT_FOUND`.
    """
    stored, row = await snapshot.read(_note_and_chunk, note_id, index)
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


def _note_and_chunk(
    connection: Connection, note_id: str, index: int
) -> tuple[StoredNote, StoredChunk]:
    stored = named_text(connection, note_id)
    return stored, named_chunk(connection, stored, index)


def _too_large(size: int, limit: int) -> TooLarge:
    if limit == NOTE_LIMIT_BYTES:
        what, remedy = "The note is larger than 200 KiB.", None
    else:
        what = "The note is larger than 64 MiB, the limit for a whole note."
        remedy = "Ask for its chunks."
    return TooLarge("NOTE_TOO_LARGE", what, {"size": size, "limit": limit}, remedy=remedy)
