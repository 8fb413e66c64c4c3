"""What tools that change a note also read of it: its frontmatter and its tags."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from vault_agent.api import reading
from vault_agent.mcp.named import file_of, named_note
from vault_agent.mcp.text import fenced, printable
from vault_agent.text.names import fold, visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vault_agent.mcp.view import View
    from vault_agent.model.names import NamedNote


async def frontmatter_json(view: View, path: str, key: str | None) -> str:
    """Return the frontmatter of a note, or one key of it, as JSON between marks.

    Raises:
        VaultAgentError: as the operations `resolve` and `frontmatter`.
    """
    note, _ = await named_note(view, path)
    values = await properties_of(view, note)
    content: Any = values
    if key is not None:
        name = key_of(values, key)
        if name is None:
            return "The note has no such key."
        content = values[name]
    text = json.dumps(content, ensure_ascii=False)
    return fenced(visible(note.path), "properties", printable(text))


async def properties_of(view: View, note: NamedNote) -> dict[str, Any]:
    """Return the frontmatter of a note, with its names and types as they are.

    Raises:
        VaultAgentError: as the operation `frontmatter`.
    """
    reply = await view.perform(reading.frontmatter, file_of(view, note))
    return reply.data.frontmatter or {}


def key_of(values: Iterable[str], key: str) -> str | None:
    """Return the name in a frontmatter that is `key`, or else one that differs in letter case."""
    names = list(values)
    return key if key in names else next((e for e in names if fold(e) == fold(key)), None)


async def tags_of(view: View, path: str) -> str:
    """Return the tags of a note, one a line.

    Raises:
        VaultAgentError: as the operations `resolve` and `frontmatter`.
    """
    note, _ = await named_note(view, path)
    reply = await view.perform(reading.frontmatter, file_of(view, note))
    tags = reply.data.tags
    return "\n".join([f"#{visible(tag)}" for tag in tags] or ["No tags."])
