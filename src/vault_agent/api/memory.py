"""The operations of memory: notes that are recalled, found, and promoted to the global vault."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from vault_agent.api.caller import CallContext
from vault_agent.api.operation import Result, operation
from vault_agent.errors import NotFound
from vault_agent.model.fields import Heading, NoteId
from vault_agent.model.memory import (
    Demoted,
    FoundNotes,
    Marked,
    NoteQuery,
    Promoted,
    Recalled,
    RecallQuery,
)
from vault_agent.model.sent import Length
from vault_agent.model.writing import Author
from vault_agent.vaults.shared import project_full_name

if TYPE_CHECKING:
    from vault_agent.app import App
    from vault_agent.memory.deliveries import Deliveries
    from vault_agent.memory.promotion import Promotion


@operation("POST", "/memory", needs="memory.enabled", for_named_agents=True)
async def memory(call: CallContext, request: RecallQuery) -> Result[Recalled]:
    """Recall the notes that matter for a task, as a text for an agent."""
    return Result(await _recalled(await _in_project(call, request.project), request))


async def _in_project(call: CallContext, project: str | None) -> CallContext:
    """Return the call with the vault of a project. If `project` is None, return the call itself.

    Raises:
        NotFound: `VAULT_UNKNOWN` if there is no such project, or the caller is a named agent.
    """
    full_name = project and project_full_name(project)
    if full_name in (None, call.vault.full_name):
        return call
    if call.caller.is_named_agent:
        raise NotFound("VAULT_UNKNOWN", "There is no project of this name.", remedy="")
    return replace(call, vault=await call.app.vaults.open(full_name))


async def _recalled(call: CallContext, request: RecallQuery) -> Recalled:
    query = replace(request, with_global=not call.caller.is_named_agent)
    if request.session_id is None:
        return await call.app.memory.recall(call.vault, query)
    deliveries = deliveries_of(call.app)
    session = await deliveries.store.require(request.session_id)
    return await deliveries.recall(call.vault, query, session)


def deliveries_of(app: App) -> Deliveries:
    """Return the log of what sessions got.

    Raises:
        Misconfigured: `FEATURE_DISABLED` if several vaults are off: sessions are of projects.
    """
    app.vaults.require_several()
    assert app.deliveries is not None  # noqa: S101 - while memory.enabled
    return app.deliveries


@operation(for_named_agents=True)
async def note_search(call: CallContext, request: NoteQuery) -> Result[FoundNotes]:
    """Search the notes of a vault and of the global one, by words, files, tags and age."""
    query = replace(request, alone=request.alone or call.caller.is_named_agent)
    vault = (await _in_project(call, request.project)).vault
    return Result(await call.app.memory.search_notes(vault, query))


_Folder = Annotated[str, Length(1, 1000)]


@dataclass(frozen=True, slots=True, kw_only=True)
class PromoteBody:
    """A note of a project's vault, and how it is copied to the global one."""

    note_id: NoteId
    section: Heading | None = None
    """Copy only what is below this heading."""
    folder: _Folder | None = None
    """In the global vault. By default that of the note's type."""
    force: bool = False
    """Copy it even if there is a similar note."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoteRequest:
    """A note, or a section of one, whose promotion is taken back."""

    note_id: NoteId
    section: Heading | None = None
    """The heading, if one was promoted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SupersedeBody:
    """A note of a project's vault or the global one that another note has taken the place of."""

    note_id: NoteId
    superseded: bool = True
    """False takes it back."""


def _promotion_of(call: CallContext) -> Promotion:
    call.app.vaults.require_several()
    return call.app.promotion


@operation("POST", "/notes/{noteId}/promote", creates=True, writes=True, needs="memory.enabled")
async def promote(call: CallContext, request: PromoteBody) -> Result[Promoted]:
    """Copy a note of a project's vault to the global vault."""
    done = await _promotion_of(call).promote(
        call.vault,
        request.note_id,
        Author(client=call.caller.client),  # with all rights: named agents cannot promote
        section=request.section,
        folder=request.folder,
        force=request.force,
    )
    return Result(done, status=201 if done.created else None)


@operation("DELETE", "/notes/{noteId}/promote", writes=True, needs="memory.enabled")
async def promote_undo(call: CallContext, request: DemoteRequest) -> Result[Demoted]:
    """Take a promotion back: its copy goes to the trash."""
    done = await _promotion_of(call).undo(
        call.vault, request.note_id, Author(client=call.caller.client), section=request.section
    )
    return Result(done)


@operation("POST", "/notes/{noteId}/supersede", writes=True, needs="memory.enabled")
async def supersede(call: CallContext, request: SupersedeBody) -> Result[Marked]:
    """Give a note `status: superseded`, so that it is not recalled, or take that back."""
    done = await _promotion_of(call).supersede(
        call.vault, request.note_id, call.caller.author, superseded=request.superseded
    )
    return Result(done)
