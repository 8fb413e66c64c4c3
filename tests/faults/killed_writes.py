"""Kill a process that writes a vault, and check what it leaves.

As a program (`python -m tests.faults.killed_writes FOLDER KILLS SEED SECONDS`) it forks a writer
again and again, kills it at a random moment, recovers, and compares each file with what the writer
said. It ends after so many kills or seconds. It prints one line of JSON: the number of kills, of
those amid a write, and what was wrong.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import random
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeAlias

from tests.writing.opened import Vault, lingering, move, write

from vault_agent.markdown.edit import append
from vault_agent.model.writing import Right, VaultChange, Written
from vault_agent.writing.plan import Transaction

Files: TypeAlias = dict[str, bytes | None]
"""What files have, or None if they are not there."""

NOTES = 12
LONGEST_LIFE = 0.35
LIMITS = lingering(0.3)  # less than the life of a writer, so that sweeping is killed too
_FILLER = "filler text that makes a note longer than one page\n" * 150


class Writer:
    """Writes at random, and tells what each write changes before and after it."""

    def __init__(self, vault: Vault, chance: random.Random, files: dict[str, bytes]) -> None:
        self._vault = vault
        self._chance = chance
        self._files = files
        self._done: list[tuple[str, Files]] = []  # IDs, and what taking them back leaves
        self._count = 0

    async def run(self, tell: Callable[[dict[str, Any]], None]) -> None:
        """Write until the process is killed."""
        kinds = [
            *(self._append, self._append, self._replace, self._create, self._delete),
            *(self._remove, self._undo, self._move, self._several),
        ]
        while True:
            await self._chance.choice(kinds)(tell)

    async def _do(
        self,
        tell: Callable[[dict[str, Any]], None],
        after: Files,
        work: Callable[[], Awaitable[Written]],
    ) -> None:
        before: Files = {path: self._files.get(path) for path in after}
        tell({"start": _told(after)})
        written = await work()
        tell({"done": True})
        for path, data in after.items():
            if data is None:
                self._files.pop(path, None)
            else:
                self._files[path] = data
        if written.write_id is not None:
            self._done.append((written.write_id, before))

    def _text(self, what: str) -> str:
        self._count += 1
        return f"{what} {self._chance.randrange(10**9)}\n{_FILLER[: self._chance.randrange(8000)]}"

    def _note(self) -> str | None:
        there = [path for path in self._files if path.startswith("notes/")]
        return self._chance.choice(there) if there else None

    async def _append(self, tell: Callable[[dict[str, Any]], None]) -> None:
        if (path := self._note()) is None:
            return
        line = f"line {self._chance.randrange(10**9)}\n"
        after = _appended(self._files[path], line)
        made = write("append", Right.APPEND, may_replan=True)
        await self._do(
            tell,
            {path: after},
            lambda: self._vault.writer.edit(path, made, lambda note: append(note, line)),
        )

    async def _replace(self, tell: Callable[[dict[str, Any]], None]) -> None:
        if (path := self._note()) is None:
            return
        text = self._text("whole")
        await self._do(tell, {path: text.encode()}, lambda: self._vault.overwrite(path, text))

    async def _create(self, tell: Callable[[dict[str, Any]], None]) -> None:
        path = f"notes/{self._chance.randrange(3)}/{self._chance.randrange(10**9)}.md"
        text = self._text("new")
        await self._do(tell, {path: text.encode()}, lambda: self._vault.create(path, text))

    async def _delete(self, tell: Callable[[dict[str, Any]], None]) -> None:
        path = self._note()
        if path is None or f".trash/{path}" in self._files or len(self._files) < NOTES:
            return
        after: Files = {path: None, f".trash/{path}": self._files[path]}
        await self._do(tell, after, lambda: self._vault.remove(path))

    async def _remove(self, tell: Callable[[dict[str, Any]], None]) -> None:
        path = self._note()
        if path is None or len(self._files) < NOTES:
            return
        await self._do(tell, {path: None}, lambda: self._vault.remove(path, permanent=True))

    async def _undo(self, tell: Callable[[dict[str, Any]], None]) -> None:
        if not self._done:
            return
        write_id, before = self._done.pop()
        await self._do(tell, before, lambda: self._vault.undo(write_id))
        self._done.pop()

    async def _move(self, tell: Callable[[dict[str, Any]], None]) -> None:
        """Move a note, and change others with it, as a move that rewrites links does."""
        if (path := self._note()) is None:
            return
        to = f"notes/moved {self._chance.randrange(10**9)}.md"
        others = [each for each in self._files if each.startswith("notes/") and each != path][:4]
        old = {each: self._files[each] for each in (path, *others)}
        new = {each: data + f"now {to}\n".encode() for each, data in old.items()}
        changes = (
            move(path, to, old[path]),
            VaultChange.edit(to, old[path], new[path]),
            *(VaultChange.edit(each, old[each], new[each]) for each in others),
        )
        after: Files = {path: None, to: new[path], **{each: new[each] for each in others}}
        made = write("move", Right.MOVE)
        await self._do(
            tell,
            after,
            lambda: self._vault.writer.transact(made, lambda: Transaction(to, changes)),
        )

    async def _several(self, tell: Callable[[dict[str, Any]], None]) -> None:
        there = [each for each in self._files if each.startswith("notes/")][:6]
        path = f"notes/made {self._chance.randrange(10**9)}.md"
        new = {each: _appended(self._files[each], "several\n") for each in there}
        changes = (
            *(VaultChange.edit(each, self._files[each], data) for each, data in new.items()),
            VaultChange.create(path, b"made\n"),
        )
        made = write("several", Right.EDIT)
        await self._do(
            tell,
            {**new, path: b"made\n"},
            lambda: self._vault.writer.transact(made, lambda: Transaction(path, changes)),
        )


def _appended(data: bytes, line: str) -> bytes:
    closed = data if data.endswith(b"\n") or not data else data + b"\n"
    return closed + line.encode()


def _told(files: Files) -> dict[str, str | None]:
    return {path: None if data is None else data.decode() for path, data in files.items()}


def _child(folder: Path, seed: int, files: dict[str, bytes], pipe: int) -> None:
    """Write in a process of its own, until it is killed."""

    def tell(message: dict[str, Any]) -> None:
        data = json.dumps(message).encode() + b"\n"
        while data:
            data = data[os.write(pipe, data) :]

    async def run() -> None:
        vault = Vault(folder, LIMITS)
        async with vault.opened():
            tell({"ready": True})
            await Writer(vault, random.Random(seed), files).run(tell)

    asyncio.run(run())


class Killer:
    """Kills writers, and keeps the books."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._folder = folder
        self._vault = Vault(folder, LIMITS)
        self._chance = random.Random(seed)
        self.files: dict[str, bytes] = {}
        self.kills = self.amid = self.acknowledged = self.undone = self.finished = 0
        self.slowest = 0.0
        self.wrong: list[str] = []
        for number in range(NOTES):
            path = f"notes/{number % 3}/{number}.md"
            self.files[path] = self._vault.put(path, f"note {number}\n").read_bytes()

    def kill_once(self) -> None:
        """Start a writer, kill it at a random moment, recover and check."""
        gc.collect()
        reading, writing = os.pipe()
        seed = self._chance.randrange(10**9)
        pid = os.fork()
        if not pid:
            try:
                os.close(reading)
                _child(self._folder, seed, dict(self.files), writing)
            finally:
                os._exit(1)
        os.close(writing)
        started = self._listen(reading, pid)
        self.kills += 1
        self.amid += started is not None
        asyncio.run(self._recover())
        self._check(started)

    def _listen(self, reading: int, pid: int) -> Files | None:
        """Hear what the writer does until it is killed. Return what it was doing, if anything."""
        started: Files | None = None
        with os.fdopen(reading, "rb") as told:
            first = told.readline()
            if b"ready" not in first:
                self.wrong.append("the writer did not start")
            time.sleep(self._chance.uniform(0, LONGEST_LIFE))
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            for line in told:
                if not line.endswith(b"\n"):
                    break
                message = json.loads(line)
                if "start" in message:
                    started = {
                        path: None if data is None else data.encode()
                        for path, data in message["start"].items()
                    }
                elif started is not None:
                    self.acknowledged += 1
                    self._apply(started)
                    started = None
        return started

    def _apply(self, files: Files) -> None:
        for path, data in files.items():
            if data is None:
                self.files.pop(path, None)
            else:
                self.files[path] = data

    async def _recover(self) -> None:
        began = time.monotonic()
        async with self._vault.opened():
            self.slowest = max(self.slowest, time.monotonic() - began)

    def _check(self, started: Files | None) -> None:
        held = self._vault.tree()
        wanted = dict(self.files)
        if held != wanted and started is not None:
            self._apply(started)
            wanted = dict(self.files)
            self.finished += 1
        elif started is not None:
            self.undone += 1
        if held != wanted:
            odd = sorted(
                path for path in held.keys() | wanted.keys() if held.get(path) != wanted.get(path)
            )
            self.wrong.append(f"kill {self.kills}: {odd[:5]}")
            self.files = held


def main(arguments: list[str]) -> None:
    """Kill writers so often or for so long, and print the account."""
    kills, seed, seconds = map(int, arguments[1:])
    killer = Killer(Path(arguments[0]), seed)
    end = time.monotonic() + seconds
    while killer.kills < kills and len(killer.wrong) < 5 and time.monotonic() < end:
        killer.kill_once()
    account = {
        name: getattr(killer, name)
        for name in ("kills", "amid", "acknowledged", "finished", "undone", "slowest", "wrong")
    }
    print(json.dumps(account))


if __name__ == "__main__":
    main(sys.argv[1:])
