"""Writes the journals of sessions, when they are due.

`Journals.write_due` looks at all sessions; the caller decides when. A journal that fails is tried
again later, and stops no other.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import subprocess
import time
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from vault_agent.config.setting_names import OFF_ENV
from vault_agent.errors import IndexUnavailable, NotFound, VaultAgentError
from vault_agent.memory.dialogue import (
    INSTRUCTIONS,
    Draft,
    answered,
    dialogue,
    is_worth_it,
    written,
)
from vault_agent.memory.journal_notes import (
    JournalEdited,
    VaultNotes,
    body,
    notes_of,
    place_for_journal,
    properties,
    put_journal,
    related,
    stamp,
    tags_of,
)
from vault_agent.memory.session_file import JournalState, Sections, is_due, journal_line
from vault_agent.memory.transcripts.read import AGENTS
from vault_agent.model.memory import (
    ASKED,
    COMMAND_FAILED,
    COMPLETE,
    CRASH,
    EDITED,
    EXCLUDED,
    FAILED,
    INCOMPLETE,
    SHORT,
    SKIPPED,
    TRANSCRIPT_MISSING,
    WRITING,
    MemoryNews,
)
from vault_agent.system.cancelling import in_thread, to_its_end
from vault_agent.system.crash import describe_crash
from vault_agent.system.processes import end_process, start_process
from vault_agent.vaults.open_vault import index_now
from vault_agent.writing.notes import whole

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vault_agent.config.sections import JournalSettings
    from vault_agent.memory.collected import Collected, Collector
    from vault_agent.memory.session_file import Session, SessionStore
    from vault_agent.system.crash import CrashReport
    from vault_agent.vaults.open_vault import OpenVault
    from vault_agent.vaults.vaults import Vaults


IDLE_SECONDS: Final = 1_800.0
"""A session that says nothing for so long has ended."""
_INDEX_SECONDS = 3.0
_NO_NOTES = VaultNotes((), {}, lambda _: False)
_TELLS_ITS_END = frozenset({"claude-code", "gemini"})
"""Agents that tell when a session ends: one that did not has crashed."""


class Journals:
    """The journals of sessions. Made by `open_app`."""

    def __init__(
        self,
        vaults: Vaults,
        store: SessionStore,
        collector: Collector,
        settings: JournalSettings,
        *,
        on_crash: Callable[[CrashReport], object] = lambda _: None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.store = store
        self._vaults = vaults
        self._collector = collector
        self._settings = settings
        self._on_crash = on_crash
        self._now = now
        self._turn = asyncio.Lock()

    # --- what people and agents ask for ---------------------------------------------------------

    async def make(
        self,
        session: Session,
        sections: Mapping[str, str] | None = None,
        title: str | None = None,
    ) -> Session:
        """Note that a session's journal is wanted, with the sections that its agent has written.

        A journal that a person has changed stays as it is.

        Raises:
            Failed: `DISK_FULL`, `INDEX_IO_ERROR`.
        """
        line: dict[str, object] = {"event": "wanted", "at": self._now()}
        if sections:
            made = {"title": title, "sections": dict(sections)}
            line = {"event": "sections", "at": self._now(), **made}
        return await self.store.append(session, line)

    async def session_named(self, session_id: str | None, vault: str | None) -> Session:
        """Return the session that an ID or the first characters of one name.

        Without an ID it is the session of a vault, or of any, with the latest event: two that are
        open are no error, since one of them has crashed more often than not.

        Raises:
            NotFound: `SESSION_NOT_FOUND`.
        """
        sessions = await self.store.sessions()
        if session_id is not None:
            exact = [session for session in sessions if session.session_id == session_id]
            matches = exact or [
                session for session in sessions if session.session_id.startswith(session_id)
            ]
            if len(matches) == 1:
                return matches[0]
        else:
            matches = [
                session
                for session in sessions
                if session.ended_at is None and vault in {None, session.vault}
            ]
            if matches:
                return max(matches, key=lambda session: session.last_event_at)
        raise NotFound("SESSION_NOT_FOUND", "There is no session of this ID.")

    # --- writing --------------------------------------------------------------------------------

    async def write_due(self) -> None:
        """Write the journals that are due, one after another."""
        async with self._turn:
            sessions = await self.store.sessions()
            for session in sessions:
                seen = await in_thread(self.store.quiet_since, session)
                # A session in the same folder began since, so this one may have died with its
                # terminal. If it goes on, its journal is written again.
                is_left = session.ended_at is None and any(
                    other.cwd == session.cwd
                    and other.agent == session.agent
                    and other.session_id != session.session_id
                    and other.started_at > seen
                    for other in sessions
                )
                idle = 0.0 if is_left else IDLE_SECONDS
                if is_due(session, self._now(), quiet_since=seen, idle_seconds=idle):
                    await self._try(session)

    async def _try(self, session: Session) -> None:
        """Try one journal. Whatever fails, the others are tried, and this one again."""
        try:
            await self._write(session)
        except (VaultAgentError, OSError) as error:
            reason = error.code if isinstance(error, VaultAgentError) else "INDEX_IO_ERROR"
            await self._failed(session, reason)
        except Exception as error:  # noqa: BLE001 - one journal must not stop the others
            self._on_crash(describe_crash(error))
            await self._failed(session, "INTERNAL_ERROR")

    async def _failed(self, session: Session, reason: str) -> None:
        before = session.journal or JournalState(0.0, FAILED)
        state = before._replace(state=FAILED, reason=reason, attempts=before.attempts + 1)
        with suppress(VaultAgentError):
            await self._became(session, state._replace(through=session.last_event_at))

    async def _write(self, session: Session) -> None:
        try:
            entry = self._vaults.registry.find(session.vault)
        except NotFound:
            return  # its project is not in the list now, but may come back
        asked_at = session.sections.at if session.sections is not None else session.wanted_at
        is_asked = asked_at > (session.journal.at if session.journal is not None else 0.0)
        was_asked = asked_at > 0
        if not is_asked and self._collector.is_excluded(session, entry):
            await self._skip(session, EXCLUDED)
            return
        if self._settings.ask and not was_asked:
            await self._skip(session, ASKED)
            return
        collected = await self._collector.collect(session, entry)
        if not was_asked and not is_worth_it(collected):
            await self._skip(session, SHORT)
            return
        vault = await self._vaults.open(session.vault)
        await to_its_end(self._put(vault, session, collected))

    async def _put(self, vault: OpenVault, session: Session, collected: Collected) -> None:
        notes = await _notes(vault)
        draft, generator, reason = await self._draft(session, collected, notes)
        path = await place_for_journal(vault, session, collected.started_at)
        linked = related(
            notes,
            own=path,
            files=(file.path for file in collected.files),
            text="\n".join((draft.title, *draft.sections.values())),
            before=stamp(collected.started_at),
        )
        subjects = (commit.subject for commit in collected.commits)
        tags = tags_of(notes.notes, linked, title=draft.title, subjects=subjects)
        values = properties(collected, draft, path, generator, reason, tags=tags, linked=linked)
        note = whole(body(draft, linked), values)
        before = session.journal or JournalState(0.0, WRITING)
        hashes = before.hashes | {sha256(note).hexdigest()}
        state = JournalState(
            at=0.0,
            state=INCOMPLETE if reason is not None else COMPLETE,
            reason=reason,
            title=draft.title,
            path=path,
            hashes=hashes,
            generator=generator,
            through=session.last_event_at,
            attempts=before.attempts + 1 if reason is not None else 0,
        )
        # Until it is written, the note before is the one that is there.
        intended = before._replace(path=path, hashes=hashes)
        session = await self._became(session, intended, at=before.at)
        try:
            await put_journal(vault, session, path, note)
        except JournalEdited as edited:
            state = state._replace(state=COMPLETE, reason=EDITED, path=edited.path)
        await self._became(session, state)

    async def _draft(
        self, session: Session, collected: Collected, notes: VaultNotes
    ) -> tuple[Draft, str, str | None]:
        """Return the text, who wrote it, and why it is incomplete, if it is."""
        lacking, clean = _lacking(session, collected), self._collector.clean
        if session.sections is not None:
            at, title, texts = session.sections
            texts = {clean(name): clean(text) for name, text in texts.items()}
            sections = Sections(at, clean(title) if title else None, texts)
            return written(sections, collected, is_known=notes.is_known), "agent", None
        draft = dialogue(collected)
        if self._settings.command is None:
            return draft, "dialogue", lacking
        facts = body(draft, ())
        reply = await reply_of(self._settings.command, f"{INSTRUCTIONS}\n{facts}")
        made = answered(clean(reply)) if reply is not None else None
        if made is None:
            return draft, "dialogue", COMMAND_FAILED
        sections = Sections(collected.ended_at, *made)
        return written(sections, collected, is_known=notes.is_known), "command", lacking

    async def _skip(self, session: Session, reason: str) -> None:
        if session.journal is not None and session.journal.is_written:
            state = session.journal._replace(through=session.last_event_at)
        else:
            state = JournalState(0.0, SKIPPED, reason, through=session.last_event_at)
        await self._became(session, state)

    async def _became(
        self, session: Session, state: JournalState, *, at: float | None = None
    ) -> Session:
        line = journal_line(state._replace(at=self._now() if at is None else at))
        session = await self.store.append(session, line)
        news = MemoryNews(session.session_id, session.agent, "journal", notes=0, tokens=0)
        self._vaults.tell(session.vault, news)
        return session


async def _notes(vault: OpenVault) -> VaultNotes:
    """Return the notes of a vault. A vault without an index gets one, and a moment for it."""
    try:
        return await notes_of(vault)
    except IndexUnavailable as error:
        if error.code != "INDEX_NOT_FOUND":
            return _NO_NOTES
    await index_now(vault, seconds=_INDEX_SECONDS)
    with suppress(VaultAgentError):
        return await notes_of(vault)
    return _NO_NOTES


def _lacking(session: Session, collected: Collected) -> str | None:
    """Return what is missing from what is known of a session, or None."""
    if session.agent in AGENTS and not collected.has_transcript:
        return TRANSCRIPT_MISSING
    if session.ended_at is None and session.agent in _TELLS_ITS_END:
        return CRASH
    return None


# --- `journal.command` ----------------------------------------------------------------------------


SECONDS: Final = 180.0
MAX_OUTPUT: Final = 256 << 10


async def reply_of(command: str, text: str) -> str | None:
    """Return what a command prints for a text on its standard input, or None if it fails.

    It is no shell's command. The hooks of an agent that it runs tell nothing: its session is ours.
    """
    words = shlex.split(command)
    if not words:
        return None
    try:
        process = await start_process(
            *words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, OFF_ENV: "1"},
        )
    except OSError:
        return None
    try:
        async with asyncio.timeout(SECONDS):
            output, _ = await process.communicate(text.encode())
    except TimeoutError:
        return None
    finally:
        await end_process(process, 1.0)
    is_good = process.returncode == 0 and len(output) <= MAX_OUTPUT
    return output.decode("utf-8", "replace") if is_good else None
