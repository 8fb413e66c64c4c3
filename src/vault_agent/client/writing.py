"""The calls that change notes, and that read what changes need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from vault_agent.client.lists import query

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vault_agent.client.client import Reply
    from vault_agent.client.lists import Call
    from vault_agent.wire.written import (
        DecisionsData,
        DevlogData,
        ForgottenData,
        FrontmatterData,
        OneWrite,
        OutlineData,
        TemplatesData,
        WriteData,
        WritesData,
    )


class Writing:
    """Changes of notes. Bodies and arguments have the names of the HTTP interface."""

    def __init__(self, call: Call) -> None:
        self._call = call

    async def write(self, operation: str, body: Mapping[str, Any]) -> Reply[WriteData]:
        """Change notes by an operation such as `note` or `tasks/add`.

        A move that changes links of many notes is a job: then `data` is a `OneJob`.

        Raises:
            Misconfigured: `FEATURE_DISABLED` unless writing is on.
            Conflict: `HASH_MISMATCH` if a note is not what `expectedHash` says.
            VaultAgentError: the other codes of the operation.
        """
        return await self._call("POST", f"/write/{operation}", "WriteData", body)

    async def outline(self, note_id: str) -> Reply[OutlineData]:
        """Return the headings and blocks of a note."""
        return await self._call("GET", f"/notes/{quote(note_id, safe='')}/outline", "OutlineData")

    async def frontmatter(self, note_id: str) -> Reply[FrontmatterData]:
        """Return the frontmatter of a note as JSON."""
        path = f"/notes/{quote(note_id, safe='')}/frontmatter"
        return await self._call("GET", path, "FrontmatterData")

    async def templates(self) -> Reply[TemplatesData]:
        """Return the templates for new notes."""
        return await self._call("GET", "/templates", "TemplatesData")

    async def devlog(self, arguments: Mapping[str, Any]) -> Reply[DevlogData]:
        """Return the last lines of the devlog."""
        return await self._call("GET", f"/devlog{query(arguments)}", "DevlogData")

    async def decisions(self) -> Reply[DecisionsData]:
        """Return the decision records, in the order of their numbers."""
        return await self._call("GET", "/decisions", "DecisionsData")

    async def writes(self, arguments: Mapping[str, Any]) -> Reply[WritesData]:
        """Return a page of the log of writes, newest first."""
        return await self._call("GET", f"/writes{query(arguments)}", "WritesData")

    async def logged(self, write_id: str) -> Reply[OneWrite]:
        """Return one entry of the log of writes."""
        return await self._call("GET", f"/writes/{quote(write_id, safe='')}", "OneWrite")

    async def forget(self, body: Mapping[str, Any]) -> Reply[ForgottenData]:
        """Delete the bytes that are kept for undo."""
        return await self._call("POST", "/writes/forget", "ForgottenData", body)
