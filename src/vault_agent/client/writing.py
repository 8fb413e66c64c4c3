"""The calls that change notes, and that read what changes need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from vault_agent.client.lists import query

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vault_agent.client.client import Reply
    from vault_agent.client.lists import Call
    from vault_agent.model.authoring import DecisionList, Devlog, TemplateList
    from vault_agent.model.reading import NoteFrontmatter, NoteOutline
    from vault_agent.model.writing import LogPage, OneWrite, WritesForgotten, Written


class Writing:
    """Changes of notes. Bodies and arguments have the names of the HTTP interface."""

    def __init__(self, call: Call) -> None:
        self._call = call

    async def write(self, operation: str, body: Mapping[str, Any]) -> Reply[Written]:
        """Change notes by an operation such as `note` or `tasks/add`.

        A move that changes links of many notes is a job: then `data` is a `OneJob`.

        Raises:
            Misconfigured: `FEATURE_DISABLED` unless writing is on.
            Conflict: `HASH_MISMATCH` if a note is not what `expectedHash` says.
            VaultAgentError: the other codes of the operation.
        """
        return await self._call("POST", f"/write/{operation}", "writing.Written", body)

    async def outline(self, note_id: str) -> Reply[NoteOutline]:
        """Return the headings and blocks of a note."""
        return await self._call(
            "GET", f"/notes/{quote(note_id, safe='')}/outline", "reading.NoteOutline"
        )

    async def frontmatter(self, note_id: str) -> Reply[NoteFrontmatter]:
        """Return the frontmatter of a note as JSON."""
        path = f"/notes/{quote(note_id, safe='')}/frontmatter"
        return await self._call("GET", path, "reading.NoteFrontmatter")

    async def templates(self) -> Reply[TemplateList]:
        """Return the templates for new notes."""
        return await self._call("GET", "/templates", "authoring.TemplateList")

    async def devlog(self, arguments: Mapping[str, Any]) -> Reply[Devlog]:
        """Return the last lines of the devlog."""
        return await self._call("GET", f"/devlog{query(arguments)}", "authoring.Devlog")

    async def decisions(self) -> Reply[DecisionList]:
        """Return the decision records, in the order of their numbers."""
        return await self._call("GET", "/decisions", "authoring.DecisionList")

    async def writes(self, arguments: Mapping[str, Any]) -> Reply[LogPage]:
        """Return a page of the log of writes, newest first."""
        return await self._call("GET", f"/writes{query(arguments)}", "writing.LogPage")

    async def logged(self, write_id: str) -> Reply[OneWrite]:
        """Return one entry of the log of writes."""
        return await self._call("GET", f"/writes/{quote(write_id, safe='')}", "writing.OneWrite")

    async def forget(self, body: Mapping[str, Any]) -> Reply[WritesForgotten]:
        """Delete the bytes that are kept for undo."""
        return await self._call("POST", "/writes/forget", "writing.WritesForgotten", body)
