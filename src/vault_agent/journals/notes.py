"""Writes journals into vaults: one note a session, never over what a person has changed.

Before a write its hash is recorded. So after a crash a note with that hash is known to be ours.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

from vault_agent.errors import Conflict, IndexUnavailable, NotFound, VaultAgentError
from vault_agent.journals.note_text import Named, another, named
from vault_agent.journals.session_facts import journal_of
from vault_agent.markdown import edit
from vault_agent.markdown.address import Address
from vault_agent.markdown.yaml import edit as keys
from vault_agent.model.write_state import Right
from vault_agent.model.writing import Write
from vault_agent.writing.sections import edit_section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vault_agent.journals.collected import Collected
    from vault_agent.model.journals import Journal
    from vault_agent.store.sessions.journals import JournalStore
    from vault_agent.vaults.open_vault import OpenVault
    from vault_agent.writing.write import Writing

_CREATE = Write(operation="journal", right=Right.CREATE, by_itself=True, wait_ms=0)
_EDIT = Write(operation="journal", right=Right.EDIT, by_itself=True, wait_ms=0)
_HISTORY = Address(heading=("History",))


class Edited(Exception):
    """The note of a journal is not as we wrote it. It is at `path`, or gone."""

    def __init__(self, path: str | None) -> None:
        super().__init__()
        self.path = path


class JournalNotes:
    """Writes the notes of journals, and records their hashes."""

    def __init__(self, store: JournalStore, *, update_modules: bool) -> None:
        self._store = store
        self._update_modules = update_modules

    async def name(self, vault: OpenVault, journal: Journal, session: Collected) -> Named:
        """Return the name of a session's journal: as it was, else one that is free.

        Raises:
            VaultAgentError: as writes do.
        """
        first = named(session.session_id, session.started_at)
        for name in (first, another(first, session.session_id)):
            if journal.path == name.path:
                return name
        if journal.path is not None:  # its day has changed since: an earlier event came late
            day = journal.path.rpartition("/")[2][: len(first.day)]
            short = journal.path.removesuffix(".md").rpartition("-")[2]
            return Named(journal.path, f"journal-{day}-{short}", day)
        writing = vault.writes.by_itself
        await writing.ready()
        try:
            note = await writing.read(first.path, _EDIT)
        except NotFound:
            return first
        ours = _session_of(note) == session.session_id
        return first if ours else another(first, session.session_id)

    async def put(
        self,
        vault: OpenVault,
        journal: Journal,
        note: bytes,
        *,
        modules: Sequence[str] = (),
    ) -> Journal:
        """Write a journal at its path, and return it with its new hash.

        Raises:
            Edited: if a person has changed, moved or deleted it.
            VaultAgentError: as writes do.
        """
        path = journal.path
        assert path is not None  # noqa: S101 - it has a name
        writing = vault.writes.by_itself
        await writing.ready()
        digest = sha256(note).hexdigest()
        ours = {journal.hash, journal.hash_next, digest} - {None}
        await self._store.intend(journal.session_id, path, digest)
        done = replace(journal, hash=digest, hash_next=None)
        current = await _read(writing, path)
        if current is None:
            elsewhere = await _indexed(vault, journal.session_id)
            if journal.hash is not None or elsewhere not in {None, path}:
                raise Edited(elsewhere)  # moved or deleted
            with suppress(Conflict):
                await writing.create(path, _CREATE, note)
                await self._tell_modules(writing, journal, modules)
                return done
            current = await _read(writing, path)
        if current == note:
            return done
        found = sha256(current or b"").hexdigest()
        if current is None or found not in ours:
            raise Edited(path)
        text = note.decode()
        try:
            await writing.edit(
                path,
                replace(_EDIT, expected_hash=found, hash_required=True),
                lambda before: edit.overwrite(before, text),
            )
        except Conflict as error:
            if error.code == "HASH_MISMATCH":
                raise Edited(path) from None
            raise
        return done

    async def _tell_modules(
        self, writing: Writing, journal: Journal, modules: Sequence[str]
    ) -> None:
        """Add a line to the history of each module. What fails is left out."""
        if not self._update_modules or journal.path is None:
            return
        line = f"- [[{journal.path.removesuffix('.md')}]]\n"
        for path in modules:
            with suppress(VaultAgentError):
                await edit_section(
                    writing,
                    path,
                    _EDIT,
                    _HISTORY,
                    "append",
                    content=line,
                    create_if_missing=True,
                )


async def _read(writing: Writing, path: str) -> bytes | None:
    try:
        return await writing.read(path, _EDIT)
    except NotFound:
        return None


async def _indexed(vault: OpenVault, session_id: str) -> str | None:
    """Return where the index knows the journal of a session, or None."""
    try:
        return await journal_of(vault, session_id)
    except IndexUnavailable:
        return None


def _session_of(note: bytes) -> object:
    try:
        return keys.read_keys(note).get("session")
    except VaultAgentError:
        return None
