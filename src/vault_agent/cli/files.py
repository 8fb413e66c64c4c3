"""Finds the file that a change is about: a note or an attachment."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from vault_agent.cli.names import choose_first, find, find_attachment, seems_file
from vault_agent.errors import VaultAgentError
from vault_agent.text.names import is_note

if TYPE_CHECKING:
    from vault_agent.cli.command import Invocation
    from vault_agent.client.client import Client

_UNKNOWN = ("NOTE_NOT_FOUND", "INDEX_NOT_FOUND")
"""The codes of a name that the index does not have. There may be such a file."""


class File(NamedTuple):
    """A file. A note that the index has is named by its ID, which stays if the note moves."""

    note_id: str | None = None
    path: str | None = None

    @property
    def body(self) -> dict[str, str]:
        """The fields of a request that name it."""
        return {"noteId": self.note_id} if self.note_id is not None else {"path": self.path or ""}


def named_file(invocation: Invocation, client: Client, name: str) -> File:
    """Return the note or the attachment that a person means. An attachment is named by its path.

    An attachment with exactly this path comes before a note whose title it is.

    A path of a note that is not indexed yet is that of the vault that new notes go to. The
    client's further calls are about the vault that has the file.

    Raises:
        NotFound: `NOTE_NOT_FOUND`, or `NOTE_AMBIGUOUS` with `details.notes`.
    """
    by_path_first = seems_file(name)
    if by_path_first and (attachment := find_attachment(invocation, client, name)):
        return File(path=attachment)
    try:
        place = find(invocation, client, name)
    except VaultAgentError as error:
        if error.code not in _UNKNOWN:
            raise
        if is_note(name):
            return File(path=choose_first(invocation, client, name))
        if by_path_first:
            raise
        attachment = find_attachment(invocation, client, name)
        if attachment is None:
            raise
        return File(path=attachment)
    if place.path is not None and not is_note(place.path):
        return File(path=place.path)
    return File(place.note_id, place.path)
