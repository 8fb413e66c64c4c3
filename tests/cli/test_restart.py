"""A running server follows the settings, and is stopped and replaced."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
from pathlib import Path

import orjson
import pytest
from tests.cli.fake import Run, vault_named
from tests.support.folders import below
from tests.support.listening import free_port
from tests.support.systems import posix
from tests.support.waiting import eventually_async

from vault_agent.cli import features
from vault_agent.cli.command import Invocation
from vault_agent.cli.servers import Server
from vault_agent.config.setting_names import DEFAULT_PORT
from vault_agent.system.address import ServerAddress


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


async def test_a_running_server_uses_each_setting_at_once(
    environment: dict[str, str], run: Run, run_apart: Run, notes: Path
):
    first = await started(run_apart, "--background", "--no-watch")
    told = await run("config", "set", "web.enabled", "true")
    assert "uses it from now on" in told.err
    assert "web on" in (await run("status")).out
    port = str(free_port())
    told = await run("config", "set", "server.port", port)
    assert f":{port} uses it from now on" in told.err
    told = await run("config", "set", "server.host", "localhost")  # also at ::1, where there is one
    assert f":{port} uses it from now on" in told.err
    assert (await run("status")).out.startswith("vault-agent 0")
    added = await run("agent", "add", "claude", "--folder", ".")
    assert added.code == 0
    assert "doctor" not in added.err
    told = await run("config", "set", "watch.enabled", "true")
    assert "was started with its own watch.enabled, and keeps it" in told.err
    other = vault_named("Other", environment)
    assert "uses it from now on" in (await run("config", "set", "vault.root", str(other))).err
    await run("jobs", "follow")
    assert "in Other" in (await run("search", "bones")).out
    unset = await run("config", "unset", "vault.root")
    assert "keeps its vault until it ends. To end it: vault-agent serve --stop\n" in unset.err
    assert unset.err.endswith("No vault is set now. To set one: vault-agent setup\n")
    await run("config", "set", "vault.root", str(other))
    assert (await started(run_apart, "--background"))["pid"] == first["pid"]


async def test_settings_that_a_server_cannot_use_leave_it_as_it_is(
    run: Run, run_apart: Run, notes: Path
):
    first = await started(run_apart, "--background")
    await run("jobs", "follow")
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken_port = other.getsockname()[1]
        told = await run("config", "set", "server.port", str(taken_port))
    assert f"goes on without this change: Port {taken_port} is in use" in told.err
    doctor = await run("doctor")
    assert f"with older settings: Port {taken_port} is in use" in doctor.out
    await run("config", "set", "server.port", first["endpoint"].rpartition(":")[2])
    assert "older" not in (await run("doctor")).out
    assert "Stock.md" in (await run("search", "bones")).out
    assert (await started(run_apart, "--background"))["pid"] == first["pid"]


async def test_stop_ends_the_server_that_answers_here_and_names_its_vault(
    environment: dict[str, str], run: Run, run_apart: Run, notes: Path
):
    first = await started(run_apart, "--background", "--vault-root", str(notes))
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


async def test_two_starts_at_once_end_with_the_same_server(run_apart: Run, notes: Path):
    """After a crash, two programs may start it at the same moment."""
    replies = await asyncio.gather(*(started(run_apart, "--background") for _ in range(3)))
    assert len({reply["pid"] for reply in replies}) == 1


async def test_a_vault_that_does_not_exist_is_named_and_the_server_goes_on(
    run: Run, run_apart: Run, notes: Path
):
    first = await started(run_apart, "--background")
    file = Path((await run("config", "path")).out.strip())
    settings = file.read_text("utf-8")
    file.write_text(settings.replace(notes.name, "none"), "utf-8")
    told = (await run("search", "bones")).err
    assert told.startswith("VAULT_MISMATCH: ")
    assert "That folder does not exist" in told
    file.write_text(settings, "utf-8")
    assert (await started(run_apart, "--background"))["pid"] == first["pid"]


def test_a_server_that_has_ended_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(features, "_SECONDS_TO_REOPEN", 0.2)
    monkeypatch.setattr(features, "_SECONDS_TO_FOLLOW", float("inf"))
    config = tmp_path / "config.toml"
    config.write_text(f'[index]\ndir = "{tmp_path.as_posix()}/data"\n')
    address = ServerAddress("http://127.0.0.1:9", 1, "0", until_idle=False)
    ended = Server(tmp_path / "index", address, None)
    assert features.wait_for_server(Invocation(config=config), ended) is None


async def test_flags_that_a_running_server_does_not_have_are_refused(run_apart: Run, notes: Path):
    first = await started(run_apart, "--background", "--no-watch")
    port = first["endpoint"].rpartition(":")[2]
    assert (await started(run_apart, "--background", "--port", port))["pid"] == first["pid"]
    assert (await started(run_apart, "--background", "--no-watch"))["pid"] == first["pid"]
    for flags in ("--port", str(free_port())), ("--web",):
        refused = await run_apart("serve", "--background", *flags)
        assert refused.code == 5, flags
        assert f"served already, at {first['endpoint']}" in refused.err
        assert "stop it first: `vault-agent serve --stop`" in refused.err
    assert (await started(run_apart, "--background"))["pid"] == first["pid"]


async def test_a_server_of_an_agent_is_kept_on_request(run: Run, run_apart: Run, notes: Path):
    first = await started(run_apart, "--background", "--mcp", "--until-idle")
    asked = await started(run_apart, "--background", "--until-idle")
    assert asked["pid"] == first["pid"]
    kept = await started(run_apart, "--background")
    assert kept["pid"] != first["pid"]
    assert (await started(run_apart, "--background"))["pid"] == kept["pid"]
    assert "mcp on" in (await run("status")).out


async def test_a_second_vault_is_served_beside_the_first(
    environment: dict[str, str], run: Run, run_apart: Run, notes: Path
):
    await run("config", "unset", "server.port")
    if not (await started(run_apart, "--background"))["endpoint"].endswith(f":{DEFAULT_PORT}"):
        pytest.skip("another program has the default port")
    other = vault_named("Other", environment)
    beside = await run_apart("serve", "--background", "--vault-root", str(other))
    assert beside.code == 0
    assert f"Port {DEFAULT_PORT} is in use, so this time" in beside.err
    for folder in (other, notes):
        assert (await run_apart("serve", "--stop", "--vault-root", str(folder))).code == 0


async def test_the_record_of_settings_holds_no_key(
    environment: dict[str, str], run: Run, run_apart: Run, notes: Path
):
    key = "canary-key-0123456789-0123456789-01"
    await run("config", "set", "server.api_key", key)
    assert (await started(run_apart, "--background"))["started"]
    (noted,) = below(Path(environment["HOME"]), "server.settings")
    assert key not in noted.read_text()
    told = await run("config", "set", "server.api_key", key[::-1])
    assert "uses it from now on" in told.err
    assert key[::-1] not in noted.read_text()
    assert (await run("status")).code == 0


@posix("files in use cannot be removed on Windows")
async def test_a_server_whose_index_was_removed_gives_its_port_back(run_apart: Run, notes: Path):
    running = await started(run_apart, "--background")
    folder = next(below(notes.parent, "server.address")).parent
    shutil.rmtree(folder)
    await eventually_async(lambda: can_listen(running["endpoint"]))
    again = await started(run_apart, "--background")
    assert again["endpoint"] == running["endpoint"]
