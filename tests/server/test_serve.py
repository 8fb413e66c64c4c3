"""The server starts or fails with one line, and stops on a signal."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import AsyncMock, Mock

import pytest
from tests.support.clocks import PATIENCE
from tests.support.listening import free_port

from vault_agent.config.settings import Config
from vault_agent.errors import Busy, Misconfigured, Unauthorized
from vault_agent.server.log import EventLog, Level
from vault_agent.server.serve import listening, serve
from vault_agent.system.address import SERVER_LOCK

from .conftest import FakeEngine, run

PROGRAM = """
    import asyncio, sys
    from contextlib import asynccontextmanager
    from types import SimpleNamespace
    from tests.server.conftest import FakeEngine
    from vault_agent.config.settings import Config
    from vault_agent.server.serve import serve

    @asynccontextmanager
    async def open_app(config, **_more):
        yield SimpleNamespace(vaults=SimpleNamespace(default=FakeEngine(config)))

    config = Config(server={"port": int(sys.argv[1]), "log_level": "info"})
    announce = lambda server, health: print(server.port, health.status, flush=True)
    asyncio.run(serve(config, announce=announce, open_app=open_app))
"""


async def open_nothing(_config):
    raise AssertionError("the engine was opened")


async def refused(config: Config, port: int | None = None) -> Exception:
    with pytest.raises((Misconfigured, Unauthorized)) as refusal:
        async with listening(config, open_app=open_nothing, log=EventLog(Level.ERROR), port=port):
            pass
    assert "\n" not in refusal.value.message
    return refusal.value


async def test_a_port_in_use_fails_before_anything_is_opened():
    async with run() as server:
        error = await refused(Config(), server.port)
        assert error.code == "PORT_IN_USE"
        assert str(server.port) in error.message


async def test_a_failed_start_releases_the_port():
    @asynccontextmanager
    async def locked(_config):
        raise Busy("INDEX_LOCKED", "Another server has this index.")
        yield

    port = free_port()
    with pytest.raises(Busy, match="INDEX_LOCKED"):
        async with listening(Config(), open_app=locked, log=EventLog(Level.ERROR), port=port):
            pass
    with socket.create_server(("127.0.0.1", port)):
        pass


async def test_a_foreign_host_address_is_a_configuration_error():
    error = await refused(Config(server={"host": "192.0.2.1", "api_key": "k" * 40}), 0)
    assert error.code == "CONFIG_INVALID"


async def test_off_loopback_the_server_does_not_listen_without_a_key():
    for host in ("0.0.0.0", "::", "192.168.1.7"):
        assert (await refused(Config(server={"host": host}))).code == "API_KEY_REQUIRED"


@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
@pytest.mark.parametrize(
    ("soft", "hard", "room"),
    [(256, 4096, 1000), (256, 600, 344), (200, 200, 32), (4096, 4096, 1000)],
)
def test_connections_are_limited_by_the_limit_of_open_files(soft: int, hard: int, room: int):
    program = (
        "import resource, sys\n"
        "soft, hard = map(int, sys.argv[1:])\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))\n"
        "from vault_agent.server.serve import _room_for_connections\n"
        "print(_room_for_connections(1000), resource.getrlimit(resource.RLIMIT_NOFILE)[0])"
    )
    command = [sys.executable, "-c", program, str(soft), str(hard)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    taken, files = map(int, ended.stdout.split())
    assert taken == room
    assert files == min(max(soft, 1256), hard)


async def test_localhost_is_served_on_all_its_addresses():
    async with run(server={"host": "localhost"}) as server:
        assert (await server.ask("GET", "/health"))[0] == 200


@contextmanager
def serving() -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Start a server in a process of its own, and yield the process and the port."""
    port = free_port()
    root = Path(__file__).parent.parent.parent
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(PROGRAM), str(port)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(root), str(root / "src")])},
    )
    try:
        assert process.stdout.readline() == f"{port} ok\n"
        yield process, port
    finally:
        process.kill()
        process.communicate()


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_the_server_despite_open_connections(number: signal.Signals):
    with serving() as (process, port):
        idle = socket.create_connection(("127.0.0.1", port))
        following = socket.create_connection(("127.0.0.1", port))
        following.sendall(b"POST /index HTTP/1.1\r\nHost: localhost\r\n\r\n")
        following.recv(4096)
        following.sendall(b"GET /jobs/job0/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        following.recv(4096)
        half = socket.create_connection(("127.0.0.1", port))
        half.sendall(
            b"POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: 9\r\n\r\n"
        )
        time.sleep(0.1)
        process.send_signal(number)
        _, log = process.communicate(timeout=PATIENCE)
    for each in (idle, following, half):
        each.close()
    assert process.returncode == 0
    assert "Traceback" not in log
    assert '"event":"stopped"' in log.splitlines()[-1]


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_second_signal_stops_the_server_at_once():
    with serving() as (process, port), socket.create_connection(("127.0.0.1", port)) as half:
        half.sendall(
            b"POST /search HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
            b"Content-Type: application/json\r\nContent-Length: 9\r\n\r\n"
        )
        assert half.recv(4096).startswith(b"HTTP/1.1 100 ")  # it waits for the body
        process.send_signal(signal.SIGTERM)
        while '"event":"stopping"' not in process.stderr.readline():
            pass
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)
    assert process.returncode == -signal.SIGTERM


SPILLING = """
    import asyncio, os, sys, threading
    from contextlib import asynccontextmanager
    from types import SimpleNamespace
    from tests.server.conftest import FakeEngine
    from vault_agent.config.settings import Config
    from vault_agent.server.serve import serve

    class Spills:
        def __del__(self):
            raise KeyError("canary")

    def fail():
        raise ValueError("canary")

    async def fail_too():
        raise OSError("canary")

    @asynccontextmanager
    async def open_app(config, **_more):
        yield SimpleNamespace(vaults=SimpleNamespace(default=FakeEngine(config)))

    def announce(server, health):
        os.write(2, b"canary of native code")
        print("canary", file=sys.stderr)
        failing = threading.Thread(target=fail)
        failing.start()
        failing.join()
        Spills()
        announce.task = asyncio.create_task(fail_too())
        asyncio.get_running_loop().call_later(0.1, announce.__dict__.clear)
        asyncio.get_running_loop().call_later(0.3, os.kill, os.getpid(), 15)

    asyncio.run(serve(Config(server={"port": 0}), announce=announce, open_app=open_app))
    print("canary is ours again", file=sys.stderr)
"""


@pytest.mark.fault(
    "Secrets and logs",
    "native code, a thread or a destructor fails and prints private data",
    "nothing is printed: only the log can write to standard error",
)
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_only_the_log_writes_to_standard_error_while_the_server_runs():
    root = Path(__file__).parent.parent.parent
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SPILLING)],
        check=False,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(root), str(root / "src")])},
    )
    *events, last = ended.stderr.splitlines()
    assert last == "canary is ours again"
    assert "canary" not in "".join(events) + ended.stdout
    told = sorted((event["event"], event["error_type"]) for event in map(json.loads, events))
    assert told == [
        ("loop_error", "OSError"),
        ("uncaught_error", "KeyError"),
        ("uncaught_error", "ValueError"),
    ]


async def test_a_running_request_is_completed_before_the_stop():
    async with run() as server:
        begun, real = asyncio.Event(), server.engine.search

        async def slow(query):
            begun.set()
            await asyncio.sleep(0.3)
            return await real(query)

        server.engine.search = slow
        asking = asyncio.create_task(
            server.raw(
                b"POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                b'Content-Length: 14\r\n\r\n{"query": "a"}'
            )
        )
        await begun.wait()
    assert (await asking).startswith(b"HTTP/1.1 200 ")


async def test_a_command_reads_the_flags_and_the_new_address_in_time(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(sys, "setswitchinterval", lambda seconds: None)
    (tmp_path / SERVER_LOCK).touch()
    configs = [Config(server={"port": free_port()}) for _ in range(2)]
    vault, order = FakeEngine(configs[0]), []
    vault.index_folder = tmp_path
    vault.listening_at = AsyncMock(side_effect=lambda url, **_: order.append(url))
    follow = Mock(read=lambda: configs[1], record=lambda folder: order.append("settings"))
    steps = iter([True, False])  # then the server is stopped
    follow.has_changed = lambda: next(steps) or signal.raise_signal(signal.SIGTERM)

    @asynccontextmanager
    async def open_app(config, **_more):
        yield SimpleNamespace(vaults=SimpleNamespace(default=vault, has_running_job=False))

    await serve(configs[0], announce=lambda *_: None, open_app=open_app, follow=follow)
    first, moved = (f"http://127.0.0.1:{config.server.port}" for config in configs)
    assert order == ["settings", first, "settings", moved, "settings", None]
