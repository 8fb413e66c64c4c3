"""Runs `journal.command`: a program that gets a session as text and prints its journal."""

from __future__ import annotations

import asyncio
import os
import shlex
import subprocess
from contextlib import suppress
from typing import Final

from vault_agent.config.keys import OFF_ENV
from vault_agent.system.processes import end_process, start_process

SECONDS: Final = 180.0
MAX_OUTPUT: Final = 256 << 10


async def reply_of(command: str, text: str) -> str | None:
    """Return what a command prints for a text on its standard input, or None if it fails.

    It is no shell's command. The hooks of an agent that it runs tell nothing: its session is ours.
    """
    words = shlex.split(command)
    if not words:
        return None
    try:
        process = await start_process(
            *words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, OFF_ENV: "1"},
        )
    except OSError:
        return None
    try:
        async with asyncio.timeout(SECONDS):
            assert process.stdin is not None  # noqa: S101 - pipes were asked for
            assert process.stdout is not None  # noqa: S101
            writing = asyncio.create_task(_send(process.stdin, text.encode()))
            output = await process.stdout.read(MAX_OUTPUT)
            while part := await process.stdout.read(MAX_OUTPUT):
                output += part
                if len(output) > MAX_OUTPUT:
                    return None
            await writing
            return output.decode("utf-8", "replace") if await process.wait() == 0 else None
    except TimeoutError:
        return None
    finally:
        await end_process(process, 1.0)


async def _send(stdin: asyncio.StreamWriter, data: bytes) -> None:
    with suppress(BrokenPipeError, ConnectionResetError):
        stdin.write(data)
        await stdin.drain()
    stdin.close()
