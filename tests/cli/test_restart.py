"""`serve --restart`, `serve --stop` and what commands say when settings or vaults change."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.request import urlopen

import orjson
import pytest
from tests.support.clocks import PATIENCE
from tests.support.folders import below
from tests.support.listening import free_port
from tests.support.systems import posix
from tests.support.waiting import eventually_async

from vault_agent.cli import applying, detached
from vault_agent.config.keys import DEFAULT_PORT

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.cli.fake import Run


@pytest.fixture
async def notes(environment: dict[str, str], run: Run) -> AsyncIterator[Path]:
    """Create a vault that the config file names. All servers are stopped at the end."""
    folder = vault_named("My Notes", environment)
    port = str(free_port())
    await run("config", "set", "server.port", port)
    await run("config", "set", "vault.root", str(folder))
    yield folder
    for noted in list(below(Path(environment["HOME"]), "server.address")):
        for _ in range(3):  # the starts that lost may follow
            await detached.stop(noted.parent)


def vault_named(name: str, environment: dict[str, str]) -> Path:
    folder = Path(environment["HOME"], name)
    folder.mkdir()
    (folder / "Stock.md").write_text(f"# Stock\n\nSimmer the bones in {name}.\n", "utf-8")
    return folder


def refuse_services(environment: dict[str, str], folder: Path) -> None:
    """Put a `systemctl` first on the path that fails as without a session."""
    control = folder / "bin" / "systemctl"
    control.parent.mkdir()
    control.write_text("#!/bin/sh\necho 'no bus' >&2\nexit 1\n")
    control.chmod(0o755)
    environment["PATH"] = f"{control.parent}{os.pathsep}{environment['PATH']}"


def can_listen(endpoint: str) -> bool:
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind(("127.0.0.1", int(endpoint.rpartition(":")[2])))
        except OSError:
            return False
    return True


async def started(run: Run, *more: str) -> dict:
    ended = await run("--json", "serve", *more)
    assert ended.code == 0, ended.err
    return orjson.loads(ended.out)["data"]


async def test_a_restart_applies_a_setting_and_keeps_the_options_of_the_start(
    run: Run, run_apart: Run, notes: Path
):
    first = await started(run_apart, "--background", "--watch")
    assert "changed" not in (await run("status")).out
    told = await run("config", "set", "web.enabled", "true")
    assert "runs without this change" in told.err
    assert "vault-agent serve --restart" in told.err
    assert "web.enabled; apply it: vault-agent serve --restart" in (await run("status")).out
    assert "web.enabled" in (await run_apart("serve", "--background")).out
    second = await started(run_apart, "--restart")
    assert second["restarted"]
    assert (second["endpoint"], second["pid"]) != (first["endpoint"], first["pid"])
    assert second["endpoint"] == first["endpoint"]
    status = (await run("status")).out
    assert "watch, web on" in status
    assert "changed" not in status
    # A flag of the start gives way to the file if that says something else since.
    await run("config", "set", "watch.enabled", "false")
    assert "watch.enabled; apply it" in (await run("status")).out
    await run("config", "unset", "web.enabled")
    await started(run_apart, "--restart")
    assert "none switched on" in (await run("status")).out


async def test_a_changed_vault_is_served_after_one_command(
    environment: dict[str, str], run: Run, run_apart: Run, notes: Path
):
    before = await started(run_apart, "--background")
    other = vault_named("Other", environment)
    told = await run("config", "set", "vault.root", str(other))
    assert "still serves My Notes" in told.err
    assert "vault-agent serve --restart" in told.err
    refused = await run_apart("serve", "--background")
    assert refused.code == 2
    assert refused.err.startswith("PORT_IN_USE: Your server of My Notes has port ")
    assert "vault-agent serve --restart" in refused.err
    assert (await run_apart("serve")).err == refused.err
    mismatch = (await run("search", "bones")).err
    assert "vault-agent serve --restart" in mismatch
    after = await run_apart("serve", "--restart")
    assert after.code == 0, after.err
    assert before["endpoint"] in after.out
    assert "The server of ~/My Notes was stopped." in after.err
    assert "in Other" in (await run("search", "bones")).out


@posix("a terminal is made by a POSIX call")
async def test_at_a_terminal_a_changed_setting_is_applied_by_one_command(
    environment: dict[str, str], run: Run, run_apart: Run, notes: Path
):
    import pty

    first = await started(run_apart, "--background")
    await run("jobs", "follow")
    moved = notes.rename(notes.with_name("Moved"))
    ours, theirs = pty.openpty()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "vault_agent", "config", "set", "vault.root", str(moved),
        env=environment, stdin=theirs, stdout=subprocess.PIPE, stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    os.write(ours, b"\n")
    out, _ = await process.communicate()
    os.close(ours)
    assert f"The server was restarted: {first['endpoint']}" in out.decode()
    assert (await run("config", "get", "vault.root")).out == f"{moved}\n"
    assert "Stock.md" in (await run("search", "bones")).out


async def test_a_moved_vault_is_served_after_one_command_with_its_index(
    environment: dict[str, str], run: Run, run_apart: Run, notes: Path
):
    await started(run_apart, "--background")
    await run("jobs", "follow")
    moved = notes.rename(notes.with_name("Moved"))
    await run("config", "set", "vault.root", str(moved))
    refused = await run_apart("serve", "--background")
    assert "Its folder is no longer there. To serve this vault instead" in refused.err
    told = await run_apart("serve", "--restart")
    assert told.code == 0
    assert "The server of ~/My Notes was stopped. Its index was taken over." in told.err
    listed = orjson.loads((await run("--json", "indexes", "list")).out)["data"]["indexes"]
    assert [each["vault"] for each in listed] == [str(moved)]
    assert "Stock.md" in (await run("search", "bones")).out


async def test_stop_ends_the_server_that_answers_here_and_names_its_vault(
    environment: dict[str, str], run: Run, run_apart: Run, notes: Path
):
    first = await started(run_apart, "--background")
    other = vault_named("Other", environment)
    await run("config", "set", "vault.root", str(other))
    only = await run_apart("serve", "--stop", "--vault-root", str(other))
    assert "No server runs for this vault." in only.err
    assert "vault-agent serve --stop --vault-root ~/'My Notes'" in only.err
    stopped = await run_apart("serve", "--stop")
    assert stopped.out.splitlines() == [
        f"The server at {first['endpoint']} has stopped.",
        "It served ~/My Notes.",
    ]
    assert "No server runs here." in (await run_apart("serve", "--stop")).err


async def test_the_command_to_restart_names_another_config_file(
    environment: dict[str, str], run: Run, run_apart: Run, notes: Path
):
    other = Path(environment["HOME"], "other.toml")
    other.write_bytes(Path((await run("config", "path")).out.strip()).read_bytes())
    await started(run_apart, "--background", "--config", str(other))
    told = await run("config", "set", "web.enabled", "true", "--config", str(other))
    assert told.err.endswith("`vault-agent serve --restart --config ~/other.toml`\n")
    assert "--config" in (await run("status", "--config", str(other))).out


async def test_two_starts_at_once_end_with_the_same_server(run_apart: Run, notes: Path):
    """After a crash, two programs may start it at the same moment."""
    replies = await asyncio.gather(*(started(run_apart, "--background") for _ in range(3)))
    assert len({reply["pid"] for reply in replies}) == 1


async def test_a_vault_that_does_not_exist_is_not_followed_by_a_command_that_fails(
    environment: dict[str, str], run: Run
):
    told = await run("config", "set", "vault.root", str(Path(environment["HOME"], "none")))
    assert told.err.startswith("VAULT_NOT_FOUND: ")
    assert "serve" not in told.err


async def test_a_vault_that_does_not_exist_is_named_and_the_server_goes_on(
    run: Run, run_apart: Run, notes: Path
):
    first = await started(run_apart, "--background")
    await run("config", "set", "vault.root", str(notes.with_name("none")))
    told = (await run("search", "bones")).err
    assert told.startswith("VAULT_MISMATCH: ")
    assert "That folder does not exist" in told
    assert "serve --restart" not in told
    refused = await run_apart("serve", "--restart")
    assert (refused.code, refused.err.split(":")[0]) == (2, "VAULT_NOT_FOUND")
    await run("config", "set", "vault.root", str(notes))
    assert (await started(run_apart, "--background"))["pid"] == first["pid"]


async def test_a_server_of_an_agent_is_kept_on_request(run: Run, run_apart: Run, notes: Path):
    await started(run_apart, "--background", "--mcp", "--until-idle")
    assert (
        "to keep it: vault-agent serve --restart" in (await run_apart("serve", "--background")).out
    )
    await run_apart("enable", "web")
    assert "to keep it" in (await run_apart("serve", "--background")).out
    assert (await run_apart("serve", "--restart")).code == 0
    assert "to keep it" not in (await run_apart("serve", "--background")).out
    assert "mcp, web on" in (await run("status")).out


async def test_a_second_vault_is_served_beside_the_first_and_the_way_to_stop_is_named(
    environment: dict[str, str], run: Run, run_apart: Run, notes: Path
):
    await run("config", "unset", "server.port")
    if not (await started(run_apart, "--background"))["endpoint"].endswith(f":{DEFAULT_PORT}"):
        pytest.skip("another program has the default port")
    other = vault_named("Other", environment)
    beside = await run_apart("serve", "--background", "--vault-root", str(other))
    assert beside.code == 0
    assert "of ~/My Notes. To stop it: vault-agent serve --stop --vault-root" in beside.err
    for folder in (other, notes):
        assert (await run_apart("serve", "--stop", "--vault-root", str(folder))).code == 0


async def test_the_record_of_settings_holds_no_key(
    environment: dict[str, str], run: Run, run_apart: Run, notes: Path
):
    key = "canary-key-0123456789-0123456789-01"
    await run("config", "set", "server.api_key", key)
    assert (await started(run_apart, "--restart"))["started"]  # none runs
    (noted,) = below(Path(environment["HOME"]), "server.settings")
    assert key not in noted.read_text()
    told = await run("config", "set", "server.api_key", key[::-1])
    assert "vault-agent serve --restart" in told.err
    assert "vault-agent serve --restart" in (await run("search", "bones")).err
    await started(run_apart, "--restart")
    assert (await run("status")).code == 0


@posix("a signal is sent to one process")
async def test_ctrl_c_leaves_no_server_stopped(
    environment: dict[str, str], run: Run, run_apart: Run, notes: Path
):
    first = await started(run_apart, "--background")
    noted = next(below(Path(environment["HOME"]), "server.address"))
    text = noted.read_bytes()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "vault_agent", "serve", "--restart",
        env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    await eventually_async(
        lambda: not noted.exists() or noted.read_bytes() != text, retry=(OSError,)
    )
    with suppress(ProcessLookupError):
        process.send_signal(signal.SIGINT)
    assert await process.wait() in (130, 0)  # on a busy machine it may have ended
    assert (await run("status")).code == 0
    assert (await started(run_apart, "--background"))["pid"] != first["pid"]
    assert notes.is_dir()


@posix("files in use cannot be removed on Windows")
async def test_a_server_whose_index_was_removed_gives_its_port_back(run_apart: Run, notes: Path):
    running = await started(run_apart, "--background")
    folder = next(below(notes.parent, "server.address")).parent
    shutil.rmtree(folder)
    await eventually_async(lambda: can_listen(running["endpoint"]))
    again = await started(run_apart, "--background")
    assert again["endpoint"] == running["endpoint"]


async def test_a_running_server_follows_what_it_can(
    monkeypatch: pytest.MonkeyPatch, run: Run, run_apart: Run, notes: Path, environment
):
    monkeypatch.setattr(applying, "_SECONDS_TO_FOLLOW", PATIENCE)
    await run_apart("enable", "web")
    await run_apart("enable", "mcp")
    running = await started(run_apart, "--background")
    told = await run("config", "set", "web.math", "false")
    assert "uses it from now on" in told.err
    assert "changed" not in (await run("status")).out
    await eventually_async(
        lambda: asyncio.to_thread(shown_page, running["endpoint"]),
        lambda page: 'data-math="false"' in page,
    )
    both = await run("config", "set", "web.enabled", "false")
    assert "vault-agent serve --restart" in both.err
    # A value of a flag or of the environment stays; an invalid file changes nothing.
    path = Path((await run("config", "path")).out.strip())
    text = path.read_text()
    path.write_text(text.replace("math = false", "math = 3"))
    await asyncio.sleep(1.5)
    assert 'data-math="false"' in await asyncio.to_thread(shown_page, running["endpoint"])
    path.write_text(text)
    added = await run("agent", "add", "claude", "--folder", ".")
    assert added.code == 0
    assert "--restart" not in added.err
    assert "agents" not in (await run("status")).out
    removed = await run("agent", "remove", "claude")
    assert "--restart" not in removed.err


def shown_page(endpoint: str) -> str:
    with urlopen(f"{endpoint}/ui/") as reply:
        return reply.read().decode()
