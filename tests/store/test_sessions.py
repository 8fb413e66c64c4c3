"""The record of sessions as a database."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from vault_agent.model.journals import Journal
from vault_agent.model.sessions import Session
from vault_agent.store.sessions.deliveries import DeliveryStore
from vault_agent.store.sessions.journals import JournalStore
from vault_agent.store.sessions.store import TEXTS, open_sessions

if TYPE_CHECKING:
    from pathlib import Path

    from vault_agent.store.sessions.store import SessionStore

SESSION = Session(
    session_id="s", agent="codex", vault="v", started_at=1.0, last_event_at=2.0, ended_at=None,
    state="open", prompts=0, model=None, transcript_path=None, cwd="/", title=None,
    start_commit=None, end_reason=None,
)  # fmt: skip
JOURNAL = Journal(
    session_id="s", agent="codex", vault="v", state="pending", reason=None, title=None, path=None,
    hash=None, hash_next=None, generator=None, started_at=1.0, ended_at=2.0, since=1.0, attempts=0,
    next_at=1.0,
)  # fmt: skip


async def test_a_writer_that_is_cancelled_at_any_moment_stops_no_other(tmp_path: Path):
    async with open_sessions(tmp_path / "sessions.db") as store:
        for steps in range(12):
            writer = asyncio.create_task(_take(store, b"first"))
            for _ in range(steps):
                await asyncio.sleep(0)
            writer.cancel()
            with suppress(asyncio.CancelledError):
                await writer
            assert await _take(store, f"after {steps}".encode())


async def _take(store: SessionStore, digest: bytes) -> bool:
    async with store.writing():
        return await store.take(digest, 1.0, within=1.0)


async def test_what_is_being_changed_is_seen_only_after_its_commit(tmp_path: Path):
    async with open_sessions(tmp_path / "sessions.db") as store:
        journals, deliveries = JournalStore(store), DeliveryStore(store)

        async def seen() -> list[object]:
            one = await store.get("s"), await store.open_ones(), await store.of_project("v")
            known = await journals.get("s"), await journals.page(), await journals.due(9.0)
            listed = await deliveries.session("s"), await deliveries.sessions(limit=9)
            return [each for each in (*one, *known, *listed) if each]

        with suppress(RuntimeError):
            async with store.turn("s") as turn:
                await turn.put_session(SESSION)
                assert await seen() == []
                raise RuntimeError
        with suppress(RuntimeError):
            async with store.turn("s") as turn:
                await turn.put(JOURNAL)
                assert await seen() == []
                raise RuntimeError
        assert await seen() == []
        async with store.turn("s") as turn:
            await turn.put_session(SESSION)
        async with store.turn("s") as turn:
            await turn.put(JOURNAL)
        assert len(await seen()) == 8


async def test_no_change_of_a_journal_is_lost(tmp_path: Path):
    async with open_sessions(tmp_path / "sessions.db") as store:
        journals = JournalStore(store)

        async def count() -> None:
            async with store.turn("s") as turn:
                known = turn.journal or JOURNAL
                await asyncio.sleep(0)
                await turn.put(replace(known, attempts=known.attempts + 1))

        await asyncio.gather(*(count() for _ in range(20)))
        stored = await journals.get("s")
        assert stored is not None
        assert stored.attempts == 20


async def test_damaged_texts_are_set_aside_and_the_sessions_stay(tmp_path: Path):
    async with open_sessions(tmp_path / "sessions.db") as store, store.turn("s") as turn:
        await turn.put_session(SESSION)
        await turn.keep("draft", b"A draft", at=1.0)
    (tmp_path / TEXTS).write_bytes(b"no database" * 1_000)
    async with open_sessions(tmp_path / "sessions.db") as store:
        assert await store.get("s") == SESSION
        assert await store.texts("s", "draft") == []


async def test_a_text_and_a_record_are_stored_together_or_not_at_all(tmp_path: Path):
    async with open_sessions(tmp_path / "sessions.db") as store:
        with suppress(RuntimeError):
            async with store.turn("s") as turn:
                await turn.put_session(SESSION)
                await turn.keep("draft", b"A draft", at=1.0)
                raise RuntimeError
        assert (await store.get("s"), await store.texts("s", "draft")) == (None, [])
