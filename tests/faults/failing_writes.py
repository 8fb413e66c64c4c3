"""Writes on a disk that fails, one call after the other.

As a program (`python -m tests.faults.failing_writes OPERATION FOLDER ERROR STEP START`, with the
library of `failing.c` preloaded) it fails one call of one write after the other, in the vault and
in the log alike, and prints a line of JSON for each, as `tests.faults.disk` does.
"""

from __future__ import annotations

import asyncio
import errno
import faulthandler
import json
import shutil
import sys
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from pathlib import Path
from typing import TypeAlias

from tests.faults.disk import FailingDisk, Point
from tests.support.clocks import PATIENCE
from tests.writing.opened import Vault, lingering, move, write

from vault_agent.errors import VaultAgentError
from vault_agent.model.writing import Right, VaultChange, Written
from vault_agent.writing.plan import Transaction

Files: TypeAlias = dict[str, bytes]

NOTE = b"one\n" + b"text\n" * 2000


async def _append(vault: Vault) -> Written:
    return await vault.append("A.md", "more\n")


async def _overwrite(vault: Vault) -> Written:
    return await vault.overwrite("A.md", "less\n")


async def _create(vault: Vault) -> Written:
    return await vault.create("New/Folder/B.md", NOTE)


async def _delete(vault: Vault) -> Written:
    return await vault.remove("A.md")


async def _remove(vault: Vault) -> Written:
    return await vault.remove("A.md", permanent=True)


async def _undo(vault: Vault) -> Written:
    return await vault.undo()


async def _move(vault: Vault) -> Written:
    changes = (
        move("A.md", "Moved/A.md", NOTE),
        VaultChange.edit("Moved/A.md", NOTE, NOTE + b"moved\n"),
        VaultChange.edit("C.md", b"[[A]]\n", b"[[Moved/A]]\n"),
        VaultChange.create("D.md", b"new\n"),
    )
    made = write("move", Right.MOVE)
    return await vault.writer.transact(made, lambda: Transaction("Moved/A.md", changes))


OPERATIONS: dict[str, Callable[[Vault], Awaitable[Written]]] = {
    name.removeprefix("_"): work
    for name, work in list(globals().items())
    if name in ("_append", "_overwrite", "_create", "_delete", "_remove", "_undo", "_move")
}
ALLOWED = {"done", "DISK_FULL", "FILE_NOT_WRITABLE", "SERVER_BUSY"}


def notes_of(folder: Path) -> Vault:
    """Make a small vault."""
    vault = Vault(folder, lingering(0.05))
    vault.put("A.md", NOTE)
    vault.put("C.md", "[[A]]\n")
    return vault


class Scenario:
    """One write of a small vault, repeated from the same state."""

    def __init__(self, operation: str, folder: Path) -> None:
        self._work = OPERATIONS[operation]
        self._folder = folder / "now"
        self._template = folder / "template"
        self._folder.mkdir()
        vault = notes_of(self._folder)
        if operation == "undo":
            asyncio.run(self._once(vault, _append))
        self._before = vault.tree()
        self._folder.rename(self._template)
        self._reset()
        asyncio.run(self._once(Vault(self._folder, lingering(0.05)), self._work))
        self._after = Vault(self._folder, lingering(0.05)).tree()
        assert self._before != self._after

    async def _once(self, vault: Vault, work: Callable[[Vault], Awaitable[Written]]) -> str:
        async with vault.opened():
            try:
                await work(vault)
            except VaultAgentError as error:
                return error.code
            return "done"

    def _reset(self) -> None:
        """Restore the state before the write."""
        shutil.rmtree(self._folder, ignore_errors=True)
        shutil.copytree(self._template, self._folder)

    def run(self, disk: FailingDisk, number: int, error: int) -> Point | None:
        """Fail one call of the write. Return None if there are fewer calls."""
        self._reset()
        vault = Vault(self._folder, lingering(0.05))
        calls, outcome, shown = asyncio.run(self._fail(vault, disk, number, error))
        if calls < number:
            return None
        point = Point("write", number, errno.errorcode[error], False, disk.what, outcome)
        if outcome not in ALLOWED:
            point.wrong.append("it has no code of a failing disk")
        if outcome == "done" and shown != self._after:
            point.wrong.append("it was not done")
        if (
            outcome != "done"
            and shown not in (self._before, self._after)
            and (self._work is not _move)
        ):
            point.wrong.append("it was done in part")
        try:
            asyncio.run(self._recover(vault, point, outcome))
        except VaultAgentError as problem:
            point.wrong.append(str(problem))
        return point

    async def _fail(
        self, vault: Vault, disk: FailingDisk, number: int, error: int
    ) -> tuple[int, str, Files]:
        async with vault.opened():
            disk.arm(self._folder, number, error, lasting=False)
            try:
                await self._work(vault)
                outcome = "done"
            except VaultAgentError as failure:
                outcome = failure.code
            except BaseException as failure:  # noqa: BLE001 - it is a finding
                outcome = f"{type(failure).__name__}: {failure}"
            calls = disk.disarm()
            return calls, outcome, _visible(vault)

    async def _recover(self, vault: Vault, point: Point, outcome: str) -> None:
        async with vault.opened():
            held = vault.tree()
            if held not in (self._before, self._after):
                point.wrong.append(
                    f"after a start it is neither the old nor the new: {sorted(held)}"
                )
            if outcome == "done" and held != self._after:
                point.wrong.append("after a start it is gone")
            listed = [each.state for each in await vault.writer.logged_writes()]
            if set(listed) - {"done", "undone"}:
                point.wrong.append(f"the log says {listed}")
            if held == self._after:
                (last, *_) = await vault.writer.logged_writes(limit=1)
                await vault.undo(last.write_id)
            elif outcome != "done":
                await self._work(vault)
                if _visible(vault) != self._after:
                    point.wrong.append("it cannot be repeated")


def _visible(vault: Vault) -> Files:
    return {path: data for path, data in vault.tree().items() if ".va-" not in path}


def main(arguments: list[str]) -> None:
    """Fail the calls of one write one by one and print each outcome."""
    operation, folder, *numbers = arguments
    error, step, number = map(int, numbers)
    scenario = Scenario(operation, Path(folder))
    disk = FailingDisk()
    while True:
        faulthandler.dump_traceback_later(PATIENCE, exit=True)
        try:
            point = scenario.run(disk, number, error)
        except Exception as problem:  # noqa: BLE001 - it is a finding
            point = Point("write", number, errno.errorcode[error], False, disk.what, "?")
            point.wrong.append(f"{type(problem).__name__}: {problem}")
        if point is None:
            return
        print(json.dumps(asdict(point)), flush=True)
        number += step


if __name__ == "__main__":
    main(sys.argv[1:])
