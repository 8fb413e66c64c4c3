"""A run cancelled at any moment releases its lock and keeps the index."""

from __future__ import annotations

import asyncio
import pkgutil
import sqlite3
import threading
from collections import Counter
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.support.clocks import PATIENCE
from tests.support.index_runs import Vault
from tests.support.waiting import eventually_async

from vault_agent.errors import Busy
from vault_agent.indexing.index import index
from vault_agent.indexing.parse import FileToRead, ParsedFile
from vault_agent.indexing.protocol import RunResult, UpdateIndex
from vault_agent.store.current import READERS

MAX_NOTE_BYTES = 1 << 20


def fill(vault: Vault) -> None:
    for number in range(6):
        vault.write(
            f"Note {number}.md",
            f"---\naliases: [Alias {number}]\n---\n# Note {number}\n\nSee [[Note {number + 1}]], "
            f"![[jar.png]].\n\n## More\n\nword{number} " + "filler " * 30,
        )
    vault.write("jar.png", b"\x89PNG")


def change(vault: Vault, turn: int) -> None:
    vault.write("Note 2.md", f"# Note 2\n\nrewritten {turn}, see [[Note 3]]\n")
    vault.write(f"New {turn}.md", "# New\n\nsee [[Alias 4]]\n")


class Stepping:
    """A coroutine, run as a task, that is cancelled at its `at`th wait."""

    def __init__(self, work: Coroutine[Any, Any, Any], at: int) -> None:
        self._work = work
        self._at = at
        self.waits = 0

    def __await__(self):
        steps = self._work.__await__()
        value = None
        error: BaseException | None = None
        while True:
            try:
                waited = steps.throw(error) if error else steps.send(value)
            except StopIteration as end:
                return end.value
            error = None
            self.waits += 1
            if self.waits == self._at:
                task = asyncio.current_task()
                asyncio.get_running_loop().call_soon(task.cancel)
            try:
                value = yield waited
            except BaseException as raised:  # noqa: BLE001 - handed on to the work
                error = raised


async def cancelled_at(work: Coroutine[Any, Any, Any], at: int) -> tuple[bool, int]:
    """Cancel a coroutine at a wait. Return whether it was cancelled and its number of waits."""
    stepping = Stepping(work, at)

    async def run() -> None:
        await stepping

    task = asyncio.create_task(run())
    try:
        await asyncio.wait_for(asyncio.shield(task), PATIENCE)
    except asyncio.CancelledError:
        return True, stepping.waits
    return False, stepping.waits


async def run_of(vault: Vault, *, rebuild: bool) -> RunResult:
    with vault.parsing() as read:

        async def parse(
            batch: list[FileToRead], repeated: frozenset[str] | None
        ) -> list[ParsedFile]:
            return await asyncio.to_thread(read, batch, repeated)

        return await index(UpdateIndex(vault.spec(), rebuild=rebuild), parse, vault.heard)


def threads() -> Counter[str]:
    """Count the threads of connections and writers."""
    names = (thread.name for thread in threading.enumerate())
    return Counter(name.rpartition("-")[0] for name in names if "asyncio" not in name)


async def cancel_every_wait(vault: Vault, *, rebuild: bool) -> int:
    """Cancel a run at each wait in turn and return the number of waits."""
    fill(vault)
    await vault.index()
    before = threads()
    at = 1
    while True:
        change(vault, at)
        held = await vault.dump()
        was_cancelled, waits = await cancelled_at(run_of(vault, rebuild=rebuild), at)
        with vault.directory.writing(wait=False):
            pass  # the lock is free
        await eventually_async(lambda: threads() <= before)
        vault.verify()
        after = await vault.dump()
        if waits < at:
            assert not was_cancelled
            await vault.index(rebuild=True)
            assert await vault.dump() == after
            return at - 1
        # At the last waits the work may already be done.
        fresh = f"New {at}.md"
        assert after == held or fresh in after
        await vault.index()
        assert fresh in await vault.dump()
        at += 1


@pytest.mark.fault(
    "Jobs",
    "a job is cancelled at any await",
    "no lock stays held",
)
@pytest.mark.parametrize("rebuild", [False, True])
async def test_a_cancelled_run_releases_its_lock_and_keeps_the_index(tmp_path: Path, rebuild: bool):
    assert await cancel_every_wait(Vault(tmp_path), rebuild=rebuild) > 9


async def test_a_cancelled_run_leaves_no_batch_running(tmp_path: Path):
    vault = Vault(tmp_path)
    for number in range(200):
        vault.write(f"{number}.md", "text")
    begun = ended = 0

    async def parse(batch: list[FileToRead], repeated: frozenset[str] | None) -> list[ParsedFile]:
        nonlocal begun, ended
        if repeated is None:  # the sample in which repeated lines are looked for
            return []
        begun += 1
        try:
            return await asyncio.Future()
        finally:
            ended += 1

    run = asyncio.ensure_future(index(UpdateIndex(vault.spec()), parse, vault.heard))
    await eventually_async(lambda: begun > 1)
    run.cancel()
    await asyncio.wait([run])
    await eventually_async(lambda: ended == begun)


async def test_a_cancelled_reader_returns_its_connection(tmp_path: Path):
    vault = Vault(tmp_path)
    await vault.index()
    current = vault.current()
    await current.refresh()

    begun, go_on = threading.Event(), threading.Event()

    def wait(_: sqlite3.Connection) -> None:
        begun.set()
        go_on.wait(PATIENCE)

    async def read() -> None:
        async with current.snapshot() as snapshot:
            await snapshot.read(wait)

    for _ in range(READERS + 1):
        begun.clear()
        go_on.clear()
        reading = asyncio.create_task(read())
        await asyncio.to_thread(begun.wait, PATIENCE)
        reading.cancel()
        go_on.set()
        await asyncio.wait([reading])
        assert reading.cancelled()
    async with asyncio.timeout(PATIENCE), current.snapshot() as snapshot, AsyncExitStack() as lent:
        for _ in range(READERS):
            lent.enter_context(snapshot.connection())
    await current.close()


@pytest.mark.parametrize(
    "step",
    [
        "vault_agent.store.fulltext.writer.FulltextWriter.commit",
        "vault_agent.store.directory.IndexDirectory.make_current",
    ],
)
async def test_a_cancelled_run_keeps_its_lock_until_its_threads_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
):
    """The next run removes their files and may write files with the same names."""
    vault = Vault(tmp_path)
    fill(vault)
    begun, go_on = threading.Event(), threading.Event()
    real = pkgutil.resolve_name(step)

    def slow(*args: object) -> object:
        begun.set()
        go_on.wait(PATIENCE)
        return real(*args)

    monkeypatch.setattr(step, slow)
    run = asyncio.ensure_future(run_of(vault, rebuild=True))
    await asyncio.to_thread(begun.wait, PATIENCE)
    await asyncio.sleep(0.2)  # so that the run waits for the thread
    run.cancel()
    await asyncio.wait([run], timeout=0.1)
    with pytest.raises(Busy), vault.directory.writing(wait=False):
        pass
    go_on.set()
    await asyncio.wait([run])
    assert run.cancelled()
    with vault.directory.writing(wait=False):
        pass
