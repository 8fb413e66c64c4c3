"""`serve` prints the next commands or a remedy. `demo` leaves no files."""

from __future__ import annotations

import asyncio
import html
import os
import re
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import orjson
import pytest
from tests.cli.fake import PROGRAM, Run
from tests.support.clocks import PATIENCE
from tests.support.folders import below
from tests.support.listening import free_port

from vault_agent.cli import demo

ROOT = Path(__file__).parents[2]
posix_signals = pytest.mark.skipif(sys.platform == "win32", reason="sends POSIX signals")


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture
def vault(tmp_path: Path, environment: dict[str, str], port: int) -> Path:
    """Create a vault of one note and settings for it."""
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "Stock.md").write_text("# Stock\n\nSimmer the bones slowly.\n", "utf-8")
    environment["VAULT_AGENT_VAULT_ROOT"] = str(folder)
    environment["VAULT_AGENT_SERVER_PORT"] = str(port)
    return folder


@asynccontextmanager
async def serving(environment: dict[str, str], *arguments: str) -> AsyncIterator[str]:
    """Run a server and yield what it printed until it was ready."""
    process = await asyncio.create_subprocess_exec(
        *PROGRAM, "serve", *arguments,
        env=environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        said = b""
        async with asyncio.timeout(PATIENCE):
            while line := await process.stdout.readline():
                said += line
                if b"vault-agent search" in line or line.startswith(b"{"):
                    break
        yield said.decode()
    finally:
        process.terminate() if sys.platform == "win32" else process.send_signal(signal.SIGINT)
        async with asyncio.timeout(PATIENCE):
            _, err = await process.communicate()
    assert b"Traceback" not in err
    if sys.platform != "win32":
        assert process.returncode == 0


async def test_serve_prints_its_address_state_and_next_commands(
    environment: dict[str, str], vault: Path, port: int, run: Run
):
    async with serving(environment) as said:
        assert f"http://127.0.0.1:{port}" in said
        assert "--endpoint" not in said
        assert f"127.0.0.1, port {port}" in said
        assert str(vault) in said
        assert "embeddings  off" in said
        assert "vault-agent search" in said
        # A first start has no index: it makes one, and says how to watch.
        assert "the first one is being built" in said
        assert (await run("jobs", "follow")).code == 0
        found = await run("search", "bones")
        assert "Stock.md" in found.out
    async with serving(environment) as said:
        assert "ready: 1 note, 1 chunk" in said


async def test_serve_with_json_prints_one_envelope(
    environment: dict[str, str], vault: Path, port: int
):
    async with serving(environment, "--json") as said:
        assert orjson.loads(said)["data"]["endpoint"] == f"http://127.0.0.1:{port}"


async def test_the_printed_commands_reach_a_server_started_with_flags(
    environment: dict[str, str], vault: Path, port: int, tmp_path: Path, run: Run
):
    async with serving(environment, "--port", "0") as said:
        assert f"http://127.0.0.1:{port}" not in said
        assert 'vault-agent search "what I look for"\n' in said
        assert (await run("jobs")).code == 0  # found by the record in the index's folder
    other = tmp_path / "other"
    other.mkdir()
    data = tmp_path / "data"
    flags = ("--vault-root", str(other), "--index-dir", str(data), "--host", "localhost")
    async with serving(environment, "--port", "0", *flags) as said:
        assert str(other) in said
        assert data.is_dir()
        assert "localhost, port" in said
        endpoint = said.split(" at ")[1].split()[0]
        assert f'vault-agent search "what I look for" --endpoint {endpoint}\n' in said
    (tmp_path / "my config.toml").touch()
    async with serving(environment, "--config", str(tmp_path / "my config.toml")) as said:
        assert f"look for\" --config '{tmp_path / 'my config.toml'}'\n" in said


async def test_a_second_server_fails_with_one_line(
    environment: dict[str, str], vault: Path, port: int, run_apart: Run
):
    async with serving(environment):
        for flags in (), ("--port", str(free_port())):
            second = await run_apart("serve", *flags)
            assert second.code == 5
            assert second.err.startswith("INDEX_LOCKED: This vault is served already")
            assert f" at http://127.0.0.1:{port}. " in second.err
            assert len(second.err.splitlines()) == 1
        (noted,) = below(Path(environment["HOME"]), "server.address")
        assert os.name == "nt" or noted.stat().st_mode & 0o777 == 0o600
    assert not noted.exists()


@posix_signals
async def test_off_loopback_a_key_is_generated_and_serve_warns(
    environment: dict[str, str], vault: Path, port: int, run: Run
):
    async with serving(environment, "--host", "0.0.0.0") as said:
        assert "key         required" in said
        key = (await run("config", "reveal-api-key")).out.strip()
        assert len(key) >= 43
        assert key not in said
        assert (await run("jobs")).code == 0
        assert (await run("jobs", "--api-key", "x" * 43)).code == 3


def commands_in(picture: Path) -> list[str]:
    """Return the commands that a recorded terminal shows."""
    texts = re.findall(r"<text[^>]*>(.*?)</text>", picture.read_text("utf-8"))
    lines = (html.unescape(text).replace("\N{NO-BREAK SPACE}", " ") for text in texts)
    return [line for line in lines if line.startswith("$ vault-agent ")]


async def test_the_demo_runs_every_command_and_leaves_no_files(
    environment: dict[str, str], tmp_path: Path, run_apart: Run
):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    ended = await run_apart("demo", TMPDIR=str(temporary), TEMP=str(temporary), TMP=str(temporary))
    assert ended.code == 0, ended.err
    typed = [line for line in ended.out.splitlines() if line.startswith("$ vault-agent ")]
    words = [line.split()[2] for line in typed]
    assert words == [
        "config", "serve", "index", "search", "search", "search", "related", "links",
        "get", "get",
    ]  # fmt: skip
    # `make recording` makes the picture.
    assert commands_in(ROOT / "docs" / "images" / "demo.svg") == typed[2:9]
    assert "index done" in ended.out
    assert ended.out.rstrip().endswith("vault-agent open 1")
    assert list(temporary.iterdir()) == []
    assert not any(below(Path(environment["HOME"]), "*"))


def test_the_demo_ends_with_commands_that_the_shell_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = tmp_path / "a clone" / ".venv" / "bin"
    folder.mkdir(parents=True)
    for name in ("python", "vault-agent", "vault-agent.exe"):
        (folder / name).touch(mode=0o755)
    monkeypatch.setattr(sys, "executable", str(folder / "python"))
    monkeypatch.setenv("PATH", str(folder))
    assert demo._program() == "vault-agent"
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.chdir(tmp_path / "a clone")
    relative = str(Path(".venv", "bin", "vault-agent"))
    assert demo._program().removesuffix(".exe") == relative
    monkeypatch.chdir(tmp_path)
    assert demo._program().replace("'", "").startswith(str(Path("a clone", relative)))
    (folder / "vault-agent").unlink()
    (folder / "vault-agent.exe").unlink()
    assert demo._program() == "vault-agent"


@posix_signals
@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.long)]
)
async def test_an_interrupted_demo_leaves_no_files(
    environment: dict[str, str], tmp_path: Path, number: int
):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    process = await asyncio.create_subprocess_exec(
        *PROGRAM, "demo",
        env={**environment, "TMPDIR": str(temporary)},
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    async with asyncio.timeout(PATIENCE):
        port = None
        while b"vault-agent search" not in (line := await process.stdout.readline()):
            if b"runs in the background at" in line:
                port = int(line.rpartition(b":")[2])
        process.send_signal(number)
        _, err = await process.communicate()
    assert process.returncode == 130
    assert b"Traceback" not in err
    assert list(temporary.iterdir()) == []
    assert port is not None
    with pytest.raises(ConnectionRefusedError):
        os.close(socket.create_connection(("127.0.0.1", port)).detach())


async def test_a_filter_without_a_query_lists_and_a_search_of_another_vault_warns(
    environment: dict[str, str], vault: Path, tmp_path: Path, run: Run
):
    (vault / "Songs").mkdir()
    (vault / "Songs" / "Hymn.md").write_text(
        "---\ntags: [music]\ntype: song\ndate: 2024-05-01\n---\nLa la.\n", "utf-8"
    )
    os.utime(vault / "Stock.md", (1_000_000_000, 1_000_000_000))  # it has no date of its own
    filters = (
        ("--tag", "music"),
        ("--path", "Songs"),
        ("--type", "song"),
        ("--after", "2024-01-01"),
        ("--before", "2024-12-31", "--tag", "music"),
    )
    async with serving(environment):
        followed = await run("jobs", "follow")
        assert (followed.code, followed.err.count("VAULT_MISMATCH")) == (0, 0)
        for each in filters:
            found = await run("search", *each)
            assert found.code == 0
            assert "Hymn.md" in found.out
            assert "Stock.md" not in found.out
        none = await run("search", "--tag", "nothing")
        assert none.out == ""
        assert none.err.startswith("No results (all tags: vault-agent tags).")
        other = tmp_path / "other"
        other.mkdir()
        elsewhere = await run("search", "bones", VAULT_AGENT_VAULT_ROOT=str(other))
        assert "Stock.md" in elsewhere.out
        assert elsewhere.err.startswith("VAULT_MISMATCH: ")
    assert (await run("search")).code == 2
