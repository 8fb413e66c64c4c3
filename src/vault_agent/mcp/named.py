"""The note that a model means by a path, a name, a link or an ID."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_agent.api import search
from vault_agent.errors import Forbidden, NotFound
from vault_agent.model.identifiers import identify
from vault_agent.model.names import NamedNote
from vault_agent.text.names import hidden, visible

if TYPE_CHECKING:
    from vault_agent.mcp.view import View
    from vault_agent.model.names import NamedNotes

MAX_SUGGESTIONS = 5


def require_inside(path: str) -> None:
    """Raise Forbidden `PATH_OUTSIDE_VAULT` for a path with `..`, as writing does."""
    if ".." in path.split("/"):
        raise Forbidden("PATH_OUTSIDE_VAULT", "The path has `..`.")


async def named_note(view: View, path: str) -> tuple[NamedNote, NamedNotes]:
    """Return the note, and the whole answer with the line or heading that the path contains.

    Raises:
        Forbidden: `PATH_OUTSIDE_VAULT`.
        NotFound: `NOTE_NOT_FOUND` with similar paths, or `NOTE_AMBIGUOUS` with all of them, both
            in `details.suggestions`.
        VaultAgentError: as the operation `resolve`.
    """
    require_inside(hidden(path))
    try:
        resolved = (await view.perform(search.resolve, {"name": hidden(path)})).data
    except NotFound as error:
        if error.code != "NOTE_NOT_FOUND":
            raise
        similar = [visible(suggestion) for suggestion in error.details.get("suggestions", ())]
        remedy = "Did you mean:" if similar else "Search for it, or list the notes."
        raise NotFound(
            error.code,
            "no such note.",
            {"suggestions": similar[:MAX_SUGGESTIONS]},
            remedy=remedy,
        ) from None
    if len(resolved.notes) > 1:
        paths = [visible(note.path) for note in resolved.notes]
        raise NotFound(
            "NOTE_AMBIGUOUS",
            "several notes have this name. Give the path:",
            {"suggestions": paths},
            remedy="",
        )
    return resolved.notes[0], resolved


def note_at(view: View, path: str) -> NamedNote:
    """Return the note at a path of the vault, which need not be in the index."""
    return NamedNote(identify(path), view.caller.scope.inner(path), "", "path")


def file_of(view: View, note: NamedNote) -> dict[str, str]:
    """Return the fields of a request for the current file of a note."""
    return {"noteId": note.note_id, "path": view.caller.scope.outer(note.path)}
