"""The indexing process seen from the server: started warm, given a task, ended.

JSON lines both ways. The process ends by itself when its standard input does, so it never
outlives a server that was killed. Stopping it needs no ceremony: what it writes is either
published in one atomic step or swept up by the next run.
"""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import orjson

from vault_agent.errors import Failed, error_of
from vault_agent.model.jobs import JobSummary

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    Event = dict[str, Any]

# Not -m: a spawned worker would import that module once more. -P keeps the folder we happen to
# be in, which may be somebody's vault, off the import path.
_COMMAND = (sys.executable, "-P", "-c", "from vault_agent.indexing.keeper import main; main()")
_LINE_LIMIT = 4 << 20
_SECONDS_TO_END = 0.5


class Indexer:
    """Keeps one idle indexing process, so that a job begins without waiting for imports."""

    def __init__(self) -> None:
        self._standby: Process | None = None
        self._working: Process | None = None
        self._using = asyncio.Lock()
        self._asking = asyncio.Lock()

    async def warm_up(self) -> None:
        """Start the idle process unless there is one."""
        async with self._using:
            await self._ready()

    async def index(self, task: Event, on_event: Callable[[Event], None]) -> JobSummary:
        """Run one indexing task in a process of its own and return its account.

        Raises:
            VaultAgentError: what ended the run, by its code.
            Failed: `INDEXER_FAILED` where the process ended without a word.
        """
        async with self._using:
            process = await self._ready()
            self._standby, self._working = None, process
        try:
            async for event in _converse(process, task):
                if event["event"] == "done":
                    return JobSummary(**event["summary"])
                if event["event"] == "failed":
                    raise error_of(event["code"], event["message"])
                on_event(event)
        finally:
            self._working = None
            await _end(process)
        raise Failed(
            "INDEXER_FAILED",
            "The indexing process ended unexpectedly. The last complete index still serves.",
        )

    def announce_query(self) -> None:
        """Tell a run that embeds to leave the endpoint to a search for a moment."""
        if self._working is not None and self._working.stdin is not None:
            self._working.stdin.write(b'{"task":"query"}\n')

    async def ask(self, task: Event) -> Event | None:
        """Put a short question to the idle process; None where it did not answer.

        One question at a time. A job does not wait for the answer, which may take as long as a
        network drive that has gone: it has a process of its own.
        """
        async with self._asking:
            async with self._using:
                process = await self._ready()
                self._standby = None
            answer = None
            try:
                async for event in _converse(process, task):
                    answer = event
                    break
            finally:
                if answer is not None and self._standby is None:
                    self._standby = process
                else:
                    await _end(process)
        return answer

    async def close(self) -> None:
        """End the idle process."""
        async with self._using:
            if self._standby is not None:
                await _end(self._standby)
                self._standby = None

    async def _ready(self) -> Process:
        if self._standby is None or self._standby.returncode is not None:
            self._standby = await asyncio.create_subprocess_exec(
                *_COMMAND,
                stdin=PIPE,
                stdout=PIPE,
                stderr=DEVNULL,  # a traceback may hold what a note says
                limit=_LINE_LIMIT,
            )
        return self._standby


async def _converse(process: Process, task: Event) -> AsyncIterator[Event]:
    assert process.stdin is not None  # noqa: S101 - both are pipes, for the type checker
    assert process.stdout is not None  # noqa: S101
    with suppress(ConnectionError):  # it died before it was asked: the reading says so
        # Not orjson, here and where it is read: a path may hold bytes that are not UTF-8.
        process.stdin.write(json.dumps(task).encode() + b"\n")
        await process.stdin.drain()
    while line := await process.stdout.readline():
        yield orjson.loads(line)


async def _end(process: Process) -> None:
    """End a process, which does so by itself when its input does; one that is stuck is killed.

    Never killed at once: it may have ended this moment, and a kill would then take its status away
    from asyncio, which waits for it as well and writes a warning into the log.
    """
    if process.stdin is not None:
        process.stdin.close()
    try:
        async with asyncio.timeout(_SECONDS_TO_END):
            await process.wait()
    except TimeoutError:
        with suppress(ProcessLookupError):
            process.kill()
        # Not for ever: what waits for a network drive that has gone cannot be killed either.
        with suppress(TimeoutError):
            async with asyncio.timeout(_SECONDS_TO_END):
                await process.wait()
    # What it has started may hold its output open, and the loop must not end before that is closed.
    process._transport.close()  # type: ignore[attr-defined]  # noqa: SLF001 - there is no other way
    await asyncio.sleep(0)
