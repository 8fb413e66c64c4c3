"""The indexing process as the server holds it."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import pytest

from vault_agent import process
from vault_agent.errors import Failed
from vault_agent.process import Indexer

if TYPE_CHECKING:
    from pathlib import Path

_FAILS = """
import sys, time
sys.stdin.readline()
print('{"event":"failed","code":"DISK_FULL","message":"Full."}', flush=True)
"""


def speaking(monkeypatch: pytest.MonkeyPatch, source: str, *arguments: str) -> Indexer:
    """Return an indexer whose process runs that source."""
    command = (sys.executable, "-I", "-c", source, *arguments)
    monkeypatch.setattr(process, "_COMMAND", command)
    return Indexer()


async def test_a_process_that_ends_by_itself_is_not_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A kill upon its end would take its exit status away, of which asyncio complains."""
    ended = tmp_path / "ended"
    source = f"{_FAILS}\nsys.stdin.read()\ntime.sleep(0.1)\nopen(sys.argv[1], 'w').close()"
    with pytest.raises(Failed, match="DISK_FULL"):
        await speaking(monkeypatch, source, str(ended)).index({}, lambda _: None)
    assert ended.exists()


async def test_a_process_that_is_stuck_is_killed(monkeypatch: pytest.MonkeyPatch):
    indexer = speaking(monkeypatch, f"{_FAILS}\ntime.sleep(60)")
    begun = time.monotonic()
    with pytest.raises(Failed, match="DISK_FULL"):
        await indexer.index({}, lambda _: None)
    assert time.monotonic() - begun < 5
