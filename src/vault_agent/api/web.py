"""The operations that the web page needs: notes as HTML, and the files in them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from vault_agent.api.caller import CallContext
from vault_agent.api.operation import OCTETS, Result, operation
from vault_agent.api.requests import NoParams
from vault_agent.model.fields import FilePath, NoteId
from vault_agent.model.names import Stats, Suggestions, SuggestQuery
from vault_agent.model.pages import RenderedNote
from vault_agent.model.sent import Between, Length
from vault_agent.vaults.links import Layout

MAX_TEXT_CHARACTERS = 512 * 1024
MAX_EMBEDS = 3
MAX_RENDER_BYTES = 512 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class HtmlRequest:
    """A request for a note as HTML."""

    note_id: NoteId
    embeds: Annotated[int, Between(0, MAX_EMBEDS)] = MAX_EMBEDS
    """How deep embedded notes are shown; deeper ones are links."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderBody:
    """A text that is not saved."""

    text: Annotated[str, Length(0, MAX_TEXT_CHARACTERS)]
    path: FilePath
    """The path at which it will be. Its links lead where those of a note at this path do."""


@operation("GET", "/notes/{noteId}/html", has_etag=True)
async def html(call: CallContext, request: HtmlRequest) -> Result[RenderedNote]:
    """Return one note as HTML: its current file, with embedded notes."""
    return Result(await call.vault.web_view.html(request.note_id, embeds=request.embeds))


@operation("POST", "/render", max_body=MAX_RENDER_BYTES)
async def render(call: CallContext, request: RenderBody) -> Result[RenderedNote]:
    """Return a text that is not saved as HTML."""
    web_view = call.vault.web_view
    return Result(await web_view.html_of_text(request.text, request.path, embeds=MAX_EMBEDS))


@operation("GET", "/suggest", bounded_list="suggestions")
async def suggest(call: CallContext, request: SuggestQuery) -> Result[Suggestions]:
    """Suggest notes, headings, blocks, tags, folders and attachments while a person types."""
    return Result(Suggestions(tuple(await call.vault.suggester.suggest(request))))


@operation("GET", "/stats")
async def stats(call: CallContext, _: NoParams) -> Result[Stats]:
    """Return numbers of the vault: notes by type, links, tags, tasks."""
    numbers = await call.vault.suggester.stats()
    health = await call.vault.health()
    stats = replace(numbers, indexed_at=health.index.indexed_at, stale=health.index.stale)
    return Result(stats, health.warnings)


@operation("GET", "/graph/layout", media=(OCTETS,), has_etag=True)
async def graph_layout(call: CallContext, _: NoParams) -> Layout:
    """Return where the notes are in a drawing of the graph, in the order of the whole graph."""
    return await call.vault.graph_layout.get()
