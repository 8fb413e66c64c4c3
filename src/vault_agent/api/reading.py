"""The operations that read notes, parts of them, and attachments."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from pydantic import Field, StringConstraints

from vault_agent.api.context import CallContext
from vault_agent.api.cursors import decode_cursor, encode_cursor
from vault_agent.api.operation import JSON, OCTETS, Found, operation
from vault_agent.errors import InvalidRequest
from vault_agent.model.reading import NoteFrontmatter, NoteOutline, NotePart, PartQuery, ReadingView
from vault_agent.model.retrieval import AttachmentInfo, ChunkContent, FolderContents, NoteContent
from vault_agent.search.note_file import (
    read_chunk,
    read_frontmatter,
    read_outline,
    read_part,
    read_whole,
)
from vault_agent.vault.attachments import OpenAttachment, describe, list_folder
from vault_agent.wire.base import Model
from vault_agent.wire.requests import (
    ChunkRequest,
    DownloadRequest,
    FileOfNote,
    FolderRequest,
    NoteId,
    NoteRequest,
)


class PartRequest(Model):
    """A request for a page of a part of a note."""

    note_id: NoteId
    path: FileOfNote
    view: ReadingView = "text"
    section: Annotated[str, StringConstraints(max_length=1000)] | None = None
    first_line: Annotated[int, Field(ge=1)] = 1
    last_line: Annotated[int, Field(ge=1)] | None = None
    max_bytes: Annotated[int, Field(ge=1)] = 24_000
    cursor: str | None = None


_DIGITS = 8  # of the hash that a cursor contains


class NoteParams(Model):
    """A request about a note: its outline, or its frontmatter."""

    note_id: NoteId
    path: FileOfNote


@operation(scoped=True)
async def read(call: CallContext, sent: PartRequest) -> Found[NotePart]:
    """Return a page of a note's current text, of a section, its outline or its properties."""
    offset, revision = None, None
    if sent.cursor is not None:
        (offset,), revision = decode_cursor(sent, sent.cursor, int, vault=call.vault.identity)
    query = PartQuery(
        path=sent.path,
        view=sent.view,
        section=sent.section,
        first_line=sent.first_line,
        last_line=sent.last_line,
        offset=max(0, int(offset)) if offset is not None else None,
        scope=call.scope,
    )
    page = await call.vault.read_files(
        read_part, sent.note_id, query, call.vault.allowance, max_bytes=sent.max_bytes
    )
    state = page.etag[:_DIGITS]
    if sent.cursor is not None and revision != state:
        raise InvalidRequest(
            "CURSOR_EXPIRED", "The note has changed.", remedy="Read it from the start again."
        )
    cursor = None
    if page.next_offset is not None:
        cursor = encode_cursor(sent, (page.next_offset,), vault=call.vault.identity, revision=state)
    return Found(replace(page, next_cursor=cursor), page.warnings)


@operation("GET", "/notes/{noteId}/outline", scoped=True)
async def outline(call: CallContext, sent: NoteParams) -> Found[NoteOutline]:
    """Return the headings and blocks of a note, with the IDs and hashes for changes."""
    vault = call.vault
    found = await vault.read_files(
        read_outline, sent.note_id, sent.path, vault.allowance, scope=call.scope
    )
    return Found(found)


@operation("GET", "/notes/{noteId}/frontmatter", scoped=True)
async def frontmatter(call: CallContext, sent: NoteParams) -> Found[NoteFrontmatter]:
    """Return the frontmatter of a note as JSON, and its tags."""
    vault = call.vault
    found = await vault.read_files(
        read_frontmatter, sent.note_id, sent.path, vault.allowance, scope=call.scope
    )
    return Found(found)


@operation("GET", "/notes/{noteId}", tagged=True)
async def note(call: CallContext, sent: NoteRequest) -> Found[NoteContent]:
    """Return one note: the original Markdown of its current file."""
    large = sent.allow_large or sent.piece is not None
    found = await call.vault.read_files(read_whole, sent.note_id, allow_large=large, path=sent.path)
    data = found if sent.piece is None else _piece(found, sent.piece)
    return Found(data, found.warnings, found.content_hash)


PIECE_CHARACTERS = 204_800
"""Of a large note that is sent in pieces."""


def _piece(note: NoteContent, piece: int) -> NoteContent:
    start = piece * PIECE_CHARACTERS
    content = note.content[start : start + PIECE_CHARACTERS]
    return replace(note, content=content, pieces=-(-len(note.content) // PIECE_CHARACTERS))


@operation("GET", "/chunks/{noteId}/{chunkIndex}", tagged=True)
async def chunk(call: CallContext, sent: ChunkRequest) -> Found[ChunkContent]:
    """Return one chunk as it was indexed, without frontmatter."""
    vault = call.vault
    found = await vault.read(read_chunk, sent.note_id, sent.chunk_index, warnings=vault.warnings())
    return Found(found, found.warnings)


@operation(
    "GET",
    "/attachments/{path}",
    media=(JSON, OCTETS),
    tagged=True,
    ranged=True,
)
async def attachment(
    call: CallContext, sent: DownloadRequest
) -> Found[AttachmentInfo] | OpenAttachment:
    """Return the metadata of an attachment, or with `download=true` its bytes or a range."""
    if sent.download:
        return await call.vault.open_attachment(sent.path, allow_large=sent.allow_large)
    info = await call.vault.in_folder(describe, sent.path)
    return Found(info, etag=info.etag)


@operation("GET", "/attachments")
async def attachments(call: CallContext, sent: FolderRequest) -> Found[FolderContents]:
    """Return the attachments of a folder and the folders in it, as they are on the disk."""
    return Found(await call.vault.in_folder(list_folder, sent.folder))
