"""The operations on whole files: moves, deletion, folders and attachments."""

from __future__ import annotations

from hashlib import blake2b

from pydantic import Field

from vault_agent.api.context import CallContext
from vault_agent.api.operation import Found, write
from vault_agent.api.writing import (
    asked,
    done_or_job,
    found,
    path_of,
)
from vault_agent.errors import InvalidRequest
from vault_agent.model.jobs import OneJob
from vault_agent.model.write_state import Right
from vault_agent.model.writing import Written
from vault_agent.vaults.moves import move
from vault_agent.wire.base import Model
from vault_agent.wire.queries import whole
from vault_agent.wire.requests import Flag
from vault_agent.wire.writing import (
    NoteBody,
    NotePath,
    WriteBody,
)


class DeleteBody(NoteBody):
    """The body of `POST /write/delete`. The note goes to `.trash/`."""

    confirm: bool = Field(default=False, description="Must be true.")
    permanent: bool = Field(default=False, description="Do not keep it in `.trash/`.")
    missing_ok: bool = Field(default=False, description="A note that is not there is no error.")


class MoveBody(NoteBody):
    """The body of `POST /write/move`: a note, an attachment or a folder."""

    to: NotePath = Field(
        description="The new path, or a folder: one that exists, or any with / at its end."
    )
    rewrite_links: bool = Field(
        default=True, description="Change the links that would lead elsewhere."
    )


class FolderBody(WriteBody):
    """The body of `POST /write/folder`."""

    path: NotePath


class UploadRequest(Model):
    """A request to add an attachment. Its bytes are the body of the HTTP request."""

    path: NotePath
    dry_run: Flag = False
    wait_ms: whole(0, 10_000) = 2_000  # type: ignore[valid-type]


class AttachmentBody(UploadRequest, WriteBody):
    """An attachment to add, with its bytes."""

    content: bytes


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
    """Move a note or an attachment to `.trash/`, or with `permanent` delete it."""
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
async def write_attachment(call: CallContext, sent: UploadRequest) -> Found[Written]:
    """Add an attachment of at most 50 MiB. An existing file is never replaced."""
    assert isinstance(sent, AttachmentBody)  # noqa: S101 - the server adds the bytes
    named = sent.model_copy(update={"content": b""})
    digest = blake2b(sent.content).digest()
    write = asked(call.caller, named, "attachment", Right.CREATE, digest=digest)
    return found(await call.vault.files.attach(sent.path, write, sent.content))
