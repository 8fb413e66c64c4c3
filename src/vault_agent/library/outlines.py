"""What changes of a note need to know of it: its headings and blocks, and its frontmatter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_agent.search.outline import note_frontmatter, note_outline
from vault_agent.system.cancelling import opened_in_thread

if TYPE_CHECKING:
    from collections.abc import Callable

    from vault_agent.library.shared import Read
    from vault_agent.model.scope import Scope
    from vault_agent.search.outline import NoteFrontmatter, NoteOutline
    from vault_agent.vault.root import VaultRoot


class Outlines:
    """The outlines and frontmatters of the notes of one open vault."""

    def __init__(self, read: Read, open_root: Callable[[], VaultRoot]) -> None:
        self._read = read
        self._open_root = open_root

    async def outline(self, note_id: str, scope: Scope) -> NoteOutline:
        """Return the headings and blocks of a note's current file."""
        async with opened_in_thread(self._open_root) as root:
            found: NoteOutline = await self._read(
                lambda now: note_outline(now, root, note_id, scope)
            )
            return found

    async def frontmatter(self, note_id: str, scope: Scope) -> NoteFrontmatter:
        """Return the frontmatter of a note's current file."""
        async with opened_in_thread(self._open_root) as root:
            found: NoteFrontmatter = await self._read(
                lambda now: note_frontmatter(now, root, note_id, scope)
            )
            return found
