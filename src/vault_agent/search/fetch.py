"""Explicit retrieval: one note or chunk, asked for by its ID."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from vault_agent.errors import TooLarge
from vault_agent.model.retrieval import ChunkContent, NoteContent
from vault_agent.search.named import named_chunk, named_note, no_note
from vault_agent.store.index import notes as reading
from vault_agent.system.cancelling import in_thread
from vault_agent.vault.read import decode, read_bytes
from vault_agent.vault.skipped import Skipped

if TYPE_CHECKING:
    from vault_agent.model.warning import Warning
    from vault_agent.store.current import Snapshot
    from vault_agent.vault.root import VaultRoot

NOTE_LIMIT_BYTES = 200 << 10
MAX_NOTE_BYTES = 1 << 30
"""What even an explicit "yes, the large one" does not exceed: a note is answered in one piece."""


async def note(
    snapshot: Snapshot, root: VaultRoot, note_id: str, *, allow_large: bool
) -> NoteContent:
    """Return a note's original Markdown, as the file is now; 200 KiB unless `allow_large`.

    Raises:
        InvalidRequest: `INVALID_ID`.
        NotFound: `NOTE_NOT_FOUND`, also where the file has gone since it was indexed.
        TooLarge: `NOTE_TOO_LARGE`.
    """
    async with snapshot.connection() as connection:
        stored = await named_note(connection, note_id)
        links = await reading.links_of(connection, stored.rowid)
    limit = MAX_NOTE_BYTES if allow_large else NOTE_LIMIT_BYTES
    try:
        content = await in_thread(read_bytes, root, stored.path, limit)
        if not content.complete:
            raise _too_large(content.entry.size, limit)
        text, warnings = decode(content.data, stored.path)
    except Skipped as skipped:
        raise no_note() from skipped
    # What leads to a note is a link; what leads to any other file is an attachment.
    attachments = tuple(link for link in links if link.resolved and link.note_id is None)
    return NoteContent(
        id=note_id,
        path=stored.path,
        title=stored.title,
        metadata=stored.metadata,
        content=text,
        size=len(content.data),
        etag=sha256(content.data).hexdigest()[:32],
        links=tuple(link for link in links if link not in attachments),
        attachments=attachments,
        warnings=content.warnings + warnings,
    )


async def chunk(
    snapshot: Snapshot, note_id: str, index: int, *, warnings: tuple[Warning, ...] = ()
) -> ChunkContent:
    """Return one chunk as it was indexed, without frontmatter.

    Raises:
        InvalidRequest: `INVALID_ID`.
        NotFound: `NOTE_NOT_FOUND`, `CHUNK_NOT_FOUND`.
    """
    async with snapshot.connection() as connection:
        stored = await named_note(connection, note_id)
        row = await named_chunk(connection, stored, index)
    return ChunkContent(
        id=f"{note_id}:{index}",
        note_id=note_id,
        chunk_index=index,
        path=stored.path,
        title=stored.title,
        heading_path=row.heading_path,
        start_line=row.start_line,
        end_line=row.end_line,
        metadata=stored.metadata,
        content=row.text,
        etag=sha256(row.text.encode()).hexdigest()[:32],
        warnings=warnings,
    )


def _too_large(size: int, limit: int) -> TooLarge:
    return TooLarge(
        "NOTE_TOO_LARGE",
        "The note is larger than 200 KiB.",
        {"size": size, "limit": limit},
    )
