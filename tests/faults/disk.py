"""A disk that fails on purpose: build and load `failing.c`, and run the product with it.

As a program (`python -m tests.faults.disk SCENARIO …`, with the library preloaded) it fails one
call after the other of one indexing run, and prints a line of JSON for each: what failed, how the
run ended, and what was wrong afterwards, which should be nothing.
"""

from __future__ import annotations

import asyncio
import ctypes
import errno
import faulthandler
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tests.support.clocks import PATIENCE
from tests.support.index_runs import Vault
from tests.support.waiting import eventually

ROOT = Path(__file__).parent.parent.parent
SOURCE = Path(__file__).with_name("failing.c")
COMMITS_BEFORE_A_MERGE = 6
"""Runs after which the full-text engine merges at the end of the next one."""


def compiler() -> str | None:
    """Return the installed C compiler or None. Only Linux loads libraries this way."""
    return (shutil.which("cc") or shutil.which("gcc")) if sys.platform == "linux" else None


def build(folder: Path) -> Path:
    """Compile the library and return its path."""
    library = folder / "failing.so"
    command = [str(compiler()), "-O1", "-shared", "-fPIC", "-o", str(library), str(SOURCE), "-ldl"]
    subprocess.run(command, check=True)
    return library


@dataclass
class Point:
    """One failed call and its outcome."""

    scenario: str
    number: int
    error: str
    lasting: bool
    call: str  # name and file
    outcome: str  # "done" or the run's error code
    wrong: list[str] = field(default_factory=list)


def run_module(
    module: str, *arguments: object, library: Path | None = None, code: int = 0
) -> list[str]:
    """Run a module of this folder in a process with `library`, and return the lines it prints."""
    variables = {} if library is None else {"LD_PRELOAD": str(library), "PYTHONWARNINGS": "ignore"}
    ended = subprocess.run(
        [sys.executable, "-m", f"tests.faults.{module}", *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = ended.stdout.splitlines()
    assert ended.returncode == code, (ended.returncode, ended.stderr[-3000:], lines[-1:])
    return lines


def fail_each(
    library: Path, folder: Path, scenario: str, *, error: int, lasting: bool, step: int, start: int
) -> list[Point]:
    """Run a scenario in a separate process. Fail every `step`th call and return the points."""
    arguments = (scenario, folder, error, int(lasting), step, start)
    return [Point(**json.loads(line)) for line in run_module("disk", *arguments, library=library)]


class FailingDisk:
    """The library as loaded in this process."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(None)
        self._library.faults_disarm.restype = ctypes.c_long
        self._library.faults_what.restype = ctypes.c_char_p

    def arm(self, below: Path, at: int, error: int, *, lasting: bool) -> None:
        """Fail call number `at` below a folder (0: only count)."""
        self._library.faults_arm(os.fsencode(below), ctypes.c_long(at), error, int(lasting))

    def disarm(self) -> int:
        """Let calls succeed again and return their number."""
        return int(self._library.faults_disarm())

    @property
    def what(self) -> str:
        """Return the failed call and its file, or ""."""
        return str(self._library.faults_what().decode())


def _write_notes(vault: Vault) -> None:
    for number in range(12):
        vault.write(
            f"notes/Note {number}.md",
            f"---\naliases: [Alias {number}]\n---\n# Note {number}\n\nword{number} is shared. "
            f"See [[Note {number + 1}]] and ![[jar.png]].\n\n## More\n\n" + "filler text " * 40,
        )
    vault.write("jar.png", b"\x89PNG")


def _change_notes(vault: Vault) -> None:
    vault.write("notes/Note 3.md", "# Note 3\n\nrewritten, see [[Note 4]]\n")
    vault.write("notes/New.md", "# New\n\nNew, see [[Alias 5]]\n")
    vault.write("jug.png", b"\x89PNG")
    (vault.root / "notes/Note 7.md").unlink()
    (vault.root / "notes/Note 8.md").rename(vault.root / "notes/Renamed.md")


class Scenario:
    """A run over a small vault that can be repeated from the same state."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.vault = Vault(folder)
        self._template = folder / "template"
        self._before: dict[str, Any] | None = None
        self._after: dict[str, Any] = {}
        _write_notes(self.vault)

    async def prepare(self) -> None:
        """Create the initial state, and record the index before and after the run."""
        vault = self.vault
        vault.directory.create()
        if self.name != "first":
            await vault.index()
            for number in range(COMMITS_BEFORE_A_MERGE if self.name == "merge" else 0):
                vault.write(f"notes/Later {number}.md", f"# Later {number}\n\nin its own segment\n")
                await vault.index()
            self._before = await vault.dump()
            _change_notes(vault)
        shutil.copytree(vault.directory.path, self._template)
        await self.run()
        if self.name == "merge":
            for _ in range(4):
                if self._has_merged():
                    break
                self.reset()  # a busy machine may end a run before the engine has begun
                await self.run()
            assert self._has_merged()
        shutil.rmtree(vault.directory.path)
        await vault.index()
        self._after = await vault.dump()

    def _has_merged(self) -> bool:
        """Whether the engine has merged: after the commit, or before its files were linked."""
        generation = self.vault.directory.path / "generation-1"
        segments = {path.stem for path in generation.glob("fulltext/notes/*.store")}
        return bool(list(generation.glob("*.merged"))) or len(segments) < COMMITS_BEFORE_A_MERGE

    def reset(self) -> None:
        """Restore the initial state."""
        folder = self.vault.directory.path

        def is_removed() -> bool:  # a thread of the engine may still write into it
            shutil.rmtree(folder, ignore_errors=True)
            return not folder.exists()

        eventually(is_removed)
        shutil.copytree(self._template, folder)

    async def run(self) -> None:
        """Run the operation under test. A run of paths never writes all of the full text."""
        paths = ("notes", "jug.png") if self.name in {"incremental", "merge"} else None
        await self.vault.index(rebuild=self.name == "reindex", paths=paths)

    async def check(self, outcome: str) -> list[str]:
        """Return problems found after a run with a failed call."""
        vault = self.vault
        wrong = []
        if vault.directory.current() is not None:
            vault.verify()
            held = await vault.dump()
            if held not in ((self._after,) if outcome == "done" else (self._before, self._after)):
                wrong.append("the index holds neither the old state nor the new one")
        elif self._before is not None or outcome == "done":
            wrong.append("the index is gone")
        await vault.index()
        vault.verify()
        if await vault.dump() != self._after:
            wrong.append("the next run did not complete the index")
        return wrong


class Embedding(Scenario):
    """The embedding phase of a run with fake vectors."""

    async def prepare(self) -> None:
        await self.vault.index()
        await self.run()
        _change_notes(self.vault)
        await self.vault.index()
        shutil.copytree(self.vault.directory.path, self._template)

    async def run(self) -> None:
        account = await self._embed()
        if account.failed:
            raise RuntimeError("some chunks have no vector")

    async def _embed(self):
        from tests.faults.embedder import MadeUp, settings

        from vault_agent.indexing.embed import embed

        return await embed(str(self.vault.directory.path), MadeUp(), settings(), self.vault.heard)

    async def check(self, outcome: str) -> list[str]:
        from vault_agent.store.index.meta import read_meta
        from vault_agent.store.vectors import open_matrix

        wrong = []
        await self._embed()
        directory = self.vault.directory
        with self.vault.reader() as connection:
            meta = read_meta(connection)
        matrix = open_matrix(directory.vectors, meta.identity)
        if matrix is None or matrix.count != meta.chunks:
            wrong.append("the next run did not complete the vectors")
        return wrong


async def _outcome(run: Callable[[], Awaitable[None]]) -> str:
    from vault_agent.errors import VaultAgentError

    try:
        await run()
    except VaultAgentError as error:
        return error.code
    except BaseException as error:  # noqa: BLE001 - it is a finding
        return f"{type(error).__name__}: {error}"
    return "done"


def _connections_left() -> int:
    """Return how many threads of database connections there are once those that end have ended."""

    def left() -> int:
        names = [thread.name for thread in threading.enumerate()]
        return sum("_connection_worker_thread" in name for name in names)

    with suppress(AssertionError):
        eventually(lambda: not left())
    return left()


def _points(
    disk: FailingDisk, scenario: Scenario, *, error: int, lasting: bool, step: int, start: int
) -> Iterator[Point]:
    asyncio.run(scenario.prepare())
    number = start
    while True:
        faulthandler.dump_traceback_later(PATIENCE, exit=True)
        scenario.reset()
        disk.arm(scenario.vault.directory.path, number, error, lasting=lasting)
        outcome = asyncio.run(_outcome(scenario.run))
        calls, what = disk.disarm(), disk.what
        if calls < number:
            return
        point = Point(scenario.name, number, errno.errorcode[error], lasting, what, outcome)
        try:
            point.wrong += asyncio.run(scenario.check(outcome))
        except BaseException as problem:  # noqa: BLE001 - it is a finding
            point.wrong.append(f"{type(problem).__name__}: {problem}")
        if left := _connections_left():
            point.wrong.append(f"{left} database connections are left open")
        yield point
        number += step


def main(arguments: list[str]) -> None:
    """Fail the calls of one scenario one by one and print each outcome."""
    name, folder, *numbers = arguments
    error, lasting, step, start = map(int, numbers)
    kind = Embedding if name == "embed" else Scenario
    scenario = kind(name, Path(folder))
    for point in _points(
        FailingDisk(), scenario, error=error, lasting=bool(lasting), step=step, start=start
    ):
        print(json.dumps(asdict(point)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
