"""Writes of the tags of a note."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_agent.markdown import tag_edit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vault_agent.markdown.tag_edit import Where
    from vault_agent.model.writing import Write, Written
    from vault_agent.writing.write import Writing


async def change_tags(
    writing: Writing,
    path: str,
    write: Write,
    *,
    add: Sequence[str],
    remove: Sequence[str],
    where: Where = "frontmatter",
) -> Written:
    """Add and remove tags of a note, as `markdown.tag_edit` does.

    Raises:
        InvalidRequest: `INVALID_REQUEST` for what is no tag.
        Conflict: `FRONTMATTER_INVALID`, `FRONTMATTER_KEY_AMBIGUOUS`, `ENCODING_NOT_WRITABLE`.
        VaultAgentError: as `Writing.edit`.
    """
    return await writing.edit(
        path, write, lambda note: tag_edit.edit_tags(note, add, remove, where)
    )
