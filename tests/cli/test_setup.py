"""`setup` goes from nothing to a server, by questions or by options."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
import pytest
from tests.cli.test_restart import refuse_services, vault_named
from tests.support.folders import below
from tests.support.listening import free_port
from tests.support.systems import posix
from tests.support.waiting import eventually_async

from vault_agent.cli import detached

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.cli.fake import Run


@pytest.fixture
async def home(environment: dict[str, str], run: Run) -> AsyncIterator[Path]:
    """Return a home with a folder of notes and Cursor. Servers are stopped at the end."""
    folder = Path(environment["HOME"])
    vault_named("Notes", environment)
    (folder / ".cursor").mkdir()
    await run("config", "set", "server.port", str(free_port()))
    yield folder
    for noted in below(folder, "server.address"):
        await asyncio.to_thread(detached.stop, noted.parent)


def all_of(terminal: int) -> str:
    """Return what a terminal shows, once the other end is closed."""
    shown = b""
    with suppress(OSError), os.fdopen(terminal, "rb", buffering=0) as file:
        while block := file.read(4096):
            shown += block
    return shown.decode()


async def test_options_are_enough_without_a_terminal(home: Path, run: Run, run_apart: Run):
    done = await run_apart("setup", "--folder", str(home / "Notes"), "--agent", "cursor")
    assert done.code == 0, done.err
    assert "Ready: 1 note of ~/Notes" in done.out
    assert "/ui/" in done.out
    assert "Stock.md" in (await run("search", "bones")).out
    assert "watch, mcp, web on" in (await run("status")).out
    assert (await run("doctor")).code == 0
    again = orjson.loads((await run_apart("--json", "setup", "--no-web", "--no-watch")).out)["data"]
    assert again["page"] is None
    assert "mcp on" in (await run("status")).out
    # What it does not ask for again stays as it is.
    assert orjson.loads((await run_apart("--json", "setup")).out)["data"]["page"] is None


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="systemd")
async def test_without_services_the_server_runs_in_the_background(
    environment: dict[str, str], home: Path, run: Run, run_apart: Run, tmp_path: Path
):
    refuse_services(environment, tmp_path)
    done = await run_apart("setup", "--folder", str(home / "Notes"), "--service")
    assert (done.code, done.err.splitlines()[0]) == (
        0,
        "SERVICE_FAILED: `systemctl --user daemon-reload` failed: no bus",
    )
    assert "The server runs in the background. It does not start at each login." in done.out
    assert "Stock.md" in (await run("search", "bones")).out


async def is_advised(run: Run) -> bool:
    warned = (await run("search", "bones")).err
    return "VAULT_NOT_FOUND" in warned and "`vault-agent setup --folder" in warned


async def test_a_moved_vault_is_found_again_by_one_command(home: Path, run: Run, run_apart: Run):
    await run_apart("setup", "--folder", str(home / "Notes"))
    moved = (home / "Notes").rename(home / "Moved")
    assert (await run("doctor")).code == 1
    await eventually_async(lambda: is_advised(run_apart))
    done = await run_apart("setup", "--folder", str(moved), "--yes")
    assert done.code == 0, done.err
    listed = orjson.loads((await run("--json", "vaults")).out)["data"]["indexes"]
    assert [each["vault"] for each in listed] == [str(moved)]
    assert "Stock.md" in (await run("search", "bones")).out
    assert (await run("doctor")).code == 0


async def test_without_a_folder_it_says_which_option_names_it(home: Path, run: Run):
    refused = await run("setup")
    assert refused.code == 2
    assert "--folder PATH" in refused.err
    missing = await run("setup", "--folder", str(home / "none"))
    assert missing.err.startswith("VAULT_NOT_FOUND: ")
    assert (await run("setup", "--folder", ".", "--agent", "nobody")).code == 2


@posix("a terminal is made by a POSIX call")
async def test_at_a_terminal_five_questions_have_defaults(
    home: Path, run: Run, environment: dict[str, str]
):
    import pty

    ours, theirs = pty.openpty()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "vault_agent", "setup",
        env=environment, stdin=theirs, stdout=subprocess.PIPE, stderr=theirs, cwd=home,
    )  # fmt: skip
    os.close(theirs)
    os.write(ours, b"\n\n\n\n\n")
    out, _ = await process.communicate()
    shown = all_of(ours)
    assert process.returncode == 0, shown
    assert "[~/Notes]" in shown
    assert "[cursor]" in shown
    assert shown.count("[Y/n]") == 2
    assert shown.count("[y/N]") == 1
    assert b"Ready: 1 note of ~/Notes" in out
    assert "watch, mcp, web on" in (await run("status")).out


@posix("a terminal is made by a POSIX call")
@pytest.mark.parametrize("typed", [b"\x04", b"\n\x04", b"\n\n\x04"])
async def test_ctrl_d_at_a_question_sets_nothing_up(
    home: Path, run: Run, environment: dict[str, str], typed: bytes
):
    import pty

    ours, theirs = pty.openpty()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "vault_agent", "setup",
        env=environment, stdin=theirs, stdout=subprocess.DEVNULL, stderr=theirs, cwd=home,
    )  # fmt: skip
    os.close(theirs)
    os.write(ours, typed + b"\n\n\n\n\n")
    assert await process.wait() == 130, all_of(ours)
    all_of(ours)
    assert (await run("config", "get", "vault.root")).code == 1
