"""The operations that the web page needs: notes as HTML, and the files in them."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from pydantic import Field, StringConstraints

from vault_agent.api.context import CallContext
from vault_agent.api.operation import OCTETS, Found, operation
from vault_agent.model.pages import RenderedNote
from vault_agent.model.suggestions import KINDS, Stats, Suggestions, SuggestQuery
from vault_agent.vaults.graph_layout import Layout
from vault_agent.wire.base import Model
from vault_agent.wire.queries import choices, whole
from vault_agent.wire.requests import NoParams, NoteId

MAX_TEXT_CHARACTERS = 512 * 1024
MAX_EMBEDS = 3
MAX_RENDER_BYTES = 512 * 1024


class HtmlRequest(Model):
    """A request for a note as HTML."""

    note_id: NoteId
    embeds: whole(0, MAX_EMBEDS) = Field(  # type: ignore[valid-type]
        default=MAX_EMBEDS, description="How deep embedded notes are shown; deeper ones are links."
    )


class RenderBody(Model):
    """A text that is not saved."""

    text: Annotated[str, StringConstraints(max_length=MAX_TEXT_CHARACTERS)]
    path: Annotated[str, StringConstraints(min_length=1, max_length=4096)] = Field(
        description="Where it will be: its links are those of a note at this path."
    )


class SuggestRequest(Model):
    """What was typed."""

    q: Annotated[str, StringConstraints(max_length=200)] = Field(
        default="",
        description="A part of a name. After `#` headings of the note before it, after `#^` its"
        " blocks. Without any, the last changed notes.",
    )
    kinds: choices(*KINDS) = Field(  # type: ignore[valid-type]
        default=("note",), description="What to suggest, separated by commas."
    )
    from_: NoteId | None = Field(
        default=None, alias="from", description="The note in which it is typed."
    )
    limit: whole(1, 50) = 20  # type: ignore[valid-type]

    def to_query(self) -> SuggestQuery:
        """Return the domain value."""
        return SuggestQuery(self.q, self.kinds, self.from_, self.limit)


@operation("GET", "/notes/{noteId}/html", tagged=True)
async def html(call: CallContext, sent: HtmlRequest) -> Found[RenderedNote]:
    """Return one note as HTML: its current file, with embedded notes."""
    found = await call.vault.pages.html(sent.note_id, embeds=sent.embeds)
    return Found(found, found.warnings)


@operation("POST", "/render", max_body=MAX_RENDER_BYTES)
async def render(call: CallContext, sent: RenderBody) -> Found[RenderedNote]:
    """Return a text that is not saved as HTML."""
    found = await call.vault.pages.html_of_text(sent.text, sent.path, embeds=MAX_EMBEDS)
    return Found(found, found.warnings)


@operation("GET", "/suggest", listed="suggestions")
async def suggest(call: CallContext, sent: SuggestRequest) -> Found[Suggestions]:
    """Suggest notes, headings, blocks, tags, folders and attachments while a person types."""
    return Found(Suggestions(tuple(await call.vault.typing.suggest(sent.to_query()))))


@operation("GET", "/stats")
async def stats(call: CallContext, _: NoParams) -> Found[Stats]:
    """Return numbers of the vault: notes by type, links, tags, tasks."""
    found = await call.vault.typing.stats()
    health = await call.vault.health()
    stats = replace(found, indexed_at=health.index.indexed_at, stale=health.index.stale)
    return Found(stats, health.warnings)


@operation("GET", "/graph/layout", media=(OCTETS,), tagged=True)
async def graph_layout(call: CallContext, _: NoParams) -> Layout:
    """Return where the notes are in a drawing of the graph, in the order of the whole graph."""
    return await call.vault.layout.get()
