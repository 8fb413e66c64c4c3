"""Names that a user types for a note: an ID, a path, a title, or the number of a result."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from vault_agent.cli.here import vaults_here
from vault_agent.cli.local import recalled
from vault_agent.config.connection import index_folder
from vault_agent.config.registry import DEFAULT
from vault_agent.errors import Busy, IndexUnavailable, InvalidRequest, Misconfigured, NotFound

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from vault_agent.cli.command import Invocation
    from vault_agent.client.client import Client

_ID = re.compile(r"([0-9a-f]{32})(?::(0|[1-9][0-9]{0,6}))?")
_NUMBER = re.compile(r"[1-9][0-9]?")
_MOST_CHUNKS = 1 << 20


class Place(NamedTuple):
    """A note, and the place in it that was named. `path` is known if the server was asked."""

    note_id: str
    chunk: int | None = None
    line: int | None = None
    heading: str | None = None
    path: str | None = None

    @property
    def id(self) -> str:
        """The ID of the chunk, or else of the note."""
        return self.note_id if self.chunk is None else f"{self.note_id}:{self.chunk}"


def whole_id(begin: str, known: Iterable[str]) -> str:
    """Return the only known ID that begins so. One that no known ID begins with is returned as is.

    Raises:
        InvalidRequest: if several begin so.
    """
    ids = set(known)
    found = [begin] if begin in ids else [each for each in ids if each.startswith(begin)]
    if len(found) > 1:
        raise InvalidRequest(
            "INVALID_REQUEST",
            f"The IDs of {len(found)} sessions begin so.",
            remedy="Give more of the ID: vault-agent memory log",
        )
    return found[0] if found else begin


async def find(invocation: Invocation, client: Client, text: str) -> Place:
    """Return the place that a person means. An ID is not looked up.

    Inside a trusted project, the project's vault and the global one come before the default vault.
    The client's further calls are about the vault that has the note.

    Raises:
        InvalidRequest: `INVALID_ID` if the text is empty.
        NotFound: `NOTE_NOT_FOUND`, or `NOTE_AMBIGUOUS` with `details.notes`.
    """
    here = vaults_here(invocation)
    if (known := _ID.fullmatch(text)) and not here:
        return _place(known)
    if here and not _NUMBER.fullmatch(text):
        return await _look_up_in((*here, None), client, text)
    if not _NUMBER.fullmatch(text):
        return await look_up(client, text)
    shown = recalled(known_folder(invocation), int(text))
    if shown is not None and (known := _ID.fullmatch(shown.id)):
        if invocation.vault is None and shown.vault is not None:
            client.vault_name = None if shown.vault == DEFAULT else shown.vault
        return _place(known, shown.line)
    try:
        return await look_up(client, text)
    except NotFound as error:
        if error.code != "NOTE_NOT_FOUND":
            raise
        raise NotFound(
            error.code, f"Your last search at a terminal has no result {text}.", remedy=""
        ) from None


async def _look_up_in(vaults: Sequence[str | None], client: Client, text: str) -> Place:
    """Return the place in the first of these vaults that has it. None is the default vault."""
    for name in vaults:
        client.vault_name = name
        try:
            found = await look_up(client, text)
        except NotFound as error:
            if error.code != "NOTE_NOT_FOUND" or name is None:
                raise
        except (IndexUnavailable, Busy):
            if name is None:
                raise
        else:
            known = _ID.fullmatch(text)
            return found if known is None else _place(known)._replace(path=found.path)
    raise AssertionError("the default vault is the last one")


async def look_up(client: Client, text: str) -> Place:
    """Return the place that a text means, found by the server.

    Raises:
        NotFound: `NOTE_NOT_FOUND`, or `NOTE_AMBIGUOUS` with `details.notes`.
    """
    if not text.strip():
        raise InvalidRequest("INVALID_ID", "Name a note.")
    data = (await client.resolve(text)).envelope["data"]
    notes = data["notes"]
    if len(notes) > 1 or data.get("hasMore"):
        number = f"More than {len(notes)}" if data.get("hasMore") else str(len(notes))
        raise NotFound("NOTE_AMBIGUOUS", f"{number} notes have this name.", {"notes": notes})
    (note,) = notes
    return Place(
        note["noteId"], line=data.get("line"), heading=data.get("heading"), path=note["path"]
    )


async def chunk_id(client: Client, place: Place) -> str:
    """Return the ID of the chunk that has the place's line, or else of the first chunk.

    Raises:
        NotFound: `NOTE_NOT_FOUND`, `CHUNK_NOT_FOUND`.
    """
    if place.chunk is not None or place.line is None:
        return f"{place.note_id}:{place.chunk or 0}"
    # The last chunk that starts at or above the line. Each step doubles or halves the range.
    least, above = 0, 1
    while above < _MOST_CHUNKS and await _starts_by(client, place, above):
        least, above = above, above * 2
    while above - least > 1:
        middle = (least + above) // 2
        if await _starts_by(client, place, middle):
            least = middle
        else:
            above = middle
    return f"{place.note_id}:{least}"


async def _starts_by(client: Client, place: Place, index: int) -> bool:
    """Whether the note has a chunk of this index that starts at or above the place's line."""
    try:
        reply = await client.chunk(f"{place.note_id}:{index}")
    except NotFound as error:
        if error.code != "CHUNK_NOT_FOUND":
            raise
        return False
    start: int = reply.data.start_line
    return place.line is not None and start <= place.line


def _place(known: re.Match[str], line: int | None = None) -> Place:
    return Place(known[1], int(known[2]) if known[2] else None, line)


def known_folder(invocation: Invocation) -> Path | None:
    """Return the folder of the index in the settings, or None."""
    try:
        return index_folder(invocation.layers())
    except Misconfigured:
        return None
