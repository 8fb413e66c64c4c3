"""Writes of the tags of a note."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from vault_agent.markdown import tag_edit
from vault_agent.writing.costly import Costly
from vault_agent.writing.transaction import Planned

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
    work = partial(tag_edit.edit_tags, add=add, remove=remove, where=where)
    plan = Costly(work, lambda _, splices: Planned(splices))
    return await writing.edit(path, write, plan)
