"""What agents get of the notes without asking: at the start of a session, and at a prompt.

What a session was given is a line of its file, so what it gets next follows from the lines.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack, suppress
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Final
from weakref import WeakValueDictionary

from vault_agent.errors import NotFound
from vault_agent.memory.preamble import framed_words
from vault_agent.memory.session_file import ADDED, RESUME, given_line
from vault_agent.model.memory import (
    MANUAL,
    DeliveredNote,
    Delivery,
    MemoryNews,
    RecallQuery,
    SessionRefresh,
)
from vault_agent.model.sessions import COMPACT, PROMPT, START, Delivered, Offer
from vault_agent.system.cancelling import to_its_end
from vault_agent.text.words import tokens_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from vault_agent.config.sections import MemorySettings
    from vault_agent.memory.recall import Memory
    from vault_agent.memory.session_file import Session, SessionStore
    from vault_agent.model.memory import Recalled, RecalledNote
    from vault_agent.model.sessions import SessionEvent
    from vault_agent.store.index.lists import NoteFacts
    from vault_agent.vaults.open_vault import OpenVault
    from vault_agent.vaults.vaults import Vaults

MAX_NOTES: Final = 3
"""Notes that come at once unasked."""
START_TOKENS: Final = 300
MAX_TOKENS: Final = 1_000
"""Of all that a session gets without asking, until its context is compacted."""
KEPT_LEFT_OUT: Final = 5
"""Notes that a delivery left out and that are kept, the best first."""
_FIRST: Final = 1.0
_LATER: Final = 1.25
"""The bar for notes at the first prompt that brings any, and at later ones."""
_INDEX_SECONDS: Final = 0.25
"""How long an agent waits for the index of its project. What is later comes at its next event."""
_SETTLE_SECONDS: Final = 1.0
_COMPACTED: Final = "compact"
"""The source of a start after a compaction."""
_ABOUT_TOOLS: Final = (
    "[Vault memory: session {session}. Call get_agent_memory the moment the user implies that work"
    " already happened. Before you end, call generate_session_journal.]"
)


class Deliveries:
    """Chooses what sessions get, and logs it. Made by `open_app`."""

    def __init__(
        self,
        vaults: Vaults,
        memory: Memory,
        store: SessionStore,
        settings: MemorySettings,
        clean: Callable[[str], str],
        *,
        with_tools: bool = True,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Make it of its parts. `clean` removes secrets from what leaves.

        `with_tools` is whether agents can call tools, which a start then names.
        """
        self.store = store
        self._vaults = vaults
        self._memory = memory
        self._settings = settings
        self._clean = clean
        self._with_tools = with_tools
        self._now = now
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    # --- for hooks ------------------------------------------------------------------------------

    async def deliver(self, session: Session, event: SessionEvent) -> Offer:
        """Return what a start or a prompt of a session brings to the agent.

        It is logged when the caller settles it as given. Until then no other event of the session
        gets anything. If the caller gives up before this returns, nothing is logged.

        Raises:
            VaultAgentError: as a search in the project's vault; `DISK_FULL`, `INDEX_IO_ERROR`.
        """
        nothing = event.event == COMPACT or event.source == RESUME
        if nothing or not self._settings.auto_inject:
            return Offer()
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._turn(session.session_id))
            session = await self.store.get(session.session_id) or session
            vault = await self._vaults.open(session.vault)
            brought, delivery = await self._chosen(vault, session, event)
            turn = stack.pop_all()

        async def settle(was_given: bool) -> None:
            async with turn:
                if was_given and delivery is not None:
                    await to_its_end(self._log(session, delivery))

        return Offer(brought, settle)

    async def recall(self, vault: OpenVault, query: RecallQuery, session: Session) -> Recalled:
        """Recall what an agent or a person asks for in a session, and log it.

        Raises:
            VaultAgentError: as `Memory.recall`, and `DISK_FULL`, `INDEX_IO_ERROR`.
        """
        async with self._turn(session.session_id):
            logged_query = replace(
                query, session_id=session.session_id, pinned=session.pinned, explain=True
            )
            recalled = await self._memory.recall(vault, logged_query)
            await to_its_end(self._log(session, _logged(self._now(), MANUAL, recalled)))
        return recalled if query.explain else replace(recalled, left_out=())

    # --- the log --------------------------------------------------------------------------------

    async def settled(self) -> None:
        """Wait until what agents were given so far is logged, at most a moment."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_SETTLE_SECONDS):
                for turn in tuple(self._turns.values()):
                    async with turn:
                        pass

    async def details(self, session_id: str) -> tuple[Session, dict[RecalledNote, DeliveredNote]]:
        """Return one session, and what is shown of each note that it got.

        Raises:
            NotFound: `SESSION_NOT_FOUND`.
        """
        await self.settled()
        session = await self.store.require(session_id)
        notes = [note for delivery in session.deliveries for note in delivery.notes]
        now = await self._memory.facts.hashes({note.address for note in notes})
        return session, {note: _delivered(note, now[note.address]) for note in notes}

    async def refresh(self, session_id: str, *, apply: bool) -> SessionRefresh:
        """Return what the session would get now, besides what it has and what is unchanged.

        With `apply` these notes come first at its next prompt.

        Raises:
            NotFound: `SESSION_NOT_FOUND`.
            VaultAgentError: as a search in the project's vault.
        """
        session = await self.store.require(session_id)
        vault = await self._vaults.open(session.vault)
        recalled = await self._memory.recall(vault, await self._asked_again(session))
        if apply:
            for note in recalled.notes:
                await self._put_first(session, note.vault, note.note_id, note.title, note.path)
        had = session.had
        now = await self._memory.facts.hashes(had)
        before = tuple(_delivered(note, now[at]) for at, note in had.items())
        came = tuple(_delivered(note, note.hash) for note in recalled.notes)
        addresses = {note.address for note in came}
        stay = (note for note in before if note.address not in addresses and now[note.address])
        return SessionRefresh(before, (*came, *stay), recalled.text, recalled.tokens)

    async def add(self, session_id: str, name: str, note_id: str) -> None:
        """Put a note first at the next event of a session.

        Raises:
            NotFound: `SESSION_NOT_FOUND`; `NOTE_NOT_FOUND` if there is no such note, it is never
                recalled, or it is of another project.
            VaultAgentError: as `Vaults.open`.
        """
        session = await self.store.require(session_id)
        async with self._turn(session_id):
            project = await self._vaults.open(session.vault)
            vault, note = await self._found(project, name, note_id)
            await self._put_first(session, vault, note_id, note.title, note.path)

    # --- inside ---------------------------------------------------------------------------------

    async def _chosen(
        self, vault: OpenVault, session: Session, event: SessionEvent
    ) -> tuple[Delivered, Delivery | None]:
        """Return what an event brings, and what is logged once the agent was given it."""
        settings = self._settings
        left = max(MAX_TOKENS - session.tokens_unasked, 0)
        own = ""
        if event.event == START:
            left = min(START_TOKENS, MAX_TOKENS)
            if event.source == _COMPACTED:
                words = [self._clean(said.text) for said in session.words if said.by_person]
                own = framed_words(words, max_tokens=left)
        if not left:
            return Delivered(), None
        kind = event.event
        if kind == PROMPT and session.lacks_start:
            kind = START
        had = dict.fromkeys((at for at in session.had if at not in session.pinned), "delivered")
        query = RecallQuery(
            prompt=event.prompt or "",
            session_id=session.session_id,
            cwd=session.cwd,
            pinned=session.pinned,
            without=had,
            explain=True,
            start=kind == START,
            bar=_LATER if session.had_prompt else _FIRST,
            max_notes=MAX_NOTES,
            max_tokens=max(left - tokens_of(own), 0),
        )
        recalled = await self._memory.recall(vault, query, index_seconds=_INDEX_SECONDS)
        names_tools = kind == START and self._with_tools
        about_tools = _ABOUT_TOOLS.format(session=session.session_id[:8]) if names_tools else ""
        parts = [own, recalled.text, about_tools]
        text = "\n".join(filter(None, parts))
        if not (text or kind == START or recalled.used_mode is not None):
            return Delivered(), None  # a prompt without a subject is as if it had not come
        delivery = _logged(self._now(), kind, recalled)
        message = _message(recalled) if settings.show and recalled.text else None
        return Delivered(text or None, message), replace(
            delivery, text=text, tokens=tokens_of(text)
        )

    async def _asked_again(self, session: Session) -> RecallQuery:
        """Return what is recalled for what the session is about, without what has not changed."""
        had = session.had
        now = await self._memory.facts.hashes(had)
        changed = tuple(at for at, note in had.items() if now[at] not in {None, note.hash})
        signals = [delivery.signals for delivery in session.deliveries]
        return RecallQuery(
            prompt=next((said.text for said in reversed(session.words) if said.by_person), ""),
            files=tuple(dict.fromkeys(file for signal in signals for file in signal.files))[:20],
            tags=tuple(dict.fromkeys(tag for signal in signals for tag in signal.tags)),
            session_id=session.session_id,
            cwd=session.cwd,
            pinned=tuple(dict.fromkeys((*session.pinned, *changed))),
            without=dict.fromkeys((at for at in had if at not in changed), "delivered"),
            explain=True,
            bar=_FIRST,
            max_notes=MAX_NOTES,
        )

    async def _log(self, session: Session, delivery: Delivery) -> None:
        await self.store.append(session, given_line(delivery))
        self._tell(session, delivery.event, len(delivery.notes), delivery.tokens)

    async def _put_first(
        self, session: Session, vault: str, note_id: str, title: str, path: str
    ) -> None:
        note = {"vault": vault, "note_id": note_id, "title": title, "path": path}
        await self.store.append(session, {"event": ADDED, "at": self._now(), **note})
        self._tell(session, "chosen")

    async def _found(self, project: OpenVault, name: str, note_id: str) -> tuple[str, NoteFacts]:
        """Return a note of the project's vault or of the global one, and what calls its vault."""
        wanted = await self._vaults.open(name)
        vaults, _ = await self._memory.facts.around(project)
        for facts in vaults:
            rowid = facts.notes.ids.get(note_id)
            if facts.vault.identity == wanted.identity and rowid is not None:
                return facts.name, facts.notes.notes[rowid]
        raise NotFound("NOTE_NOT_FOUND", "No note of this session's project has this ID.")

    def _tell(self, session: Session, event: str, notes: int = 0, tokens: int = 0) -> None:
        news = MemoryNews(session.session_id, session.agent, event, notes, tokens)
        self._vaults.tell(session.vault, news)

    def _turn(self, session_id: str) -> asyncio.Lock:
        """Let events of one session take turns: what one gets depends on the one before."""
        return self._turns.setdefault(session_id, asyncio.Lock())


def _logged(at: float, event: str, recalled: Recalled) -> Delivery:
    return Delivery(
        at=at,
        event=event,
        text=recalled.text,
        tokens=recalled.tokens,
        max_tokens=recalled.max_tokens,
        signals=recalled.signals,
        notes=recalled.notes,
        left_out=recalled.left_out[:KEPT_LEFT_OUT],
    )


def _delivered(note: RecalledNote, now: str | None) -> DeliveredNote:
    """Return what is shown of a note that a session got. `now` is the hash of its file."""
    values = {field.name: getattr(note, field.name) for field in fields(note)}
    return DeliveredNote(**values, changed=None if now is None else now != note.hash)


def _message(recalled: Recalled) -> str | None:
    if not recalled.notes:
        return None
    titles = ", ".join(f'"{note.title}"' for note in recalled.notes)
    return f"Vault memory: {titles} (~{recalled.tokens} tokens)"
