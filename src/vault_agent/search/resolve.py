"""Finds the notes that a person or a link means by a name, and notes by their ID.

A name is a note ID or chunk ID, `id:` with the `id` of a frontmatter, a path, the end of a path, a
note's name, alias or title, a `[[wikilink]]`, or an `obsidian://` or `file://` address. Only the
first of these ways that finds a note counts, so a file's name comes before another note's title.
"""

from __future__ import annotations

import re
import stat
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

from rapidfuzz.fuzz import ratio
from rapidfuzz.process import extract

from vault_agent.errors import Forbidden, InvalidRequest, NotFound, VaultAgentError
from vault_agent.model.identifiers import CHUNK_BITS, identify
from vault_agent.model.link_resolver import target_key
from vault_agent.model.names import NamedNote, NamedNotes, NameMatch
from vault_agent.model.notes import LinkKind
from vault_agent.model.pages import LinkedFile
from vault_agent.model.search import Filters
from vault_agent.model.warning import Warning
from vault_agent.store.current import SnapshotOutdated
from vault_agent.store.index import documents
from vault_agent.store.index import notes as stored_notes
from vault_agent.store.index.links import resolver_for
from vault_agent.store.index.notes import StoredNote
from vault_agent.store.index.rows import MAX_CHUNKS, name_hash
from vault_agent.system.cancelling import in_thread
from vault_agent.text.names import NOTE_SUFFIXES, fold, is_note, stem, unmarked
from vault_agent.vault.opening import CannotOpen
from vault_agent.vault.paths import validate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from urllib.parse import SplitResult

    from vault_agent.model.scope import Scope
    from vault_agent.store.current import Snapshot
    from vault_agent.store.database import Connection
    from vault_agent.store.fulltext.reader import FulltextReader
    from vault_agent.store.index.notes import StoredChunk
    from vault_agent.vault.root import VaultRoot

MAX_NOTES = 10
"""The most notes in a reply, and in the details of an error."""

_ID = re.compile(r"([0-9a-f]{32})(?::[0-9]{1,7})?")
_BY_ID = "id:"
_LINE = re.compile(
    rf"(.+(?:{'|'.join(map(re.escape, NOTE_SUFFIXES))})):([0-9]{{1,9}})(?:[-:][0-9]{{1,9}})?",
    re.IGNORECASE,
)
_ODD = re.compile(r"[\x00-\x1f\\]|\A\s|\s\Z")
"""Characters that only a program has put into a path. In a typed name they are around the path."""
_MARKDOWN_LINK = re.compile(r"!?\[[^\[\]]*\]\(<?(.*?)>?\)", re.DOTALL)


class _TypedName(NamedTuple):
    """A name without its decoration. `path` uses `/` and is "" if the name can't be a note's."""

    path: str
    line: int | None = None
    heading: str | None = None


class _TypedLink(NamedTuple):
    """A link as it is written."""

    target: str
    kind: LinkKind
    heading: str | None


def resolve_links(
    connection: Connection, wanted: Iterable[tuple[str, str, LinkKind]]
) -> dict[tuple[str, str, LinkKind], LinkedFile | None]:
    """Return the file to which each link leads, or None.

    A link is the path of the note that has it, its target and its kind.
    """
    wanted = list(wanted)
    resolver = resolver_for(connection, (target for _, target, _ in wanted if target))
    links: dict[tuple[str, str, LinkKind], LinkedFile | None] = {}
    for source, target, kind in wanted:
        result = resolver.resolve(source, target, kind)
        if result.path is None:
            links[source, target, kind] = None
        else:
            note_id = identify(result.path) if result.is_note else None
            links[source, target, kind] = LinkedFile(result.path, note_id)
    return links


async def resolve(
    snapshot: Snapshot,
    name: str,
    *,
    open_root: Callable[[], VaultRoot] | None = None,
    roots: Sequence[str] = (),
    source: str | None = None,
    attachments: bool = False,
) -> NamedNotes:
    """Return the notes that `name` means, at most `MAX_NOTES`, shortest path first.

    With `attachments`, also attachments whose text is indexed: by ID, or by path if no note has it.

    With `source`, a link means the one note to which it leads in the note with this ID. With
    `open_root`, a file at the exact path, indexed or not, comes before notes with such a name.
    `roots` are the vault's absolute paths: an absolute path below one of them is a path of the
    vault. Paths are relative to the scope's folder.

    Raises:
        InvalidRequest: `INVALID_PATH` if the name has a control character, and is no note's path.
        Forbidden: `PATH_OUTSIDE_VAULT` if `..` leads out of the vault.
        NotFound: `NOTE_NOT_FOUND` with up to five similar paths in `details.suggestions`.
    """
    scope = snapshot.scope
    if _ODD.search(name) is not None:
        odd = await _exact(snapshot, name)
        if odd is not None:
            return odd
    if scope.base_folder:  # to the caller, the scope's folder is the vault
        roots = [f"{root}/{scope.base_folder}" for root in roots]
    link = _read_link(name.strip())
    if source is not None and link is not None:
        note = await snapshot.read(_follow, source, link)
        if note is not None:
            return _only(note, scope, link.heading)
    wanted = _read_name(name.strip(), link, roots)
    match: NameMatch = "id"
    notes = await _by_id(snapshot, name.strip(), attachments=attachments)
    if not notes and wanted.path:
        match, notes = await snapshot.read(_by_path, wanted.path, scope, attachments=attachments)
    exact = scope.in_vault(wanted.path)
    if open_root and is_note(exact) and not any(note.path == exact for note in notes):
        file = await in_thread(_file, open_root, exact)
        if file is not None:
            match, notes = "path", [file]
    if not notes and wanted.path:
        match, notes = "title", await snapshot.read(_by_title, snapshot.fulltext, wanted.path)
    if not notes:
        raise NotFound(
            "NOTE_NOT_FOUND",
            "No note has this path, name, alias or title.",
            {"suggestions": await similar_notes(snapshot, wanted.path) if wanted.path else []},
            remedy="Search for the note.",
        )
    return NamedNotes(
        tuple(
            NamedNote(note.id, scope.to_caller(note.path), note.title, match)
            for note in notes[:MAX_NOTES]
        ),
        has_more=len(notes) > MAX_NOTES,
        line=wanted.line,
        heading=wanted.heading,
    )


async def _by_id(snapshot: Snapshot, text: str, *, attachments: bool) -> list[StoredNote]:
    """Return the note with an ID, or with the `id` of its frontmatter after `id:`."""
    if text.startswith(_BY_ID):
        try:
            text = await note_with_id(snapshot, text.removeprefix(_BY_ID))
        except NotFound as error:
            if error.code != "NOTE_NOT_FOUND":
                raise
    match = _ID.fullmatch(text)
    if match is None:
        return []
    find = documents.note_or_document if attachments else stored_notes.note_by_id
    note = await snapshot.read(find, match[1])
    return [note] if note is not None else []


def _file(open_root: Callable[[], VaultRoot], path: str) -> StoredNote | None:
    """Return the note whose file is at a path, or None if there is no file or no vault."""
    try:
        with open_root() as root:
            return file_at(root, path)
    except VaultAgentError:
        return None


async def _exact(snapshot: Snapshot, name: str) -> NamedNotes | None:
    """Return the note with exactly this path, which `_ODD` matches, or None.

    Raises:
        InvalidRequest: `INVALID_PATH` if there is none, and the path has a control character.
    """
    suffixes = () if name == name.strip() else NOTE_SUFFIXES
    for path in (name, *(f"{name}{suffix}" for suffix in suffixes)):
        note = await snapshot.read(stored_notes.note_by_id, identify(snapshot.scope.in_vault(path)))
        if note is not None:
            return _only(note, snapshot.scope)
    if any(character < " " for character in name):
        raise InvalidRequest("INVALID_PATH", "A name has no control characters.")
    return None


def _only(note: StoredNote, scope: Scope, heading: str | None = None) -> NamedNotes:
    """Return a note as the only one that a path or a link means."""
    named = NamedNote(note.id, scope.to_caller(note.path), note.title, "path")
    return NamedNotes((named,), has_more=False, line=None, heading=heading)


def _read_link(name: str) -> _TypedLink | None:
    """Return the parts of a `[[wikilink]]` or a `[Markdown](link.md)`, or None for another name."""
    inner = name.removeprefix("!")
    if inner.startswith("[[") and inner.endswith("]]"):
        target, _, heading = inner[2:-2].partition("|")[0].removesuffix("\\").partition("#")
        return _TypedLink(target, LinkKind.WIKILINK, heading.strip() or None)
    if (match := _MARKDOWN_LINK.fullmatch(name)) is not None:
        target, _, heading = match[1].partition("#")
        return _TypedLink(unquote(target), LinkKind.MARKDOWN, unquote(heading).strip() or None)
    return None


def _follow(connection: Connection, source: str, link: _TypedLink) -> StoredNote | None:
    """Return the note to which a link in a note leads."""
    note = stored_notes.note_by_id(connection, source)
    if note is None:
        return None
    wanted = (note.path, link.target, link.kind)
    file = resolve_links(connection, [wanted])[wanted]
    if file is None or file.note_id is None:
        return None
    return stored_notes.note_by_id(connection, file.note_id)


def _read_name(name: str, link: _TypedLink | None, roots: Sequence[str]) -> _TypedName:
    if link is not None:
        return _TypedName(_normal(link.target, ()), heading=link.heading)
    scheme, colon, _ = name.lower().partition(":")
    if colon and scheme in ("obsidian", "file"):
        try:
            address = urlsplit(name)
        except ValueError:
            return _TypedName("")
        if scheme == "obsidian":
            return _obsidian(address, roots)
        return _TypedName(_below(unquote(address.path), roots) or "")
    if located := _LINE.fullmatch(name):
        return _TypedName(_normal(located[1], roots), line=int(located[2]))
    return _TypedName(_normal(name, roots))


def _obsidian(parts: SplitResult, roots: Sequence[str]) -> _TypedName:
    """Read `obsidian://open?vault=V&file=F`, `?path=P`, `obsidian://vault/V/F` and `obsidian:///P`.

    An address that names another vault means no note.
    """
    parameters = {key: values[0] for key, values in parse_qs(parts.query).items()}
    vault = parameters.get("vault")
    file, path = parameters.get("file", ""), parameters.get("path", "")
    if parts.netloc == "vault":
        vault, _, file = unquote(parts.path).lstrip("/").partition("/")
    elif not parts.netloc:
        path = unquote(parts.path)
    if path:
        return _TypedName(_below(path, roots) or "")
    ours = {fold(re.split(r"[\\/]", root.rstrip("\\/"))[-1]) for root in roots}
    if vault and roots and fold(vault) not in ours and not re.fullmatch("[0-9a-f]{16}", vault):
        return _TypedName("")
    file, _, heading = file.partition("#")
    return _TypedName(_normal(file, ()), heading=heading or None)


def _below(path: str, roots: Sequence[str]) -> str | None:
    """Return an absolute path relative to the vault, or None if it is not below a root."""
    path = path.replace("\\", "/")
    path = path[1:] if re.match("/[A-Za-z]:/", path) else path
    for root in roots:
        start = root.replace("\\", "/").rstrip("/") + "/"
        if path.startswith(start):
            return _normal(path.removeprefix(start), ())
    return None


def _normal(path: str, roots: Sequence[str]) -> str:
    """Return a path from the vault's root without `.`, `..` and doubled or outer slashes."""
    if (below := _below(path, roots)) is not None:
        return below
    parts: list[str] = []
    for part in path.replace("\\", "/").strip().split("/"):
        if part == "..":
            if not parts:
                raise Forbidden("PATH_OUTSIDE_VAULT", "The path leads out of the vault.")
            del parts[-1]
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def _by_path(
    connection: Connection, path: str, scope: Scope, *, attachments: bool
) -> tuple[NameMatch, list[StoredNote]]:
    """Return the notes that `path` means, by the first way that finds one.

    It may be the path, the path in another letter case, the end of the path, or an alias.
    """
    notes, others = stored_notes.files_named(connection, [name_hash(target_key(path))])
    candidates = [(scope.to_caller(outer), outer, names) for outer, names in notes]
    candidates.sort(key=lambda candidate: (len(candidate[0]), candidate[:2]))
    folded = fold(path)
    end = f"/{folded}"
    ways: tuple[tuple[NameMatch, Callable[[str, Iterable[str]], bool]], ...] = (
        ("path", lambda inner, _: path in _spellings(inner)),
        ("path", lambda inner, _: folded in _spellings(fold(inner))),
        ("name", lambda inner, _: any(name.endswith(end) for name in _spellings(fold(inner)))),
        ("alias", lambda _, names: folded in map(fold, map(unmarked, names))),
    )
    for match, is_meant in ways:
        paths = [outer for inner, outer, names in candidates if is_meant(inner, names)]
        if paths:
            return match, _notes_at(connection, paths)
    return "path", _attachments(connection, others, path, scope) if attachments else []


def _attachments(
    connection: Connection, named: Sequence[str], path: str, scope: Scope
) -> list[StoredNote]:
    """Return the attachments of `named` at `path`; if there are none, those whose path ends in it.

    Only attachments whose text is indexed are returned.
    """
    inside = [(scope.to_caller(attachment), attachment) for attachment in named]
    exact = [attachment for inner, attachment in inside if fold(inner) == fold(path)]
    ending = [
        attachment for inner, attachment in inside if f"/{fold(inner)}".endswith(f"/{fold(path)}")
    ]
    notes = (
        documents.note_or_document(connection, identify(attachment))
        for attachment in exact or ending
    )
    return sorted(filter(None, notes), key=lambda note: (len(note.path), note.path))


def _spellings(path: str) -> tuple[str, ...]:
    """Return a note's path with and without its suffix."""
    return (path, path[: path.rindex(".")]) if is_note(path) else (path,)


def _notes_at(connection: Connection, paths: Sequence[str]) -> list[StoredNote]:
    notes = [stored_notes.note_by_id(connection, identify(path)) for path in paths[: MAX_NOTES + 1]]
    if None in notes:
        raise SnapshotOutdated
    return [note for note in notes if note is not None]


def _by_title(connection: Connection, fulltext: FulltextReader, title: str) -> list[StoredNote]:
    """Return the notes with this title, which need not be the name of their file."""
    rowids = fulltext.named(title)
    folded = fold(title)
    # A title may end like the name of a note's file.
    wanted = {folded, *(folded.removesuffix(suffix) for suffix in NOTE_SUFFIXES)}
    notes = stored_notes.by_rowid(connection, rowids).values()
    matches = [note for note in notes if fold(note.title) in wanted]
    return sorted(matches, key=lambda note: (len(note.path), note.path))


SUGGESTIONS = 5
_SIMILAR = 75.0
"""Lowest similarity, of 100."""
_MAX_CHARACTERS = 200


async def similar_notes(snapshot: Snapshot, name: str) -> list[str]:
    """Return the paths of up to five notes whose name or alias is similar, the closest first.

    Paths are relative to the scope's folder.
    """
    return await snapshot.read(_closest, stem(name), snapshot.scope)


def _closest(connection: Connection, name: str, scope: Scope) -> list[str]:
    names: list[str] = []
    paths: list[str] = []
    for outer, aliases in stored_notes.names(connection):
        path = scope.to_caller(outer)
        for known_name in (stem(path), *map(unmarked, aliases)):
            names.append(fold(known_name[:_MAX_CHARACTERS]))
            paths.append(path)
    wanted = fold(name[:_MAX_CHARACTERS])
    matches = extract(wanted, names, scorer=ratio, score_cutoff=_SIMILAR, limit=4 * SUGGESTIONS)
    ordered = sorted(matches, key=lambda match: (-match[1], paths[match[2]]))
    return list(dict.fromkeys(paths[place] for _, _, place in ordered))[:SUGGESTIONS]


# --- by ID ----------------------------------------------------------------------------------------


_NO_ROW = -1
"""The rowid of a note that is not in the index. No link of the index has it."""
NOTE_ID = re.compile(r"[0-9a-f]{32}")


def named_note(connection: Connection, note_id: str, *, attachments: bool = False) -> StoredNote:
    """Return a note by its ID; with `attachments`, also an attachment whose text is indexed.

    Raises:
        InvalidRequest: `INVALID_ID`.
        NotFound: `NOTE_NOT_FOUND`.
    """
    if not NOTE_ID.fullmatch(note_id):
        raise InvalidRequest("INVALID_ID", "A note ID is 32 lowercase hexadecimal digits.")
    find = documents.note_or_document if attachments else stored_notes.note_by_id
    note = find(connection, note_id)
    if note is None:
        raise no_note()
    return note


async def note_or_file(
    snapshot: Snapshot,
    root: VaultRoot,
    note_id: str,
    path: str | None,
    *,
    attachments: bool = True,
) -> StoredNote:
    """Return a note by its ID, or the file at its exact path if the index does not have it yet.

    With `attachments`, also an attachment whose text is indexed.

    Raises:
        InvalidRequest: `INVALID_ID`.
        NotFound: `NOTE_NOT_FOUND`.
    """
    try:
        return await snapshot.read(named_note, note_id, attachments=attachments)
    except NotFound:
        file = None
        if path is not None and identify(path) == note_id:
            file = await in_thread(file_at, root, path)
        if file is None:
            raise
        return file


def not_indexed(note: StoredNote) -> tuple[Warning, ...]:
    """Return the warning for a note that `note_or_file` found by its file alone."""
    if note.rowid != _NO_ROW:
        return ()
    what = "The index does not have this note yet, so its links and properties are missing here."
    return (Warning.of("INDEX_STALE", what),)


def file_at(root: VaultRoot, path: str) -> StoredNote | None:
    """Return the note whose file is at exactly this path, indexed or not."""
    if not is_note(path):
        return None
    try:
        validate(path)
        status = None if root.exclusions.excludes(path) else root.status(path)
    except (CannotOpen, OSError, VaultAgentError):
        return None
    if status is None or not stat.S_ISREG(status.st_mode):
        return None
    return StoredNote(_NO_ROW, 0, path, stem(path), 0, (), None, 0)


def named_handle(connection: Connection, file_id: str) -> tuple[int, int | None]:
    """Return the handle of a note or an attachment by its ID, and the rowid of a note.

    Raises:
        InvalidRequest: `INVALID_ID`.
        NotFound: `NOTE_NOT_FOUND`.
    """
    try:
        note = named_note(connection, file_id)
    except NotFound:
        handle = stored_notes.attachment_handle(connection, file_id)
        if handle is None:
            raise
        return handle, None
    return note.handle, note.rowid


async def note_with_id(snapshot: Snapshot, value: str) -> str:
    """Return the ID of the note whose frontmatter has this `id`.

    Raises:
        NotFound: `NOTE_NOT_FOUND`, or `NOTE_AMBIGUOUS` with `details.notes`.
    """
    filters = Filters(properties=(("id", value),))
    rowids = await snapshot.threads.run(snapshot.fulltext.admitted, filters)
    rows = await snapshot.read(stored_notes.by_rowid, sorted(rowids)[:MAX_NOTES])
    notes = list(rows.values())
    if len(notes) > 1:
        listed = [{"noteId": note.id, "path": note.path} for note in notes]
        listed.sort(key=lambda note: note["path"])
        raise NotFound("NOTE_AMBIGUOUS", "Several notes have this id.", {"notes": listed})
    if not notes:
        raise NotFound("NOTE_NOT_FOUND", "No note of the index has this id.", remedy="")
    return notes[0].id


def named_chunk(connection: Connection, note: StoredNote, index: int) -> StoredChunk:
    """Return a note's chunk by its index.

    Raises:
        NotFound: `CHUNK_NOT_FOUND`.
    """
    if 0 <= index < MAX_CHUNKS:
        key = note.rowid << CHUNK_BITS | index
        if (chunk := stored_notes.chunks(connection, [key]).get(key)) is not None:
            return chunk
    raise NotFound(
        "CHUNK_NOT_FOUND",
        f"The note has no such chunk; it has {note.chunk_count}, counted from 0.",
    )


def no_note() -> NotFound:
    """Return the error for a note that is not in the index."""
    return NotFound(
        "NOTE_NOT_FOUND",
        "There is no such note in the index.",
    )


def no_file(*, vanished: bool) -> NotFound:
    """Return the error for an indexed note whose file is missing or no longer readable."""
    return NotFound(
        "NOTE_NOT_FOUND",
        "The note's file was moved or deleted."
        if vanished
        else "The note's file is no longer readable as a note.",
        remedy="Update the index to remove it from there.",
    )
