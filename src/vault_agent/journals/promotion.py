"""Promotes notes of projects to the global vault, takes that back, and mends what a crash left.

A promotion is two writes: the copy, by exclusive creation, and the marks of the original, by
compare-and-swap. After a crash between them the copy names its original, so the next promotion of
that note, or a check of all, completes it.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import asynccontextmanager
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
from vault_agent.journals import promotion_texts as texts
from vault_agent.journals.similar import similar_notes
from vault_agent.markdown.edit import Splice
from vault_agent.model.identifiers import content_hash, identify
from vault_agent.model.note_types import new_note_id
from vault_agent.model.promotion import Demoted, GlobalCopy, Interrupted, Promoted
from vault_agent.model.write_state import Right, WriteState
from vault_agent.model.writing import Write
from vault_agent.redaction.redact import redact
from vault_agent.search.html import resolved
from vault_agent.search.resolve import resolve
from vault_agent.store.index import facts, fields
from vault_agent.system.cancelling import in_thread
from vault_agent.vaults.reads import ask, ready

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from vault_agent.config.registry import Registered
    from vault_agent.journals.promotion_texts import Copied, Origin, Original
    from vault_agent.model.warning import Warning
    from vault_agent.model.writing import Writer
    from vault_agent.store.database import Connection
    from vault_agent.vaults.open_vault import OpenVault
    from vault_agent.vaults.vaults import Vaults
    from vault_agent.writing.write import Writing

PROMOTE, UNDO, UPDATE = "promote", "promote_undo", "promote_update"
"""The operations in the log of writes."""
MAX_SIMILAR = 5
MAX_SECRETS = 20
"""What an error lists at most."""
_NAMES_TRIED = 100


class _Here(NamedTuple):
    """A note to promote, and where it is."""

    vault: OpenVault
    writing: Writing
    original: Original
    origin: Origin

    @property
    def key(self) -> str:
        return texts.key_of(self.original, self.origin)


class _There(NamedTuple):
    """The global vault."""

    vault: OpenVault
    writing: Writing


class _Found(NamedTuple):
    """A copy in the global vault."""

    path: str
    note: bytes
    said: Copied | None

    @property
    def copy(self) -> GlobalCopy:
        return GlobalCopy(identify(self.path), self.path, self.said.id if self.said else None)

    @property
    def is_edited(self) -> bool:
        return self.said is None or self.said.is_edited


class Promotion:
    """Promotes notes of projects, one after the other."""

    def __init__(self, vaults: Vaults, secrets: Sequence[str]) -> None:
        """Take the vaults, and the user's own regular expressions for secrets."""
        self._vaults = vaults
        self._secrets = [re.compile(each, re.MULTILINE) for each in secrets]
        self._turn = asyncio.Lock()

    async def promote(
        self,
        vault: OpenVault,
        note_id: str,
        writer: Writer,
        *,
        folder: str | None = None,
        force: bool = False,
        update: bool = False,
    ) -> Promoted:
        """Copy a note of a project's vault to the global one, and mark it as promoted.

        A note that is promoted already gets what a crash has left out. With `update` its copy is
        written anew, if the note has changed since and the copy has not.

        Raises:
            Forbidden: `VAULT_READ_ONLY` for a note of another vault than a project's.
            NotFound: `NOTE_NOT_FOUND`; `VAULT_UNKNOWN` if there is no global vault.
            InvalidRequest: `PROMOTE_SECRETS` with `details.secrets`; `INVALID_REQUEST` for a note
                of the global vault.
            Conflict: `PROMOTE_SIMILAR` with `details.similar`, unless `force`; `PROMOTE_EDITED` if
                the copy is to be updated, and somebody has changed it.
            VaultAgentError: as `Writing.create` and `Writing.edit`.
        """
        async with self._turn, self._global() as there:
            here = await self._original(vault, note_id, writer)
            found = await self._copy(here, there, writer)
            if found is not None:
                return await self._again(here, there, found, writer, update=update)
            self._check_secrets(here.original)
            if not force:
                await self._check_similar(here.original, there.vault)
            # Before anything is written: whether the original can be marked at all.
            await in_thread(texts.marked, here.original.text.encode(), "x.md")
            made, created, warnings = await self._create(here, there, writer, folder)
            warnings += await self._mark(here, made.path, writer)
            return Promoted(made, created=created, warnings=tuple(warnings))

    async def undo(
        self, vault: OpenVault, note_id: str, writer: Writer, *, keep: bool = False
    ) -> Demoted:
        """Take a promotion back: its copy goes to the trash, and the marks of the note go.

        With `keep` the copy stays.

        Raises:
            Conflict: `PROMOTE_EDITED` if somebody has changed the copy, unless `keep`.
            VaultAgentError: as `promote`.
        """
        async with self._turn, self._global() as there:
            here = await self._original(vault, note_id, writer)
            found = await self._copy(here, there, writer)
            warnings: list[Warning] = []
            trash = None
            if found is not None and not keep:
                if found.is_edited:
                    raise Conflict("PROMOTE_EDITED", "Somebody has changed the copy since.")
                write = _write(UNDO, Right.DELETE, writer)
                removed = await there.writing.remove(found.path, write)
                trash = removed.trash_path
                warnings += removed.warnings
            changed, more = await self._unmark(here, writer)
            return Demoted(
                changed=changed or trash is not None,
                copy=found.copy if found is not None else None,
                trash_path=trash,
                warnings=(*warnings, *more),
            )

    async def check(self, writer: Writer) -> list[Interrupted]:
        """Mend promotions that a crash has interrupted, and return those that were not whole.

        Raises:
            VaultAgentError: if the global vault cannot be read. Of other vaults only those are
                looked at that can be.
        """
        found: list[Interrupted] = []
        async with self._turn, self._global() as there:
            copies = await self._copies(there)
            for entry in self._vaults.entries():
                if entry.role is Role.PROJECT:
                    try:
                        found += await self._check_project(entry, copies, there, writer)
                    except VaultAgentError:
                        continue  # missing, locked or not trusted: the list of vaults says so
        return found

    # --- the steps ------------------------------------------------------------------------------

    async def _again(
        self, here: _Here, there: _There, found: _Found, writer: Writer, *, update: bool
    ) -> Promoted:
        """Complete a promotion, and write its copy anew if that is asked for and possible."""
        outdated = found.said is not None and found.said.digest != here.original.digest
        warnings: list[Warning] = []
        written = False
        if update and outdated:
            if found.is_edited:
                raise Conflict(
                    "PROMOTE_EDITED",
                    "The note and its copy have both changed since.",
                    {"path": found.path, "noteId": identify(found.path)},
                )
            self._check_secrets(here.original)
            said = found.said.id if found.said is not None else None
            note = await self._text(here, there.vault, found.path, identifier=said)
            whole = [Splice(0, len(found.note), note)]
            write = _write(UPDATE, Right.OVERWRITE, writer, expected=found.note)
            done = await there.writing.edit(found.path, write, lambda _: whole)
            warnings += done.warnings
            written, outdated = True, False
        if here.original.promoted_path != found.path:
            warnings += await self._mark(here, found.path, writer)
        return Promoted(found.copy, updated=written, outdated=outdated, warnings=tuple(warnings))

    def _check_secrets(self, original: Original) -> None:
        found = redact(original.text, more=self._secrets).found
        if found:
            named = [{"kind": each.kind, "line": each.line} for each in found[:MAX_SECRETS]]
            lines = ", ".join(f"{each.kind} in line {each.line}" for each in found[:3])
            raise InvalidRequest(
                "PROMOTE_SECRETS",
                f"The note has {len(found)} places that look like secrets: {lines}.",
                {"secrets": named, "count": len(found)},
            )

    async def _check_similar(self, original: Original, vault: OpenVault) -> None:
        similar = await similar_notes(
            texts.type_of_copy(original), original.title, original.body, vault
        )
        if similar:
            listed = similar[:MAX_SIMILAR]
            paths = [f"{texts.GLOBAL}{each['path']}" for each in listed]
            raise Conflict(
                "PROMOTE_SIMILAR",
                "The global vault has a note that is much the same.",
                {"similar": listed, "suggestions": paths},
            )

    async def _create(
        self, here: _Here, there: _There, writer: Writer, folder: str | None
    ) -> tuple[GlobalCopy, bool, list[Warning]]:
        """Create the copy under a free name, or find one that a crash has left without marks."""
        place = texts.place_of_copy(here.original, folder)
        write = _write(PROMOTE, Right.CREATE, writer)
        for number in range(1, _NAMES_TRIED):
            path = f"{place}.md" if number == 1 else f"{place}-{number}.md"
            note = await self._text(here, there.vault, path)
            try:
                written = await there.writing.create(path, write, note)
            except Conflict as error:
                if error.code not in ("NOTE_EXISTS", "NAME_COLLISION"):
                    raise
                left = await self._read_copy(there, str(error.details.get("path", path)), writer)
                if left is not None and left.said is not None and left.said.key == here.key:
                    return left.copy, False, []
                continue
            said = texts.copied(note)
            made = GlobalCopy(identify(written.path), written.path, said.id if said else None)
            return made, True, list(written.warnings)
        raise Conflict("NAME_COLLISION", "The folder has too many notes of this name.")

    async def _text(
        self, here: _Here, vault: OpenVault, path: str, *, identifier: str | None = None
    ) -> bytes:
        """Return the copy of a note as it is written at a path of the global vault."""
        wanted = [(path, target, kind) for kind, target in texts.wanted_links(here.original)]
        found = await ask(vault, lambda connection: resolved(connection, wanted))
        now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        return await in_thread(
            texts.copy_of,
            here.original,
            here.origin,
            identifier=identifier or new_note_id(texts.type_of_copy(here.original), now[:10]),
            now=now,
            leads=lambda kind, target: found.get((path, target, kind)) is not None,
        )

    async def _mark(self, here: _Here, path: str, writer: Writer) -> Sequence[Warning]:
        write = _write(PROMOTE, Right.EDIT, writer)
        source = here.original.path
        written = await here.writing.edit(source, write, lambda note: texts.marked(note, path))
        return written.warnings

    async def _unmark(self, here: _Here, writer: Writer) -> tuple[bool, Sequence[Warning]]:
        """Remove the marks of a note: as the log knows what was there before, else by their names.

        Return whether it had any.
        """
        path = here.original.path
        if not await in_thread(texts.is_marked, here.original.text.encode()):
            return False, ()
        for each in await here.writing.writes(path=path):
            if each.operation == PROMOTE and each.state is WriteState.DONE and each.undoable:
                try:
                    undone = await here.writing.undo(
                        each.write_id, _write(UNDO, Right.EDIT, writer)
                    )
                except VaultAgentError:
                    break  # somebody has changed the frontmatter since
                note = await here.writing.read(path, _write(UNDO, Right.EDIT, writer))
                if not await in_thread(texts.is_marked, note):
                    return True, undone.warnings
                break  # the marks were there before: somebody had made them
        write = _write(UNDO, Right.EDIT, writer)
        written = await here.writing.edit(path, write, texts.unmarked)
        return True, written.warnings

    # --- finding --------------------------------------------------------------------------------

    @asynccontextmanager
    async def _global(self) -> AsyncIterator[_There]:
        """Lend the global vault once it can be written and searched."""
        try:
            lent = self._vaults.open(GLOBAL)
            async with lent as vault:
                writing = vault.writes.by_itself
                await ready(vault, writing)
                yield _There(vault, writing)
        except NotFound as error:
            if error.code != "VAULT_UNKNOWN":
                raise
            raise NotFound(
                "VAULT_UNKNOWN",
                "There is no global vault.",
                remedy="It is made when a project gets its vault.",
            ) from None

    async def _original(self, vault: OpenVault, note_id: str, writer: Writer) -> _Here:
        entry = self._vaults.entry_of(vault)
        if entry is not None and entry.role is Role.GLOBAL:
            raise InvalidRequest(
                "INVALID_REQUEST", "A note of the global vault is there already.", remedy=""
            )
        if entry is None or entry.role is not Role.PROJECT:
            raise Forbidden("VAULT_READ_ONLY", "Only notes of a project's vault are promoted.")
        writing = vault.writes.by_itself
        await ready(vault, writing)
        path = (await vault.read(resolve, note_id, roots=vault.roots)).notes[0].path
        note = await writing.read(path, _write(PROMOTE, Right.EDIT, writer))
        return _Here(
            vault,
            writing,
            await in_thread(texts.read_original, note, path),
            texts.Origin(entry.uid, entry.name, identify(path)),
        )

    async def _copy(self, here: _Here, there: _There, writer: Writer) -> _Found | None:
        """Return the copy of a note: the one that it names, or one that names it."""
        named = here.original.promoted_path
        if named is not None:
            found = await self._read_copy(there, named, writer)
            if found is not None and (found.said is None or found.said.key == here.key):
                return found
        rows = await ask(
            there.vault,
            lambda connection: fields.notes_with_value(
                connection, texts.FROM, here.key, limit=MAX_SIMILAR
            ),
        )
        for _, path in rows:
            found = await self._read_copy(there, path, writer)
            if found is not None and found.said is not None and found.said.key == here.key:
                return found
        return None

    async def _read_copy(self, there: _There, path: str, writer: Writer) -> _Found | None:
        try:
            note = await there.writing.read(path, _write(PROMOTE, Right.EDIT, writer))
        except (NotFound, InvalidRequest, Forbidden):
            return None  # it is gone, or a person has written another name
        return _Found(path, note, await in_thread(texts.copied, note))

    # --- checking -------------------------------------------------------------------------------

    async def _copies(self, there: _There) -> dict[str, str]:
        """Return the paths of the copies by what they say about their originals."""

        def read(connection: Connection) -> dict[str, str]:
            notes = {each.rowid: each.path for each in facts.read_facts(connection)}
            said = fields.values_of(connection, notes, texts.FROM)
            return {values[0]: notes[rowid] for rowid, values in said.items()}

        return await ask(there.vault, read)

    async def _check_project(
        self, entry: Registered, copies: dict[str, str], there: _There, writer: Writer
    ) -> list[Interrupted]:
        """Mend the promotions of one project."""
        found: list[Interrupted] = []
        own = f"{entry.uid}:"
        ours = {key[len(own) :]: path for key, path in copies.items() if key.startswith(own)}
        async with self._vaults.open(entry.identity) as vault:
            await ready(vault, vault.writes.by_itself)
            name = self._vaults.address_of(vault)

            def read(connection: Connection) -> tuple[dict[str, str], dict[str, str]]:
                notes = facts.read_facts(connection)
                named = {each.identifier: each.path for each in notes if each.identifier}
                named |= {identify(each.path): each.path for each in notes}
                rows = {each.rowid: each.path for each in notes}
                marks = fields.values_of(connection, rows, texts.PROMOTED_TO)
                return named, {rows[rowid]: values[0] for rowid, values in marks.items()}

            named, marks = await ask(vault, read)
            for identifier, copy in ours.items():
                path = named.get(identifier)
                if path is None:
                    found.append(Interrupted(GLOBAL, copy, "unknown", mended=False))
                elif marks.get(path) != texts.GLOBAL + copy:
                    here = await self._original(vault, identify(path), writer)
                    await self._mark(here, copy, writer)
                    found.append(Interrupted(name, path, "unmarked", mended=True))
            for path, mark in marks.items():
                place = mark.removeprefix(texts.GLOBAL)
                copy_there = await self._read_copy(there, place, writer)
                if copy_there is None and place not in ours.values():
                    found.append(Interrupted(name, path, "missing", mended=False))
        return found


def _write(operation: str, right: Right, writer: Writer, expected: bytes | None = None) -> Write:
    return Write(
        operation=operation,
        right=right,
        caller=writer,
        expected_hash=None if expected is None else content_hash(expected).hex(),
        retries=expected is None,
        by_itself=True,
    )
