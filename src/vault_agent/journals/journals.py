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
from vault_agent.errors import NotFound, VaultAgentError
from vault_agent.freshness.background import Background
from vault_agent.journals.collected import Line
from vault_agent.journals.kept_texts import (
    Given,
    draft_of,
    events_of,
    keep_line,
    keep_sections,
    lines_of,
    sections_of,
)
from vault_agent.journals.notes import Edited, JournalNotes
from vault_agent.journals.states import after_try, asked_for, in_the_vault
from vault_agent.journals.texts import JournalTexts
from vault_agent.model.deliveries import MemoryNews
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
from vault_agent.store.sessions.turn import GIVEN, SAID
from vault_agent.system.cancelling import to_its_end
from vault_agent.system.crash import describe_crash
from vault_agent.writing.locks import Locks

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence

    from vault_agent.config import Config
    from vault_agent.config.memory_sections import JournalSettings
    from vault_agent.journals.session_facts import Gathered, SessionFacts
    from vault_agent.journals.sessions import Sessions
    from vault_agent.journals.texts import Text
    from vault_agent.model.journals import Journal
    from vault_agent.model.sessions import Session
    from vault_agent.store.sessions.turn import Kind
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
        facts: SessionFacts,
        settings: JournalSettings,
        *,
        chat: ChatClient | None,
        max_input: int,
        on_crash: Callable[[CrashReport], object],
        now: Callable[[], float] = time.time,
    ) -> None:
        self._record = sessions.store
        self.store = JournalStore(sessions.store)
        self._vaults = vaults
        self._sessions = sessions
        self._settings = settings
        self._facts = facts
        self._texts = JournalTexts(settings, chat, max_input)
        self._notes = JournalNotes(self.store, update_modules=settings.update_modules)
        self._chat = chat
        self._on_crash = on_crash
        self._now = now
        self._locks = Locks()  # of sessions
        self._record.on_journal(self._tell)

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
        given = None
        if sections:
            clean = {
                self._facts.clean(name): self._facts.clean(text)
                for name, text in list(sections.items())[:MAX_SECTIONS]
            }
            given = Given(self._facts.clean(title) if title else None, clean)
        async with self._record.turn(session_id) as turn:
            session = _known(turn.session)
            if given is not None:
                await keep_sections(turn, given, at=self._now())
            if turn.journal is not None and turn.journal.reason == EDITED:
                return turn.journal
            return await turn.put(asked_for(turn.journal, session, FORCED, self._now()))

    async def add_line(self, session_id: str, kind: str, text: str) -> Journal | None:
        """Add a line of the devlog to the journal of a session. Return the journal if there is one.

        Raises:
            NotFound: `SESSION_NOT_FOUND`.
        """
        line = Line(kind, " ".join(self._facts.clean(text).split()))
        async with self._record.turn(session_id) as turn:
            session = _known(turn.session)
            await keep_line(turn, line, at=self._now())
            known = turn.journal
            if known is None or session.ended_at is None or known.reason in {EDITED, REJECTED}:
                return known
            return await turn.put(asked_for(known, session, FORCED, self._now()))

    async def session_of_line(self, vault: str, session_id: str | None) -> str | None:
        """Return the session in which a line of a project's devlog is written, or None.

        That is the one named, else the only one that is open: of several, nobody knows which.

        Raises:
            NotFound: `SESSION_NOT_FOUND` if the named one is unknown.
        """
        if session_id is not None:
            return _known(await self._record.get(session_id)).session_id
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
            for each in await self._record.open_ones()
            if vault in {None, each.vault}
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
        draft = await draft_of(self._record, session_id)
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
            return await self._became(journal, drop=("draft",))

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
        while True:
            changes = self._record.changes
            with suppress(VaultAgentError):
                for journal in await self.store.due(self._now()):
                    if self._is_for_model(journal) == by_model:
                        await self._try(journal.session_id, by_model=by_model)
            with suppress(TimeoutError):
                async with asyncio.timeout(await self._pause()):
                    await self._record.changed_since(changes)

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
        session = await self._record.get(journal.session_id)
        if session is None:
            await self.store.forget(journal.session_id)
            return
        entry = self._vaults.known.find(session.vault)
        if journal.reason != FORCED and self._facts.is_excluded(session, entry):
            await self._skip(journal, EXCLUDED)
            return
        if by_model and self._chat is not None and self._chat.is_down:
            await self._became(self._later(replace(journal, reason=MODEL_UNAVAILABLE)))
            return
        texts = await events_of(self._record, session.session_id)
        lines = await lines_of(self._record, session.session_id)
        given = await sections_of(self._record, session.session_id)
        gathered = await self._facts.gather(session, entry, texts, lines)
        if self._is_short(journal, gathered) and not lines and given is None:
            await self._skip(journal, SHORT)
            return
        async with self._vaults.open(session.vault) as vault:
            text = await self._texts.of(vault, session, gathered, given, by_model=by_model)
            if text.draft.is_empty and journal.reason != FORCED:
                await self._leave_empty(journal, text)
                return
            whole = session.ended_at is not None and gathered.has_transcript
            await to_its_end(self._keep(journal, gathered, text, vault, forget=whole))

    async def _leave_empty(self, journal: Journal, text: Text) -> None:
        """Write no journal that has only a goal. A transcript that is missing may still come."""
        later = self._later(replace(journal, reason=TRANSCRIPT_MISSING))
        if text.incomplete == TRANSCRIPT_MISSING and later.next_at is not None:
            await self._became(later)
        else:
            await self._skip(journal, EMPTY)

    async def _keep(
        self,
        journal: Journal,
        gathered: Gathered,
        text: Text,
        vault: OpenVault,
        *,
        forget: bool,
    ) -> None:
        """Store a text: in the vault, or as a draft. Record how far the journal is.

        With `forget` the session's texts go once the journal is complete.
        """
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
            await self._became(self._scheduled(replace(made, state="draft")), draft=note)
            return
        modules = text.modules(name.path)
        made = await self._written(made, self._notes.put(vault, made, note, modules=modules))
        made = self._scheduled(in_the_vault(made))
        is_whole = forget and made.state == "complete"
        await self._became(made, drop=(*SAID, "draft") if is_whole else ("draft",))

    async def _became(
        self, journal: Journal, *, draft: bytes | None = None, drop: Sequence[Kind] = ()
    ) -> Journal:
        """Store what became of a try, with its draft, and remove texts: all of it or nothing.

        A journal that was asked for meanwhile stays due, with all that is kept for it.
        """
        async with self._record.turn(journal.session_id) as turn:
            if turn.journal is None or turn.journal.since == journal.since:
                await turn.drop(*drop)
                if draft is not None:
                    await turn.keep("draft", draft, at=self._now())
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
            async with self._record.turn(tried.session_id) as turn:
                journal = turn.journal
                if journal is None or journal.since != tried.since:
                    return
                if journal.state == "pending" and journal.reason != FORCED:
                    journal = replace(journal, reason=reason)
                await turn.put(self._later(journal))

    async def _skip(self, journal: Journal, reason: str) -> None:
        """Record that there is no journal, and drop what was kept for it."""
        if journal.hash is not None:  # it was written before the session went on
            await self._became(replace(journal, state="complete", reason=None, next_at=None))
        else:
            skipped = replace(journal, state="skipped", reason=reason, next_at=None)
            await self._became(skipped, drop=(*SAID, *GIVEN))

    def _tell(self, journal: Journal) -> None:
        news = MemoryNews(journal.session_id, journal.agent, "journal", notes=0, tokens=0)
        self._vaults.tell(journal.vault, news)

    def _is_short(self, journal: Journal, gathered: Gathered) -> bool:
        found = gathered.session
        few = found.prompt_count < self._settings.min_prompts
        return few and not found.has_changes and journal.reason != FORCED

    def _is_for_model(self, journal: Journal) -> bool:
        asked = journal.state in {"incomplete", "draft"} and journal.reason in _BY_MODEL
        return asked and self._chat is not None


def _known(session: Session | None) -> Session:
    if session is None:
        raise NotFound("SESSION_NOT_FOUND", "There is no session of this ID.")
    return session


@asynccontextmanager
async def open_journals(
    config: Config,
    vaults: Vaults,
    sessions: Sessions,
    facts: SessionFacts,
    *,
    on_crash: Callable[[CrashReport], object] = lambda _: None,
    now: Callable[[], float] = time.time,
) -> AsyncIterator[Journals]:
    """Write the journals of sessions within the context.

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
        facts,
        config.journal,
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
