"""The operations that promote notes to the global vault."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field, StringConstraints

from vault_agent.api.context import CallContext
from vault_agent.api.operation import Found, operation
from vault_agent.model.promotion import Demoted, Promoted
from vault_agent.model.writing import Writer
from vault_agent.wire.base import Model
from vault_agent.wire.requests import NoteId

if TYPE_CHECKING:
    from vault_agent.api.caller import Caller
    from vault_agent.memory.promotion import Promotion

_Folder = Annotated[str, StringConstraints(min_length=1, max_length=1_000)]
_Heading = Annotated[str, StringConstraints(min_length=1, max_length=1_000)]


class PromoteBody(Model):
    """A note of a project's vault, and how it is copied to the global one."""

    note_id: NoteId
    section: _Heading | None = Field(
        default=None, description="Copy only what is below this heading."
    )
    folder: _Folder | None = Field(
        default=None, description="In the global vault. By default that of the note's type."
    )
    force: bool = Field(default=False, description="Copy it even if there is a similar note.")


class DemoteRequest(Model):
    """A note whose promotion is taken back, or a section of it."""

    note_id: NoteId
    section: _Heading | None = Field(default=None, description="The heading, if one was promoted.")


def _of(call: CallContext) -> Promotion:
    app = call.app
    app.vaults.require_several()
    return app.promotion


def _writer(caller: Caller) -> Writer:
    """Return the owner as one who writes. Only the owner promotes, whatever `write.allow` says."""
    return Writer(client=caller.client)


@operation("POST", "/notes/{noteId}/promote", creates=True, writes=True, needs="memory.enabled")
async def promote(call: CallContext, sent: PromoteBody) -> Found[Promoted]:
    """Copy a note of a project's vault to the global vault."""
    done = await _of(call).promote(
        call.vault,
        sent.note_id,
        _writer(call.caller),
        section=sent.section,
        folder=sent.folder,
        force=sent.force,
    )
    return Found(done, done.warnings, status=201 if done.created else None)


@operation("DELETE", "/notes/{noteId}/promote", writes=True, needs="memory.enabled")
async def promote_undo(call: CallContext, sent: DemoteRequest) -> Found[Demoted]:
    """Take a promotion back: its copy goes to the trash."""
    writer = _writer(call.caller)
    done = await _of(call).undo(call.vault, sent.note_id, writer, section=sent.section)
    return Found(done, done.warnings)
