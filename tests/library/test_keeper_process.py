"""The indexing process as the server holds it."""

from __future__ import annotations

import asyncio
import gc
import sys
from typing import TYPE_CHECKING

import pytest
from tests.clocks import PATIENCE

from vault_agent.errors import Failed
from vault_agent.library import keeper_process as process
from vault_agent.library.keeper_process import Indexer

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


async def test_an_answer_that_nobody_waits_for_is_not_taken_for_the_next_ones(
    monkeypatch: pytest.MonkeyPatch,
):
    answers = """
import json, sys, time
for line in sys.stdin:
    time.sleep(json.loads(line)["seconds"])
    print(line.strip(), flush=True)
"""
    indexer = speaking(monkeypatch, answers)
    asking = asyncio.create_task(indexer.ask({"task": "first", "seconds": 0.5}))
    await asyncio.sleep(0.2)
    asking.cancel()
    await asyncio.wait([asking])
    assert await indexer.ask({"task": "second", "seconds": 0}) == {"task": "second", "seconds": 0}
    await indexer.close()


async def test_a_process_that_is_stuck_is_killed(monkeypatch: pytest.MonkeyPatch):
    indexer = speaking(monkeypatch, f"{_FAILS}\ntime.sleep(600)")
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(Failed, match="DISK_FULL"):
            await indexer.index({}, lambda _: None)


_NEVER_ANSWERS = """
import json, sys, time
if json.loads(sys.stdin.readline())["task"] == "compare":
    time.sleep(600)
print('{"event":"failed","code":"DISK_FULL","message":"Full."}', flush=True)
sys.stdin.read()
"""


async def test_a_job_does_not_wait_for_a_question_that_is_not_answered(
    monkeypatch: pytest.MonkeyPatch,
):
    indexer = speaking(monkeypatch, _NEVER_ANSWERS)
    asking = asyncio.create_task(indexer.ask({"task": "compare"}))
    await asyncio.sleep(0.2)
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(Failed, match="DISK_FULL"):
            await indexer.index({"task": "index"}, lambda _: None)
        assert not asking.done()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await indexer.close()


async def test_a_process_that_answers_is_kept_for_what_comes_next(monkeypatch: pytest.MonkeyPatch):
    source = "import os, sys\nfor _ in sys.stdin: print('{\"event\":%d}' % os.getpid(), flush=True)"
    indexer = speaking(monkeypatch, source)
    first = await indexer.ask({})
    assert first is not None
    assert await indexer.ask({}) == first
    await indexer.close()


def test_a_loop_may_end_before_what_a_process_has_started(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    heir = [sys.executable, "-c", "import time; time.sleep(3)"]
    source = f"import subprocess\nsubprocess.Popen({heir!r})\n{_FAILS}"

    async def fail() -> None:
        with pytest.raises(Failed, match="DISK_FULL"):
            await speaking(monkeypatch, source).index({}, lambda _: None)

    asyncio.run(fail())
    gc.collect()
    assert capfd.readouterr().err == ""
