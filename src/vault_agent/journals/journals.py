"""Writes the journals of sessions: the extract at once, a model's text later, each by its rules.

A journal is recorded as one to be written before anything else, so no end of a session is lost. Two
workers take what is due: one writes extracts, the other asks the model, so that a slow model delays
no extract. What fails is tried again, at each start too. Of several servers one does so: the one
that takes the events.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from vault_agent.chat.client import ChatClient, ChatSettings
from vault_agent.errors import NotFound, VaultAgentError, explained
from vault_agent.freshness.background import Background
from vault_agent.journals.collected import Line
from vault_agent.journals.files import Given, JournalFiles
from vault_agent.journals.notes import Edited, JournalNotes
from vault_agent.journals.session_facts import SessionFacts
from vault_agent.journals.states import after_try, asked_for, in_the_vault
from vault_agent.journals.texts import JournalTexts
from vault_agent.model.journals import (
    EDITED,
    EMPTY,
    EXCLUDED,
    MODEL_INVALID,
    MODEL_UNAVAILABLE,
    PENDING,
    REJECTED,
    SHORT,
    TRANSCRIPT_MISSING,
)
from vault_agent.store.sessions.journals import JournalStore
from vault_agent.system.cancelling import in_thread, to_its_end
from vault_agent.system.crash import describe_crash
from vault_agent.writing.locks import Locks

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
    from pathlib import Path

    from vault_agent.config import Config
    from vault_agent.config.memory_sections import JournalSettings
    from vault_agent.config.registry import Registered
    from vault_agent.journals.session_facts import Gathered
    from vault_agent.journals.sessions import Sessions
    from vault_agent.journals.texts import Text
    from vault_agent.model.journals import Journal
    from vault_agent.model.sessions import Session
    from vault_agent.store.sessions.journals import Turn
    from vault_agent.system.crash import CrashReport
    from vault_agent.vaults.open_vault import OpenVault
    from vault_agent.vaults.vaults import Vaults

WAITS: Final = (60.0, 300.0, 1_800.0, 7_200.0, 21_600.0)
"""Seconds until a journal is tried again; after the last of them always so many."""
MAX_SECTIONS: Final = 20
FORCED: Final = "forced"
"""The reason of a journal that was asked for: it is written however short the session was."""
_DAY: Final = 86_400.0
_LOOK_SECONDS: Final = 30.0
_BY_MODEL: Final = frozenset({PENDING, MODEL_UNAVAILABLE, MODEL_INVALID})


class Journals:
    """The journals of sessions. Made by `open_journals`."""

    def __init__(
        self,
        vaults: Vaults,
        sessions: Sessions,
        *,
        settings: JournalSettings,
        folder: Path,
        chat: ChatClient | None,
        max_input: int,
        on_crash: Callable[[CrashReport], object],
        now: Callable[[], float] = time.time,
    ) -> None:
        self.store = JournalStore(sessions.store)
        self.files = JournalFiles(folder)
        self._vaults = vaults
        self._sessions = sessions
        self._settings = settings
        self._facts = SessionFacts(settings)
        self._texts = JournalTexts(settings, chat, max_input)
        self._notes = JournalNotes(self.store, update_modules=settings.update_modules)
        self._chat = chat
        self._on_crash = on_crash
        self._now = now
        self._wake = {
            False: asyncio.Event(),
            True: asyncio.Event(),
        }  # by whether the model is asked
        self._locks = Locks()  # of sessions

    # --- what sessions tell ---------------------------------------------------------------------

    async def starts(self, session: Session) -> str | None:
        """Return the commit that is checked out where a session works, or None."""
        with suppress(VaultAgentError):
            return await self._facts.start_commit(session, self._entry(session.vault))
        return None

    async def message(self, session: Session) -> str | None:
        """Return what the user should know at a start: that drafts of the project wait."""
        drafts = await self.store.page(vault=session.vault, state="draft", limit=100)
        if not drafts:
            return None
        count = "A journal waits" if len(drafts) == 1 else f"{len(drafts)} journals wait"
        return explained("JOURNAL_WAITS", f"{count} for your review.")

    async def ended(self, session: Session) -> None:
        """Record that the journal of a session is to be written, and write it soon."""
        async with self.store.turn(session.session_id) as turn:
            if turn.journal is None or turn.journal.ended_at != session.ended_at:
                await self._require(turn, session, reason=None)
        self._wake[False].set()

    async def forget_before(self, moment: float) -> None:
        """Remove what is kept of sessions that were forgotten, and had their end before a moment.

        Journals stay, also those that wait for a review.
        """
        await self.store.forget_before(moment)
        await in_thread(self.files.forget_before, moment)

    # --- what people and agents ask for ---------------------------------------------------------

    async def page(
        self, *, vault: str | None = None, state: str | None = None, limit: int = 100
    ) -> list[Journal]:
        """Return the journals of the latest sessions. `state` may be `all`."""
        return await self.store.page(vault=vault, state=state, limit=limit)

    async def make(
        self,
        session_id: str,
        sections: Mapping[str, str] | None = None,
        title: str | None = None,
    ) -> Journal:
        """Write the journal of a session now, with the sections that its agent has written if any.

        It returns at once. A journal that a person has changed stays as it is.

        Raises:
            NotFound: `SESSION_NOT_FOUND`.
            Failed: `DISK_FULL`, `INDEX_IO_ERROR`.
        """
        session = await self._session(session_id)
        given = None
        if sections:
            clean = {
                self._facts.clean(name): self._facts.clean(text)
                for name, text in list(sections.items())[:MAX_SECTIONS]
            }
            given = Given(self._facts.clean(title) if title else None, clean)
        async with self.store.turn(session_id) as turn:
            if given is not None:
                await in_thread(self.files.give, session_id, given)
            if turn.journal is not None and turn.journal.reason == EDITED:
                return turn.journal
            journal = await self._require(turn, session, reason=FORCED)
        self._wake[False].set()
        return journal

    async def add_line(self, session_id: str, kind: str, text: str) -> Journal | None:
        """Add a line of the devlog to the journal of a session. Return the journal if there is one.

        Raises:
            NotFound: `SESSION_NOT_FOUND`.
        """
        line = Line(kind, " ".join(self._facts.clean(text).split()))
        async with self.store.turn(session_id) as turn:
            session = await self._session(session_id)
            await in_thread(self.files.add_line, session_id, line)
            known = turn.journal
            if known is None or session.ended_at is None or known.reason in {EDITED, REJECTED}:
                return known
            journal = await self._require(turn, session, reason=FORCED)
        self._wake[False].set()
        return journal

    async def session_of_line(self, vault: str, session_id: str | None) -> str | None:
        """Return the session in which a line of a project's devlog is written, or None.

        That is the one named, else the only one that is open: of several, nobody knows which.

        Raises:
            NotFound: `SESSION_NOT_FOUND` if the named one is unknown.
        """
        if session_id is not None:
            return (await self._session(session_id)).session_id
        with suppress(NotFound):
            return await self.open_session(vault)
        return None

    async def open_session(self, vault: str | None) -> str:
        """Return the one session that is open, of one vault or of all.

        Raises:
            NotFound: `SESSION_NOT_FOUND` if there is none, or more than one.
        """
        found = [
            each.session_id
            for each in await self._sessions.store.to_settle()
            if each.ended_at is None and vault in {None, each.vault}
        ]
        if len(found) != 1:
            count = "No session is" if not found else f"{len(found)} sessions are"
            raise NotFound("SESSION_NOT_FOUND", f"{count} open: name the session.")
        return found[0]

    async def draft(self, session_id: str) -> tuple[Journal, str]:
        """Return a journal that waits for its review, and its text.

        Raises:
            NotFound: `SESSION_NOT_FOUND` if no draft of this session waits.
        """
        journal = await self.store.get(session_id)
        draft = await in_thread(self.files.draft, session_id)
        if journal is None or journal.state != "draft" or draft is None:
            raise NotFound("SESSION_NOT_FOUND", "No journal of this session waits for review.")
        return journal, draft.decode("utf-8", "replace")

    async def review(self, session_id: str, *, accept: bool) -> Journal:
        """Take the draft of a session into the vault, or drop it.

        Raises:
            NotFound: `SESSION_NOT_FOUND` if no draft of this session waits.
            VaultAgentError: as writes do.
        """
        async with self._locks.names(session_id):
            journal, text = await self.draft(session_id)
            if accept:
                async with self._vaults.open(journal.vault) as vault:
                    put = self._notes.put(vault, journal, text.encode())
                    journal = await self._written(journal, put)
                journal = in_the_vault(journal)
            elif journal.hash is not None:  # what was written before stays
                journal = replace(journal, state="complete", reason=None, next_at=None)
            else:
                journal = replace(journal, state="skipped", reason=REJECTED, next_at=None)
            async with self.store.turn(session_id) as turn:
                journal = await turn.put(after_try(turn.journal, journal))
                await in_thread(self.files.drop_draft, session_id)
        return journal

    # --- the workers ----------------------------------------------------------------------------

    async def write_due(self) -> None:
        """Write the extracts that are due, without end."""
        await self._sessions.led()
        moment = self._now() - _DAY * self._settings.retry_days
        with suppress(VaultAgentError):
            await self.store.retry_all(self._now(), since=moment)
        await self._work(by_model=False)

    async def ask_due(self) -> None:
        """Ask the model for the journals that are due, without end."""
        if self._chat is not None:
            await self._sessions.led()
            await self._work(by_model=True)

    async def _work(self, *, by_model: bool) -> None:
        wake = self._wake[by_model]
        while True:
            wake.clear()
            with suppress(VaultAgentError):
                for journal in await self.store.due(self._now()):
                    if self._is_for_model(journal) == by_model:
                        await self._try(journal.session_id, by_model=by_model)
            with suppress(TimeoutError):
                async with asyncio.timeout(await self._pause()):
                    await wake.wait()

    async def _pause(self) -> float:
        with suppress(VaultAgentError):
            next_at = await self.store.next_at()
            if next_at is not None:
                return min(max(next_at - self._now(), 0.5), _LOOK_SECONDS)
        return _LOOK_SECONDS

    async def _try(self, session_id: str, *, by_model: bool) -> None:
        """Try one journal. Whatever fails, the others are tried, and this one again."""
        async with self._locks.names(session_id):
            journal = await self.store.get(session_id)
            if journal is None or self._is_for_model(journal) != by_model:
                return
            try:
                await self._make(journal, by_model=by_model)
            except (VaultAgentError, OSError) as error:
                reason = error.code if isinstance(error, VaultAgentError) else "INDEX_IO_ERROR"
                await self._again(journal, reason)
            except Exception as error:  # noqa: BLE001 - one journal must not stop the others
                self._on_crash(describe_crash(error))
                await self._again(journal, "INTERNAL_ERROR")

    async def _make(self, journal: Journal, *, by_model: bool) -> None:
        session = await self._sessions.get(journal.session_id)
        if session is None:
            await self.store.forget(journal.session_id)
            return
        entry = self._entry(session.vault)
        if journal.reason != FORCED and self._facts.is_excluded(session, entry):
            await self._skip(journal, session, EXCLUDED)
            return
        if by_model and self._chat is not None and self._chat.is_down:
            await self._done(self._later(replace(journal, reason=MODEL_UNAVAILABLE)))
            return
        texts = await self._sessions.texts(session)
        lines = await in_thread(self.files.lines, session.session_id)
        given = await in_thread(self.files.given, session.session_id)
        gathered = await self._facts.gather(session, entry, texts, lines)
        if self._is_short(journal, gathered) and not lines and given is None:
            await self._skip(journal, session, SHORT)
            return
        async with self._vaults.open(session.vault) as vault:
            text = await self._texts.of(vault, session, gathered, given, by_model=by_model)
            if text.draft.is_empty and journal.reason != FORCED:
                await self._leave_empty(journal, session, text)
                return
            journal = await to_its_end(self._keep(journal, gathered, text, vault))
        if journal.state == "complete" and session.ended_at is not None and gathered.has_transcript:
            await self._sessions.forget_texts(session)

    async def _leave_empty(self, journal: Journal, session: Session, text: Text) -> None:
        """Write no journal that has only a goal. A transcript that is missing may still come."""
        later = self._later(replace(journal, reason=TRANSCRIPT_MISSING))
        if text.incomplete == TRANSCRIPT_MISSING and later.next_at is not None:
            await self._done(later)
        else:
            await self._skip(journal, session, EMPTY)

    async def _keep(
        self, journal: Journal, gathered: Gathered, text: Text, vault: OpenVault
    ) -> Journal:
        """Store a text: in the vault, or as a draft. Record how far the journal is."""
        name = await self._notes.name(vault, journal, gathered.session)
        note = text.note(name)
        made = replace(
            journal,
            title=text.title,
            generator=text.generator,
            reason=text.incomplete,
            path=name.path,
            started_at=gathered.session.started_at,
        )
        if (self._settings.ask and journal.hash is None) or text.is_doubtful:
            await in_thread(self.files.keep_draft, journal.session_id, note)
            made = replace(made, state="draft")
        else:
            modules = text.modules(name.path)
            made = await self._written(made, self._notes.put(vault, made, note, modules=modules))
            made = in_the_vault(made)
            await in_thread(self.files.drop_draft, journal.session_id)  # of an earlier text
        made = await self._done(self._scheduled(made))
        if made.next_at is not None and self._is_for_model(made):
            self._wake[True].set()
        return made

    async def _done(self, journal: Journal) -> Journal:
        """Store what became of a try. A journal that was asked for meanwhile stays due."""
        async with self.store.turn(journal.session_id) as turn:
            return await turn.put(after_try(turn.journal, journal))

    async def _written(self, journal: Journal, write: Awaitable[Journal]) -> Journal:
        try:
            return await write
        except Edited as edited:
            return replace(journal, reason=EDITED, path=edited.path, hash_next=None, next_at=None)

    def _scheduled(self, journal: Journal) -> Journal:
        """Return a journal with the time at which it is tried again."""
        if journal.reason == PENDING and self._chat is not None:
            return replace(journal, next_at=self._now(), attempts=0)
        failing = {MODEL_UNAVAILABLE, MODEL_INVALID} if self._chat is not None else set()
        if journal.reason in {*failing, TRANSCRIPT_MISSING}:
            return self._later(journal)
        return replace(journal, next_at=None)

    def _later(self, journal: Journal) -> Journal:
        wait = WAITS[min(journal.attempts, len(WAITS) - 1)]
        at = self._now() + wait
        given_up = at > journal.since + _DAY * self._settings.retry_days
        return replace(journal, attempts=journal.attempts + 1, next_at=None if given_up else at)

    async def _again(self, tried: Journal, reason: str) -> None:
        """Record that a try failed. What is on the disk stays as it is."""
        with suppress(VaultAgentError):
            async with self.store.turn(tried.session_id) as turn:
                journal = turn.journal
                if journal is None or journal.since != tried.since:
                    return
                if journal.state == "pending" and journal.reason != FORCED:
                    journal = replace(journal, reason=reason)
                await turn.put(self._later(journal))

    async def _skip(self, journal: Journal, session: Session, reason: str) -> None:
        """Record that there is no journal, and drop what was kept for it.

        One that was asked for meanwhile stays due, with all that its agent gave for it.
        """
        async with self.store.turn(journal.session_id) as turn:
            if turn.journal is None or turn.journal.since != journal.since:
                return
            if journal.hash is not None:  # it was written before the session went on
                await turn.put(replace(journal, state="complete", reason=None, next_at=None))
                return
            await turn.put(replace(journal, state="skipped", reason=reason, next_at=None))
            await self._sessions.forget_texts(session)
            await in_thread(self.files.forget, session.session_id)

    def _is_short(self, journal: Journal, gathered: Gathered) -> bool:
        found = gathered.session
        few = found.prompt_count < self._settings.min_prompts
        return few and not found.has_changes and journal.reason != FORCED

    def _is_for_model(self, journal: Journal) -> bool:
        asked = journal.state in {"incomplete", "draft"} and journal.reason in _BY_MODEL
        return asked and self._chat is not None

    async def _require(self, turn: Turn, session: Session, *, reason: str | None) -> Journal:
        """Record that a journal is to be written."""
        return await turn.put(asked_for(turn.journal, session, reason, self._now()))

    async def _session(self, session_id: str) -> Session:
        session = await self._sessions.get(session_id)
        if session is None:
            raise NotFound("SESSION_NOT_FOUND", "There is no session of this ID.")
        return session

    def _entry(self, vault: str) -> Registered:
        return self._vaults.known.find(vault)


@asynccontextmanager
async def open_journals(
    config: Config,
    vaults: Vaults,
    sessions: Sessions,
    folder: Path,
    *,
    on_crash: Callable[[CrashReport], object] = lambda _: None,
    now: Callable[[], float] = time.time,
) -> AsyncIterator[Journals]:
    """Write the journals of sessions within the context. `folder` is for drafts.

    Raises:
        Misconfigured: `CONFIG_INVALID` if the chat endpoint may not be used.
    """
    chat = None
    if config.chat.enabled and config.journal.writer in {"auto", "model"}:
        chat = ChatClient(
            ChatSettings(
                config.chat.endpoint,
                config.chat.model or "",
                allow_private=config.chat.allow_private_network_endpoint,
                timeout=config.chat.timeout_seconds,
            )
        )
    journals = Journals(
        vaults,
        sessions,
        settings=config.journal,
        folder=folder,
        chat=chat,
        max_input=config.chat.max_input_chars,
        on_crash=on_crash,
        now=now,
    )
    if chat is None:
        async with Background(on_crash) as background:
            background.spawn(journals.write_due)
            yield journals
        return
    async with chat, Background(on_crash) as background:
        background.spawn(journals.write_due)
        background.spawn(journals.ask_due)
        yield journals
