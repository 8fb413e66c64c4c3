"""Finds the notes that a person or a link means by a name.

A name is a note ID or chunk ID, `id:` with the `id` of a frontmatter, a path, the end of a path, a
note's name, alias or title, a `[[wikilink]]`, or an `obsidian://` or `file://` address. Only the
first of these ways that finds a note counts, so a file's name comes before another note's title.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

from rapidfuzz.fuzz import ratio
from rapidfuzz.process import extract

from vault_agent.errors import Forbidden, InvalidRequest, NotFound, VaultAgentError
from vault_agent.model.identifiers import identify
from vault_agent.model.link_resolver import target_key
from vault_agent.model.names import Match, NamedNote, NamedNotes
from vault_agent.model.notes import LinkKind
from vault_agent.model.pages import LinkedFile
from vault_agent.search.named import file_at, note_with_id
from vault_agent.store.current import SnapshotOutdated
from vault_agent.store.index import documents
from vault_agent.store.index import notes as reading
from vault_agent.store.index.links import resolver_for
from vault_agent.store.index.rows import name_hash
from vault_agent.system.cancelling import in_thread
from vault_agent.text.names import NOTE_SUFFIXES, fold, is_note, stem, unmarked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from urllib.parse import SplitResult

    from vault_agent.model.scope import Scope
    from vault_agent.store.current import Snapshot
    from vault_agent.store.database import Connection
    from vault_agent.store.fulltext.reader import FulltextReader
    from vault_agent.store.index.notes import StoredNote
    from vault_agent.vault.root import VaultRoot


MAX_NOTES = 10
"""Notes in a reply."""

_ID = re.compile(r"([0-9a-f]{32})(?::[0-9]{1,7})?")
_BY_ID = "id:"
_LINE = re.compile(
    rf"(.+(?:{'|'.join(map(re.escape, NOTE_SUFFIXES))})):([0-9]{{1,9}})(?:[-:][0-9]{{1,9}})?",
    re.IGNORECASE,
)


_ODD = re.compile(r"[\x00-\x1f\\]|\A\s|\s\Z")
"""In a path that only a program could have made. Typed names have it beside the path."""
_MARKDOWN_LINK = re.compile(r"!?\[[^\[\]]*\]\(<?(.*?)>?\)", re.DOTALL)


class _Asked(NamedTuple):
    """A name without its decoration. `path` uses `/` and is "" if the name can't be a note's."""

    path: str
    line: int | None = None
    heading: str | None = None


class _Written(NamedTuple):
    """A link as it is written."""

    target: str
    kind: LinkKind
    heading: str | None


def resolve_links(
    connection: Connection, wanted: Iterable[tuple[str, str, LinkKind]]
) -> dict[tuple[str, str, LinkKind], LinkedFile | None]:
    """Return the file of each link: of the note at a path, to a target, of a kind."""
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
    open_vault: Callable[[], VaultRoot] | None = None,
    roots: Sequence[str] = (),
    source: str | None = None,
    attachments: bool = False,
) -> NamedNotes:
    """Return the notes that `name` means, at most `MAX_NOTES`, shortest path first.

    With `attachments`, also those whose text is indexed, by ID or by path if no note has it.

    A link in the note with the ID `source` means the one note that it leads to there.
    With `open_vault`, a file at the exact path comes before what has such a name, indexed or not.
    `roots` are the vault's absolute paths. An absolute path below one of them is a path of the
    vault. Paths are relative to the folder of the index.

    Raises:
        InvalidRequest: `INVALID_PATH` if the name has a control character, and no note this path.
        Forbidden: `PATH_OUTSIDE_VAULT` if `..` leads out of the vault.
        NotFound: `NOTE_NOT_FOUND` with up to five similar paths in `details.suggestions`.
    """
    scope = snapshot.scope
    if _ODD.search(name) is not None:
        odd = await _exact(snapshot, name)
        if odd is not None:
            return odd
    if scope.folder:  # for its reader, the folder is the vault
        roots = [f"{root}/{scope.folder}" for root in roots]
    link = _written(name.strip())
    if source is not None and link is not None:
        there = await snapshot.read(_followed, source, link)
        if there is not None:
            return _only(there, scope, link.heading)
    asked = _asked(name.strip(), link, roots)
    match: Match = "id"
    found = await _by_id(snapshot, name.strip(), attachments=attachments)
    if not found and asked.path:
        match, found = await snapshot.read(_by_path, asked.path, scope, attachments=attachments)
    exact = scope.outer(asked.path)
    if open_vault and is_note(exact) and not any(note.path == exact for note in found):
        file = await in_thread(_file, open_vault, exact)
        if file is not None:
            match, found = "path", [file]
    if not found and asked.path:
        match, found = "title", await snapshot.read(_by_title, snapshot.fulltext, asked.path)
    if not found:
        raise NotFound(
            "NOTE_NOT_FOUND",
            "No note has this path, name, alias or title.",
            {"suggestions": await similar_notes(snapshot, asked.path) if asked.path else []},
            remedy="Search for the note.",
        )
    return NamedNotes(
        tuple(
            NamedNote(note.id, scope.inner(note.path), note.title, match)
            for note in found[:MAX_NOTES]
        ),
        has_more=len(found) > MAX_NOTES,
        line=asked.line,
        heading=asked.heading,
    )


async def _by_id(snapshot: Snapshot, written: str, *, attachments: bool) -> list[StoredNote]:
    """Return the note that an ID, or `id:` with the `id` of a frontmatter, means."""
    if written.startswith(_BY_ID):
        try:
            written = await note_with_id(snapshot, written.removeprefix(_BY_ID))
        except NotFound as error:
            if error.code != "NOTE_NOT_FOUND":
                raise
    known = _ID.fullmatch(written)
    if known is None:
        return []
    find = documents.readable_by_id if attachments else reading.note_by_id
    note = await snapshot.read(find, known[1])
    return [note] if note is not None else []


def _file(open_vault: Callable[[], VaultRoot], path: str) -> StoredNote | None:
    """Return the note whose file is at a path; None also if the vault is not there."""
    try:
        with open_vault() as root:
            return file_at(root, path)
    except VaultAgentError:
        return None


async def _exact(snapshot: Snapshot, name: str) -> NamedNotes | None:
    """Return the note with an odd path. Raises `INVALID_PATH` for others as `resolve`."""
    suffixes = () if name == name.strip() else NOTE_SUFFIXES
    for path in (name, *(f"{name}{suffix}" for suffix in suffixes)):
        note = await snapshot.read(reading.note_by_id, identify(snapshot.scope.outer(path)))
        if note is not None:
            return _only(note, snapshot.scope)
    if any(character < " " for character in name):
        raise InvalidRequest("INVALID_PATH", "A name has no control characters.")
    return None


def _only(note: StoredNote, scope: Scope, heading: str | None = None) -> NamedNotes:
    """Return the one note that a path or a link means."""
    named = NamedNote(note.id, scope.inner(note.path), note.title, "path")
    return NamedNotes((named,), has_more=False, line=None, heading=heading)


def _written(name: str) -> _Written | None:
    """Return what a `[[wikilink]]` or a `[Markdown](link.md)` says, or None if it is neither."""
    inner = name.removeprefix("!")
    if inner.startswith("[[") and inner.endswith("]]"):
        target, _, heading = inner[2:-2].partition("|")[0].removesuffix("\\").partition("#")
        return _Written(target, LinkKind.WIKILINK, heading.strip() or None)
    if (match := _MARKDOWN_LINK.fullmatch(name)) is not None:
        target, _, heading = match[1].partition("#")
        return _Written(unquote(target), LinkKind.MARKDOWN, unquote(heading).strip() or None)
    return None


def _followed(connection: Connection, source: str, link: _Written) -> StoredNote | None:
    """Return the note to which a link in a note leads."""
    note = reading.note_by_id(connection, source)
    if note is None:
        return None
    wanted = (note.path, link.target, link.kind)
    file = resolve_links(connection, [wanted])[wanted]
    if file is None or file.note_id is None:
        return None
    return reading.note_by_id(connection, file.note_id)


def _asked(name: str, link: _Written | None, roots: Sequence[str]) -> _Asked:
    if link is not None:
        return _Asked(_normal(link.target, ()), heading=link.heading)
    if (scheme := name.partition(":")[0].lower()) in ("obsidian", "file"):
        try:
            address = urlsplit(name)
        except ValueError:
            return _Asked("")
        if scheme == "obsidian":
            return _obsidian(address, roots)
        return _Asked(_below(unquote(address.path), roots) or "")
    if located := _LINE.fullmatch(name):
        return _Asked(_normal(located[1], roots), line=int(located[2]))
    return _Asked(_normal(name, roots))


def _obsidian(parts: SplitResult, roots: Sequence[str]) -> _Asked:
    """Read `obsidian://open?vault=V&file=F`, `?path=P`, `obsidian://vault/V/F` and `obsidian:///P`.

    An address that names another vault than ours means no note of ours.
    """
    given = {key: values[0] for key, values in parse_qs(parts.query).items()}
    vault, file, path = given.get("vault"), given.get("file", ""), given.get("path", "")
    if parts.netloc == "vault":
        vault, _, file = unquote(parts.path).lstrip("/").partition("/")
    elif not parts.netloc:
        path = unquote(parts.path)
    if path:
        return _Asked(_below(path, roots) or "")
    ours = {fold(re.split(r"[\\/]", root.rstrip("\\/"))[-1]) for root in roots}
    if vault and roots and fold(vault) not in ours and not re.fullmatch("[0-9a-f]{16}", vault):
        return _Asked("")
    file, _, heading = file.partition("#")
    return _Asked(_normal(file, ()), heading=heading or None)


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
) -> tuple[Match, list[StoredNote]]:
    """Return the notes that `path` means: itself, in another spelling, its end, or an alias."""
    candidates = [
        (scope.inner(found), found, names)
        for found, names in reading.files_named(connection, [name_hash(target_key(path))])[0]
    ]
    candidates.sort(key=lambda each: (len(each[0]), each[0], each[1]))
    folded = fold(path)
    end = f"/{folded}"
    ways: tuple[tuple[Match, list[str]], ...] = (
        ("path", [found for each, found, _ in candidates if path in _spellings(each)]),
        ("path", [found for each, found, _ in candidates if folded in _spellings(fold(each))]),
        (
            "name",
            [
                found
                for each, found, _ in candidates
                if any(spelling.endswith(end) for spelling in _spellings(fold(each)))
            ],
        ),
        (
            "alias",
            [found for _, found, names in candidates if folded in map(fold, map(unmarked, names))],
        ),
    )
    match, paths = next(((match, found) for match, found in ways if found), ("path", []))
    if attachments and not paths:
        return match, _attachments(connection, path, scope)
    return match, _notes_at(connection, paths)


def _attachments(connection: Connection, path: str, scope: Scope) -> list[StoredNote]:
    """Return the attachments with indexed text that have this path, or else one that ends in it."""
    named = reading.files_named(connection, [name_hash(target_key(path))])[1]
    inside = [(scope.inner(each), each) for each in named]
    exact = [each for inner, each in inside if fold(inner) == fold(path)]
    ending = [each for inner, each in inside if f"/{fold(inner)}".endswith(f"/{fold(path)}")]
    found = (documents.readable_by_id(connection, identify(each)) for each in exact or ending)
    return sorted(filter(None, found), key=lambda each: (len(each.path), each.path))


def _spellings(path: str) -> tuple[str, ...]:
    """Return a note's path with and without its suffix."""
    return (path, path[: path.rindex(".")]) if is_note(path) else (path,)


def _notes_at(connection: Connection, paths: Sequence[str]) -> list[StoredNote]:
    found = [reading.note_by_id(connection, identify(path)) for path in paths[: MAX_NOTES + 1]]
    if None in found:
        raise SnapshotOutdated
    return [note for note in found if note is not None]


def _by_title(connection: Connection, fulltext: FulltextReader, title: str) -> list[StoredNote]:
    """Return the notes with this title, which need not be the name of their file."""
    rowids = fulltext.named(title)
    folded = fold(title)
    # A title may end in what looks like a suffix of notes.
    wanted = {folded, *(folded.removesuffix(suffix) for suffix in NOTE_SUFFIXES)}
    notes = reading.by_rowid(connection, rowids).values()
    found = [note for note in notes if fold(note.title) in wanted]
    return sorted(found, key=lambda note: (len(note.path), note.path))


SUGGESTIONS = 5
_SIMILAR = 75.0
"""Lowest similarity, of 100."""
_MAX_CHARACTERS = 200


async def similar_notes(snapshot: Snapshot, name: str) -> list[str]:
    """Return the paths of up to five notes whose name or alias is similar, the closest first.

    Paths are relative to the folder of the index.
    """
    return await snapshot.read(_closest, stem(name), snapshot.scope)


def _closest(connection: Connection, name: str, scope: Scope) -> list[str]:
    names: list[str] = []
    paths: list[str] = []
    for outer, aliases in reading.names(connection):
        path = scope.inner(outer)
        for each in (stem(path), *map(unmarked, aliases)):
            names.append(fold(each[:_MAX_CHARACTERS]))
            paths.append(path)
    wanted = fold(name[:_MAX_CHARACTERS])
    found = extract(wanted, names, scorer=ratio, score_cutoff=_SIMILAR, limit=4 * SUGGESTIONS)
    ordered = sorted(found, key=lambda each: (-each[1], paths[each[2]]))
    return list(dict.fromkeys(paths[place] for _, _, place in ordered))[:SUGGESTIONS]
