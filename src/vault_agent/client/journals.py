"""The calls about journals of sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from vault_agent.client.lists import query

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vault_agent.client.client import Reply
    from vault_agent.client.lists import Call
    from vault_agent.model.journals import JournalDraft, JournalList, OneJournal


class Journals:
    """Lists, writes and reviews journals. Arguments have the names of the HTTP interface."""

    def __init__(self, call: Call) -> None:
        self._call = call

    async def page(self, arguments: Mapping[str, Any]) -> Reply[JournalList]:
        """Return the journals of the latest sessions."""
        return await self._call("GET", f"/journals{query(arguments)}", "journals.JournalList")

    async def make(self, body: Mapping[str, Any]) -> Reply[OneJournal]:
        """Write the journal of a session now. Raises NotFound: `SESSION_NOT_FOUND`."""
        return await self._call("POST", "/journals", "journals.OneJournal", body)

    async def add_line(self, session_id: str, body: Mapping[str, Any]) -> Reply[OneJournal]:
        """Add a line to the journal of a session. Raises NotFound: `SESSION_NOT_FOUND`."""
        return await self._call(
            "POST", f"{_place(session_id)}/entries", "journals.OneJournal", body
        )

    async def review(self, session_id: str, *, accept: bool) -> Reply[OneJournal]:
        """Take a draft into the vault, or drop it. Raises NotFound: `SESSION_NOT_FOUND`."""
        body = {"accept": accept}
        return await self._call("POST", f"{_place(session_id)}/review", "journals.OneJournal", body)

    async def draft(self, session_id: str) -> Reply[JournalDraft]:
        """Return a draft. Raises NotFound: `SESSION_NOT_FOUND`."""
        return await self._call("GET", f"{_place(session_id)}/draft", "journals.JournalDraft")


def _place(session_id: str) -> str:
    return f"/journals/{quote(session_id, safe='')}"
