"""Names that a user types for a note: an ID, a path, a title, or the number of a result."""

from __future__ import annotations

import re
from contextlib import suppress
from shlex import quote
from typing import TYPE_CHECKING, NamedTuple

from vault_agent.cli.here import all_vaults, scope
from vault_agent.cli.local import recalled
from vault_agent.cli.terminal import clean, quoted, tell
from vault_agent.client import calls
from vault_agent.config.connection import index_folder, several_vaults
from vault_agent.config.registry import DEFAULT
from vault_agent.errors import (
    Busy,
    Forbidden,
    IndexUnavailable,
    InvalidRequest,
    Misconfigured,
    NotFound,
)
from vault_agent.text.names import is_note

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from vault_agent.cli.command import Invocation
    from vault_agent.client.client import Client

_ID = re.compile(r"([0-9a-f]{32})(?::(0|[1-9][0-9]{0,6}))?")
_NUMBER = re.compile(r"[1-9][0-9]?")
_SUFFIX = re.compile(r"\.[a-z][a-z0-9]{1,5}$", re.IGNORECASE)
_MOST_CHUNKS = 1 << 20
_MOST_SEARCHED = 40


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

    @property
    def file(self) -> dict[str, str]:
        """The parameters of a request for the note's current file."""
        return {"note_id": self.note_id, **({"path": self.path} if self.path else {})}


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


def seems_file(text: str) -> bool:
    """Whether a name looks like that of a file that is no note. A title such as `Node.js` does."""
    return _SUFFIX.search(text) is not None and not is_note(text)


def is_title(text: str) -> bool:
    """Whether a text is neither an ID nor the number of a result."""
    return not _ID.fullmatch(text) and not _NUMBER.fullmatch(text)


def find(invocation: Invocation, client: Client, text: str) -> Place:
    """Return the place that a person means. An ID is not looked up if there is one vault.

    Inside a trusted project, the project's vault and the global one come before the default vault.
    The client's further calls are about the vault that has the note. What the number of a result
    means is printed.

    Raises:
        InvalidRequest: `INVALID_ID` if the text is empty.
        NotFound: `NOTE_NOT_FOUND`, or `NOTE_AMBIGUOUS` with `details.notes`.
    """
    if _NUMBER.fullmatch(text):
        return _result(invocation, client, text)
    vaults = _scope(invocation)
    if (named := _named_vault(invocation, text)) is not None:
        with suppress(NotFound):  # a title may begin like the name of a vault
            return _look_up_in((_asked(named),), client, text.removeprefix(f"{named}:"))
    if (known := _ID.fullmatch(text)) and len(vaults) == 1:
        client.vault_name = vaults[0]
        return _place(known)
    return _look_up_in(vaults, client, text)


def find_attachment(invocation: Invocation, client: Client, text: str) -> str | None:
    """Return the path of the attachment that a person means, or None if no vault has it.

    The client's further calls are about the vault that has it, or else about the first of the
    scope: a change must not reach a vault that nobody named.
    """
    for client.vault_name, path in addresses(invocation, text):
        with suppress(Forbidden, InvalidRequest, NotFound):  # a busy vault may have it
            client.call(calls.ATTACHMENT, path=path)
            return path
    choose_first(invocation, client, text)
    return None


def choose_first(invocation: Invocation, client: Client, text: str) -> str:
    """Let the calls be about the vault that new notes go to, and return the path in it.

    The vault that an address such as `global:Bread.md` names comes before it.
    """
    client.vault_name, path = addresses(invocation, text)[0]
    return path


def addresses(invocation: Invocation, text: str) -> list[tuple[str | None, str]]:
    """Return the vaults that a path may be in, each with the path in it, in order."""
    every = [(vault, text) for vault in _scope(invocation)]
    if (named := _named_vault(invocation, text)) is not None:
        every.insert(0, (_asked(named), text.removeprefix(f"{named}:")))
    return every


def _scope(invocation: Invocation) -> tuple[str | None, ...]:
    return tuple(map(_asked, scope(invocation)))


def _asked(vault: str | None) -> str | None:
    """Return the name of a vault in requests: none for the default one."""
    return None if vault == DEFAULT else vault


def _named_vault(invocation: Invocation, text: str) -> str | None:
    """Return the vault in an address such as `global:Bread.md`, or None."""
    if ":" not in text or invocation.vault is not None or not several_vaults(invocation.layers()):
        return None
    return next((each for each in all_vaults() if text.startswith(f"{each}:")), None)


def _result(invocation: Invocation, client: Client, text: str) -> Place:
    """Return the place of a result of the last search, and print which note it is.

    Without such a result, the number is the name of a note.
    """
    shown = recalled(known_folder(invocation), int(text))
    if shown is None or not (known := _ID.fullmatch(shown.id)):
        try:
            return _look_up_in(_scope(invocation), client, text)
        except NotFound as error:
            if error.code != "NOTE_NOT_FOUND":
                raise
            raise NotFound(
                error.code, f"Your last search at a terminal has no result {text}.", remedy=""
            ) from None
    if invocation.vault is None and shown.vault is not None:
        client.vault_name = _asked(shown.vault)
    try:
        found = look_up(client, known[1])
    except NotFound as error:
        raise NotFound(
            error.code, f"Result {text} of your last search was moved or deleted."
        ) from None
    if not invocation.json:
        where = f"{shown.vault}:" if shown.vault not in (None, DEFAULT) else ""
        tell(f"{text} is {clean(where + (found.path or ''))}")
    return _place(known, shown.line)._replace(path=found.path)


def _look_up_in(vaults: Sequence[str | None], client: Client, text: str) -> Place:
    """Return the place in the first of these vaults that has it. None is the default vault.

    If none has it, the error has the similar names of all.
    """
    similar: list[str] = []
    for place, name in enumerate(vaults, 1):
        client.vault_name = name
        try:
            found = look_up(client, text)
        except NotFound as error:
            if error.code != "NOTE_NOT_FOUND":
                raise
            similar += error.details.get("suggestions") or ()
            if place == len(vaults):
                raise NotFound(
                    error.code, error.message, {**error.details, "suggestions": similar}, remedy=""
                ) from None
        except (IndexUnavailable, Busy):
            if place == len(vaults):
                raise
        else:
            known = _ID.fullmatch(text)
            return found if known is None else _place(known)._replace(path=found.path)
    raise AssertionError("there is at least one vault")


def look_up(client: Client, text: str) -> Place:
    """Return the place that a text means, found by the server.

    Raises:
        NotFound: `NOTE_NOT_FOUND`, or `NOTE_AMBIGUOUS` with `details.notes`.
    """
    if not text.strip():
        raise InvalidRequest("INVALID_ID", "Name a note.")
    try:
        data = client.call(calls.RESOLVE, name=text).envelope["data"]
    except NotFound as error:
        if error.code != "NOTE_NOT_FOUND":
            raise
        if "excluded" in error.details:
            raise
        typed = clean(quote(text[:_MOST_SEARCHED]))
        remedy = f"Search for it: `vault-agent search {typed}`."
        if len(text) <= _MOST_SEARCHED and seems_file(text):
            remedy += f" A file that is no note: `vault-agent get attachment {typed}`."
        raise NotFound(
            error.code,
            f"No note has the path, name, alias or title {quoted(text)}.",
            error.details,
            remedy="" if error.details.get("suggestions") else remedy,
        ) from None
    notes = data["notes"]
    if len(notes) > 1 or data.get("hasMore"):
        number = f"More than {len(notes)}" if data.get("hasMore") else str(len(notes))
        kind = "notes" if all(is_note(each["path"]) for each in notes) else "files"
        raise NotFound("NOTE_AMBIGUOUS", f"{number} {kind} have this name.", {"notes": notes})
    (note,) = notes
    return Place(
        note["noteId"], line=data.get("line"), heading=data.get("heading"), path=note["path"]
    )


def chunk_id(client: Client, place: Place) -> str:
    """Return the ID of the chunk that has the place's line, or else of the first chunk.

    Raises:
        NotFound: `NOTE_NOT_FOUND`, `CHUNK_NOT_FOUND`.
    """
    if place.chunk is not None or place.line is None:
        return f"{place.note_id}:{place.chunk or 0}"
    # The last chunk that starts at or above the line. Each step doubles or halves the range.
    least, above = 0, 1
    while above < _MOST_CHUNKS and _starts_by(client, place, above):
        least, above = above, above * 2
    while above - least > 1:
        middle = (least + above) // 2
        if _starts_by(client, place, middle):
            least = middle
        else:
            above = middle
    return f"{place.note_id}:{least}"


def _starts_by(client: Client, place: Place, index: int) -> bool:
    """Whether the note has a chunk of this index that starts at or above the place's line."""
    try:
        reply = client.call(calls.CHUNK, note_id=place.note_id, chunk_index=index)
    except NotFound as error:
        if error.code != "CHUNK_NOT_FOUND":
            raise
        return False
    return place.line is not None and reply.data.start_line <= place.line


def whole_text(client: Client, note_id: str, path: str | None = None) -> str:
    """Return the text of a note of any size. Raises NotFound: `NOTE_NOT_FOUND`."""
    place = Place(note_id, path=path)
    reply = client.call(calls.NOTE, **place.file, allow_large=True)
    return str(reply.envelope["data"]["content"])


def _place(known: re.Match[str], line: int | None = None) -> Place:
    return Place(known[1], int(known[2]) if known[2] else None, line)


def known_folder(invocation: Invocation) -> Path | None:
    """Return the folder of the index in the settings, or None."""
    try:
        return index_folder(invocation.layers())
    except Misconfigured:
        return None
