"""Runs `journal.command`: a program that gets a session as text and prints its journal."""

from __future__ import annotations

import asyncio
import os
import shlex
import subprocess
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
            output, _ = await process.communicate(text.encode())
    except TimeoutError:
        return None
    finally:
        await end_process(process, 1.0)
    is_good = process.returncode == 0 and len(output) <= MAX_OUTPUT
    return output.decode("utf-8", "replace") if is_good else None
