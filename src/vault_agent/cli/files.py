"""Finds the file that a change is about: a note, an attachment or a folder."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from vault_agent.cli.names import choose_first, find, find_attachment, seems_file
from vault_agent.client import calls
from vault_agent.errors import Busy, IndexUnavailable, InvalidRequest, VaultAgentError
from vault_agent.text.names import fold, is_note

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


async def named_file(invocation: Invocation, client: Client, name: str) -> File:
    """Return the note or the attachment that a person means. An attachment is named by its path.

    An attachment with exactly this path comes before a note whose title it is.

    A path of a note that is not indexed yet is that of the vault that new notes go to. The
    client's further calls are about the vault that has the file.

    Raises:
        NotFound: `NOTE_NOT_FOUND`, or `NOTE_AMBIGUOUS` with `details.notes`.
    """
    if seems_file(name) and (attachment := await find_attachment(invocation, client, name)):
        return File(path=attachment)
    try:
        place = await find(invocation, client, name)
    except VaultAgentError as error:
        if error.code not in _UNKNOWN:
            raise
        if is_note(name):
            return File(path=choose_first(invocation, client, name))
        attachment = await find_attachment(invocation, client, name)
        if attachment is None:
            raise
        return File(path=attachment)
    if place.path is not None and not is_note(place.path):
        return File(path=place.path)
    return File(place.note_id, place.path)


async def folder_like(client: Client, path: str) -> str | None:
    """Return the folder with notes of the client's vault that has this path, in any letter case."""
    with suppress(Busy, IndexUnavailable, InvalidRequest):
        reply = await client.call(calls.FOLDERS, prefix=path, depth=1, limit=1)
        for each in reply.envelope["data"]["folders"]:
            if fold(each["folder"]) == fold(path):
                return str(each["folder"])
    return None
