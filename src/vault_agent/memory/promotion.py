"""Promotes notes of projects to the global vault, marks superseded ones, and takes both back.

A promotion is two writes: the copy, by exclusive creation, and the marks of the original, by
compare-and-swap. After a crash between them the copy names its original, so the next promotion of
that note completes it.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from vault_agent.config.vault_list import Role
from vault_agent.errors import (
    Conflict,
    Forbidden,
    InvalidRequest,
    NotFound,
    VaultAgentError,
    counted,
)
from vault_agent.markdown import frontmatter
from vault_agent.markdown.address import PartAddress, find_section
from vault_agent.markdown.document import Document
from vault_agent.markdown.edit import editable, spliced
from vault_agent.markdown.frontmatter_edit import keys_of, read_keys, set_keys
from vault_agent.markdown.parse import parse_note
from vault_agent.memory.facts import type_of
from vault_agent.model.identifiers import GLOBAL, IN_GLOBAL, identify
from vault_agent.model.memory import Demoted, GlobalCopy, Marked, Promoted
from vault_agent.model.modes import Mode
from vault_agent.model.note_types import FOLDER_OF, OTHERS, in_order, new_note_id, type_of_folder
from vault_agent.model.search import SearchQuery
from vault_agent.model.writing import Right, Write, WriteState
from vault_agent.search.resolve import resolve
from vault_agent.store.index import lists
from vault_agent.store.index.notes import bodies, notes_with_value
from vault_agent.system.cancelling import in_thread
from vault_agent.text.names import fold, slug, stem
from vault_agent.text.redaction import redact
from vault_agent.text.words import fold_words
from vault_agent.vaults.open_vault import ask, ready

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TypeAlias

    from vault_agent.markdown.edit import Splice
    from vault_agent.markdown.yaml_values import Json
    from vault_agent.model.warning import Warning
    from vault_agent.model.writing import Author, Written
    from vault_agent.store.database import Connection
    from vault_agent.vaults.open_vault import OpenVault
    from vault_agent.vaults.vaults import Vaults
    from vault_agent.writing.vault_writer import VaultWriter

    Properties: TypeAlias = dict[str, Json]

PROMOTE, UNDO, SUPERSEDE = "promote", "promote_undo", "supersede"
"""The operations in the log of writes."""
MAX_SIMILAR = 5
MAX_SECRETS = 20
"""What an error lists at most."""
_NAMES_TRIED = 100


class _Copy(NamedTuple):
    """A note of the global vault, and what it says about its original."""

    path: str
    key: str | None  # the vault and the note that it was made of
    id: str | None

    @property
    def shown(self) -> GlobalCopy:
        return GlobalCopy(identify(self.path), self.path, self.id)


class Promotion:
    """Promotes notes of projects, one after the other."""

    def __init__(self, vaults: Vaults, secrets: Sequence[str]) -> None:
        """Take the vaults, and the user's own regular expressions for secrets."""
        self._vaults = vaults
        self._secrets = [re.compile(pattern, re.MULTILINE) for pattern in secrets]
        self._turn = asyncio.Lock()

    async def promote(
        self,
        vault: OpenVault,
        note_id: str,
        author: Author,
        *,
        section: str | None = None,
        folder: str | None = None,
        force: bool = False,
    ) -> Promoted:
        """Copy a note of a project's vault to the global one, and mark it as promoted.

        With `section`, only what is below that heading is copied, and the note links to it. A note
        that is promoted already gets the marks that a crash has left out. Its copy stays as it is:
        it is a note of its own.

        Raises:
            Forbidden: `VAULT_READ_ONLY` for a note of another vault than a project's.
            NotFound: `NOTE_NOT_FOUND`; `VAULT_UNKNOWN` if there is no global vault.
                `HEADING_NOT_FOUND`.
            InvalidRequest: `PROMOTE_SECRETS` with `details.secrets`; `INVALID_REQUEST` for a note
                of the global vault.
            Conflict: `PROMOTE_SIMILAR` with `details.similar`, unless `force`.
            VaultAgentError: as `VaultWriter.create` and `VaultWriter.edit`.
        """
        async with self._turn:
            global_vault = await self._global()
            original = await self._original(vault, note_id, section, author)
            copy = await self._copy(original, global_vault, author)
            if copy is not None:
                has_marks = original.names_copy(copy.path)
                done = () if has_marks else await self._mark(vault, original, copy.path, author)
                return Promoted(copy.shown, warnings=tuple(done))
            self._check_secrets(original)
            if not force:
                await self._check_similar(original, global_vault)
            # Before anything is written: whether the original can be marked at all.
            await in_thread(marked, original.text.encode(), "x.md")
            made, created, warnings = await self._create(original, global_vault, author, folder)
            warnings += await self._mark(vault, original, made.path, author)
            return Promoted(made.shown, created=created, warnings=tuple(warnings))

    async def undo(
        self, vault: OpenVault, note_id: str, author: Author, *, section: str | None = None
    ) -> Demoted:
        """Take a promotion back: its copy goes to the trash, and the marks of the note go.

        Raises:
            VaultAgentError: as `promote`.
        """
        async with self._turn:
            global_vault = await self._global()
            original = await self._original(vault, note_id, section, author)
            copy = await self._copy(original, global_vault, author)
            warnings: list[Warning] = []
            trash = None
            # A note says what somebody wrote into it, perhaps in a clone. The log of writes is the
            # server's own.
            writer = global_vault.write_access.server_writer
            if copy is not None and any(
                write.operation == PROMOTE and write.state is WriteState.DONE
                for write in await writer.logged_writes(path=copy.path)
            ):
                removed = await writer.remove(copy.path, _write(UNDO, Right.DELETE, author))
                trash = removed.trash_path
                warnings += removed.warnings
            changed, more = await self._unmark(vault, original, author, copy)
            return Demoted(
                changed=changed or trash is not None,
                copy=copy.shown if copy is not None else None,
                trash_path=trash,
                warnings=(*warnings, *more),
            )

    async def supersede(
        self, vault: OpenVault, note_id: str, author: Author, *, superseded: bool
    ) -> Marked:
        """Give a note `status: superseded`, so that it is not recalled, or take that back.

        Raises:
            Forbidden: `VAULT_READ_ONLY` for a note of a vault that is never recalled.
            VaultAgentError: as `VaultWriter.edit`.
        """
        entry = self._vaults.entry_of(vault)
        if entry is None or not entry.has_note_types:
            raise Forbidden("VAULT_READ_ONLY", "Only notes that are recalled are superseded.")
        write = _write(SUPERSEDE, Right.EDIT, author)
        async with self._turn:
            writer, path = await self._writable(vault, note_id)
            status = read_keys(await writer.read(path, write)).get(STATUS)
            if (str(status or "").lower() == SUPERSEDED) == superseded:
                return Marked(changed=False)
            values: Properties = {STATUS: SUPERSEDED} if superseded else {}
            removed = () if superseded else (STATUS,)
            change = await writer.edit(path, write, lambda note: set_keys(note, values, removed))
            return Marked(changed=change.changed, warnings=tuple(change.warnings))

    # --- the steps ------------------------------------------------------------------------------

    def _check_secrets(self, original: Original) -> None:
        secrets = redact(original.text, more=self._secrets).places
        if secrets:
            named = [{"kind": secret.kind, "line": secret.line} for secret in secrets[:MAX_SECRETS]]
            lines = ", ".join(f"{secret.kind} in line {secret.line}" for secret in secrets[:3])
            raise InvalidRequest(
                "PROMOTE_SECRETS",
                f"The note seems to have {counted(len(secrets), 'secret')}: {lines}.",
                {"secrets": named, "count": len(secrets)},
            )

    async def _check_similar(self, original: Original, vault: OpenVault) -> None:
        similar = await similar_notes(type_of_copy(original), original.title, original.body, vault)
        if similar:
            listed = similar[:MAX_SIMILAR]
            paths = [f"{IN_GLOBAL}{note['path']}" for note in listed]
            raise Conflict(
                "PROMOTE_SIMILAR",
                "The global vault has a note that is much the same.",
                {"similar": listed, "suggestions": paths},
            )

    async def _create(
        self, original: Original, global_vault: OpenVault, author: Author, folder: str | None
    ) -> tuple[_Copy, bool, list[Warning]]:
        """Create the copy under a free name, or find one that a crash has left without marks."""
        place = place_of_copy(original, folder)
        write = _write(PROMOTE, Right.CREATE, author)
        now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        identifier = new_note_id(type_of_copy(original), now[:10])
        note = await in_thread(copy_of, original, identifier=identifier, now=now)
        for number in range(1, _NAMES_TRIED):
            path = f"{place}.md" if number == 1 else f"{place}-{number}.md"
            try:
                change = await global_vault.write_access.server_writer.create(path, write, note)
            except Conflict as error:
                if error.code not in ("NOTE_EXISTS", "NAME_COLLISION"):
                    raise
                left = await self._read_copy(
                    global_vault, str(error.details.get("path", path)), author
                )
                if left is not None and left.key == original.key:
                    return left, False, []
                continue
            return _Copy(change.path, original.key, identifier), True, list(change.warnings)
        raise Conflict("NAME_COLLISION", "The folder has too many notes of this name.")

    async def _mark(
        self, vault: OpenVault, original: Original, path: str, author: Author
    ) -> Sequence[Warning]:
        write = _write(PROMOTE, Right.EDIT, author)
        whole = not original.section
        change = await vault.write_access.server_writer.edit(
            original.path, write, lambda note: marked(note, path, whole=whole)
        )
        return change.warnings

    async def _unmark(
        self, vault: OpenVault, original: Original, author: Author, copy: _Copy | None
    ) -> tuple[bool, Sequence[Warning]]:
        """Remove the marks of a note: as the log knows what was there before, else by their names.

        Return whether it had any.
        """
        path, writer = original.path, vault.write_access.server_writer
        write = _write(UNDO, Right.EDIT, author)
        if original.section:
            if copy is None:
                return False, ()
            change = await writer.edit(path, write, lambda note: unmarked(note, copy.path))
            return change.changed, change.warnings
        if not await in_thread(is_marked, original.text.encode()):
            return False, ()
        undone = await _undo_last(writer, path, _write(PROMOTE, Right.EDIT, author))
        if undone is not None:
            note = await writer.read(path, write)
            if not await in_thread(is_marked, note):
                return True, undone.warnings  # else somebody had made the marks before
        change = await writer.edit(path, write, unmarked)
        return True, change.warnings

    # --- finding --------------------------------------------------------------------------------

    async def _global(self) -> OpenVault:
        """Return the global vault once it can be written and searched."""
        try:
            vault = await self._vaults.open(GLOBAL)
        except NotFound as error:
            if error.code != "VAULT_UNKNOWN":
                raise
            raise NotFound(
                "VAULT_UNKNOWN",
                "There is no global vault.",
                remedy="It is made when a project gets its vault.",
            ) from None
        await ready(vault, vault.write_access.server_writer)
        return vault

    async def _original(
        self, vault: OpenVault, note_id: str, section: str | None, author: Author
    ) -> Original:
        entry = self._vaults.entry_of(vault)
        if entry is not None and entry.role is Role.GLOBAL:
            raise InvalidRequest(
                "INVALID_REQUEST", "A note of the global vault is there already.", remedy=""
            )
        if entry is None or entry.role is not Role.PROJECT:
            raise Forbidden("VAULT_READ_ONLY", "Only notes of a project's vault are promoted.")
        writer, path = await self._writable(vault, note_id)
        note = await writer.read(path, _write(PROMOTE, Right.EDIT, author))
        original = await in_thread(read_original, note, path, entry.uid, entry.name)
        if section is not None:
            original = await in_thread(part_of, original, section)
        return original

    async def _writable(self, vault: OpenVault, note_id: str) -> tuple[VaultWriter, str]:
        """Return what writes into a vault, once it can, and the path of a note in it."""
        writer = vault.write_access.server_writer
        await ready(vault, writer)
        named = await vault.reader.read(resolve, note_id, roots=vault.root_paths)
        return writer, named.notes[0].path

    async def _copy(
        self, original: Original, global_vault: OpenVault, author: Author
    ) -> _Copy | None:
        """Return the copy of a note: the one that it names, or one that names it."""
        key = original.key
        rows = await ask(
            global_vault,
            lambda connection: notes_with_value(connection, FROM, key, limit=MAX_SIMILAR),
        )
        for path in (original.promoted_path, *(path for _, path in rows)):
            copy = await self._read_copy(global_vault, path, author) if path is not None else None
            if copy is not None and copy.key == key:
                return copy
        return None

    async def _read_copy(self, global_vault: OpenVault, path: str, author: Author) -> _Copy | None:
        write = _write(PROMOTE, Right.EDIT, author)
        try:
            note = await global_vault.write_access.server_writer.read(path, write)
        except (NotFound, InvalidRequest, Forbidden):
            return None  # it is gone, or a person has written another name
        return await in_thread(copied, path, note)


async def _undo_last(writer: VaultWriter, path: str, write: Write) -> Written | None:
    """Undo the last write of an operation to a note, or return None if that cannot be."""
    for entry in await writer.logged_writes(path=path):
        if entry.operation == write.operation and entry.state is WriteState.DONE and entry.undoable:
            with suppress(VaultAgentError):  # somebody has changed the frontmatter since
                return await writer.undo(entry.write_id, replace(write, operation=UNDO))
            return None
    return None


def _write(operation: str, right: Right, author: Author) -> Write:
    return Write(operation=operation, right=right, author=author, may_replan=True, by_server=True)


# --- similar notes --------------------------------------------------------------------------------


_COMPARED = 30
"""Notes whose texts are compared: those that a search for the text finds first."""
_READ = 4_000
_MAX_QUERY = 1_000
_WORDS = re.compile(r"[^\W_]+")
_SAME = 0.7


async def similar_notes(kind: str, title: str, body: str, vault: OpenVault) -> list[dict[str, str]]:
    """Return the notes of a vault with the same type and title, or with almost the same text."""
    name = fold(title)
    words = _WORDS.findall(f"{title} {body[:_READ]}")
    query = SearchQuery(" ".join(words)[:_MAX_QUERY], Mode.LEXICAL, _COMPARED)
    hits = (await vault.search(query)).results if words else ()

    def is_named(note: lists.NoteFacts) -> bool:
        return fold(note.title) == name and type_of(note) == kind

    def read(connection: Connection) -> tuple[list[lists.NoteFacts], list[bytes]]:
        notes = lists.read_facts(connection)
        wanted = {hit.note_id for hit in hits}
        near = [note for note in notes if is_named(note) or identify(note.path) in wanted]
        near.sort(key=lambda note: not is_named(note))
        return near, bodies(connection, [note.rowid for note in near])

    notes, contents = await ask(vault, read)

    def compare() -> list[dict[str, str]]:
        similar = []
        for note, own in zip(notes, contents, strict=True):
            named = is_named(note)
            if named or is_same_text(body, own.decode("utf-8", "replace")):
                similar.append(
                    {
                        "noteId": identify(note.path),
                        "path": note.path,
                        "title": note.title,
                        "by": "title" if named else "text",
                    }
                )
        return similar

    return await in_thread(compare)


def is_same_text(first: str, second: str) -> bool:
    """Whether two texts have almost the same words."""
    one, other = (set(_WORDS.findall(fold_words(text))) for text in (first, second))
    return len(one & other) >= _SAME * len(one | other) > 0


# --- the texts: the copy for the global vault, and the marks of the original ----------------------


PROMOTED, PROMOTED_TO, LINKS = "promoted", "promoted_to", "links"
"""What an original has besides, once it is promoted."""
STATUS, SUPERSEDED = "status", "superseded"
FROM = "promoted_from"
"""What a copy has besides."""

_OF_JOURNALS = (
    "model", "duration_minutes", "commits", "tokens_in", "tokens_out", "generator",
    "incomplete_reason", "status",
)  # fmt: skip
_NOT_COPIED = (PROMOTED, PROMOTED_TO, LINKS, FROM, "files", "source_files")


@dataclass(frozen=True, slots=True)
class Original:
    """A note to promote, or a section of it: then `section` is its heading as a name.

    `uid` is that of its vault.
    """

    uid: str
    project: str
    path: str
    text: str
    values: Mapping[str, Json]
    body: str
    type: str
    title: str
    line_end: str
    section: str = ""

    @property
    def promoted_path(self) -> str | None:
        """The path of its copy in the global vault, if it names one."""
        value = None if self.section else self.values.get(PROMOTED_TO)
        return (
            value.removeprefix(IN_GLOBAL) if isinstance(value, str) and _is_global(value) else None
        )

    @property
    def key(self) -> str:
        """What a copy says about it: `{uid}:{id}`, with the note ID if it has none.

        The name of a section follows after `#`.
        """
        value = self.values.get("id")
        key = f"{self.uid}:{value if isinstance(value, str) and value else identify(self.path)}"
        return f"{key}#{self.section}" if self.section else key

    def names_copy(self, path: str) -> bool:
        """Whether it has the marks of a copy at this path."""
        if self.section:
            return IN_GLOBAL + path in _items(self.values.get(LINKS))
        return self.promoted_path == path


def read_original(note: bytes, path: str, uid: str, project: str) -> Original:
    """Return a note to promote, of a project's vault with this `uid`.

    Raises:
        Conflict: `ENCODING_NOT_WRITABLE`, `FRONTMATTER_INVALID`, so that it can be marked later.
    """
    text = editable(note)
    values = keys_of(text.text)
    parsed = parse_note(text.text, path=path)
    kind = parsed.types[0].lower() if parsed.types else type_of_folder(path)
    body = text.text[frontmatter.bounds(text.text).end :]
    line_end = text.line_end() or "\n"
    return Original(uid, project, path, text.text, values, body, kind, parsed.title, line_end)


def part_of(original: Original, heading: str) -> Original:
    """Return a section of a note as what is promoted. Its lines stay at their places in `text`.

    Raises:
        Conflict: `HEADING_AMBIGUOUS`.
        NotFound: `HEADING_NOT_FOUND`.
    """
    section = find_section(Document.of_body(original.body), PartAddress(heading=(heading,)))
    body = original.body[section.start : section.end]
    head = original.text[: len(original.text) - len(original.body)]
    before = "\n" * original.body.count("\n", 0, section.start)
    return replace(
        original,
        text=head + before + body,
        body=body,
        title=f"{original.title}: {section.text}",
        section=slug(section.text) or "section",
    )


def type_of_copy(original: Original) -> str:
    """Return the type of a copy. What is worth keeping of a session is a pattern."""
    return "pattern" if original.type == "journal" else original.type


def place_of_copy(original: Original, folder: str | None) -> str:
    """Return the path of a copy without `.md`: in a folder, by default that of its type."""
    kind = type_of_copy(original)
    chosen = (folder or "").strip("/") or FOLDER_OF.get(kind, OTHERS)
    return f"{chosen}/{slug(original.title) or slug(stem(original.path)) or kind}"


def copy_of(original: Original, *, identifier: str, now: str) -> bytes:
    """Return the bytes of a copy for the global vault.

    The text stays as it is. The notes that the original's frontmatter links to are not there. Its
    files become `source_files`, which no task in another project is compared with.

    Args:
        original: the note.
        identifier: the `id` of the copy.
        now: the time as ISO 8601 in UTC, where the note has none.
    """
    dropped = (*_NOT_COPIED, *(_OF_JOURNALS if original.type == "journal" else ()))
    dropped += ("aliases",) if original.section else ()
    values: Properties = {
        name: value for name, value in original.values.items() if name not in dropped
    }
    values |= {
        "id": identifier,
        "type": type_of_copy(original),
        "title": original.title,
        "created": values.get("created") or values.get("updated") or now,
        "updated": values.get("updated") or values.get("created") or now,
        "tags": _tags(values.get("tags"), original.project),
        "project": values.get("project") or original.project,
        FROM: original.key,
    }
    if files := _items(original.values.get("files")):
        values["source_files"] = files
    head = spliced(b"", set_keys(b"", in_order(values))).decode()
    return (head.replace("\n", original.line_end) + original.body).encode()


def copied(path: str, note: bytes) -> _Copy:
    """Return what a note of the global vault says about its original, if it is a copy."""
    values = keys_of(editable(note).text)
    key, identifier = (
        value if isinstance(value := values.get(name), str) else None for name in (FROM, "id")
    )
    return _Copy(path, key, identifier)


def marked(note: bytes, path: str, *, whole: bool = True) -> tuple[Splice, ...]:
    """Mark an original as promoted to a path of the global vault. Its body stays as it is.

    Where a section was promoted, the note links to the copy but does not say that it is there.

    Raises as `set_keys`.
    """
    values = read_keys(note)
    old, place = values.get(PROMOTED_TO) if whole else None, IN_GLOBAL + path
    kept = [link for link in _items(values.get(LINKS)) if link not in (old, place)]
    named: Properties = {PROMOTED_TO: place} if whole else {}
    return set_keys(note, {PROMOTED: True, **named, LINKS: [*kept, place]})


def unmarked(note: bytes, section_path: str | None = None) -> tuple[Splice, ...]:
    """Remove the marks of an original, or of a section whose copy is at a path.

    What is promoted besides keeps its marks. Raises as `set_keys`.
    """
    values = read_keys(note)
    place = values.get(PROMOTED_TO) if section_path is None else IN_GLOBAL + section_path
    linked = _items(values.get(LINKS))
    kept = [link for link in linked if link != place]
    others = [link for link in kept if _is_global(link)]
    marks = [PROMOTED_TO] if section_path is None else []
    if not others and (section_path is None or values.get(PROMOTED_TO) is None):
        marks.insert(0, PROMOTED)
    gone = [name for name in marks if values.get(name) not in (None, False)]
    if len(kept) == len(linked):
        return set_keys(note, {}, gone)
    return set_keys(note, {LINKS: kept} if kept else {}, gone if kept else [*gone, LINKS])


def is_marked(note: bytes) -> bool:
    """Whether a note says that it is promoted."""
    return read_keys(note).get(PROMOTED_TO) is not None


def _tags(value: Json, project: str) -> list[Json]:
    tags = value.replace(",", " ").split() if isinstance(value, str) else _items(value)
    tag = f"project/{slug(project) or 'other'}"
    return [*tags, *([] if tag in tags else [tag])]


def _items(value: Json) -> list[Json]:
    """Return a list of the frontmatter without what is empty. One value is a list of one."""
    values: Sequence[Json] = value if isinstance(value, list) else (value,)
    return [entry for entry in values if entry not in (None, "")]


def _is_global(value: Json) -> bool:
    return isinstance(value, str) and value.startswith(IN_GLOBAL)
