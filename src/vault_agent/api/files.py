"""The operations on whole files: moves, deletion, folders and attachments."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

from vault_agent.api.caller import CallContext
from vault_agent.api.note_writes import (
    done_or_job,
    make_write,
    path_of,
    write_result,
)
from vault_agent.api.operation import Result, write_operation
from vault_agent.errors import InvalidRequest
from vault_agent.model.fields import FilePath
from vault_agent.model.jobs import OneJob
from vault_agent.model.sent import Internal
from vault_agent.model.writing import NoteBody, Right, WriteBody, Written
from vault_agent.vaults.write_access import move
from vault_agent.writing.files import MAX_ATTACHMENT_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteBody(NoteBody):
    """The body of `POST /write/delete`. The file goes to `.trash/`. The owner can name a folder."""

    confirm: bool = False
    """Must be true."""
    permanent: bool = False
    """Do not keep it in `.trash/`."""
    missing_ok: bool = False
    """It is no error if there is no such note."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveBody(NoteBody):
    """The body of `POST /write/move`: a note, an attachment or a folder."""

    to: FilePath
    """The new path, or a folder: one that exists, or any with / at its end."""
    rewrite_links: bool = True
    """Change the links that would lead elsewhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderBody(WriteBody):
    """The body of `POST /write/folder`."""

    path: FilePath


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachmentBody(WriteBody):
    """An attachment to add. Its bytes are the body of the HTTP request."""

    path: FilePath
    expected_hash: Internal[str | None] = None
    idempotency_key: Internal[str | None] = None  # in a header
    content: Internal[bytes] = b""


@write_operation("/write/move")
async def write_move(call: CallContext, request: MoveBody) -> Result[Written | OneJob]:
    """Move a note, an attachment or a folder, and change the links that would lead elsewhere."""
    path = await path_of(call, request.path, request.note_id)
    write = make_write(call.caller, request, "move", Right.MOVE, hash_required=True)
    done = await move(
        call.vault.files,
        call.vault.jobs,
        path,
        request.to,
        write,
        rewrite_links=request.rewrite_links,
        waits=call.caller.is_agent,  # it can't follow a job
    )
    return done_or_job(done)


@write_operation("/write/delete")
async def write_delete(call: CallContext, request: DeleteBody) -> Result[Written]:
    """Move a note, an attachment or a folder to `.trash/`, or with `permanent` delete a file."""
    if not request.confirm:
        raise InvalidRequest("CONFIRM_REQUIRED", "A deletion must be confirmed.")
    path = await path_of(call, request.path, request.note_id)
    right = Right.PERMANENT if request.permanent else Right.DELETE
    write = make_write(call.caller, request, "delete", right, hash_required=True)
    result = await call.vault.files.delete(
        path, write, permanent=request.permanent, missing_ok=request.missing_ok
    )
    return write_result(result or Written(None, "delete", changed=False, path=path))


@write_operation("/write/folder")
async def write_folder(call: CallContext, request: FolderBody) -> Result[Written]:
    """Make a folder, and those above it."""
    write = make_write(call.caller, request, "folder", Right.CREATE)
    return write_result(await call.vault.files.make_folder(request.path, write))


@write_operation("/write/attachment", octets=True, max_body=MAX_ATTACHMENT_BYTES)
async def write_attachment(call: CallContext, request: AttachmentBody) -> Result[Written]:
    """Add an attachment of at most 50 MiB. An existing file is never replaced."""
    digest = blake2b(request.content).digest()
    write = make_write(call.caller, request, "attachment", Right.CREATE, digest=digest)
    return write_result(await call.vault.files.attach(request.path, write, request.content))
