"""Writes journals into vaults: one note a session, never over what a person has changed.

The caller has recorded the hash before. So after a crash a note with that hash is known to be ours.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

from vault_agent.errors import Conflict, IndexUnavailable, NotFound, VaultAgentError
from vault_agent.markdown import edit
from vault_agent.markdown.yaml import edit as keys
from vault_agent.memory.note_text import Named, another, named
from vault_agent.memory.related import journal_of
from vault_agent.model.journals import COMPLETE, INCOMPLETE
from vault_agent.model.write_state import Right
from vault_agent.model.writing import Write

if TYPE_CHECKING:
    from vault_agent.memory.session import Session
    from vault_agent.vaults.open_vault import OpenVault
    from vault_agent.writing.write import Writing

_CREATE = Write(operation="journal", right=Right.CREATE, by_itself=True, wait_ms=0)
_EDIT = Write(operation="journal", right=Right.EDIT, by_itself=True, wait_ms=0)
_WRITTEN = frozenset({COMPLETE, INCOMPLETE})


class Edited(Exception):
    """The note of a journal is not as we wrote it. It is at `path`, or gone."""

    def __init__(self, path: str | None) -> None:
        super().__init__()
        self.path = path


async def name_for(vault: OpenVault, session: Session, started_at: float) -> Named:
    """Return the name of a session's journal: as it was, else one that is free.

    Raises:
        VaultAgentError: as writes do.
    """
    first = named(session.session_id, started_at)
    path = session.journal.path if session.journal is not None else None
    for name in (first, another(first, session.session_id)):
        if path == name.path:
            return name
    if path is not None:  # its day has changed since: an earlier event came late
        day = path.rpartition("/")[2][: len(first.day)]
        short = path.removesuffix(".md").rpartition("-")[2]
        return Named(path, f"journal-{day}-{short}", day)
    writing = vault.writes.by_itself
    await writing.ready()
    try:
        note = await writing.read(first.path, _EDIT)
    except NotFound:
        return first
    ours = _session_of(note) == session.session_id
    return first if ours else another(first, session.session_id)


async def put_journal(
    vault: OpenVault,
    session: Session,
    path: str,
    note: bytes,
) -> None:
    """Write the journal of a session at a path.

    Raises:
        Edited: if a person has changed, moved or deleted it.
        VaultAgentError: as writes do.
    """
    writing = vault.writes.by_itself
    await writing.ready()
    ours = session.journal.hashes if session.journal is not None else frozenset()
    current = await _read(writing, path)
    if current is None:
        elsewhere = await _indexed(vault, session.session_id)
        was_written = session.journal is not None and session.journal.state in _WRITTEN
        if was_written or elsewhere not in {None, path}:
            raise Edited(elsewhere)  # moved or deleted
        with suppress(Conflict):
            await writing.create(path, _CREATE, note)
            return
        current = await _read(writing, path)
    if current == note:
        return
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
