"""The server's side of the keeper: starts and ends the indexing processes of all vaults.

The keeper is the indexing process that is kept between runs (`vault_agent.indexing.keeper`). It
ends when its standard input is closed, so it does not outlive a killed server. It may be killed at
any time: its output is published in one atomic step, or removed by the next run.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Self

import anyio

from vault_agent.errors import Failed, VaultAgentError
from vault_agent.indexing.protocol import (
    Crashed,
    Embed,
    EmbeddingCounts,
    Phase,
    Published,
    QueryAnnounced,
    RunResult,
    ShareVectors,
    UpdateIndex,
)
from vault_agent.model.warning import Warning
from vault_agent.system.cancelling import to_its_end
from vault_agent.system.processes import Child

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vault_agent.indexing.protocol import (
        AttachmentsRead,
        Event,
        KeeperAnswer,
        Question,
        ReadAttachments,
    )
    from vault_agent.system.crash import CrashReport
    from vault_agent.system.processes import ChildProcess

    RunEvent = Phase | Warning | Published
    _Work = UpdateIndex | Embed | ShareVectors | ReadAttachments | Question
    OnCrash = Callable[[str, CrashReport], object]


class IndexingProcess(Child):
    """A child process that speaks the protocol."""

    def __init__(self, process: ChildProcess) -> None:
        super().__init__(process)
        self.has_answered = False
        self.crash: CrashReport | None = None

    @classmethod
    async def start(cls, command: Sequence[str]) -> Self:
        """Start a process.

        Raises:
            Failed: `INDEXER_FAILED` if the system cannot start it.
        """
        try:
            return await super().start(command)
        except OSError:
            raise Failed(
                "INDEXER_FAILED",
                "The indexing process could not be started. An index that was complete"
                " before still serves.",
            ) from None


# -P keeps the current folder, which may be a vault, off the import path.
COMMAND = (sys.executable, "-P", "-c", "from vault_agent.indexing.keeper import main; main()")
MANY_NOTES = 5_000
"""After a run that reads more notes than this, the process ends to free its memory."""


class Indexer:
    """Starts, keeps and ends the indexing processes of the vaults of a server.

    A process starts when it is needed, and one is kept. Runs take turns. The kept process also
    answers questions and embeds while it is idle. A run that begins meanwhile gets a separate
    process, because a question may wait long for a missing network drive. `on_crash` gets the name
    of a process that failed unexpectedly, and the report of its crash.
    """

    def __init__(self, on_crash: OnCrash, *, command: Sequence[str] | None = None) -> None:
        self._on_crash = on_crash
        self._command = command or COMMAND
        self._idle: IndexingProcess | None = None
        self._embedding: IndexingProcess | None = None
        self._embedded = ""  # the folder of the index that `_embedding` makes vectors for
        self._all: set[IndexingProcess] = set()
        self._turn = anyio.Lock()
        self._turn_to_embed = anyio.Lock()
        self._turn_to_read = anyio.Lock()
        self._asking = anyio.Lock()
        self._starting = anyio.Lock()
        self._closed = False

    async def run(self, request: UpdateIndex, on_event: Callable[[RunEvent], object]) -> RunResult:
        """Carry out an index run after all earlier ones, and return its result.

        Raises:
            VaultAgentError: what ended the run, with its class, code and details.
            Failed: `INDEXER_FAILED` if the process ended unexpectedly.
        """
        result: RunResult = await self._answer(self._turn, request, on_event)
        return result

    async def embed(
        self, request: Embed | ShareVectors, on_event: Callable[[RunEvent], object]
    ) -> EmbeddingCounts:
        """Embed the chunks without a vector, or let an agent's index use the owner's vectors.

        Index runs continue meanwhile, in another process.

        Raises:
            VaultAgentError: what ended the request, with its class, code and details.
            Failed: `INDEXER_FAILED` if the process ended unexpectedly.
        """
        counts: EmbeddingCounts = await self._answer(self._turn_to_embed, request, on_event)
        return counts

    async def read_attachments(
        self, request: ReadAttachments, on_event: Callable[[RunEvent], object]
    ) -> AttachmentsRead:
        """Read attachments that wait. Index runs continue meanwhile, in another process.

        Raises:
            VaultAgentError: what ended the request, with its class, code and details.
            Failed: `INDEXER_FAILED` if the process ended unexpectedly.
        """
        read: AttachmentsRead = await self._answer(self._turn_to_read, request, on_event)
        return read

    async def ask(self, question: Question) -> Any:
        """Return the answer to a question, one at a time. Index runs continue meanwhile.

        Raises:
            VaultAgentError: as the question.
            Failed: `INDEXER_FAILED` if the process ended unexpectedly.
        """
        return await self._answer(self._asking, question, lambda _: None)

    async def _answer(
        self, turn: anyio.Lock, request: _Work, on_event: Callable[[RunEvent], object]
    ) -> Any:
        async with turn:
            while True:
                process = await self._take()
                if isinstance(request, Embed | ShareVectors):
                    self._embedding, self._embedded = process, request.directory
                answer = await self._carry_out(process, request, on_event)
                if answer is not None:
                    return answer

    async def _carry_out(
        self, process: IndexingProcess, request: _Work, on_event: Callable[[RunEvent], object]
    ) -> KeeperAnswer | None:
        """Carry out a request. Return None if the process had died before it took the request."""
        was_kept, received, reusable = process.has_answered, False, False
        try:
            process.send(request)
            while True:
                event: Event = await process.receive()
                received = True
                if isinstance(event, (Phase, Warning, Published)):
                    on_event(event)
                elif isinstance(event, Crashed):
                    self._report_crash(process, event)
                elif isinstance(event, VaultAgentError):
                    # Threads of the failed request may still be at work in the process.
                    reusable = not isinstance(event, Failed)
                    raise event
                else:
                    reusable = not _is_spent(event)
                    return event
        except EOFError:
            pass  # the process has ended
        finally:
            if process is self._embedding:
                self._embedding = None
            is_of_run = isinstance(request, UpdateIndex)
            await to_its_end(self._put_back(process, reusable=reusable, replaces_idle=is_of_run))
        if was_kept and not received:
            return None
        cause = f" ({process.crash})" if process.crash else ""
        raise Failed(
            "INDEXER_FAILED",
            f"The indexing process ended unexpectedly{cause}. An index that was complete "
            "before still serves.",
        )

    def announce_query(self) -> None:
        """Ask a process that embeds to leave the endpoint to a search for a moment."""
        if self._embedding is not None:
            self._embedding.send(QueryAnnounced())

    async def stop_embedding(self, directory: str) -> None:
        """End a process that embeds for this index. The vectors that it has saved are kept."""
        if self._embedding is not None and self._embedded == directory:
            await self._end(self._embedding)

    def retire(self) -> None:
        """Start no more processes."""
        self._closed = True

    async def close(self) -> None:
        """End every process, and start no more."""
        self.retire()
        with anyio.CancelScope(shield=True):
            async with self._starting:
                pass  # wait for a process that is being started, so that it is ended too
            async with anyio.create_task_group() as ending:
                for process in tuple(self._all):
                    ending.start_soon(self._end, process)
        self._idle = None

    async def _take(self) -> IndexingProcess:
        """Return the idle process and mark it as taken, or start a new one."""
        while (process := self._idle) is not None:
            self._idle = None
            if process.is_alive:
                return process
            await to_its_end(self._end(process))
        async with self._starting:
            if self._closed:
                raise Failed("INDEXER_FAILED", "The server is stopping.")
            process = await IndexingProcess.start(self._command)
            self._all.add(process)
        return process

    async def _put_back(
        self, process: IndexingProcess, *, reusable: bool, replaces_idle: bool
    ) -> None:
        """Keep a process as the idle one, in place of another if `replaces_idle`, or end it."""
        ended: IndexingProcess | None = process
        has_place = replaces_idle or self._idle is None
        if reusable and process.is_alive and not self._closed and has_place:
            self._idle, ended = process, self._idle
        if reusable:
            process.has_answered = True
        if ended is not None:
            await self._end(ended)

    async def _end(self, process: IndexingProcess) -> None:
        await process.end()
        self._all.discard(process)

    def _report_crash(self, process: IndexingProcess, event: Crashed) -> None:
        if event.process == "keeper":
            process.crash = event.report
        self._on_crash(event.process, event.report)


def _is_spent(answer: KeeperAnswer) -> bool:
    """Whether a process has used much memory for its answer."""
    if isinstance(answer, EmbeddingCounts):
        return answer.embedded > MANY_NOTES
    if isinstance(answer, RunResult):
        summary = answer.summary
        return summary.added + summary.changed + summary.renamed > MANY_NOTES
    return False
