"""The operations that read parts of a note."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, StringConstraints

from vault_agent.api.codes import CURSOR_CODES, INDEX_CODES, NOTE_CODES
from vault_agent.api.cursors import decode_cursor, encode_cursor
from vault_agent.api.operation import Found, Http, Operation
from vault_agent.errors import InvalidRequest
from vault_agent.model.reading import NoteFrontmatter, NoteOutline, NotePart, PartQuery, ReadingView
from vault_agent.search.note_file import read_frontmatter, read_outline, read_part
from vault_agent.wire.base import Model
from vault_agent.wire.requests import FileOfNote, NoteId

if TYPE_CHECKING:
    from vault_agent.api.context import CallContext


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


async def _read(call: CallContext, sent: PartRequest) -> Found:
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


async def _outline(call: CallContext, sent: NoteParams) -> Found:
    """Return the headings and blocks of a note, with the IDs and hashes for changes."""
    vault = call.vault
    found = await vault.read_files(
        read_outline, sent.note_id, sent.path, vault.allowance, scope=call.scope
    )
    return Found(found)


async def _read_frontmatter(call: CallContext, sent: NoteParams) -> Found:
    """Return the frontmatter of a note as JSON, and its tags."""
    vault = call.vault
    found = await vault.read_files(
        read_frontmatter, sent.note_id, sent.path, vault.allowance, scope=call.scope
    )
    return Found(found)


READ = Operation(
    "read",
    PartRequest,
    _read,
    (NotePart,),
    (
        *NOTE_CODES,
        "HEADING_NOT_FOUND",
        *CURSOR_CODES,
        "PATH_OUTSIDE_VAULT",
        "NOTE_TOO_LARGE",
        "VAULT_NOT_FOUND",
        *INDEX_CODES,
    ),
    scoped=True,
)
_READ_CODES = (*NOTE_CODES, *INDEX_CODES, "NOTE_TOO_LARGE", "VAULT_NOT_FOUND")
OUTLINE = Operation(
    "outline",
    NoteParams,
    _outline,
    (NoteOutline,),
    _READ_CODES,
    scoped=True,
    http=Http("GET", "/notes/{noteId}/outline"),
)
FRONTMATTER = Operation(
    "frontmatter",
    NoteParams,
    _read_frontmatter,
    (NoteFrontmatter,),
    (*_READ_CODES, "FRONTMATTER_INVALID"),
    scoped=True,
    http=Http("GET", "/notes/{noteId}/frontmatter"),
)

READING_OPERATIONS: tuple[Operation[Any, Any], ...] = (OUTLINE, FRONTMATTER)
"""In the order of the reference. `READ` is for tools only."""
