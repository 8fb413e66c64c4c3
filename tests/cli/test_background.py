"""`serve --background` and `serve --stop`, with a real server."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import orjson
import pytest
from tests.cli.fake import Run
from tests.server.test_serve import free_port
from tests.support.folders import below

from vault_agent.cli import detached
from vault_agent.config.layers import read_layers
from vault_agent.config.setting_names import DEFAULT_PORT
from vault_agent.errors import Misconfigured
from vault_agent.system.address import record_address


@pytest.fixture
async def vault(tmp_path: Path, environment: dict[str, str]) -> AsyncIterator[Path]:
    """Create a vault of one note that the settings name. Its server is stopped at the end."""
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "Stock.md").write_text("# Stock\n\nSimmer the bones slowly.\n", "utf-8")
    environment["VAULT_AGENT_VAULT_ROOT"] = str(folder)
    yield folder
    for noted in below(Path(environment["HOME"]), "server.address"):
        await asyncio.to_thread(detached.stop, noted.parent)


@pytest.fixture
def taken_port() -> Iterator[int]:
    """Return a port that is in use."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        yield taken.getsockname()[1]


def found(environment: dict[str, str], name: str) -> Path:
    (path,) = below(Path(environment["HOME"]), name)
    return path


@pytest.mark.fault(
    "HTTP and access",
    "`serve --background`, and the port is in use",
    "the default port: a free one is taken, and commands find it; a chosen port: "
    "`PORT_IN_USE`, and nothing starts",
)
async def test_a_server_in_the_background_is_found_and_stopped(
    environment: dict[str, str], vault: Path, run: Run, run_apart: Run
):
    with ExitStack() as stack:
        is_ours = False
        with suppress(OSError):  # another program has the default port, until now or for longer
            stack.enter_context(socket.create_server(("127.0.0.1", DEFAULT_PORT)))
            is_ours = True
        started = await run_apart("serve", "--background")
        assert started.code == 0, started.err
        assert "runs in the background at http://127.0.0.1:" in started.out
        assert not is_ours or f":{DEFAULT_PORT}\n" not in started.out
        assert "--endpoint" not in started.out
        assert not is_ours or f"Port {DEFAULT_PORT} is in use, so this time" in started.err
        assert (await run("jobs", "follow")).code == 0
        assert "Stock.md" in (await run("search", "bones")).out
        again = await run_apart("serve", "--background")
        assert again.code == 0
        assert "already runs" in again.out
    for name in ("server.log", "server.address"):
        assert os.name == "nt" or found(environment, name).stat().st_mode & 0o777 == 0o600
    stopped = await run_apart("serve", "--stop")
    assert stopped.code == 0
    assert "has stopped" in stopped.out
    assert not list(below(Path(environment["HOME"]), "server.address"))
    assert "No server runs" in (await run_apart("serve", "--stop")).err


@pytest.mark.usefixtures("vault")
@pytest.mark.parametrize("words", [("search", "bones"), ("list",)], ids=" ".join)
async def test_a_command_starts_the_server_and_waits_for_the_first_index(
    run: Run, run_apart: Run, words: tuple[str, ...]
):
    await run("config", "set", "server.port", str(free_port()))
    assert "No server answers" in (await run_apart("status")).err
    try:
        found = await run_apart(*words)
        assert (found.code, "Stock.md" in found.out) == (0, True), found.err
        assert found.err.startswith("No server runs. Starting one")
        again = await run_apart(*words)
        assert (again.out, again.err) == (found.out, "")
    finally:
        assert (await run_apart("serve", "--stop")).code == 0


@pytest.mark.fault(
    "HTTP and access",
    "a server is killed, and its record `server.address` stays",
    "the record counts only while the server's lock is held",
)
@pytest.mark.skipif(sys.platform == "win32", reason="kills by a POSIX signal")
async def test_the_record_of_a_killed_server_is_harmless(
    environment: dict[str, str], vault: Path, run: Run, run_apart: Run
):
    first = orjson.loads((await run_apart("--json", "serve", "--background", "--port", "0")).out)[
        "data"
    ]
    assert first["started"]
    os.kill(first["pid"], signal.SIGKILL)
    note = found(environment, "server.address")
    while "No server runs" not in (await run_apart("serve", "--stop")).err:
        pass
    assert note.exists()
    refused = await run("status", VAULT_AGENT_SERVER_PORT="1")
    assert refused.code == 1
    assert "http://127.0.0.1:1" in refused.err
    second = orjson.loads((await run_apart("--json", "serve", "--background", "--port", "0")).out)[
        "data"
    ]
    assert second["started"]
    assert second["pid"] != first["pid"]
    # Not even a record that names another process is believed.
    await run_apart("serve", "--stop")
    record_address(note.parent, "http://127.0.0.1:9")
    assert "No server runs" in (await run_apart("serve", "--stop")).err


@pytest.mark.fault(
    "HTTP and access",
    "a server ends while it starts in the background",
    "the command reports the server's own error",
)
async def test_the_error_of_a_server_that_does_not_start_is_passed_on(tmp_path: Path):
    how = detached.StartCommand(("serve", "--port", "99999"), {**os.environ, "HOME": str(tmp_path)})
    with pytest.raises(Misconfigured, match="must be a port") as error:
        await asyncio.to_thread(detached.start_server, how, tmp_path / "index")
    assert error.value.code == "CONFIG_INVALID"


def test_a_start_from_another_folder_keeps_paths_and_hides_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    variables = {"VAULT_AGENT_INDEX_DIR": "data"}
    monkeypatch.setenv("VAULT_AGENT_INDEX_DIR", "data")
    flags = {
        "vault.root": "notes",
        "server.api_key": "a-secret",
        "server.port": 1,
        "watch.enabled": False,
        "mcp.enabled": True,
    }
    how = detached.start_of(read_layers(flags, None, variables), tmp_path / "my.toml")
    assert how.arguments == ("serve", "--vault-root", str(tmp_path / "notes"), "--port", "1")
    assert how.environment["VAULT_AGENT_INDEX_DIR"] == str(tmp_path / "data")
    assert how.environment["VAULT_AGENT_CONFIG"] == str(tmp_path / "my.toml")
    assert how.environment["VAULT_AGENT_SERVER_API_KEY"] == "a-secret"
    assert how.environment["VAULT_AGENT_WATCH_ENABLED"] == "False"
    assert how.environment["VAULT_AGENT_MCP_ENABLED"] == "True"


def test_a_long_log_is_set_aside(tmp_path: Path):
    log = tmp_path / "server.log"
    log.write_bytes(b"x" * 100)
    detached._keep_short(log)
    assert log.exists()
    log.write_bytes(b"x" * (1 << 21))
    detached._keep_short(log)
    assert not log.exists()
    assert (tmp_path / "server.log.old").exists()
