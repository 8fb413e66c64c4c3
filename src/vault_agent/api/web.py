"""The operations that the web page needs: notes as HTML, and the files in them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, StringConstraints

from vault_agent.api.codes import INDEX_CODES, NOTE_CODES
from vault_agent.api.operation import Found, Http, Operation
from vault_agent.model.pages import RenderedNote
from vault_agent.model.suggestions import KINDS, Stats, Suggestions, SuggestQuery
from vault_agent.wire.base import Model
from vault_agent.wire.queries import choices, whole
from vault_agent.wire.requests import AttachmentRequest, NoParams, NoteId

if TYPE_CHECKING:
    from vault_agent.api.context import CallContext
    from vault_agent.vault.attachments import OpenAttachment
    from vault_agent.vaults.graph_layout import Layout

MAX_TEXT_CHARACTERS = 512 * 1024
MAX_EMBEDS = 3


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


class ShownFileRequest(AttachmentRequest):
    """A request for a file in a note."""

    k: Annotated[str, StringConstraints(min_length=1, max_length=80)] = Field(
        description="The code in the address that the HTML of a note has."
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


async def _html(call: CallContext, sent: HtmlRequest) -> Found:
    """Return one note as HTML: its current file, with embedded notes."""
    found = await call.vault.pages.html(sent.note_id, embeds=sent.embeds)
    return Found(found, found.warnings)


async def _render(call: CallContext, sent: RenderBody) -> Found:
    """Return a text that is not saved as HTML."""
    found = await call.vault.pages.html_of_text(sent.text, sent.path, embeds=MAX_EMBEDS)
    return Found(found, found.warnings)


async def _suggest(call: CallContext, sent: SuggestRequest) -> Found:
    """Suggest notes, headings, blocks, tags, folders and attachments while a person types."""
    return Found(Suggestions(tuple(await call.vault.typing.suggest(sent.to_query()))))


async def _stats(call: CallContext, _: NoParams) -> Found:
    """Return numbers of the vault: notes by type, links, tags, tasks."""
    found = await call.vault.typing.stats()
    health = await call.vault.health()
    stats = replace(found, indexed_at=health.index.indexed_at, stale=health.index.stale)
    return Found(stats, health.warnings)


async def _layout(call: CallContext, _: NoParams) -> Layout:
    """Return where the notes are in a drawing of the graph, in the order of the whole graph."""
    return await call.vault.layout.get()


async def _shown_file(call: CallContext, sent: ShownFileRequest) -> OpenAttachment:
    """Return a file that a note shows. Its address has a code instead of a key."""
    return await call.vault.pages.open_file(sent.path, sent.k)


MAX_RENDER_BYTES = 512 * 1024
_HTML_CODES = ("VAULT_NOT_FOUND", *INDEX_CODES)

HTML = Operation(
    "html",
    HtmlRequest,
    _html,
    (RenderedNote,),
    (*NOTE_CODES, "NOTE_TOO_LARGE_TO_RENDER", *_HTML_CODES),
    http=Http("GET", "/notes/{noteId}/html", tagged=True),
)
RENDER = Operation(
    "render",
    RenderBody,
    _render,
    (RenderedNote,),
    _HTML_CODES,
    http=Http("POST", "/render", body=True, max_body=MAX_RENDER_BYTES),
)
SHOWN_FILE = Operation(
    "ui_file",
    ShownFileRequest,
    _shown_file,
    codes=(
        "INVALID_PATH",
        "PATH_OUTSIDE_VAULT",
        "ATTACHMENT_NOT_ALLOWED",
        "ATTACHMENT_NOT_FOUND",
        "ATTACHMENT_TOO_LARGE",
        "VAULT_NOT_FOUND",
    ),
    needs="web.enabled",
    http=Http(
        "GET",
        "/ui/files/{path}",
        media=("application/octet-stream",),
        more_codes=("RANGE_NOT_SATISFIABLE",),
        tagged=True,
    ),
)

SUGGEST = Operation(
    "suggest",
    SuggestRequest,
    _suggest,
    (Suggestions,),
    ("INVALID_ID", "INVALID_FILTER", "INVALID_LIMIT", "NOTE_NOT_FOUND", *_HTML_CODES),
    listed="suggestions",
    http=Http("GET", "/suggest"),
)
STATS = Operation("stats", NoParams, _stats, (Stats,), INDEX_CODES, http=Http("GET", "/stats"))
LAYOUT = Operation(
    "graph_layout",
    NoParams,
    _layout,
    codes=("LAYOUT_PENDING", *INDEX_CODES),
    http=Http("GET", "/graph/layout", media=("application/octet-stream",), tagged=True),
)

WEB_OPERATIONS: tuple[Operation[Any, Any], ...] = (
    HTML,
    RENDER,
    SUGGEST,
    STATS,
    LAYOUT,
    SHOWN_FILE,
)
"""The operations about the web page, in the order of the reference."""
