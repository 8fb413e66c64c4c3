"""The operations on whole files: moves, deletion, folders and attachments."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import Annotated

from vault_agent.api.caller import CallContext
from vault_agent.api.operation import Found, write
from vault_agent.api.writing import (
    NoteBody,
    WriteBody,
    asked,
    done_or_job,
    found,
    path_of,
)
from vault_agent.errors import InvalidRequest
from vault_agent.model.fields import FilePath
from vault_agent.model.jobs import OneJob
from vault_agent.model.sent import Doc, Unsent
from vault_agent.model.writing import Right, Written
from vault_agent.vaults.moves import move


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteBody(NoteBody):
    """The body of `POST /write/delete`. The note, or a person's folder, goes to `.trash/`."""

    confirm: Annotated[bool, Doc("Must be true.")] = False
    permanent: Annotated[bool, Doc("Do not keep it in `.trash/`.")] = False
    missing_ok: Annotated[bool, Doc("A note that is not there is no error.")] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveBody(NoteBody):
    """The body of `POST /write/move`: a note, an attachment or a folder."""

    to: Annotated[
        FilePath, Doc("The new path, or a folder: one that exists, or any with / at its end.")
    ]
    rewrite_links: Annotated[bool, Doc("Change the links that would lead elsewhere.")] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderBody(WriteBody):
    """The body of `POST /write/folder`."""

    path: FilePath


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachmentBody(WriteBody):
    """An attachment to add. Its bytes are the body of the HTTP request."""

    path: FilePath
    expected_hash: Unsent[str | None] = None
    idempotency_key: Unsent[str | None] = None  # of the header
    content: Unsent[bytes] = b""


@write("/write/move")
async def write_move(call: CallContext, sent: MoveBody) -> Found[Written | OneJob]:
    """Move a note, an attachment or a folder, and change the links that would lead elsewhere."""
    path = await path_of(call, sent)
    write = asked(call.caller, sent, "move", Right.MOVE, hash_required=True)
    done = await move(
        call.vault.files,
        call.vault.jobs,
        path,
        sent.to,
        write,
        rewrite_links=sent.rewrite_links,
        waits=call.caller.client.startswith("mcp"),  # an agent can't follow a job
    )
    return done_or_job(done)


@write("/write/delete")
async def write_delete(call: CallContext, sent: DeleteBody) -> Found[Written]:
    """Move a note, an attachment or a folder to `.trash/`, or with `permanent` delete a file."""
    if not sent.confirm:
        raise InvalidRequest("CONFIRM_REQUIRED", "A deletion must be confirmed.")
    path = await path_of(call, sent)
    right = Right.PERMANENT if sent.permanent else Right.DELETE
    write = asked(call.caller, sent, "delete", right, hash_required=True)
    written = await call.vault.files.delete(
        path, write, permanent=sent.permanent, missing_ok=sent.missing_ok
    )
    return found(written or Written(None, "delete", changed=False, path=path))


@write("/write/folder")
async def write_folder(call: CallContext, sent: FolderBody) -> Found[Written]:
    """Make a folder, and those above it."""
    write = asked(call.caller, sent, "folder", Right.CREATE)
    return found(await call.vault.files.make_folder(sent.path, write))


@write("/write/attachment", octets=True)
async def write_attachment(call: CallContext, sent: AttachmentBody) -> Found[Written]:
    """Add an attachment of at most 50 MiB. An existing file is never replaced."""
    digest = blake2b(sent.content).digest()
    write = asked(call.caller, sent, "attachment", Right.CREATE, digest=digest)
    return found(await call.vault.files.attach(sent.path, write, sent.content))
