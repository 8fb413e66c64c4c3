"""A write that has begun is finished, announced and indexed, also when its caller goes away."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import anyio
import pytest
from tests.support.clocks import PATIENCE
from tests.support.waiting import eventually_async
from tests.writing.opened import Vault, lingering

from vault_agent.model.writing import IndexState, LoggedWrite
from vault_agent.store.write_log import WriteLog
from vault_agent.writing import vault_writer
from vault_agent.writing.linger import Linger


class SlowDisk:
    """A log whose disk is slow: it tells when a write begins, and goes on when told to."""

    def __init__(self, log: WriteLog, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun, self.goes_on = threading.Event(), threading.Event()
        begin = log.begin

        def slowly(new: LoggedWrite) -> Any:
            self.begun.set()
            assert self.goes_on.wait(PATIENCE)
            return begin(new)

        monkeypatch.setattr(log, "begin", slowly)


def changes(vault: Vault) -> list[tuple[str, Callable[[], Coroutine[Any, Any, Any]]]]:
    return [
        ("A.md", lambda: vault.append("A.md", "two\n")),
        ("New.md", lambda: vault.create("New.md", "new\n")),
        ("A.md", lambda: vault.remove("A.md")),
        ("A.md", vault.undo),
    ]


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("scope", ["task", "anyio"])
async def test_a_cancelled_write_is_announced_and_indexed(
    vault: Vault, monkeypatch: pytest.MonkeyPatch, number: int, scope: str
):
    vault.put("A.md", "one\n")
    if number == 3:
        await vault.append("A.md", "two\n")
    path, change = changes(vault)[number]
    vault.followed.clear()
    vault.events.clear()
    disk = SlowDisk(vault.writer._executor.log, monkeypatch)

    async def ended() -> None:
        await asyncio.to_thread(disk.begun.wait, PATIENCE)
        disk.goes_on.set()

    if scope == "task":
        changing = asyncio.create_task(change())
        await asyncio.to_thread(disk.begun.wait, PATIENCE)
        changing.cancel()
        disk.goes_on.set()
        with pytest.raises(asyncio.CancelledError):
            await changing
    else:
        async with anyio.create_task_group() as group:
            group.start_soon(change)
            await asyncio.to_thread(disk.begun.wait, PATIENCE)
            group.cancel_scope.cancel()
            disk.goes_on.set()
    async with asyncio.timeout(PATIENCE):
        while path not in vault.followed:  # noqa: ASYNC110 - nothing announces it
            await asyncio.sleep(0.01)
    (event,) = vault.events
    assert path in [name for each in event.changes for name in (each.path, each.target)]
    # Its locks are free.
    async with asyncio.timeout(PATIENCE):
        await vault.create("Other.md", "x")
        await vault.undo()


async def test_a_write_cancelled_before_it_begins_changes_nothing(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
):
    vault.put("A.md", "one\n")
    disk = SlowDisk(vault.writer._executor.log, monkeypatch)
    first = asyncio.create_task(vault.append("A.md", "two\n"))
    await asyncio.to_thread(disk.begun.wait, PATIENCE)
    second = asyncio.create_task(vault.append("A.md", "three\n"))  # waits for the note
    await asyncio.sleep(0)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    disk.goes_on.set()
    await first
    assert vault.bytes("A.md") == b"one\ntwo\n"


async def test_whoever_waits_for_searches_may_go_away(closed: Vault):
    handed, goes_on = asyncio.Event(), asyncio.Event()

    async def follow(paths: Sequence[str], wait_ms: int) -> IndexState:
        closed.followed += paths
        handed.set()
        await goes_on.wait()
        return IndexState("indexed", 1, 1)

    closed.follow = follow  # type: ignore[method-assign]
    async with closed.opened():
        creating = asyncio.create_task(closed.create("A.md", "a\n"))
        await handed.wait()
        creating.cancel()
        with pytest.raises(asyncio.CancelledError):
            await creating
        assert closed.followed == ["A.md"]
        assert [each.operation for each in closed.events] == ["create"]
        goes_on.set()


@pytest.mark.parametrize("limits", [lingering(0.0)])
async def test_a_defect_does_not_end_the_looks_at_displaced_files(
    closed: Vault, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(vault_writer, "_FIRST_PAUSE", 0.01)
    look, failures = Linger.look, [ValueError("a defect"), OSError("no root")]
    states = []

    def defective(self: Linger, *of: Any) -> bool:
        if failures:
            raise failures.pop(0)
        return look(self, *of)

    monkeypatch.setattr(Linger, "look", defective)
    async with closed.opened() as writer:
        closed.put("A.md", "one\n")
        await closed.append("A.md", "two\n")
        async with asyncio.timeout(PATIENCE):
            while closed.temporaries():
                states.append(writer.health().state)
                await asyncio.sleep(0.002)
        await eventually_async(lambda: writer.health().state == "ready")
    assert [report.error_type for report in closed.crashes] == ["ValueError"]
    assert "recovering" in states
    assert closed.bytes("A.md") == b"one\ntwo\n"
