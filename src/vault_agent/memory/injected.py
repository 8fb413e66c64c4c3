"""What agents get of the notes without asking: at the start of a session, and at a prompt.

Over 300 lines: the log of what a session got decides what it gets next.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple
from weakref import WeakValueDictionary

from vault_agent.errors import NotFound, at_terminal
from vault_agent.memory.candidates import MAX_FILES
from vault_agent.memory.having import Having
from vault_agent.memory.preamble import tokens_of, withdrawn
from vault_agent.model.deliveries import (
    MANUAL,
    PROMPT,
    REFRESH,
    START,
    ChosenNote,
    ContextState,
    Delivery,
    MemoryNews,
)
from vault_agent.model.memory import RecallQuery, RecallSignals
from vault_agent.model.sessions import COMPACT, Delivered, Offer
from vault_agent.store.sessions.deliveries import Change
from vault_agent.system.cancelling import to_its_end

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from vault_agent.config.memory_sections import MemorySettings
    from vault_agent.memory.memory import Memory
    from vault_agent.model.deliveries import SessionMemory
    from vault_agent.model.memory import Address, Recalled, RecalledNote
    from vault_agent.model.sessions import Session, SessionEvent
    from vault_agent.store.sessions.deliveries import DeliveryStore
    from vault_agent.vaults.open_vault import OpenVault
    from vault_agent.vaults.vaults import Vaults

MAX_NOTES: Final = 3
"""Notes that come at once unasked."""
START_TOKENS: Final = 300
_FIRST: Final = 1.0
_LATER: Final = 1.25
"""The bar for notes at the first prompt that brings any, and at later ones."""
_RESUME: Final = "resume"
"""The source of a start after which the agent still has what it got."""
_INDEX_SECONDS: Final = 0.25
"""How long an agent waits for the index of its project. What is later comes at its next event."""
_SETTLE_SECONDS: Final = 1.0
_SAME_COMPACTION = 60.0
"""Seconds between the two events that tell of one compaction."""


class Refreshed(NamedTuple):
    """What a session has, what it would have then, and the text that would come."""

    before: tuple[tuple[RecalledNote, bool | None], ...]
    after: tuple[tuple[RecalledNote, bool | None], ...]
    recalled: Recalled


class _Who(NamedTuple):
    """A session, its agent, and the vault of its project."""

    session_id: str
    agent: str
    vault: OpenVault


class SessionDetails(NamedTuple):
    """A session with its deliveries, and whether each note of them has changed since."""

    session: SessionMemory
    deliveries: tuple[Delivery, ...]
    changed: dict[tuple[Address, str], bool | None]  # by address and hash
    having: Having


class Deliveries:
    """Chooses what sessions get, and logs it. Made by `open_app`."""

    def __init__(
        self,
        vaults: Vaults,
        memory: Memory,
        store: DeliveryStore,
        settings: MemorySettings,
        *,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.store = store
        self._vaults = vaults
        self._memory = memory
        self._settings = settings
        self._now = now
        self._offered: set[asyncio.Event] = set()  # set once each is settled
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    # --- for hooks ------------------------------------------------------------------------------

    async def deliver(self, session: Session, event: SessionEvent) -> Offer:
        """Return what a start or a prompt of a session brings to the agent.

        It is logged when the caller settles it as given. Until then no other event of the session
        gets anything. If the caller gives up before this returns, nothing is logged.

        Raises:
            VaultAgentError: as a search in the project's vault; `DISK_FULL`, `INDEX_IO_ERROR`.
        """
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._turn(session.session_id))
            if event.event == COMPACT:
                await self._compacted(session.session_id)
                return Offer()
            if not self._settings.auto_inject or event.source == _RESUME:
                return Offer()
            if event.event == START:
                # A new context: what the session had is gone.
                before = await self._having(session.session_id)
                since = ContextState(max(self._now(), before.next_moment))
                await self.store.set_state(session.session_id, since)
            having = await self._having(session.session_id)
            async with self._vaults.open(session.vault) as vault:
                asked = await self._asked(session, event, having)
                who = _Who(session.session_id, session.agent, vault)
                brought, change = await self._chosen(who, event, having, asked)
            turn = stack.pop_all()
        settled = asyncio.Event()
        self._offered.add(settled)

        async def settle(given: bool) -> None:
            try:
                async with turn:
                    if given:
                        await to_its_end(self._log(who, change))
            finally:
                self._offered.discard(settled)
                settled.set()

        return Offer(brought, settle)

    async def recall(
        self, vault: OpenVault, query: RecallQuery, *, session_id: str, agent: str
    ) -> Recalled:
        """Recall what an agent or a person asks for in a session, and log it.

        Raises:
            VaultAgentError: as `Memory.recall`, and `DISK_FULL`, `INDEX_IO_ERROR`.
        """
        async with self._turn(session_id):
            having = await self._having(session_id)
            asked = replace(
                query,
                session_id=session_id,
                pinned=having.pinned,
                without=having.removed,
                explain=True,
            )
            found = await self._memory.recall(vault, asked)
            who = _Who(session_id, agent, vault)
            change = Change(self._logged(who, MANUAL, having, asked, found))
            await to_its_end(self._log(who, change))
        return found if query.explain else replace(found, left_out=())

    # --- the log --------------------------------------------------------------------------------

    async def settled(self) -> None:
        """Wait until what agents were given so far is logged, at most a moment."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_SETTLE_SECONDS):
                for each in tuple(self._offered):
                    await each.wait()

    async def details(self, session_id: str) -> SessionDetails:
        """Return one session with all that it got.

        Raises:
            NotFound: `SESSION_NOT_FOUND`.
        """
        await self.settled()
        session = await self._known(session_id)
        deliveries = await self.store.of_session(session_id)
        notes = [note for each in deliveries for note in each.notes]
        now = await self._memory.facts.hashes({note.address for note in notes})
        changed = {(note.address, note.hash): _changed(note, now[note.address]) for note in notes}
        return SessionDetails(session, deliveries, changed, await self._having(session_id))

    async def refresh(self, session_id: str, *, apply: bool) -> Refreshed:
        """Return what the session would get now, besides what it has and what is unchanged.

        With `apply` that comes at its next event.

        Raises:
            NotFound: `SESSION_NOT_FOUND`.
            VaultAgentError: as a search in the project's vault.
        """
        session = await self._known(session_id)
        having = await self._having(session_id)
        async with self._vaults.open(session.vault) as vault:
            asked = await self._asked_again(session_id, having)
            found = await self._memory.recall(vault, asked)
            if apply:
                async with self._turn(session_id):
                    state = await self.store.state(session_id)
                    await self.store.set_state(session_id, state._replace(refresh=True))
                self._tell(_Who(session_id, session.agent, vault), "chosen")
        now = await self._memory.facts.hashes(having.notes)
        before = tuple((note, _changed(note, now[at])) for at, note in having.notes.items())
        came = {note.address for note in found.notes}
        stay = tuple(
            (note, changed)
            for note, changed in before
            if note.address not in came and note.address not in having.removed and now[note.address]
        )
        after = (*((note, False) for note in found.notes), *stay)
        return Refreshed(before, after, found)

    async def put_first(self, session_id: str, name: str, note_id: str) -> None:
        """Put a note first at the next event of a session.

        Raises:
            NotFound: `SESSION_NOT_FOUND`; `NOTE_NOT_FOUND` if there is no such note, it is never
                recalled, or it is of another project.
            VaultAgentError: as `Vaults.open`.
        """
        await self._choose(session_id, name, note_id, removed=False)

    async def take_out(self, session_id: str, name: str, note_id: str) -> None:
        """Keep a note out of a session. If the agent has it, the next prompt tells it so.

        Raises:
            NotFound: `SESSION_NOT_FOUND`, `NOTE_NOT_FOUND`.
            VaultAgentError: as `Vaults.open`.
        """
        await self._choose(session_id, name, note_id, removed=True)

    async def forget(
        self, session_id: str | None = None, *, before: float | None = None
    ) -> Sequence[str]:
        """Remove what is logged about one session, or about those with no event since a moment.

        Return the IDs of these sessions. With neither, all are forgotten. A session that goes on is
        known again with its next event.

        Raises:
            NotFound: `SESSION_NOT_FOUND`.
        """
        if session_id is not None:
            found: Sequence[str] = [(await self._known(session_id)).session_id]
        else:
            found = await self.store.older_than(self._now() + 1 if before is None else before)
        await self.store.forget(found)
        return found

    # --- inside ---------------------------------------------------------------------------------

    async def _asked(
        self, session: Session, event: SessionEvent, having: Having
    ) -> RecallQuery | None:
        """Return what is recalled for an event, or None if the session has got all it may."""
        settings = self._settings
        had = dict.fromkeys(
            (each for each in having.notes if each not in having.pinned), "delivered"
        )
        asked = RecallQuery(
            session_id=session.session_id,
            pinned=having.pinned,
            without={**had, **having.removed},
            explain=True,
            bar=_LATER if having.had_prompt else _FIRST,
            max_notes=min(MAX_NOTES, settings.max_notes),
        )
        if event.event == START:
            limit = min(START_TOKENS, settings.max_tokens)
            return replace(asked, start=True, max_tokens=limit)
        left = max(settings.max_tokens - having.tokens, 0)
        prompt = event.prompt or ""
        if having.state.refresh:
            again = await self._asked_again(session.session_id, having)
            return replace(again, prompt=prompt, max_tokens=left)
        return replace(asked, prompt=prompt, max_tokens=left) if left else None

    async def _asked_again(self, session_id: str, having: Having) -> RecallQuery:
        """Return what is recalled for what the session is about, without what has not changed."""
        now = await self._memory.facts.hashes(having.notes)
        changed = tuple(
            address
            for address, note in having.notes.items()
            if _changed(note, now[address]) and address not in having.removed
        )
        same = dict.fromkeys((each for each in having.notes if each not in changed), "delivered")
        signals = [each.signals for each in having.deliveries]
        return RecallQuery(
            files=tuple(dict.fromkeys(file for each in signals for file in each.files))[:MAX_FILES],
            tags=tuple(dict.fromkeys(tag for each in signals for tag in each.tags)),
            branch=next((each.branch for each in reversed(signals) if each.branch), None),
            session_id=session_id,
            pinned=tuple(dict.fromkeys((*having.pinned, *changed))),
            without={**same, **having.removed},
            explain=True,
            bar=_FIRST,
        )

    async def _chosen(
        self, who: _Who, event: SessionEvent, having: Having, asked: RecallQuery | None
    ) -> tuple[Delivered, Change]:
        """Return what an event brings, and what is logged once the agent was given it."""
        told = having.to_tell if event.event == PROMPT else ()
        text = withdrawn([each.title for each in told], self._settings.max_tokens // 2)
        found = None
        if asked is not None:
            spent = tokens_of(f"{text}\n") if text else 0
            limit = asked.max_tokens or self._settings.max_tokens
            asked = replace(asked, max_tokens=max(limit - spent, 0))
            found = await self._memory.recall(who.vault, asked, index_seconds=_INDEX_SECONDS)
            text = "\n".join(filter(None, (text, found.text)))
        kind = REFRESH if having.state.refresh and event.event == PROMPT else event.event
        delivery = None
        # A prompt without a subject, for which there is nothing, is as if it had not come.
        if text or kind == START or (found is not None and found.used_mode is not None):
            delivery = self._logged(who, kind, having, asked, found)
            delivery = replace(delivery, text=text, tokens=tokens_of(text))
        change = Change(
            delivery,
            tuple(replace(each, told=True) for each in told),
            having.state._replace(refresh=False) if kind == REFRESH else None,
        )
        shown = _message(found) if self._settings.show and text else None
        new = _not_allowed(found) if event.event == START else None
        return Delivered(text or None, "\n".join(filter(None, (shown, new))) or None), change

    def _logged(
        self,
        who: _Who,
        event: str,
        having: Having,
        asked: RecallQuery | None,
        found: Recalled | None,
    ) -> Delivery:
        empty = Delivery(
            session_id=who.session_id,
            agent=who.agent,
            vault=who.vault.identity,
            at=max(self._now(), having.latest),
            event=event,
            text="",
            tokens=0,
            max_tokens=self._settings.max_tokens // 2,
            signals=RecallSignals(),
        )
        if asked is None or found is None:
            return empty
        return replace(
            empty,
            text=found.text,
            tokens=found.tokens,
            max_tokens=found.max_tokens,
            signals=found.signals,
            notes=found.notes,
            left_out=found.left_out,
            prompt_hash=hashlib.sha256(asked.prompt.encode()).digest() if asked.prompt else None,
        )

    async def _log(self, who: _Who, change: Change) -> None:
        await self.store.log(who.session_id, change)
        if (delivery := change.delivery) is not None:
            self._tell(who, delivery.event, len(delivery.notes), delivery.tokens)

    async def _compacted(self, session_id: str) -> None:
        state = await self.store.state(session_id)
        if self._now() - state.since > _SAME_COMPACTION:
            since = max(self._now(), (await self._having(session_id)).next_moment)
            await self.store.set_state(session_id, state._replace(since=since))

    async def _choose(self, session_id: str, name: str, note_id: str, *, removed: bool) -> None:
        session = await self._known(session_id)
        async with self._turn(session_id), self._vaults.open(session.vault) as project:
            having = await self._having(session_id)
            at = max(self._now(), having.next_moment)
            had = having.notes.get((name, note_id)) if removed else None
            if had is not None:  # also if its vault or the note is gone
                chosen = ChosenNote(name, note_id, had.title, had.path, removed, at)
            else:
                chosen = replace(await self._found(project, name, note_id), removed=removed, at=at)
            await self.store.choose(session_id, chosen)
            self._tell(_Who(session_id, session.agent, project), "chosen")

    async def _found(self, project: OpenVault, name: str, note_id: str) -> ChosenNote:
        """Return a note of the project's vault or of the global one."""
        async with AsyncExitStack() as stack:
            wanted = await stack.enter_async_context(self._vaults.open(name))
            known, _ = await self._memory.facts.around(stack, project)
            for each in known:
                rowid = each.notes.ids.get(note_id)
                if each.vault.identity == wanted.identity and rowid is not None:
                    note = each.notes.notes[rowid]
                    return ChosenNote(each.name, note_id, note.title, note.path)
        raise NotFound("NOTE_NOT_FOUND", "No note of this session's project has this ID.")

    async def _known(self, session_id: str) -> SessionMemory:
        found = await self.store.session(session_id)
        if found is None:
            raise NotFound("SESSION_NOT_FOUND", "Nothing is known about this session.")
        return found

    async def _having(self, session_id: str) -> Having:
        state = await self.store.state(session_id)
        deliveries = await self.store.of_session(session_id)
        return Having(
            tuple(each for each in deliveries if each.at >= state.since),
            await self.store.chosen(session_id),
            state,
        )

    def _tell(self, who: _Who, event: str, notes: int = 0, tokens: int = 0) -> None:
        news = MemoryNews(who.session_id, who.agent, event, notes, tokens)
        self._vaults.tell(who.vault.identity, news)

    @asynccontextmanager
    async def _turn(self, session_id: str) -> AsyncIterator[None]:
        """Let events of one session take turns: what one gets depends on the one before."""
        turn = self._turns.setdefault(session_id, asyncio.Lock())
        async with turn:
            yield


def _changed(note: RecalledNote, now: str | None) -> bool | None:
    return None if now is None else now != note.hash


def _not_allowed(found: Recalled | None) -> str | None:
    for each in found.warnings if found is not None else ():
        if each.code == "NOTES_NOT_ALLOWED":  # a person reads it, at the terminal of an agent
            return at_terminal(each.code, each.message, each.details)
    return None


def _message(found: Recalled | None) -> str | None:
    if found is None or not found.notes:
        return None
    titles = ", ".join(f'"{note.title}"' for note in found.notes)
    return f"Vault memory: {titles} (~{found.tokens} tokens)"
