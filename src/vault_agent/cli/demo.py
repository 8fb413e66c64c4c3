"""`vault-agent demo`: runs the main commands on a temporary sample vault."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import signal
import socket
import sys
import tempfile
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import asyncclick as click

from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.terminal import clean, say, style
from vault_agent.client import calls
from vault_agent.errors import Failed, Unavailable
from vault_agent.system.processes import PROGRAM, end_process, start_process

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import AsyncIterator

    from vault_agent.client.client import Client

_SECONDS_TO_START = 30.0
_SECONDS_TO_STOP = 5.0

_SEARCHES = ("sourdough starter", "dark adaptation", "味噌")
_NAME = "vault-agent"
_FIRST_NOTES = "Bakery"


@click.command("demo", cls=Command)
@click.pass_obj
async def command(invocation: Invocation) -> None:
    """See it work on sample notes: serve, index, search, read.

    Your notes and settings are not read or changed. All files are deleted at the end.
    """
    if invocation.json:
        raise click.UsageError("the demo has no --json")
    if sys.platform != "win32":
        # SIGTERM ends the demo like Ctrl-C, so that its files are deleted too.
        signal.signal(signal.SIGTERM, signal.getsignal(signal.SIGINT))
    with tempfile.TemporaryDirectory(prefix="vault-agent-demo-", ignore_cleanup_errors=True) as at:
        await _show(Path(at))
    say()
    say("The demo is done. Its notes and index have been deleted. For your own notes:")
    program = _program()
    say(f"  {program} setup")
    say(f"  {program} search what I look for")
    say(f"  {program} open 1")


def _program() -> str:
    """Return the program's name, or its path if it is not on the PATH."""
    beside = shutil.which(_NAME, path=str(Path(sys.executable).parent))
    if beside is None or shutil.which(_NAME) is not None:
        return _NAME
    path = Path(beside)
    here = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    return clean(shlex.quote(str(here)))


async def _show(folder: Path) -> None:
    from vault_agent.client.client import Client

    source, vault = _notes(), folder / "Notes"
    port = _free_port()
    environment = _environment(folder, port)
    shutil.copytree(source / _FIRST_NOTES, vault / _FIRST_NOTES)

    await _run(environment, "config", "set", "vault.root", str(vault))
    async with _server(environment) as server, Client(f"http://127.0.0.1:{port}") as client:
        await _until_idle(client, server)
        say()
        say(
            style(
                "# The server has indexed one folder of notes. Now the others are added.", "faint"
            )
        )
        shutil.copytree(source, vault, dirs_exist_ok=True)
        await _run(environment, "index")
        for query in _SEARCHES:
            await _run(environment, "search", query, "--limit", "3")
        best = await _best(client, _SEARCHES[0])
        await _run(environment, "related", best["title"], "--limit", "3")
        await _run(environment, "links", best["path"], "--in", "--limit", "3")
        await _run(environment, "get", "chunk", f"{best['path']}:{best['line']}")
        await _run(environment, "get", "note", best["path"])
        say()


def _notes() -> Path:
    """Return the sample vault, from the package or from the repository."""
    packed = Path(__file__).parent / "demo_vault"
    return packed if packed.is_dir() else Path(__file__).parents[3] / "fixtures" / "vault"


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    return port


def _environment(folder: Path, port: int) -> dict[str, str]:
    """Return an environment without the user's settings."""
    mine = {name: value for name, value in os.environ.items() if "VAULT_AGENT_" not in name}
    return {
        **mine,
        "VAULT_AGENT_CONFIG": str(folder / "config.toml"),
        "VAULT_AGENT_INDEX_DIR": str(folder / "data"),
        "VAULT_AGENT_SERVER_PORT": str(port),
    }


async def _run(environment: dict[str, str], *arguments: str) -> None:
    """Print a command as a user would type it, and run it."""
    _show_line(*arguments)
    process = await start_process(
        *PROGRAM, *arguments, env=environment, stdin=asyncio.subprocess.DEVNULL
    )
    try:
        code = await process.wait()
    finally:
        await end_process(process, _SECONDS_TO_STOP)
    if code != 0:
        raise Failed("DEMO_FAILED", "a command of the demo failed; see its output above")


def _show_line(*arguments: str) -> None:
    say()
    say(style(f"$ vault-agent {shlex.join(arguments)}", "strong"))


@asynccontextmanager
async def _server(environment: dict[str, str]) -> AsyncIterator[Process]:
    _show_line("serve")
    process = await start_process(
        *PROGRAM, "serve", env=environment, stdin=asyncio.subprocess.DEVNULL
    )
    try:
        yield process
    finally:
        await end_process(process, _SECONDS_TO_STOP)


async def _until_idle(client: Client, server: Process) -> None:
    """Wait until the server answers and its first index is complete."""
    try:
        async with asyncio.timeout(_SECONDS_TO_START):
            while server.returncode is None:
                with suppress(Unavailable):
                    health = (await client.call(calls.HEALTH)).data
                    if health.index.available and health.running_job is None:
                        return
                await asyncio.sleep(0.05)
    except TimeoutError:
        raise Failed("DEMO_FAILED", "the demo's server was not ready in time") from None
    raise Failed("DEMO_FAILED", "the demo's server ended; see its output above")


async def _best(client: Client, query: str) -> dict[str, Any]:
    reply = await client.call(calls.SEARCH, query=query)
    results: list[dict[str, Any]] = reply.envelope["data"]["results"]
    if not results:
        raise Failed("DEMO_FAILED", "the demo's search found nothing")
    return results[0]
