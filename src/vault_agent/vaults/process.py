"""A child process of the server that indexes a vault."""

from __future__ import annotations

from asyncio.subprocess import DEVNULL, PIPE
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from vault_agent.errors import Failed
from vault_agent.indexing.protocol import encode, receive_message
from vault_agent.system.processes import ChildProcess, end_process, start_process

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vault_agent.indexing.protocol import Event, Request
    from vault_agent.system.crash import CrashReport

LONGEST_PAUSE_SECONDS = 60.0
"""Limit of the pause between starts of a process that keeps dying: 1, 2, 4 … seconds."""
_SECONDS_TO_END = 0.5


def pause_seconds(deaths: int) -> float:
    """Return the pause before the next start, after this many deaths in a row."""
    return min(2.0 ** min(deaths - 1, 30), LONGEST_PAUSE_SECONDS)


class IndexingProcess:
    """A child process that speaks the protocol: sends requests, receives events, and ends it."""

    def __init__(self, process: ChildProcess) -> None:
        self.has_answered = False
        self.is_expected_to_end = False
        self.crash: CrashReport | None = None
        self._process = process

    @classmethod
    async def start(cls, command: Sequence[str]) -> Self:
        """Start a process.

        Raises:
            Failed: `INDEXER_FAILED` if the system cannot start it.
        """
        try:
            process = await start_process(
                *command,
                stdin=PIPE,
                stdout=PIPE,
                stderr=DEVNULL,  # a traceback may contain note text
            )
        except OSError:
            raise Failed(
                "INDEXER_FAILED",
                "The indexing process could not be started. An index that was complete"
                " before still serves.",
            ) from None
        return cls(process)

    @property
    def is_alive(self) -> bool:
        """Whether the process is still known to run."""
        return self._process.returncode is None

    def send_soon(self, request: Request) -> None:
        """Send a small request without waiting."""
        if self._process.stdin is not None:
            self._process.stdin.write(encode(request))

    async def send(self, request: Request) -> None:
        """Send a request. A process that has died shows when its answer is read."""
        with suppress(ConnectionError):
            self.send_soon(request)
            if self._process.stdin is not None:
                await self._process.stdin.drain()

    async def receive(self) -> Event | None:
        """Return the next event, or None if the process has ended."""
        if self._process.stdout is None:
            return None
        try:
            event: Event = await receive_message(self._process.stdout)
        except EOFError:
            return None
        return event

    async def wait(self) -> None:
        """Wait until the process ends."""
        await self._process.wait()

    async def end(self) -> None:
        """Close its input so that it ends. Kill it if it does not."""
        await end_process(self._process, _SECONDS_TO_END)
