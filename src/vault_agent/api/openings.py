"""The operations by which searches learn from what is opened after them."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from vault_agent.api.operation import Found, Http, Operation
from vault_agent.errors import VaultAgentError
from vault_agent.model.search import Learning, NoteOpened, SearchesForgotten
from vault_agent.wire.base import Model
from vault_agent.wire.requests import NoteId

if TYPE_CHECKING:
    from vault_agent.api.context import CallContext


class OpenedRequest(Model):
    """A note that somebody has opened."""

    note_id: NoteId


class ForgetSearchesBody(Model):
    """Which openings are forgotten: all, or the older ones."""

    older_than_days: Annotated[int, Field(ge=0, le=36_500)] | None = None


def learning_of(call: CallContext) -> Learning | None:
    """Return who searches, or None while nothing is learned."""
    if not call.vault.config.search.learn:
        return None
    return Learning(_searcher(call), int(time.time() * 1000))


async def read_after_search(call: CallContext, note_id: str) -> None:
    """Learn that an agent has read a note, if a search had shown it. It never fails."""
    with suppress(VaultAgentError):
        await call.vault.openings.opened(_searcher(call), call.scope, note_id)


def _searcher(call: CallContext) -> str:
    caller = call.caller
    return f"{caller.kind}:{caller.name}:{caller.client}"


async def _opened(call: CallContext, sent: OpenedRequest) -> Found:
    """Say that a note was opened, so that similar searches raise it if a search had shown it."""
    learned = await call.vault.openings.opened(_searcher(call), call.scope, sent.note_id)
    return Found(NoteOpened(learned))


async def _forget(call: CallContext, sent: ForgetSearchesBody) -> Found:
    """Forget which notes were opened after which searches."""
    return Found(SearchesForgotten(await call.vault.openings.forget(sent.older_than_days)))


_CODES = ("DISK_FULL", "INDEX_IO_ERROR")

OPENED = Operation(
    "opened",
    OpenedRequest,
    _opened,
    (NoteOpened,),
    ("INVALID_ID", *_CODES),
    writes=True,
    needs="search.learn",
    http=Http("POST", "/notes/{noteId}/opened", body=None),
)
FORGET_SEARCHES = Operation(
    "forget_searches",
    ForgetSearchesBody,
    _forget,
    (SearchesForgotten,),
    _CODES,
    writes=True,
    http=Http("POST", "/search/forget", body=None),
)

OPENING_OPERATIONS: tuple[Operation[Any, Any], ...] = (OPENED, FORGET_SEARCHES)
"""In the order of the reference."""
