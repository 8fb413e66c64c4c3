"""The contents of notes and attachments of one vault."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from vault_agent.search import fetch
from vault_agent.search.outline import note_frontmatter, note_outline
from vault_agent.search.part import part
from vault_agent.system.cancelling import open_in_thread, opened_in_thread
from vault_agent.vault.attachments import describe, open_attachment

if TYPE_CHECKING:
    from collections.abc import Callable

    from vault_agent.model.reading import NoteFrontmatter, NoteOutline, NotePart, PartQuery
    from vault_agent.model.retrieval import AttachmentInfo, ChunkContent, NoteContent
    from vault_agent.model.scope import Scope
    from vault_agent.model.warning import Warning
    from vault_agent.system.allowance import Allowance
    from vault_agent.vault.attachments import OpenAttachment
    from vault_agent.vault.root import VaultRoot
    from vault_agent.vaults.shared import Read


class Texts:
    """Reads notes, parts of them, and attachments. Made by `OpenVault`."""

    def __init__(
        self,
        read: Read,
        open_vault: Callable[[], VaultRoot],
        allowance: Allowance,
        *,
        warnings: Callable[[], tuple[Warning, ...]],
    ) -> None:
        self._read = read
        self._open_vault = open_vault
        self._allowance = allowance
        self._warnings = warnings

    async def note(self, note_id: str, *, allow_large: bool) -> NoteContent:
        """Return one note."""
        async with opened_in_thread(self._open_vault) as root:
            return await self._read(
                lambda now: fetch.note(now, root, note_id, allow_large=allow_large)
            )

    async def part(self, note_id: str, query: PartQuery, *, max_bytes: int) -> NotePart:
        """Return a page of a part of a note's current text."""
        async with opened_in_thread(self._open_vault) as root:
            return await self._read(
                lambda now: part(now, root, note_id, query, self._allowance, max_bytes=max_bytes)
            )

    async def outline(self, note_id: str, scope: Scope) -> NoteOutline:
        """Return the headings and blocks of a note's current file."""
        async with opened_in_thread(self._open_vault) as root:
            return await self._read(
                lambda now: note_outline(now, root, note_id, self._allowance, scope)
            )

    async def frontmatter(self, note_id: str, scope: Scope) -> NoteFrontmatter:
        """Return the frontmatter of a note's current file."""
        async with opened_in_thread(self._open_vault) as root:
            return await self._read(
                lambda now: note_frontmatter(now, root, note_id, self._allowance, scope)
            )

    async def chunk(self, note_id: str, index: int) -> ChunkContent:
        """Return one chunk."""
        return await self._read(
            lambda now: fetch.chunk(now, note_id, index, warnings=self._warnings())
        )

    async def attachment(self, path: str) -> AttachmentInfo:
        """Return the metadata of an attachment."""
        async with opened_in_thread(self._open_vault) as root:
            return await asyncio.to_thread(describe, root, path)

    async def open_attachment(self, path: str, *, allow_large: bool) -> OpenAttachment:
        """Open an attachment for reading. The caller must enter it before the next `await`."""

        def open_it() -> OpenAttachment:
            with self._open_vault() as root:
                return open_attachment(root, path, allow_large=allow_large)

        return await open_in_thread(open_it)
