"""Commands with a separate home folder, in this process or in one of their own; a fake server."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from aiohttp.test_utils import TestServer
from tests.cli.fake import PROGRAM, FakeServer, Run, vault_named
from tests.support.clocks import PATIENCE
from tests.support.command import Ended, run_here
from tests.support.folders import below
from tests.support.homes import at_home
from tests.support.listening import free_port
from tests.support.privacy import Confidences

from vault_agent.cli import detached

QUESTION = re.compile(rb"(: |\] )(\x1b\[[^a-zA-Z]*[a-zA-Z])*$")
"""The end of a question, where the terminal waits for an answer."""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Return an environment with a separate home folder and without the user's settings."""
    home = tmp_path / "home"
    home.mkdir()
    kept = {
        name: value
        for name, value in os.environ.items()
        if "VAULT_AGENT" not in name and not name.startswith("XDG_") and name != "NO_COLOR"
    }
    return {**kept, **at_home(home), "PYTHONWARNINGS": "error", "COLUMNS": "100", "TERM": "xterm"}


@pytest.fixture
def run(environment: dict[str, str]) -> Run:
    """Return a function that runs a command in this process, one at a time."""
    lock = asyncio.Lock()

    async def run(*arguments: str, stdin: str = "", **variables: str) -> Ended:
        async with lock, asyncio.timeout(PATIENCE):
            with ThreadPoolExecutor(1) as thread:
                ended = await asyncio.get_running_loop().run_in_executor(
                    thread, run_here, arguments, {**environment, **variables}, stdin
                )
        examine(ended, environment | variables)
        return ended

    return run


@pytest.fixture
def run_apart(environment: dict[str, str]) -> Run:
    """Return a function that runs the program in a process of its own and waits for its end."""

    async def run_apart(
        *arguments: str, stdin: str = "", program: tuple[str, ...] = PROGRAM, **variables: str
    ) -> Ended:
        process = await asyncio.create_subprocess_exec(
            *program,
            *arguments,
            env={**environment, **variables},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        async with asyncio.timeout(PATIENCE):
            out, err = await process.communicate(stdin.encode())
        assert process.returncode is not None
        ended = Ended(process.returncode, out.decode(), err.decode())
        examine(ended, environment | variables)
        return ended

    return run_apart


@pytest.fixture
def run_at_terminal(environment: dict[str, str]) -> Run:
    """Return a function that runs the program at a terminal in the home folder.

    A line of `stdin` is typed at each question. All that the terminal shows is in `err`.
    """

    async def run_at_terminal(*arguments: str, stdin: str = "", **variables: str) -> Ended:
        import pty

        ours, theirs = pty.openpty()
        process = await asyncio.create_subprocess_exec(
            *PROGRAM,
            *arguments,
            env={**environment, **variables},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=environment["HOME"],
        )
        os.close(theirs)
        shown = asyncio.create_task(
            asyncio.to_thread(type_at_questions, ours, stdin.splitlines(keepends=True))
        )
        async with asyncio.timeout(PATIENCE):
            code = await process.wait()
            return Ended(code, "", await shown)

    return run_at_terminal


def type_at_questions(terminal: int, lines: list[str]) -> str:
    """Type a line at each question, and return what the terminal has shown at its end."""
    shown, answered = b"", 0
    with suppress(OSError), os.fdopen(terminal, "rb+", buffering=0) as file:
        while block := file.read(4096):
            shown += block
            if lines and QUESTION.search(shown, answered):
                file.write(lines.pop(0).encode())
                answered = len(shown)
    return shown.decode().replace("\r\n", "\n")


def examine(ended: Ended, variables: dict[str, str]) -> None:
    """Assert that errors name neither the home folder nor a key."""
    private = Confidences()
    private.add("the home", variables["HOME"])
    if key := variables.get("VAULT_AGENT_SERVER_API_KEY"):
        private.add("a key", key)
    private.examine("standard error", ended.err.encode())


@pytest.fixture
async def server(environment: dict[str, str]) -> AsyncIterator[FakeServer]:
    """Run a fake server that the environment names."""
    fake = FakeServer()
    async with TestServer(fake.application()) as running:
        fake.endpoint = str(running.make_url("")).rstrip("/")
        environment["VAULT_AGENT_SERVER_ENDPOINT"] = fake.endpoint
        yield fake


@pytest.fixture
async def notes(environment: dict[str, str], run: Run) -> AsyncIterator[Path]:
    """Create a vault that the config file names. All servers are stopped at the end."""
    folder = vault_named("My Notes", environment)
    port = str(free_port())
    await run("config", "set", "server.port", port)
    await run("config", "set", "vault.root", str(folder))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)  # a start that lost to another finds no vault later
    for noted in list(below(Path(environment["HOME"]), "server.address")):
        await asyncio.to_thread(detached.stop, noted.parent)
