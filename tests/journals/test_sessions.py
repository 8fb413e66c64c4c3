"""Sessions of agents: their events are taken once, in any order, and their journals are ordered."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from contextlib import asynccontextmanager, closing
from typing import TYPE_CHECKING

import pytest
from tests.support.clocks import PATIENCE
from tests.support.registered_vaults import RegisteredVaults
from tests.support.waiting import eventually_async

from vault_agent.config.rules import vault_identity
from vault_agent.errors import Failed, Forbidden, NotFound
from vault_agent.journals import sessions as module
from vault_agent.journals.events import to_json
from vault_agent.journals.sessions import Pace, open_record, taking_events
from vault_agent.journals.spool import damaged, spool, waiting
from vault_agent.model.sessions import Delivered, Offer, SessionEvent
from vault_agent.store.sessions.journals import JournalStore
from vault_agent.store.sessions.store import TEXTS, SessionStore
from vault_agent.store.sessions.turn import Turn
from vault_agent.vaults.known import KnownVaults

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from vault_agent.journals.sessions import Sessions
    from vault_agent.model.journals import Journal
    from vault_agent.model.sessions import Session

NOON = 1_790_000_000.0
ID = "0f0e0d0c-1111-4222-8333-444455556666"
OTHER = "another-session"


class Recorder:
    """Delivers by noting what it was asked, and knows the commit of every project."""

    def __init__(self) -> None:
        self.delivered: list[str] = []
        self.forever = False

    async def deliver(self, session: Session, event: SessionEvent) -> Offer:
        self.delivered.append(event.event)
        if self.forever:
            await asyncio.sleep(PATIENCE)
        return Offer(Delivered(f"for {session.session_id}", None))

    async def start_commit(self, session: Session, entry: object) -> str | None:
        return "c0ffee"


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.time = NOON + 100

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RegisteredVaults:
    monkeypatch.setattr(module, "LOOK_SECONDS", 0.02)
    world = RegisteredVaults(tmp_path)
    world.project("one", {})
    world.project("two", {})
    return world


@pytest.fixture
def clock() -> Clock:
    return Clock()


@asynccontextmanager
async def opened(
    world: RegisteredVaults,
    clock: Callable[[], float],
    parts: Recorder | None = None,
    *,
    start: bool = True,
) -> AsyncIterator[Sessions]:
    parts = parts or Recorder()
    async with (
        open_record(world.data) as store,
        taking_events(
            store,
            world.data,
            KnownVaults(world.registry),
            Pace(idle_seconds=1_800, deliver_seconds=0.2),
            deliveries=parts,
            facts=parts,
            now=clock,
        ) as sessions,
    ):
        if start:
            sessions.start()
            await eventually_async(lambda: sessions.leads)
        yield sessions


async def journals(sessions: Sessions) -> list[Journal]:
    """Return the journals that are ordered, the one that was ordered first at the beginning."""
    return await JournalStore(sessions.store).due(float("inf"))


def event(world: RegisteredVaults, kind: str, at: float = 0.0, **fields: object) -> SessionEvent:
    made = {
        "agent": "claude-code",
        "event": kind,
        "name": kind,
        "session_id": ID,
        "cwd": str(world.folder),
        "at": NOON + at,
        "vault": vault_identity(world.folder / "projects/one/.vault-agent/vault"),
        **fields,
    }
    return SessionEvent(**made)  # type: ignore[arg-type]


async def test_a_session_goes_from_its_start_to_its_end(world: RegisteredVaults, clock: Clock):
    parts = Recorder()
    async with opened(world, clock, parts) as sessions:
        brought = await sessions.take(event(world, "start", model="m-1", title="Costs"))
        assert brought.brought == Delivered(f"for {ID}", None)
        await sessions.take(event(world, "prompt", 1, prompt="make it faster"))
        await sessions.take(event(world, "stop", 2, last_message="Done: it is faster."))
        assert await journals(sessions) == []
        await sessions.take(event(world, "end", 3, reason="logout"))
        session = await sessions.get(ID)
        assert session is not None
        assert (session.prompts, session.model, session.title) == (1, "m-1", "Costs")
        assert (session.state, session.end_reason) == ("ended", "logout")
        assert (session.started_at, session.ended_at) == (NOON, NOON + 3)
        [journal] = await journals(sessions)
        assert (journal.session_id, journal.state, journal.ended_at) == (ID, "pending", NOON + 3)
        assert parts.delivered == ["start", "prompt"]
        texts = await sessions.texts(session)
        assert [each.prompt or each.last_message for each in texts] == [
            "make it faster",
            "Done: it is faster.",
        ]
        assert session.start_commit == "c0ffee"
        assert await sessions.store.of_project(session.vault) == (session,)
        await sessions.store.forget([ID])
        assert await sessions.texts(session) == []


@pytest.mark.fault(
    "Sessions, journals and memory of agents",
    "`session end` names a session that never started",
    "`SESSION_NOT_FOUND`, exit 4; nothing is stored",
)
async def test_a_session_that_was_never_told_of_by_hand_cannot_be_ended(
    world: RegisteredVaults, clock: Clock
):
    async with opened(world, clock, Recorder()) as sessions:
        unknown = event(world, "end", session_id="none", agent="generic")
        with pytest.raises(NotFound) as refused:
            await sessions.take(unknown)
        assert refused.value.code == "SESSION_NOT_FOUND"
        assert await sessions.store.get("none") is None
        # The start may wait in the spool, and an agent's hook may be installed in its session.
        spool(sessions._spool, event(world, "start", session_id="waits", agent="generic"))
        for end in (
            event(world, "end", 1, session_id="waits", agent="generic"),
            event(world, "end", 1, session_id="hooked"),
        ):
            await sessions.take(end)
            session = await sessions.store.get(end.session_id)
            assert session is not None
            assert session.end_reason is not None or session.ended_at is not None


async def test_prompts_and_messages_are_not_in_the_database(world: RegisteredVaults, clock: Clock):
    async with opened(world, clock) as sessions:
        await sessions.take(event(world, "prompt", prompt="CANARY-1"))
        await sessions.take(event(world, "stop", last_message="CANARY-2"))
        await sessions.take(event(world, "compact", summary="CANARY-3"))
        assert b"CANARY-3" in (world.data / TEXTS).read_bytes()
        await sessions.store.forget([ID])
        assert b"CANARY" not in (world.data / TEXTS).read_bytes()
    path = world.data / "sessions.db"
    assert b"CANARY" not in path.read_bytes()
    for each in (path, world.data / TEXTS):
        assert os.name == "nt" or each.stat().st_mode & 0o777 == 0o600
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM session").fetchall() == [(0,)]


@pytest.mark.fault(
    "Sessions, journals and memory of agents",
    "two hooks of one event; an event sent again after a timeout",
    "one event",
)
async def test_an_event_that_comes_twice_counts_once(world: RegisteredVaults, clock: Clock):
    async with opened(world, clock) as sessions:
        for at in (0, 0, 1.5):  # two hooks of one event, and one sent again
            await sessions.take(event(world, "prompt", at, prompt="go on"))
        await sessions.take(event(world, "prompt", 20, prompt="go on"))  # said again
        found = await sessions.get(ID)
        assert found is not None
        assert found.prompts == 2


async def test_what_waits_in_the_spool_is_taken_in_order(world: RegisteredVaults, clock: Clock):
    folder = world.data / "spool"
    for at, kind in enumerate(("start", "prompt", "stop", "end")):
        spool(folder, event(world, kind, at, prompt="first" if kind == "prompt" else None))
    spool(folder, event(world, "end", 3))  # twice
    (folder / "00000000000000000001-x.json").write_bytes(b'{"version": 1')
    (folder / "00000000000000000002-x.json").write_bytes(b'{"version": 99, "agent": "codex"}')
    parts = Recorder()
    async with opened(world, clock, parts) as sessions:
        assert await eventually_async(lambda: journals(sessions))
        session = await sessions.get(ID)
        assert session is not None
        assert session.prompts == 1
        assert sessions.damaged == damaged(folder) == 2
        assert parts.delivered == []  # nobody would read it
    assert list(waiting(folder)) == []


@pytest.mark.parametrize("registry", ["away", "unreadable", "broken", "emptied"])
async def test_events_wait_until_the_list_of_vaults_names_theirs_again(
    world: RegisteredVaults, clock: Clock, registry: str, monkeypatch: pytest.MonkeyPatch
):
    folder, away = world.data / "spool", world.registry.with_suffix(".away")
    looks = 0
    real = KnownVaults.entries

    def entries(known: KnownVaults) -> object:
        nonlocal looks
        looks += 1
        return real(known)

    monkeypatch.setattr(KnownVaults, "entries", entries)
    waits = event(world, "prompt", 1, prompt="first")
    world.registry.rename(away)
    if registry == "unreadable":
        world.registry.symlink_to(world.registry)  # it fails for every user
    elif registry != "away":
        world.registry.write_text("[[vault" if registry == "broken" else "")
    spool(folder, waits)
    async with opened(world, clock) as sessions:
        await eventually_async(lambda: looks > 2)
        assert await sessions.get(ID) is None
        assert len(list(folder.rglob("*.json"))) == 1
        away.replace(world.registry)
        session = await eventually_async(lambda: sessions.get(ID))
        assert session is not None
        assert session.prompts == 1
        await eventually_async(lambda: not list(folder.rglob("*.json")))


@pytest.mark.fault(
    "Sessions, journals and memory of agents",
    "10,000 events wait; damaged ones, ones of a newer version, one twice",
    "taken in order, once each; damaged ones aside with a count",
)
@pytest.mark.parametrize("number", [500, pytest.param(10_000, marks=pytest.mark.long)])
async def test_many_waiting_events_are_taken_once_each(
    world: RegisteredVaults, clock: Clock, number: int
):
    folder = world.data / "spool"
    folder.mkdir(parents=True)
    for at in range(number):  # as `spool` writes them, without waiting for the disk
        each = event(world, "prompt", at, session_id=f"s{at % 100}")
        (folder / f"{at:020d}-00000000.json").write_bytes(to_json(each))
    clock.time = NOON + 10_000
    async with opened(world, clock) as sessions:
        await eventually_async(lambda: not list(folder.glob("*.json")), seconds=5 * PATIENCE)
        counts = [
            found.prompts for n in range(100) if (found := await sessions.get(f"s{n}")) is not None
        ]
    assert counts == [number // 100] * 100


@pytest.mark.fault(
    "Sessions, journals and memory of agents",
    "a stop that is told after the end; a start told last",
    "one session with its true times",
)
async def test_events_may_come_in_another_order(world: RegisteredVaults, clock: Clock):
    async with opened(world, clock) as sessions:
        await sessions.take(event(world, "prompt", 5, prompt="hello"))
        await sessions.take(event(world, "end", 9.5, reason="logout"))
        await sessions.take(event(world, "stop", 10))  # its hook ran longer than that of the end
        await sessions.take(event(world, "start", 0))
        found = await sessions.get(ID)
        assert found is not None
        assert (found.started_at, found.ended_at, found.state) == (NOON, NOON + 9.5, "ended")


async def test_a_resumed_session_is_open_again_and_ends_again(
    world: RegisteredVaults, clock: Clock
):
    async with opened(world, clock) as sessions:
        await sessions.take(event(world, "start"))
        await sessions.take(event(world, "end", 10))
        await sessions.take(event(world, "start", 60, source="resume"))
        found = await sessions.get(ID)
        assert found is not None
        assert (found.state, found.ended_at) == ("open", None)
        await sessions.take(event(world, "end", 70))
        [journal] = await journals(sessions)
        assert journal.ended_at == NOON + 70


@pytest.mark.fault(
    "Sessions, journals and memory of agents",
    "a session without an end",
    "ends after `journal.idle_minutes` without an event or a change of its transcript",
)
async def test_a_session_without_events_ends_unless_its_transcript_grows(
    world: RegisteredVaults, clock: Clock, tmp_path: Path
):
    transcript = tmp_path / "t.jsonl"
    transcript.write_text("{}")
    async with opened(world, clock) as sessions:
        await sessions.take(event(world, "start", transcript_path=str(transcript)))
        os.utime(transcript, (NOON + 1_700, NOON + 1_700))
        await sessions.take(event(world, "start", 1, session_id=OTHER))
        clock.time = NOON + 1_900
        [journal] = await eventually_async(lambda: journals(sessions))
        assert journal.session_id == OTHER
        found = await sessions.get(ID)
        assert found is not None
        assert found.state == "open"
        clock.time = NOON + 1_700 + 1_801
        await eventually_async(lambda: journals(sessions), lambda found: len(found) > 1)
        found = await sessions.get(ID)
        assert found is not None
        assert (found.end_reason, found.ended_at) == ("idle", NOON + 1_700)
        await sessions.take(event(world, "stop", 3_500))  # it was at work all the time
        found = await sessions.get(ID)
        assert found is not None
        assert found.state == "open"


@pytest.mark.fault(
    "Sessions, journals and memory of agents",
    "the end of a session cannot be stored; the server is killed",
    "neither the end nor the order for its journal is there; the event comes again",
)
async def test_an_end_is_stored_with_the_order_for_its_journal_or_not_at_all(
    world: RegisteredVaults, clock: Clock, monkeypatch: pytest.MonkeyPatch
):
    async def full(turn: Turn, journal: Journal) -> Journal:
        raise Failed("DISK_FULL", "The disk is full.")

    async with opened(world, clock) as sessions:
        await sessions.take(event(world, "start"))
        with monkeypatch.context() as patched:
            patched.setattr(Turn, "put", full)
            with pytest.raises(Failed):
                await sessions.take(event(world, "end", 1))
        found = await sessions.get(ID)
        assert found is not None
        assert (found.state, await journals(sessions)) == ("open", [])
        await sessions.take(event(world, "end", 1))  # told again
    async with opened(world, clock) as sessions:
        assert [each.session_id for each in await journals(sessions)] == [ID]


async def test_an_unexpected_error_stops_no_later_session(
    world: RegisteredVaults, clock: Clock, monkeypatch: pytest.MonkeyPatch
):
    calls = 0

    async def broken(store: SessionStore, moment: float) -> None:
        nonlocal calls
        calls += 1
        raise RuntimeError

    monkeypatch.setattr(SessionStore, "forget_before", broken)
    async with opened(world, clock) as sessions:
        await eventually_async(lambda: calls > 1)
        spool(world.data / "spool", event(world, "end", 1))
        await eventually_async(lambda: sessions.get(ID))


@pytest.mark.fault(
    "Sessions, journals and memory of agents",
    "recall takes too long",
    "the event is taken, nothing is injected",
)
async def test_a_delivery_that_takes_too_long_is_left_out(world: RegisteredVaults, clock: Clock):
    parts = Recorder()
    parts.forever = True
    async with opened(world, clock, parts) as sessions:
        assert (await sessions.take(event(world, "prompt", prompt="hello"))).brought == Delivered()
        assert await sessions.get(ID) is not None


@pytest.mark.fault(
    "Sessions, journals and memory of agents",
    "events of an unknown or untrusted vault over HTTP",
    "404 or 403; nothing is stored",
)
async def test_only_events_of_trusted_projects_are_taken(world: RegisteredVaults, clock: Clock):
    async with opened(world, clock) as sessions:
        with pytest.raises(NotFound):
            await sessions.take(event(world, "start", vault="0" * 32))
        other = world.folder / "projects/two/.vault-agent"
        (other / "config.toml").write_text(f'[vault]\nuid = "{"1" * 32}"\n')
        with pytest.raises(Forbidden):
            await sessions.take(event(world, "start", vault=vault_identity(other / "vault")))
        assert await sessions.get(ID) is None


@pytest.mark.fault(
    "Sessions, journals and memory of agents",
    "the agent goes on in another project",
    "that one gets nothing of the session",
)
async def test_another_project_gets_nothing_of_the_session(world: RegisteredVaults, clock: Clock):
    parts = Recorder()
    other = vault_identity(world.folder / "projects/two/.vault-agent/vault")
    async with opened(world, clock, parts) as sessions:
        await sessions.take(event(world, "start"))
        assert await sessions.take(event(world, "prompt", 1, vault=other)) == Offer()
        assert parts.delivered == ["start"]


@pytest.mark.fault(
    "Sessions, journals and memory of agents",
    "two servers with one data folder",
    "one takes the events of both",
)
async def test_of_two_servers_one_takes_the_events_of_both(world: RegisteredVaults, clock: Clock):
    async with opened(world, clock) as first, opened(world, clock, start=False) as second:
        second.start()
        assert await second.take(event(world, "start")) == Offer()

        await eventually_async(lambda: not list(waiting(world.data / "spool")))
        assert await first.get(ID) is not None
        assert not second.leads


@pytest.mark.fault(
    "Sessions, journals and memory of agents",
    "the clock is set back; times in the future",
    "the times become now",
)
async def test_times_in_the_future_become_now(world: RegisteredVaults, clock: Clock):
    async with opened(world, clock) as sessions:
        await sessions.take(event(world, "start", 50_000))
        clock.time = NOON + 50  # the clock was set back
        await sessions.take(event(world, "end", 50, reason="logout"))
        found = await sessions.get(ID)
        assert found is not None
        assert (found.state, found.ended_at) == ("ended", NOON + 50)
        assert found.started_at <= found.last_event_at <= NOON + 50
