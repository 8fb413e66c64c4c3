"""The operations that read notes, parts of them, and attachments."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, TypeVar

from vault_agent.api.caller import CallContext
from vault_agent.api.cursors import decode_cursor, encode_cursor
from vault_agent.api.operation import JSON, OCTETS, Result, operation
from vault_agent.api.requests import NoteParams, PathParams
from vault_agent.errors import InvalidRequest
from vault_agent.model.fields import NoteId
from vault_agent.model.reading import (
    AttachmentInfo,
    ChunkContent,
    FolderContents,
    NoteContent,
    NoteFrontmatter,
    NoteOutline,
    NotePart,
    PartQuery,
)
from vault_agent.model.sent import Between, Length
from vault_agent.search.note_file import (
    NoteFile,
    read_chunk,
    read_parsed,
    read_part,
    read_whole,
)
from vault_agent.vault.attachments import OpenAttachment, describe, list_folder

if TYPE_CHECKING:
    from collections.abc import Callable

    from vault_agent.store.index.notes import StoredNote

View = TypeVar("View")


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteRequest(NoteParams):
    """A request for a note."""

    allow_large: bool = False
    """Lift the limit of 200 KiB."""
    piece: Annotated[int, Between(0, 1000)] | None = None
    """Send only this piece of 204,800 characters, from 0, of a note up to 64 MiB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkRequest:
    """A request for a chunk."""

    note_id: NoteId
    chunk_index: Annotated[int, Between(0, 9_999_999)]


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachmentRequest(PathParams):
    """A request for an attachment's metadata or bytes."""

    download: bool = False
    """Return the bytes instead of the metadata."""
    allow_large: bool = False
    """Lift the limit of 10 MiB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderRequest:
    """A request for what is in a folder besides notes."""

    folder: Annotated[str, Length(0, 4096)] = ""
    """Its path; empty for the vault itself."""


_DIGITS = 8  # of the hash that a cursor contains


@operation(for_named_agents=True)
async def read(call: CallContext, request: PartQuery) -> Result[NotePart]:
    """Return a page of a note's current text, of a section, its outline or its properties."""
    offset, revision = None, None
    if request.cursor is not None:
        position, revision = decode_cursor(request, request.cursor, int, vault=call.vault.identity)
        offset = int(position[0])
    query = replace(request, offset=offset)
    page = await call.vault.read_files(
        read_part, request.note_id, query, call.vault.text_workers, max_bytes=request.max_bytes
    )
    state = page.etag[:_DIGITS]
    if request.cursor is not None and revision != state:
        raise InvalidRequest(
            "CURSOR_EXPIRED", "The note has changed.", remedy="Read it from the start again."
        )
    cursor = None
    if page.next_offset is not None:
        cursor = encode_cursor(
            request, (page.next_offset,), vault=call.vault.identity, revision=state
        )
    return Result(replace(page, next_cursor=cursor), page.warnings)


@operation("GET", "/notes/{noteId}/outline", for_named_agents=True)
async def outline(call: CallContext, request: NoteParams) -> Result[NoteOutline]:
    """Return the headings and blocks of a note, with the IDs and hashes for changes."""
    return Result(await _parsed(call, request, NoteFile.outline))


@operation("GET", "/notes/{noteId}/frontmatter", for_named_agents=True)
async def frontmatter(call: CallContext, request: NoteParams) -> Result[NoteFrontmatter]:
    """Return the frontmatter of a note as JSON, and its tags."""
    return Result(await _parsed(call, request, NoteFile.frontmatter))


async def _parsed(
    call: CallContext, request: NoteParams, view: Callable[[NoteFile, StoredNote], View]
) -> View:
    """Return a view of a note's current file."""
    vault = call.vault
    return await vault.read_files(
        read_parsed, request.note_id, request.path, view, text_workers=vault.text_workers
    )


@operation("GET", "/notes/{noteId}", has_etag=True)
async def note(call: CallContext, request: NoteRequest) -> Result[NoteContent]:
    """Return one note: the original Markdown of its current file."""
    large = request.allow_large or request.piece is not None
    content = await call.vault.read_files(
        read_whole, request.note_id, allow_large=large, path=request.path
    )
    data = content if request.piece is None else _piece(content, request.piece)
    return Result(data, etag=content.content_hash)


PIECE_CHARACTERS = 204_800
"""In one piece of a large note."""


def _piece(note: NoteContent, piece: int) -> NoteContent:
    start = piece * PIECE_CHARACTERS
    content = note.content[start : start + PIECE_CHARACTERS]
    return replace(note, content=content, pieces=-(-len(note.content) // PIECE_CHARACTERS))


@operation("GET", "/chunks/{noteId}/{chunkIndex}", has_etag=True)
async def chunk(call: CallContext, request: ChunkRequest) -> Result[ChunkContent]:
    """Return one chunk as it was indexed, without frontmatter."""
    vault = call.vault
    place = request.note_id, request.chunk_index
    return Result(await vault.reader.read(read_chunk, *place, warnings=vault.reader.warnings()))


@operation("GET", "/attachments/{path}", media=(JSON, OCTETS), has_etag=True, ranged=True)
async def attachment(
    call: CallContext, request: AttachmentRequest
) -> Result[AttachmentInfo] | OpenAttachment:
    """Return the metadata of an attachment, or with `download=true` its bytes or a range."""
    if request.download:
        return await call.vault.open_attachment(request.path, allow_large=request.allow_large)
    info = await call.vault.in_folder(describe, request.path)
    return Result(info, etag=info.etag)


@operation("GET", "/attachments")
async def attachments(call: CallContext, request: FolderRequest) -> Result[FolderContents]:
    """Return the attachments of a folder and the folders in it, as they are on the disk."""
    return Result(await call.vault.in_folder(list_folder, request.folder))
