"""The operations on whole files: moves, deletion, folders and attachments."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from pydantic import Field

from vault_agent.api.operation import Http
from vault_agent.api.writing import (
    CREATE_CODES,
    EDIT_CODES,
    asked,
    done_or_job,
    found,
    path_of,
    write_operation,
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

if TYPE_CHECKING:
    from vault_agent.api.context import CallContext
    from vault_agent.api.operation import Found, Operation


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


class AttachmentBody(WriteBody):
    """An attachment to add, with its bytes. An existing file is never replaced."""

    path: NotePath
    content: bytes


async def _move(call: CallContext, sent: MoveBody) -> Found:
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


async def _delete(call: CallContext, sent: DeleteBody) -> Found:
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


async def _folder(call: CallContext, sent: FolderBody) -> Found:
    """Make a folder, and those above it."""
    write = asked(call.caller, sent, "folder", Right.CREATE)
    return found(await call.vault.files.make_folder(sent.path, write))


async def _attach(call: CallContext, sent: AttachmentBody) -> Found:
    """Add an attachment of at most 50 MiB. An existing file is never replaced."""
    named = sent.model_copy(update={"content": b""})
    digest = blake2b(sent.content).digest()
    write = asked(call.caller, named, "attachment", Right.CREATE, digest=digest)
    return found(await call.vault.files.attach(sent.path, write, sent.content))


MOVE = write_operation(
    "write_move",
    MoveBody,
    _move,
    (
        *EDIT_CODES,
        *CREATE_CODES,
        "EXPECTED_HASH_REQUIRED",
        "LINKS_OUTSIDE_SCOPE",
        "LINK_NOT_EXPRESSIBLE",
        "MOVE_TOO_LARGE",
        "INDEX_BUSY",
        "JOBS_DAMAGED",
    ),
    replies=(Written, OneJob),
    http=Http("POST", "/write/move", body=True),
)
DELETE = write_operation(
    "write_delete",
    DeleteBody,
    _delete,
    (*EDIT_CODES, "CONFIRM_REQUIRED", "EXPECTED_HASH_REQUIRED", "ATTACHMENT_TOO_LARGE"),
    http=Http("POST", "/write/delete", body=True),
)
FOLDER = write_operation(
    "write_folder",
    FolderBody,
    _folder,
    (*CREATE_CODES,),
    http=Http("POST", "/write/folder", body=True),
)
ATTACH = write_operation(
    "write_attachment",
    AttachmentBody,
    _attach,
    (*CREATE_CODES, "ATTACHMENT_TOO_LARGE"),
    http=Http("POST", "/write/attachment", wider=UploadRequest, octets=True),
)

FILE_OPERATIONS: tuple[Operation[Any, Any], ...] = (MOVE, DELETE, FOLDER, ATTACH)
"""In the order of the reference."""
