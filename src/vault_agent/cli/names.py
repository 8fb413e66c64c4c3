"""The vault that a command is about, and the names that a user types for notes and files.

Inside a trusted project it is the project's vault, elsewhere the default one. `--vault` names
another. Only `search` and `related` are about several: inside a project of its vault, the global
one and the default one.

The results that a terminal showed last are kept in the folder of the index, as IDs and lines.
"""

from __future__ import annotations

import re
from contextlib import contextmanager, suppress
from shlex import quote
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib import parse

import orjson

from vault_agent.cli.terminal import clean, complain, quoted, tell, warn
from vault_agent.config import rules
from vault_agent.config.fast_settings import index_folder, several_vaults, vault_root
from vault_agent.config.vault_list import DEFAULT, Role, read_registry
from vault_agent.errors import (
    Forbidden,
    InvalidRequest,
    Misconfigured,
    NotFound,
    VaultAgentError,
    explained,
)
from vault_agent.system.files import read_optional
from vault_agent.text.names import is_note

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from vault_agent.cli.command import Invocation
    from vault_agent.client.client import Client
    from vault_agent.config.layers import Layer
    from vault_agent.config.vault_list import Registered

_NOT_ALLOWED = "This project has a vault that you have not allowed yet."
_UNTRUSTED = f"{_NOT_ALLOWED} It is not searched."


def vaults_here(invocation: Invocation, *, only_trusted: bool = False) -> tuple[str, ...]:
    """Return the vaults of a project: its own, the global one, and the default one, in this order.

    Return () outside a project, if its vault is not trusted, if a vault is named, and while several
    vaults are off.

    A registered vault whose folder is missing is named too, so that the server says so: the notes
    of the default vault are no answer to a question about the project.

    Raises:
        Forbidden: `VAULT_NOT_TRUSTED` if it is not trusted, with `only_trusted`.
    """
    if invocation.here is None:
        invocation.here = _vaults_here(invocation, only_trusted=only_trusted)
    return invocation.here


def _vaults_here(invocation: Invocation, *, only_trusted: bool) -> tuple[str, ...]:
    if invocation.vault is not None or not several_vaults(invocation.layers()):
        return ()
    from vault_agent.config.project import find_project, missing_entry, trusted_entry

    try:
        project, entries = find_project(), read_registry()
    except VaultAgentError as error:
        if only_trusted:
            raise
        complain(error.code, error.message, look="warning")
        return ()
    entry = missing_entry(project, entries)
    if project is None and entry is None:
        return ()
    if entry is None and project is not None:
        entry = trusted_entry(project, entries)
        warn(project.warnings)
    if entry is None and only_trusted:
        raise Forbidden("VAULT_NOT_TRUSTED", _NOT_ALLOWED)
    if entry is None:
        message = explained("VAULT_NOT_TRUSTED", _UNTRUSTED)
        complain("VAULT_NOT_TRUSTED", message, look="warning")
        return ()
    others = [vault for vault in entries if vault.role is Role.GLOBAL and vault.is_there]
    named = {vault.identity: name_of(vault, entries) for vault in (entry, *others)}
    root = vault_root(invocation.layers())
    if root is None or rules.vault_identity(root) not in named:
        named[DEFAULT] = DEFAULT
    return tuple(named.values())


def vault_here(invocation: Invocation) -> str | None:
    """Return the vault that a command is about. None is the server's own."""
    return next(iter(vaults_here(invocation)), invocation.vault)


def others(invocation: Invocation, vaults: Iterable[str | None]) -> tuple[str, ...]:
    """Return the other vaults that a search over all would find notes in."""
    if invocation.vault is not None or not several_vaults(invocation.layers()):
        return ()
    searched = {vault or DEFAULT for vault in vaults}
    with suppress(Misconfigured):  # `vaults_here` warns of a damaged list
        return tuple(vault for vault in all_vaults() if vault not in searched)
    return ()


def listed(vaults: Iterable[str | None]) -> str:
    """Return the names of vaults for a sentence: `project:shop, global and default`."""
    *first, last = (clean(vault or DEFAULT) for vault in vaults)
    return f"{', '.join(first)} and {last}" if first else last


@contextmanager
def client_here(
    invocation: Invocation, *, only_trusted: bool = False, changes_index: bool = False
) -> Iterator[Client]:
    """Yield a client whose calls are about the project's vault inside a trusted project.

    Elsewhere they are about the default vault. `--vault` names another one. It is for changes, and
    for what is of one vault.

    Raises:
        VaultAgentError: as `vaults_here` and `Invocation.client`.
    """
    here = vaults_here(invocation, only_trusted=only_trusted)
    with invocation.client(changes_index=changes_index and not here) as client:
        if here:
            client.vault_name = here[0]
        yield client


def all_vaults() -> tuple[str, ...]:
    """Return the default vault and every registered one."""
    entries = read_registry()
    return (DEFAULT, *(name_of(entry, entries) for entry in entries))


def name_of(entry: Registered, entries: tuple[Registered, ...]) -> str:
    """Return what requests call a vault: its full name, or its identity if others share that."""
    same = [other for other in entries if other.full_name == entry.full_name]
    return entry.full_name if len(same) == 1 else entry.identity


def root_of(name: str | None) -> Path | None:
    """Return the folder of a registered vault, or None if it is not registered."""
    if name is None:
        return None
    return next((vault.root for vault in read_registry() if vault.answers_to(name)), None)


_RESULTS = "last-results"
_ID = re.compile(r"([0-9a-f]{32})(?::(0|[1-9][0-9]{0,6}))?")
_NUMBER = re.compile(r"[1-9][0-9]?")
_SUFFIX = re.compile(r"\.[a-z][a-z0-9]{1,5}$", re.IGNORECASE)
_MOST_SEARCHED = 40
_UNKNOWN = ("NOTE_NOT_FOUND", "INDEX_NOT_FOUND")
"""The codes of a name that the index does not have. There may be such a file."""


class LocalVault(NamedTuple):
    """The folder of the notes, and the folder of their index."""

    root: Path
    index_folder: Path


class ShownResult(NamedTuple):
    """A result that was printed: a note ID or chunk ID, the line of the match, and its vault."""

    id: str
    line: int | None
    vault: str | None = None  # None for the default vault


def local_vault(layers: Sequence[Layer], served: str | None) -> LocalVault | None:
    """Return the vault in the settings if a server serves it, else None.

    `served` is the identity of the vault that the server has.
    """
    try:
        root, index = vault_root(layers), index_folder(layers)
    except Misconfigured:
        return None
    if root is None or index is None or rules.vault_identity(root) != served:
        return None
    return LocalVault(root, index)


def is_obsidian(root: Path) -> bool:
    """Whether Obsidian has opened this folder as a vault."""
    return (root / ".obsidian").is_dir()


def obsidian_address(file: Path) -> str:
    """Return the address that opens a note in Obsidian."""
    return f"obsidian://open?path={parse.quote(str(file), safe='')}"


def note_address(root: Path, path: str) -> str:
    """Return the address of a note for a hyperlink: in Obsidian, or else its file."""
    file = root / path
    return obsidian_address(file) if is_obsidian(root) else file.as_uri()


def remember(
    vault: LocalVault, results: Iterable[dict[str, Any]], searched: str | None = None
) -> None:
    """Keep what was printed. Nothing happens if that cannot be written.

    `searched` is the vault of results that do not name theirs, None for the default one.
    """
    from vault_agent.system.files import replace_file

    rows = [(result["id"], result.get("line"), result.get("vault", searched)) for result in results]
    with suppress(OSError):
        replace_file(vault.index_folder / _RESULTS, orjson.dumps(rows), durable=False)


def recalled(folder: Path | None, number: int) -> ShownResult | None:
    """Return the result of this number, from 1, or None if it was not printed."""
    if folder is None or number < 1:
        return None
    try:
        result = ShownResult(*orjson.loads(read_optional(folder / _RESULTS))[number - 1])
    except (ValueError, LookupError, TypeError):
        return None
    is_whole = isinstance(result.id, str) and isinstance(result.line, int | None)
    return result if is_whole else None


class NamedPlace(NamedTuple):
    """A note, and the place in it that was named. `path` is known if the server was asked.

    A file that the index does not have as a note has no `note_id`.
    """

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

    @property
    def body(self) -> dict[str, str]:
        """The fields of a request that name the file. The index may not have the ID yet."""
        return {"path": self.path} if self.path else {"noteId": self.note_id}


def seems_file(text: str) -> bool:
    """Whether a name looks like that of a file that is no note. A title such as `Node.js` does."""
    return _SUFFIX.search(text) is not None and not is_note(text)


def is_title(text: str) -> bool:
    """Whether a text is neither an ID nor the number of a result."""
    return not _ID.fullmatch(text) and not _NUMBER.fullmatch(text)


def find(invocation: Invocation, client: Client, text: str) -> NamedPlace:
    """Return the place that a person means. An ID is not looked up.

    It is of the project's vault inside a trusted project, else of the default one, unless a vault
    is named (`global:Stock`) or it is the number of a result. The client's further calls are about
    this vault. What the number of a result means is printed.

    Raises:
        InvalidRequest: `INVALID_ID` if the text is empty.
        NotFound: `NOTE_NOT_FOUND`, or `NOTE_AMBIGUOUS` with `details.notes`.
    """
    if _NUMBER.fullmatch(text):
        return _result(invocation, client, text)
    name = choose_vault(invocation, client, text)
    match = _ID.fullmatch(name)
    return look_up(client, name) if match is None else _place(match)


def find_part(invocation: Invocation, client: Client, text: str) -> NamedPlace:
    """Return the place that a person wants to read. NOTE#HEADING is a heading of a note.

    A name with # in it comes first. Changes are not sent to what is named so: a heading that is
    typed in vain must not mean the whole note.

    Raises:
        InvalidRequest, NotFound: as `find`.
    """
    try:
        return find(invocation, client, text)
    except NotFound as error:
        name, _, heading = text.partition("#")
        if error.code != "NOTE_NOT_FOUND" or not name or not heading:
            raise
        with suppress(NotFound):
            return find(invocation, client, name)._replace(heading=heading)
        raise


def choose_vault(invocation: Invocation, client: Client, text: str) -> str:
    """Let the calls be about the vault of an address, and return the path or name in it.

    The address `global:Bread.md` names its vault. Without one it is the vault of the scope.
    """
    if ":" in text and invocation.vault is None and several_vaults(invocation.layers()):
        for vault in all_vaults():
            if text.startswith(f"{vault}:"):
                client.vault_name = _in_requests(vault)
                return text.removeprefix(f"{vault}:")
    client.vault_name = _in_requests(vault_here(invocation))
    return text


def find_attachment(invocation: Invocation, client: Client, text: str) -> str | None:
    """Return the path of the attachment that a person means, or None if there is none.

    The client's further calls are about the vault as of `choose_vault`.
    """
    path = choose_vault(invocation, client, text)
    try:
        client.call("GET /attachments/{path}", path=path)
    except (Forbidden, InvalidRequest, NotFound):
        return None
    return path


def _in_requests(vault: str | None) -> str | None:
    """Return the name of a vault in requests: none for the default one."""
    return None if vault == DEFAULT else vault


def _result(invocation: Invocation, client: Client, text: str) -> NamedPlace:
    """Return the place of a result of the last search at a terminal, and print which note it is.

    Without such a result, the number is the name of a note.
    """
    result = recalled(index_folder(invocation.layers()), int(text))
    if result is None or not (match := _ID.fullmatch(result.id)):
        try:
            return look_up(client, choose_vault(invocation, client, text))
        except NotFound as error:
            if error.code != "NOTE_NOT_FOUND":
                raise
            raise NotFound(
                error.code,
                f"Your last search at a terminal has no result {text}.",
                remedy="Search first: `vault-agent search WORDS`",
            ) from None
    if invocation.vault is None and result.vault is not None:
        client.vault_name = _in_requests(result.vault)
    try:
        note = look_up(client, match[1])
    except NotFound as error:
        raise NotFound(
            error.code, f"Result {text} of your last search was moved or deleted."
        ) from None
    if not invocation.json:
        is_here = client.vault_name == _in_requests(vault_here(invocation))
        where = "" if is_here else f"{client.vault_name or DEFAULT}:"
        tell(f"{text} is {clean(where + (note.path or ''))}")
    return _place(match, result.line)._replace(path=note.path)


def look_up(client: Client, text: str) -> NamedPlace:
    """Return the place that a text means, found by the server.

    Raises:
        NotFound: `NOTE_NOT_FOUND`, or `NOTE_AMBIGUOUS` with `details.notes`.
    """
    if not text.strip():
        raise InvalidRequest("INVALID_ID", "Name a note.")
    try:
        data = client.call("GET /resolve", name=text).envelope["data"]
    except NotFound as error:
        if error.code != "NOTE_NOT_FOUND":
            raise
        if "excluded" in error.details:
            raise
        typed = clean(quote(text[:_MOST_SEARCHED]))
        raise NotFound(
            error.code,
            f"No note has the path, name, alias or title {quoted(text)}.",
            error.details,
            remedy=""
            if error.details.get("suggestions")
            else f"Search for it: `vault-agent search {typed}`.",
        ) from None
    notes = data["notes"]
    if len(notes) > 1 or data.get("hasMore"):
        number = f"More than {len(notes)}" if data.get("hasMore") else str(len(notes))
        raise NotFound("NOTE_AMBIGUOUS", f"{number} notes have this name.", {"notes": notes})
    (note,) = notes
    return NamedPlace(
        note["noteId"], line=data.get("line"), heading=data.get("heading"), path=note["path"]
    )


def heading_line(outline: dict[str, Any], heading: str) -> int | None:
    """Return the line of a heading or a block (`^abc`) in a note's outline, or None."""
    wanted = heading.rpartition("#")[2].strip().casefold()
    places = [(entry["text"], entry["line"]) for entry in outline["headings"]]
    places += [(entry["blockId"], entry["line"]) for entry in outline["blocks"]]
    return next((int(line) for name, line in places if name.casefold() == wanted), None)


def _place(match: re.Match[str], line: int | None = None) -> NamedPlace:
    return NamedPlace(match[1], int(match[2]) if match[2] else None, line)


def named_file(invocation: Invocation, client: Client, name: str) -> NamedPlace:
    """Return the note or the attachment that a person means. An attachment is named by its path.

    An attachment with exactly this path comes before a note whose title it is.

    The client's further calls are about the vault as of `choose_vault`.

    Raises:
        NotFound: `NOTE_NOT_FOUND`, or `NOTE_AMBIGUOUS` with `details.notes`.
    """
    if seems_file(name) and (attachment := find_attachment(invocation, client, name)):
        return NamedPlace("", path=attachment)
    try:
        return find(invocation, client, name)
    except VaultAgentError as error:
        if error.code not in _UNKNOWN or not is_note(name):
            raise
        return NamedPlace("", path=choose_vault(invocation, client, name))
