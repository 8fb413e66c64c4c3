"""The operations that the web page needs: notes as HTML, and the files in them."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from vault_agent.api.codes import INDEX_CODES, NOTE_CODES
from vault_agent.api.operation import Found, Operation
from vault_agent.wire.convert import warnings_data
from vault_agent.wire.rendered import (
    MAX_EMBEDS,
    HtmlData,
    HtmlRequest,
    RenderBody,
    ShownFileRequest,
)
from vault_agent.wire.replies import Reply
from vault_agent.wire.requests import NoParams
from vault_agent.wire.suggestions import (
    StatsData,
    SuggestionData,
    SuggestionsData,
    SuggestRequest,
)

if TYPE_CHECKING:
    from vault_agent.api.caller import Caller
    from vault_agent.model.pages import RenderedNote
    from vault_agent.vault.attachments import OpenAttachment
    from vault_agent.vaults.graph_layout import Layout
    from vault_agent.vaults.open_vault import OpenVault


async def _html(vault: OpenVault, _: Caller, sent: HtmlRequest) -> Found:
    """Return one note as HTML: its current file, with embedded notes."""
    found = await vault.pages.html(sent.note_id, embeds=sent.embeds)
    return Found(_reply(found), found.etag)


async def _render(vault: OpenVault, _: Caller, sent: RenderBody) -> Found:
    """Return a text that is not saved as HTML."""
    return Found(_reply(await vault.pages.html_of_text(sent.text, sent.path, embeds=MAX_EMBEDS)))


async def _suggest(vault: OpenVault, _: Caller, sent: SuggestRequest) -> Found:
    """Suggest notes, headings, blocks, tags, folders and attachments while a person types."""
    found = await vault.typing.suggest(sent.to_query())
    data = SuggestionsData(
        suggestions=[SuggestionData.model_validate(each, from_attributes=True) for each in found]
    )
    return Found(Reply[SuggestionsData](data=data))


async def _stats(vault: OpenVault, _: Caller, __: NoParams) -> Found:
    """Return numbers of the vault: notes by type, links, tags, tasks."""
    found = await vault.typing.stats()
    health = await vault.health()
    data = StatsData.model_validate(
        {
            **asdict(found),
            "types": [{"type": kind, "count": count} for kind, count in found.types],
            "indexed_at": health.indexed_at,
            "stale": health.index_stale,
        }
    )
    return Found(Reply[StatsData](data=data, warnings=warnings_data(health.warnings)))


async def _layout(vault: OpenVault, _: Caller, __: NoParams) -> Layout:
    """Return where the notes are in a drawing of the graph, in the order of the whole graph."""
    return await vault.layout.get()


async def _shown_file(vault: OpenVault, _: Caller, sent: ShownFileRequest) -> OpenAttachment:
    """Return a file that a note shows. Its address has a code instead of a key."""
    return await vault.pages.open_file(sent.path, sent.k)


def _reply(found: RenderedNote) -> Reply[HtmlData]:
    data = HtmlData.model_validate(
        {
            "note_id": found.note_id,
            "path": found.path,
            "title": found.title,
            "html": found.html,
            "outline": [each._asdict() for each in found.outline],
            "properties": [
                {**each._asdict(), "values": [value._asdict() for value in each.values]}
                for each in found.properties
            ],
            "assets": [each._asdict() for each in found.assets],
            "content_hash": found.content_hash,
        }
    )
    return Reply[HtmlData](data=data, warnings=warnings_data(found.warnings))


_HTML_CODES = ("VAULT_NOT_FOUND", *INDEX_CODES)

HTML = Operation(
    "html",
    HtmlRequest,
    _html,
    (Reply[HtmlData],),
    (*NOTE_CODES, "NOTE_TOO_LARGE_TO_RENDER", *_HTML_CODES),
)
RENDER = Operation("render", RenderBody, _render, (Reply[HtmlData],), _HTML_CODES)
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
)

SUGGEST = Operation(
    "suggest",
    SuggestRequest,
    _suggest,
    (Reply[SuggestionsData],),
    ("INVALID_ID", "INVALID_FILTER", "INVALID_LIMIT", "NOTE_NOT_FOUND", *_HTML_CODES),
    listed="suggestions",
)
STATS = Operation("stats", NoParams, _stats, (Reply[StatsData],), INDEX_CODES)
LAYOUT = Operation("graph_layout", NoParams, _layout, codes=("LAYOUT_PENDING", *INDEX_CODES))

WEB_OPERATIONS: tuple[Operation[Any, Any], ...] = (
    HTML,
    RENDER,
    SUGGEST,
    STATS,
    LAYOUT,
    SHOWN_FILE,
)
"""The operations about the web page, in the order of the reference."""
