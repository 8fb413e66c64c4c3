"""Resources, their templates, and completion of paths."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from vault_agent.api import memory, search
from vault_agent.errors import NotFound, VaultAgentError
from vault_agent.mcp.handshake import GUIDE_URI, MEMORY_SCHEME, SCHEME, TAGS_URI
from vault_agent.mcp.listing import list_entries
from vault_agent.mcp.memory import latest_memory
from vault_agent.mcp.reading import read_note
from vault_agent.text.names import escaped, fold, stem

if TYPE_CHECKING:
    from vault_agent.mcp.view import View

MAX_COMPLETIONS = 20

GUIDE = Path(__file__).with_name("guide.md").read_text("utf-8")


async def read_resource(view: View, uri: str) -> str:
    """Return the text of a resource: of a note, its first page as `vault_read` shows it.

    Raises:
        VaultAgentError: `NOTE_NOT_FOUND` and the codes of `vault_read`.
    """
    if uri == GUIDE_URI:
        return GUIDE
    if uri == TAGS_URI:
        arguments = {"kind": "tags", "sort": "path", "recursive": True, "limit": 200}
        return await list_entries(view, arguments)
    if uri.startswith(MEMORY_SCHEME) and memory.memory.needs in view.client_tools.switched_on:
        return await latest_memory(view, unquote(uri.removeprefix(MEMORY_SCHEME)))
    if not uri.startswith(SCHEME):
        raise NotFound("NOTE_NOT_FOUND", "There is no such resource.", remedy="")
    return await read_note(view, {"path": unquote(uri.removeprefix(SCHEME)), "view": "text"})


async def complete_path(view: View, begun: str) -> list[str]:
    """Return up to 20 notes whose path or name begins like this, as parts of a URI."""
    begun = unquote(begun)
    wanted = fold(begun)
    completions: list[str] = []
    scope = view.caller.scope
    paths: tuple[str, ...] = (scope.base_folder,) if scope.base_folder else ()
    if wanted and not set(begun) & set("*?"):
        outer = scope.in_vault(begun)
        # By the name of the file, by the path, or by a folder above it.
        paths = (f"*{begun}*", f"/{outer}*", f"/{outer}*/**")
    request = {"path": paths, "limit": 200}
    try:
        notes = (await view.perform(search.notes, request)).data.notes
    except VaultAgentError:
        return []
    for note in notes:
        inner = scope.to_caller(note.path)
        if fold(inner).startswith(wanted) or fold(stem(inner)).startswith(wanted):
            completions.append(quote(escaped(inner), safe="/"))
    return completions[:MAX_COMPLETIONS]
