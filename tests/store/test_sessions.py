"""The record of sessions as a database."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from vault_agent.store.sessions.store import open_sessions

if TYPE_CHECKING:
    from pathlib import Path

    from vault_agent.store.sessions.store import SessionStore


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
