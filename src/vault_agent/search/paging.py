"""Keys of notes for cursors, which are too short for long paths."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_agent.errors import InvalidRequest
from vault_agent.model.identifiers import identify
from vault_agent.store.index import notes as reading

if TYPE_CHECKING:
    from vault_agent.model.scope import Scope
    from vault_agent.store.database import Connection

_MAX_PATH_BYTES = 90


def note_key(path: str, scope: Scope) -> str:
    """Return a short text for a note's path: the path itself, or `/` and the note ID.

    The path is relative to the folder of the scope, as all that its caller sees.
    """
    inner = scope.inner(path)
    fits = len(inner.encode("utf-8", "surrogatepass")) <= _MAX_PATH_BYTES and inner.isprintable()
    return inner if fits and scope.outer(inner) == path else f"/{identify(path)}"


def path_of_key(connection: Connection, key: str, scope: Scope) -> str:
    """Return the path of a key. Notes outside `scope` do not exist.

    Raises:
        InvalidRequest: `CURSOR_EXPIRED` if the key is an ID and the note is gone, or
            `INVALID_CURSOR` if it is no key.
    """
    if not key.startswith("/"):
        return scope.outer(key)
    if len(key) != 33 or not set(key[1:]) <= set("0123456789abcdef"):
        raise InvalidRequest("INVALID_CURSOR", "This cursor does not belong to this request.")
    note = reading.note_by_id(connection, key[1:])
    if note is None or not scope.contains(note.path):
        raise InvalidRequest(
            "CURSOR_EXPIRED", "The note at which the list continues is no longer in the index."
        )
    return note.path
