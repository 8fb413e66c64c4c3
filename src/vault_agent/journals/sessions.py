"""The sessions of agents: takes their events, and ends those that are idle.

An end and the order to write its journal are one change, so neither is there without the other.
"""

from __future__ import annotations

import asyncio
import os
import stat
import time
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from vault_agent.config.registry import Role
from vault_agent.errors import NotFound, VaultAgentError
from vault_agent.freshness.background import Background, quietly
from vault_agent.journals.events import BY_HAND
from vault_agent.journals.kept_texts import events_of, keep_event
from vault_agent.journals.session_rules import (
    SAME_SECONDS,
    after,
    after_idleness,
    digest_of,
    has_text,
    not_later,
)
from vault_agent.journals.spool import UNKNOWN, bound, damaged, spool, take_back, waiting
from vault_agent.journals.states import asked_for
from vault_agent.model.sessions import COMPACT, END, PROMPT, START, Offer
from vault_agent.model.warning import Warning
from vault_agent.store.sessions.journals import JournalStore
from vault_agent.store.sessions.store import TEXTS, open_sessions
from vault_agent.store.sessions.turn import Turn
from vault_agent.system.cancelling import in_thread, to_its_end
from vault_agent.system.crash import describe_crash
from vault_agent.system.files import make_private_folder
from vault_agent.system.locks import AlreadyLocked, LocksUnsupported, locked

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Container, Iterable
    from pathlib import Path

    from vault_agent.journals.session_facts import SessionFacts
    from vault_agent.journals.spool import Waiting
    from vault_agent.memory.injected import Deliveries
    from vault_agent.model.sessions import Session, SessionEvent
    from vault_agent.store.sessions.store import SessionStore
    from vault_agent.system.crash import CrashReport
    from vault_agent.vaults.known import KnownVaults

LOOK_SECONDS = 5.0
"""Time between looks at the spool and at idle sessions."""
_BATCH = 200
_DAY = 86_400.0


class Pace(NamedTuple):
    """The times of the settings."""

    idle_seconds: float = 1_800.0  # until a session without events has ended
    log_days: float = 90.0  # for which sessions are kept
    deliver_seconds: float = 0.8  # that an agent waits at most


class Sessions:
    """The sessions that agents' hooks tell of. Made by `taking_events`.

    Of several servers with the same data folder one at a time leads: it takes the events. The
    others put theirs into the spool, where the leader finds them.
    """

    def __init__(
        self,
        store: SessionStore,
        folder: Path,
        known: KnownVaults,
        background: Background,
        pace: Pace,
        *,
        deliveries: Deliveries | None,
        facts: SessionFacts | None,
        on_crash: Callable[[CrashReport], object],
        now: Callable[[], float],
    ) -> None:
        """Make it of its parts. Without `facts` no journals are written."""
        self.store = store
        self._journals = JournalStore(store)
        self._deliveries = deliveries
        self._facts = facts
        self._folder = folder
        self._known = known
        self._background = background
        self._pace = pace
        self._on_crash = on_crash
        self._now = now
        self._led = asyncio.Event()
        self._leading = AsyncExitStack()
        self._draining = asyncio.Lock()
        self._wake = asyncio.Event()
        self._cleaned_at = 0.0
        self._projects: set[str] | None = None  # in the list at the last look at the spool

    @property
    def leads(self) -> bool:
        """Whether this server takes the events."""
        return self._led.is_set()

    async def led(self) -> None:
        """Return once this server takes the events."""
        await self._led.wait()

    @property
    def damaged(self) -> int:
        """The number of files in the spool that were no events."""
        return damaged(self._spool)

    async def get(self, session_id: str) -> Session | None:
        """Return one session, or None."""
        return await self.store.get(session_id)

    async def of_project(self, vault: str, *, limit: int = 100) -> tuple[Session, ...]:
        """Return the latest sessions of a project by its vault's identity, newest first."""
        return await self.store.of_project(vault, limit=limit)

    async def texts(self, session: Session) -> list[SessionEvent]:
        """Return the events of a session with texts, the oldest first."""
        return await events_of(self.store, session.session_id)

    async def take(self, event: SessionEvent, *, seconds: float | None = None) -> Offer:
        """Take an event of now, and return what it brings to the agent. The caller settles that.

        The agent waits for `seconds`, by default for the time of the settings.

        Raises:
            NotFound: `VAULT_UNKNOWN` if the event is of no registered project; `SESSION_NOT_FOUND`
                for the end of a session that was never told of, where that is told by hand.
            Forbidden: `VAULT_NOT_TRUSTED`.
            Misconfigured: `VAULT_NOT_FOUND`.
            Failed: `DISK_FULL`, `INDEX_IO_ERROR`.
        """
        entry = self._known.find(event.vault)
        if entry.role is not Role.PROJECT or entry.identity != event.vault:
            raise NotFound("VAULT_UNKNOWN", "There is no project with this vault.")
        await in_thread(self._known.require_trust, entry)
        if not self.leads:
            await in_thread(spool, self._spool, event)
            self._wake.set()
            return Offer()
        if event.event == END and event.agent == BY_HAND and not await self._is_known(event):
            raise NotFound("SESSION_NOT_FOUND", "There is no session of this ID.")
        taken = await to_its_end(self._absorb([event]))
        if not taken:
            return Offer()  # it came twice
        session = taken[0]
        if event.event == END:
            self._wake.set()
        if event.event == START and session.start_commit is None:
            self._background.spawn(self._note_commit, session)
        if event.event not in {START, PROMPT, COMPACT} or session.vault != event.vault:
            return Offer()  # or the agent went on in another project
        return await self._offered(session, event, seconds)

    async def _is_known(self, event: SessionEvent) -> bool:
        if await self.store.get(event.session_id) is None:
            await self._drain()  # its start may wait there
        return await self.store.get(event.session_id) is not None

    def start(self) -> None:
        """Begin to take what waits."""
        self._background.spawn(self._run)

    async def _run(self) -> None:
        """Take what waits in the spool, and end idle sessions. Never returns."""
        async with self._leading:
            while True:
                self._wake.clear()
                if self.leads or self._can_lead():
                    for work in (self._drain, self._end_idle, self._clean):
                        await self._tried(work())
                with suppress(TimeoutError):
                    async with asyncio.timeout(LOOK_SECONDS):
                        await self._wake.wait()

    async def _tried(self, work: Awaitable[None]) -> None:
        """Await work. What fails is tried again at the next look, and stops nothing else."""
        try:
            await quietly(work)
        except Exception as error:  # noqa: BLE001 - sessions would be taken no more
            self._on_crash(describe_crash(error))

    @property
    def _spool(self) -> Path:
        return self._folder / "spool"

    def _can_lead(self) -> bool:
        """Whether this server leads from now on, since no other one does."""
        try:
            self._leading.enter_context(locked(self._folder / "sessions.lock"))
        except AlreadyLocked:
            return False
        except LocksUnsupported:
            pass
        self._led.set()
        return True

    async def _absorb(self, events: Iterable[SessionEvent]) -> list[Session]:
        """Store events, and return the session after each that was not stored before."""
        found: list[Session] = []
        turns: dict[str, Turn] = {}
        changed: dict[str, Session] = {}
        now = self._now()
        async with self.store.writing() as connection:
            for event in events:
                if not await self.store.take(digest_of(event), event.at, within=SAME_SECONDS):
                    continue
                identifier = event.session_id
                if identifier not in turns:
                    turns[identifier] = await Turn.begin(connection, identifier)
                known = changed.get(identifier, turns[identifier].session)
                known = not_later(known, now) if known is not None else None
                happened = event._replace(at=min(event.at, now))
                session = after(known, happened)
                if self._facts is not None and has_text(event):
                    await keep_event(turns[identifier], happened)
                changed[identifier] = session
                found.append(session)
            for identifier, session in changed.items():
                await self._store(turns[identifier], session)
        return found

    async def _store(self, turn: Turn, session: Session) -> None:
        """Store a session. If it has ended, its journal is to be written from then on."""
        await turn.put_session(session)
        is_told = turn.journal is not None and turn.journal.ended_at == session.ended_at
        if self._facts is not None and session.ended_at is not None and not is_told:
            await turn.put(asked_for(turn.journal, session, None, self._now()))

    async def _offered(self, session: Session, event: SessionEvent, seconds: float | None) -> Offer:
        """Return what is chosen in time. The agent never waits for more."""
        offer, notice = Offer(), None
        most = self._pace.deliver_seconds
        with suppress(TimeoutError, VaultAgentError):
            async with asyncio.timeout(most if seconds is None else min(most, seconds)):
                if event.event == START and self._facts is not None:
                    notice = await self.waiting_drafts(session)
                if self._deliveries is not None:
                    offer = await self._deliveries.deliver(session, event)
        return offer if notice is None else offer._replace(warnings=(notice,))

    async def waiting_drafts(self, session: Session) -> Warning | None:
        """Return what the user should know at a start: that drafts of the project wait."""
        drafts = await self._journals.page(vault=session.vault, state="draft", limit=100)
        if not drafts:
            return None
        count = "A journal waits" if len(drafts) == 1 else f"{len(drafts)} journals wait"
        return Warning.of("JOURNAL_WAITS", f"{count} for your review.")

    async def _note_commit(self, session: Session) -> None:
        """Note the commit that is checked out where a session works."""
        if self._facts is not None:
            commit = await self._facts.start_commit(session, self._known.find(session.vault))
            if commit is not None:
                await self.store.set_start_commit(session.session_id, commit)

    async def _drain(self) -> None:
        """Take the events in the spool, the oldest first."""
        async with self._draining:
            # If the list cannot be read, this raises and nothing is taken.
            known = {each.identity for each in self._known.entries() if each.role is Role.PROJECT}
            if known != self._projects:
                await in_thread(take_back, self._spool)
                self._projects = known
            events = waiting(self._spool)
            while batch := await in_thread(_some, events):
                await self._absorb(each.event for each in batch if each.event.vault in known)
                await in_thread(_done, batch, known)
            await in_thread(bound, self._spool / UNKNOWN)

    async def _end_idle(self) -> None:
        for session in await self.store.open_ones():
            await self._end_if_idle(session)

    async def _end_if_idle(self, session: Session) -> None:
        if self._now() - session.last_event_at < self._pace.idle_seconds:
            return
        changed = await in_thread(_changed_at, session.transcript_path)
        last = max(session.last_event_at, min(changed, self._now()))
        if self._now() - last < self._pace.idle_seconds:
            return
        async with self.store.turn(session.session_id) as turn:
            if turn.session == session:
                await self._store(turn, after_idleness(session, last))

    async def _clean(self) -> None:
        """Remove what is older than the days that are kept, once a day."""
        if time.monotonic() - self._cleaned_at < _DAY and self._cleaned_at:
            return
        await self.store.forget_before(self._now() - self._pace.log_days * _DAY)
        self._cleaned_at = time.monotonic()


@asynccontextmanager
async def open_record(folder: Path) -> AsyncIterator[SessionStore]:
    """Open the database of sessions in the user's data folder.

    Raises:
        Failed: `DISK_FULL`, `INDEX_IO_ERROR`.
    """
    make_private_folder(folder)
    for name in ("sessions.db", TEXTS):
        with suppress(FileExistsError):
            os.close(os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    async with open_sessions(folder / "sessions.db") as store:
        yield store


@asynccontextmanager
async def taking_events(
    store: SessionStore,
    folder: Path,
    known: KnownVaults,
    pace: Pace,
    *,
    deliveries: Deliveries | None = None,
    facts: SessionFacts | None = None,
    on_crash: Callable[[CrashReport], object] = lambda _: None,
    now: Callable[[], float] = time.time,
) -> AsyncIterator[Sessions]:
    """Take the events of agents' sessions. Those of the spool are taken after `Sessions.start`."""
    async with Background(on_crash) as background:
        yield Sessions(
            store,
            folder,
            known,
            background,
            pace,
            deliveries=deliveries,
            facts=facts,
            on_crash=on_crash,
            now=now,
        )


def _some(events: Iterable[Waiting]) -> list[Waiting]:
    """Return the next events, at most a batch of them."""
    found: list[Waiting] = []
    for each in events:
        found.append(each)
        if len(found) == _BATCH:
            break
    return found


def _done(batch: Iterable[Waiting], known: Container[str]) -> None:
    """Remove what was stored. What is of a vault that is not in the list waits aside for it."""
    for each in batch:
        if each.event.vault in known:
            each.done()
        else:
            each.put_aside()


def _changed_at(path: str | None) -> float:
    """Return when a transcript changed, or 0. It is not opened."""
    if path is None or "\0" in path:
        return 0.0
    try:
        found = os.lstat(path)
    except OSError:
        return 0.0
    return found.st_mtime if stat.S_ISREG(found.st_mode) else 0.0
