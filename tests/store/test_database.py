"""Connections: opened to the end or not at all."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from typing import TYPE_CHECKING

import pytest

from vault_agent.store.database import connect

if TYPE_CHECKING:
    from pathlib import Path


async def test_a_cancelled_wait_for_a_connection_leaves_no_thread(tmp_path: Path):
    for _ in range(20):
        opening = asyncio.create_task(connect(tmp_path / "a.db"))
        await asyncio.sleep(0)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
    for thread in threading.enumerate():
        if thread is not threading.current_thread():
            thread.join(2)  # it has nothing left to do
            assert not thread.is_alive()


async def test_a_connection_that_fails_leaves_no_thread(tmp_path: Path):
    for _ in range(20):
        with pytest.raises(sqlite3.OperationalError):
            await connect(tmp_path / "none" / "a.db")
        assert [thread for thread in threading.enumerate() if "connection" in thread.name] == []


async def test_a_connection_that_fails_says_so_also_when_cancelled(tmp_path: Path):
    opening = asyncio.create_task(connect(tmp_path / "none" / "a.db"))
    await asyncio.sleep(0)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
