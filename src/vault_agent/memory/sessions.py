"""The sessions of agents: takes their events, and has their journals written when they are due."""

from __future__ import annotations

import asyncio
import time
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Final

from vault_agent.config.vault_list import Role
from vault_agent.errors import NotFound, VaultAgentError
from vault_agent.memory.session_file import SAME_SECONDS, same_event
from vault_agent.model.memory import ASKED
from vault_agent.model.sessions import COMPACT, END, PROMPT, START, Delivered, Offer
from vault_agent.system.cancelling import in_thread
from vault_agent.system.crash import describe_crash
from vault_agent.system.files import AlreadyLocked, LocksUnsupported, locked
from vault_agent.vaults.runs import quietly

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from vault_agent.memory.deliveries import Deliveries
    from vault_agent.memory.journals import Journals
    from vault_agent.memory.session_file import Session, SessionStore
    from vault_agent.model.sessions import SessionEvent
    from vault_agent.system.crash import CrashReport
    from vault_agent.vaults.shared import VaultRegistry

LOOK_SECONDS: Final = 30.0
"""Time between looks at sessions whose end was told without a server, or by nobody."""
KEPT_DAYS: Final = 90.0
_DAY: Final = 86_400.0


class Sessions:
    """The sessions that agents' hooks tell of.

    Several servers may have the same data folder. One of them writes journals: the first one.
    """

    def __init__(
        self,
        store: SessionStore,
        folder: Path,
        registry: VaultRegistry,
        *,
        deliveries: Deliveries | None,
        journals: Journals | None,
        deliver_seconds: float,
        on_crash: Callable[[CrashReport], object] = lambda _: None,
    ) -> None:
        """Make it of its parts. The agent never waits longer than `deliver_seconds`."""
        self.store = store
        self._folder = folder
        self._known = registry
        self._deliveries = deliveries
        self._journals = journals
        self._deliver_seconds = deliver_seconds
        self._on_crash = on_crash
        self._wake = asyncio.Event()
        self._leading = ExitStack()
        self._leads = False
        self._cleaned_at = 0.0
        # The last event of each session: two hooks of one event do not both get its text.
        self._answered: dict[str, tuple[tuple[object, ...], float]] = {}

    async def take(self, event: SessionEvent, *, seconds: float | None = None) -> Offer:
        """Take an event of now, and return what it brings to the agent. The caller settles that.

        The agent waits for `seconds`, by default for the time of the settings.

        Raises:
            NotFound: `VAULT_UNKNOWN` if the event is of no registered project.
            Forbidden: `VAULT_NOT_TRUSTED`.
            Misconfigured: `VAULT_NOT_FOUND`.
            Failed: `DISK_FULL`, `INDEX_IO_ERROR`.
        """
        entry = self._known.find(event.vault)
        if entry.role is not Role.PROJECT or entry.identity != event.vault:
            raise NotFound("VAULT_UNKNOWN", "There is no project with this vault.")
        await in_thread(self._known.require_trust, entry)
        session = await self.store.take(event)
        if event.event in {START, END}:
            self._wake.set()  # one that was left in the same folder is to be written too
        if event.event not in {START, PROMPT, COMPACT} or session.vault != event.vault:
            return Offer()  # or the agent went on in another project
        if self._was_answered(event):
            return Offer()
        return await self._offered(session, event, seconds)

    def wake(self) -> None:
        """Look at the journals now."""
        self._wake.set()

    async def run(self) -> None:
        """Write what is due, without end."""
        with self._leading:
            while True:
                self._wake.clear()
                if self._leads or self._can_lead():
                    if self._journals is not None:
                        await self._tried(self._journals.write_due())
                    await self._tried(self._clean())
                with suppress(TimeoutError):
                    async with asyncio.timeout(LOOK_SECONDS):
                        await self._wake.wait()

    async def _tried(self, work: Awaitable[None]) -> None:
        """Await work. What fails is tried again at the next look, and stops nothing else."""
        try:
            await quietly(work)
        except Exception as error:  # noqa: BLE001 - sessions would be written no more
            self._on_crash(describe_crash(error))

    def _can_lead(self) -> bool:
        """Whether this server writes journals from now on, since no other one does."""
        try:
            self._leading.enter_context(locked(self._folder / "sessions.lock"))
        except AlreadyLocked:
            return False
        except LocksUnsupported:
            pass
        self._leads = True
        return True

    def _was_answered(self, event: SessionEvent) -> bool:
        """Whether another hook has asked for the same event a moment ago."""
        same, at = self._answered.get(event.session_id, ((), 0.0))
        self._answered[event.session_id] = same_event(event), event.at
        return same == same_event(event) and abs(event.at - at) <= SAME_SECONDS

    async def _offered(self, session: Session, event: SessionEvent, seconds: float | None) -> Offer:
        """Return what is chosen in time. The agent never waits for more."""
        offer, notice = Offer(), None
        most = self._deliver_seconds
        with suppress(TimeoutError, VaultAgentError):
            async with asyncio.timeout(most if seconds is None else min(most, seconds)):
                if event.event == START:
                    notice = await self._asking(session)
                if self._deliveries is not None:
                    offer = await self._deliveries.deliver(session, event)
        if notice is None:
            return offer
        text, message = offer.brought
        return offer._replace(brought=Delivered(text, "\n".join(filter(None, (message, notice)))))

    async def _asking(self, session: Session) -> str | None:
        """Return what the user should know at a start: that sessions wait for an order."""
        if self._journals is None:
            return None
        waiting = [
            other
            for other in await self.store.sessions(session.vault)
            if other.journal is not None and other.journal.reason == ASKED
        ]
        if not waiting:
            return None
        count = "A session has" if len(waiting) == 1 else f"{len(waiting)} sessions have"
        command = "vault-agent memory journal make --all"
        return f"vault-agent: {count} no journal yet. To write it: {command}"

    async def _clean(self) -> None:
        """Remove the sessions of long ago, once a day."""
        if self._cleaned_at and time.monotonic() - self._cleaned_at < _DAY:
            return
        self._cleaned_at = time.monotonic()
        await self.store.forget_older(KEPT_DAYS)
