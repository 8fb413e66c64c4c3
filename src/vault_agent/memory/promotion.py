"""Promotes notes of projects to the global vault, marks superseded ones, and takes both back.

A promotion is two writes: the copy, by exclusive creation, and the marks of the original, by
compare-and-swap. After a crash between them the copy names its original, so the next promotion of
that note completes it.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from vault_agent.config.registry import GLOBAL, Role
from vault_agent.errors import (
    Conflict,
    Forbidden,
    InvalidRequest,
    NotFound,
    VaultAgentError,
)
from vault_agent.memory import promotion_texts as texts
from vault_agent.memory.facts import type_of
from vault_agent.model.identifiers import identify
from vault_agent.model.memory import Demoted, GlobalCopy, Marked, Promoted
from vault_agent.model.modes import Mode
from vault_agent.model.note_types import new_note_id
from vault_agent.model.search import SearchQuery
from vault_agent.model.writing import Right, Write, WriteState
from vault_agent.search.resolve import resolve
from vault_agent.store.index import lists
from vault_agent.store.index.notes import bodies, notes_with_value
from vault_agent.system.cancelling import in_thread
from vault_agent.text.names import fold
from vault_agent.text.redaction import redact
from vault_agent.text.words import fold_words
from vault_agent.vaults.reads import ask, ready

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from vault_agent.memory.promotion_texts import Copied, Origin, Original
    from vault_agent.model.warning import Warning
    from vault_agent.model.writing import Writer, Written
    from vault_agent.store.database import Connection
    from vault_agent.vaults.open_vault import OpenVault
    from vault_agent.vaults.vaults import Vaults
    from vault_agent.writing.write import Writing


PROMOTE, UNDO, SUPERSEDE = "promote", "promote_undo", "supersede"
"""The operations in the log of writes."""
MAX_SIMILAR = 5
MAX_SECRETS = 20
"""What an error lists at most."""
_NAMES_TRIED = 100


class _Source(NamedTuple):
    """A note to promote, and where it is."""

    writing: Writing
    original: Original
    origin: Origin

    @property
    def key(self) -> str:
        return texts.key_of(self.original, self.origin)


class _GlobalVault(NamedTuple):
    """The global vault."""

    vault: OpenVault
    writing: Writing


class _FoundCopy(NamedTuple):
    """A copy in the global vault."""

    path: str
    said: Copied | None

    @property
    def copy(self) -> GlobalCopy:
        return GlobalCopy(identify(self.path), self.path, self.said.id if self.said else None)

    def is_of(self, source: _Source) -> bool:
        return self.said is not None and self.said.key == source.key


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
        writer: Writer,
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
            VaultAgentError: as `Writing.create` and `Writing.edit`.
        """
        async with self._turn, self._global() as shared:
            source = await self._original(vault, note_id, section, writer)
            copy = await self._copy(source, shared, writer)
            if copy is not None:
                marked = source.original.names_copy(copy.path)
                done = () if marked else await self._mark(source, copy.path, writer)
                return Promoted(copy.copy, warnings=tuple(done))
            self._check_secrets(source.original)
            if not force:
                await self._check_similar(source.original, shared.vault)
            # Before anything is written: whether the original can be marked at all.
            await in_thread(texts.marked, source.original.text.encode(), "x.md")
            made, created, warnings = await self._create(source, shared, writer, folder)
            warnings += await self._mark(source, made.path, writer)
            return Promoted(made, created=created, warnings=tuple(warnings))

    async def undo(
        self, vault: OpenVault, note_id: str, writer: Writer, *, section: str | None = None
    ) -> Demoted:
        """Take a promotion back: its copy goes to the trash, and the marks of the note go.

        Raises:
            VaultAgentError: as `promote`.
        """
        async with self._turn, self._global() as shared:
            source = await self._original(vault, note_id, section, writer)
            copy = await self._copy(source, shared, writer)
            warnings: list[Warning] = []
            trash = None
            if copy is not None and await self._was_copied(shared, copy.path):
                write = _write(UNDO, Right.DELETE, writer)
                removed = await shared.writing.remove(copy.path, write)
                trash = removed.trash_path
                warnings += removed.warnings
            changed, more = await self._unmark(source, writer, copy)
            return Demoted(
                changed=changed or trash is not None,
                copy=copy.copy if copy is not None else None,
                trash_path=trash,
                warnings=(*warnings, *more),
            )

    async def supersede(
        self, vault: OpenVault, note_id: str, writer: Writer, *, superseded: bool
    ) -> Marked:
        """Give a note `status: superseded`, so that it is not recalled, or take that back.

        Raises:
            Forbidden: `VAULT_READ_ONLY` for a note of a vault that is never recalled.
            VaultAgentError: as `Writing.edit`.
        """
        entry = self._vaults.entry_of(vault)
        if entry is None or not entry.has_note_types:
            raise Forbidden("VAULT_READ_ONLY", "Only notes that are recalled are superseded.")
        write = _write(SUPERSEDE, Right.EDIT, writer)
        async with self._turn:
            writing, path = await self._writable(vault, note_id)
            if texts.is_superseded(await writing.read(path, write)) == superseded:
                return Marked(changed=False)
            if not superseded and (undone := await _undo_last(writing, path, write)) is not None:
                return Marked(changed=True, warnings=tuple(undone.warnings))
            change = await writing.edit(
                path, write, lambda note: texts.with_status(note, superseded=superseded)
            )
            return Marked(changed=change.changed, warnings=tuple(change.warnings))

    # --- the steps ------------------------------------------------------------------------------

    def _check_secrets(self, original: Original) -> None:
        secrets = redact(original.text, more=self._secrets).places
        if secrets:
            named = [{"kind": secret.kind, "line": secret.line} for secret in secrets[:MAX_SECRETS]]
            lines = ", ".join(f"{secret.kind} in line {secret.line}" for secret in secrets[:3])
            raise InvalidRequest(
                "PROMOTE_SECRETS",
                f"The note has {len(secrets)} places that look like secrets: {lines}.",
                {"secrets": named, "count": len(secrets)},
            )

    async def _check_similar(self, original: Original, vault: OpenVault) -> None:
        similar = await similar_notes(
            texts.type_of_copy(original), original.title, original.body, vault
        )
        if similar:
            listed = similar[:MAX_SIMILAR]
            paths = [f"{texts.GLOBAL}{note['path']}" for note in listed]
            raise Conflict(
                "PROMOTE_SIMILAR",
                "The global vault has a note that is much the same.",
                {"similar": listed, "suggestions": paths},
            )

    async def _create(
        self, source: _Source, shared: _GlobalVault, writer: Writer, folder: str | None
    ) -> tuple[GlobalCopy, bool, list[Warning]]:
        """Create the copy under a free name, or find one that a crash has left without marks."""
        place = texts.place_of_copy(source.original, folder)
        write = _write(PROMOTE, Right.CREATE, writer)
        now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        identifier = new_note_id(texts.type_of_copy(source.original), now[:10])
        note = await in_thread(
            texts.copy_of, source.original, source.origin, identifier=identifier, now=now
        )
        for number in range(1, _NAMES_TRIED):
            path = f"{place}.md" if number == 1 else f"{place}-{number}.md"
            try:
                change = await shared.writing.create(path, write, note)
            except Conflict as error:
                if error.code not in ("NOTE_EXISTS", "NAME_COLLISION"):
                    raise
                left = await self._read_copy(shared, str(error.details.get("path", path)), writer)
                if left is not None and left.is_of(source):
                    return left.copy, False, []
                continue
            made = _FoundCopy(change.path, texts.copied(note))
            return made.copy, True, list(change.warnings)
        raise Conflict("NAME_COLLISION", "The folder has too many notes of this name.")

    async def _mark(self, source: _Source, path: str, writer: Writer) -> Sequence[Warning]:
        write = _write(PROMOTE, Right.EDIT, writer)
        marked_path = source.original.path
        whole = not source.original.section
        change = await source.writing.edit(
            marked_path, write, lambda note: texts.marked(note, path, whole=whole)
        )
        return change.warnings

    async def _unmark(
        self, source: _Source, writer: Writer, copy: _FoundCopy | None
    ) -> tuple[bool, Sequence[Warning]]:
        """Remove the marks of a note: as the log knows what was there before, else by their names.

        Return whether it had any.
        """
        path = source.original.path
        write = _write(UNDO, Right.EDIT, writer)
        if source.original.section:
            if copy is None:
                return False, ()
            change = await source.writing.edit(
                path, write, lambda note: texts.unmarked(note, copy.path)
            )
            return change.changed, change.warnings
        if not await in_thread(texts.is_marked, source.original.text.encode()):
            return False, ()
        undone = await _undo_last(source.writing, path, _write(PROMOTE, Right.EDIT, writer))
        if undone is not None:
            note = await source.writing.read(path, write)
            if not await in_thread(texts.is_marked, note):
                return True, undone.warnings  # else somebody had made the marks before
        change = await source.writing.edit(path, write, texts.unmarked)
        return True, change.warnings

    # --- finding --------------------------------------------------------------------------------

    @asynccontextmanager
    async def _global(self) -> AsyncIterator[_GlobalVault]:
        """Lend the global vault once it can be written and searched."""
        try:
            async with self._vaults.open(GLOBAL) as vault:
                writing = vault.writes.by_itself
                await ready(vault, writing)
                yield _GlobalVault(vault, writing)
        except NotFound as error:
            if error.code != "VAULT_UNKNOWN":
                raise
            raise NotFound(
                "VAULT_UNKNOWN",
                "There is no global vault.",
                remedy="It is made when a project gets its vault.",
            ) from None

    async def _original(
        self, vault: OpenVault, note_id: str, section: str | None, writer: Writer
    ) -> _Source:
        entry = self._vaults.entry_of(vault)
        if entry is not None and entry.role is Role.GLOBAL:
            raise InvalidRequest(
                "INVALID_REQUEST", "A note of the global vault is there already.", remedy=""
            )
        if entry is None or entry.role is not Role.PROJECT:
            raise Forbidden("VAULT_READ_ONLY", "Only notes of a project's vault are promoted.")
        writing, path = await self._writable(vault, note_id)
        note = await writing.read(path, _write(PROMOTE, Right.EDIT, writer))
        original = await in_thread(texts.read_original, note, path)
        if section is not None:
            original = await in_thread(texts.part_of, original, section)
        return _Source(writing, original, texts.Origin(entry.uid, entry.name, identify(path)))

    async def _writable(self, vault: OpenVault, note_id: str) -> tuple[Writing, str]:
        """Return what writes into a vault, once it can, and the path of a note in it."""
        writing = vault.writes.by_itself
        await ready(vault, writing)
        return writing, (await vault.read(resolve, note_id, roots=vault.roots)).notes[0].path

    async def _copy(
        self, source: _Source, shared: _GlobalVault, writer: Writer
    ) -> _FoundCopy | None:
        """Return the copy of a note: the one that it names, or one that names it."""
        rows = await ask(
            shared.vault,
            lambda connection: notes_with_value(
                connection, texts.FROM, source.key, limit=MAX_SIMILAR
            ),
        )
        for path in (source.original.promoted_path, *(path for _, path in rows)):
            copy = await self._read_copy(shared, path, writer) if path is not None else None
            if copy is not None and copy.is_of(source):
                return copy
        return None

    async def _was_copied(self, shared: _GlobalVault, path: str) -> bool:
        """Whether the log of writes says that a promotion made this note.

        A note says what somebody wrote into it, perhaps in a clone. The log is the server's own.
        """
        return any(
            write.operation == PROMOTE and write.state is WriteState.DONE
            for write in await shared.writing.writes(path=path)
        )

    async def _read_copy(
        self, shared: _GlobalVault, path: str, writer: Writer
    ) -> _FoundCopy | None:
        try:
            note = await shared.writing.read(path, _write(PROMOTE, Right.EDIT, writer))
        except (NotFound, InvalidRequest, Forbidden):
            return None  # it is gone, or a person has written another name
        return _FoundCopy(path, await in_thread(texts.copied, note))


async def _undo_last(writing: Writing, path: str, write: Write) -> Written | None:
    """Undo the last write of an operation to a note, or return None if that cannot be."""
    for change in await writing.writes(path=path):
        if (
            change.operation == write.operation
            and change.state is WriteState.DONE
            and change.undoable
        ):
            with suppress(VaultAgentError):  # somebody has changed the frontmatter since
                return await writing.undo(change.write_id, replace(write, operation=UNDO))
            return None
    return None


def _write(operation: str, right: Right, writer: Writer) -> Write:
    return Write(operation=operation, right=right, caller=writer, retries=True, by_itself=True)


# --- similar notes --------------------------------------------------------------------------------


_COMPARED = 30
"""Notes whose texts are compared: those that a search for the text finds first."""
_READ = 4_000
_MAX_QUERY = 1_000
_WORDS = re.compile(r"[^\W_]+")
_SHORT = 60
"""Words of a text whose single words are compared."""
_SAME, _SAME_SHORT = 0.8, 0.7


async def similar_notes(kind: str, title: str, body: str, vault: OpenVault) -> list[dict[str, str]]:
    """Return the notes of a vault with the same type and title, or with almost the same text."""
    name = fold(title)
    words = _WORDS.findall(f"{title} {body[:_READ]}")
    query = SearchQuery(" ".join(words)[:_MAX_QUERY], Mode.LEXICAL, _COMPARED)
    hits = (await vault.search(query)).hits if words else ()

    def is_named(note: lists.NoteFacts) -> bool:
        return fold(note.title) == name and type_of(note) == kind

    def read(connection: Connection) -> tuple[list[lists.NoteFacts], list[bytes]]:
        notes = lists.read_facts(connection)
        wanted = {hit.note_id for hit in hits}
        near = [note for note in notes if is_named(note) or identify(note.path) in wanted]
        near.sort(key=lambda note: not is_named(note))
        return near, bodies(connection, [note.rowid for note in near])

    notes, texts = await ask(vault, read)

    def compare() -> list[dict[str, str]]:
        similar = []
        for note, own in zip(notes, texts, strict=True):
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
    """Whether two texts are almost the same, by their groups of words.

    Of short texts single words are compared: one other word changes five groups of five.
    """
    one, other = (_WORDS.findall(fold_words(text)) for text in (first, second))
    size = 1 if min(len(one), len(other)) < _SHORT else 5
    groups = [
        {tuple(words[at : at + size]) for at in range(len(words) - size + 1)}
        for words in (one, other)
    ]
    least = _SAME_SHORT if size == 1 else _SAME
    return one == other or len(groups[0] & groups[1]) >= least * len(groups[0] | groups[1]) > 0
