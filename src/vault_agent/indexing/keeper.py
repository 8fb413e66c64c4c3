"""The keeper: the indexing process, which writes the index and is kept between runs.

It reads requests from standard input, carries them out one at a time, and writes events to the
pipe that was its standard output; `protocol` defines the messages. It exits as soon as its standard
input closes, so a killed server leaves no process behind. An interrupted run leaves the index as it
was.

Worker processes parse the files. One is kept after a run, until the keeper has been idle for
`IDLE_SECONDS`. If a file crashes its worker, the other files are parsed nevertheless. A worker
holds no file of a vault open between two batches, so the vault can be unmounted at any time.
"""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from vault_agent.errors import Failed, Unavailable, VaultAgentError
from vault_agent.indexing.changes import compare, vault_moved
from vault_agent.indexing.index import index
from vault_agent.indexing.parse import Batch, FileToRead, ParsedFile, batch_parser, unparsed
from vault_agent.indexing.protocol import (
    Cluster,
    Compare,
    Crashed,
    Embed,
    EmbeddingCounts,
    Event,
    KeeperAnswer,
    LayOut,
    Phase,
    Published,
    QueryAnnounced,
    ReadAttachments,
    Request,
    ShareVectors,
    UpdateIndex,
)
from vault_agent.store.directory import IndexDirectory
from vault_agent.system.cancelling import in_thread
from vault_agent.system.child import encode, read_message, take_output
from vault_agent.system.crash import describe_crash
from vault_agent.system.files import keep_new_files_private
from vault_agent.system.processes import give_memory_back
from vault_agent.system.workers import WorkerCrashed, WorkerNotReady, WorkerPool
from vault_agent.vault.platform import folder_at

if TYPE_CHECKING:
    from collections.abc import Callable

    from vault_agent.indexing.protocol import IndexSpec, RunResult
    from vault_agent.model.warning import Warning
    from vault_agent.models.embedder import Embedder
    from vault_agent.models.settings import EndpointSettings
    from vault_agent.system.crash import CrashReport

PROGRESS_INTERVAL_SECONDS = 0.1
IDLE_SECONDS = 60.0
"""The kept worker ends after this time without a request. The next run starts another."""
NICENESS = 10
"""Lower priority than the server, so that searches go first."""
SECONDS_PER_BATCH = 30.0
SECONDS_PER_NOTE = 5.0
SECONDS_PER_MEGABYTE = 2.0
"""Processor time that a worker may use. The slowest hostile notes take 0.8 s a megabyte."""
WORKERS_TRIED = 3
"""Attempts for one batch if workers end before they receive it."""

Pool = WorkerPool[Batch, list[ParsedFile] | None]


def main() -> None:
    """Answer requests from standard input until it ends."""
    with suppress(AttributeError, OSError):  # Windows has no niceness
        os.nice(NICENESS)
    keep_new_files_private()
    gc.freeze()  # imported modules stay; and rows form no cycles, so collect rarely
    gc.set_threshold(200_000, 20, 20)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which decides
    try:
        asyncio.run(_answer_requests())
    finally:
        # The reading thread still waits for input and would block a normal exit.
        os._exit(1)


async def _answer_requests() -> None:
    report = _PipeReport()
    try:
        async with Pool(batch_parser, size=1) as pool:
            keeper = _Keeper(pool, report)
            reading = threading.Thread(
                target=_read, args=(asyncio.get_running_loop(), keeper), daemon=True
            )
            reading.start()
            while True:
                await keeper.answer(await keeper.next_request())
    except Exception as error:  # noqa: BLE001 - reported without its message before the exit
        report.send(Crashed("keeper", describe_crash(error)))


def _read(loop: asyncio.AbstractEventLoop, keeper: _Keeper) -> None:
    """Pass requests on until standard input closes, then end the process."""
    try:
        while True:
            loop.call_soon_threadsafe(keeper.receive, read_message(sys.stdin.buffer))
    finally:
        os._exit(1)


class _Keeper:
    """Answers requests one after the other, with one pool of workers."""

    def __init__(self, pool: Pool, report: _PipeReport) -> None:
        self.requests: asyncio.Queue[Request] = asyncio.Queue()
        self._pool = pool
        self._report = report
        self._on_query: Callable[[], object] | None = None
        self._embedder: Embedder | None = None

    def receive(self, request: Request) -> None:
        """Queue a request, or act at once on one that is not answered."""
        if not isinstance(request, QueryAnnounced):
            self.requests.put_nowait(request)
        elif self._on_query is not None:
            self._on_query()

    async def next_request(self) -> Request:
        """Return the next request. If none comes for `IDLE_SECONDS`, end the kept worker."""
        with suppress(TimeoutError):
            async with asyncio.timeout(IDLE_SECONDS):
                return await self.requests.get()
        await self._pool.trim(0)
        return await self.requests.get()

    async def answer(self, request: Request) -> None:
        """Carry out one request and send its answer."""
        try:
            answer = await self._carry_out(request)
        except VaultAgentError as error:
            answer = error
        self._report.send(answer)
        give_memory_back()

    async def _carry_out(self, request: Request) -> KeeperAnswer:
        if isinstance(request, Compare):
            return compare(request.spec)
        if isinstance(request, Cluster):
            from vault_agent.indexing.cluster import cluster

            return cluster(request.spec)
        if isinstance(request, LayOut):
            from vault_agent.indexing.graph_layout import compute_layout  # imports numpy

            return compute_layout(request.spec)
        if isinstance(request, UpdateIndex):
            return await self._index(request)
        if isinstance(request, Embed):
            return await self._embed(request)
        if isinstance(request, ShareVectors):
            from vault_agent.indexing.embed import share_vectors

            return await in_thread(
                share_vectors,
                Path(request.directory),
                Path(request.source),
                request.endpoint,
                self._report,
            )
        if isinstance(request, ReadAttachments):
            from vault_agent.indexing.attachments import read_attachments

            return await read_attachments(request, self._report, self._report_crash)
        raise AssertionError(type(request).__name__)

    async def _index(self, request: UpdateIndex) -> RunResult:
        self._pool.resize(request.spec.parallel)
        try:
            batches = BatchDispatcher(self._pool, request.spec, on_crash=self._report_crash)
            return await index(request, batches.parse, self._report)
        finally:
            await self._pool.trim(1)

    async def _embed(self, request: Embed) -> EmbeddingCounts:
        # Imported here: they import numpy and an HTTP client, which most runs do not need.
        from vault_agent.indexing.embed import embed

        anew = request.fresh or request.doubted
        embedder = await self._embedder_of(request.endpoint, anew=anew)
        self._on_query = embedder.give_way
        try:
            counts = await embed(
                request.directory,
                embedder,
                request.endpoint,
                self._report,
                fresh=request.fresh,
                doubted=request.doubted,
            )
        finally:
            self._on_query = None
        if counts.failed and request.require:
            raise Unavailable(
                "EMBEDDING_UNAVAILABLE",
                f"{counts.failed:,} chunks could not be embedded, and embeddings were required. "
                "The index itself is complete and serves; see the job's warnings.",
                remedy="",
            )
        return counts

    async def _embedder_of(self, settings: EndpointSettings, *, anew: bool) -> Embedder:
        """Return the embedder of the last run if it works and has the same settings, or a new one.

        The kept embedder has checked which model the endpoint serves, so it embeds one saved note
        with one request.
        """
        from vault_agent.models.embedder import Embedder

        last = self._embedder
        if last is not None:
            if last.settings == settings and last.is_prepared and not anew:
                return last
            self._embedder = None
            await last.__aexit__()
        self._embedder = await Embedder(settings).__aenter__()
        return self._embedder

    def _report_crash(self, report: CrashReport) -> None:
        self._report.send(Crashed("worker", report))


class BatchDispatcher:
    """Has the workers of a pool parse the batches of one run.

    `on_crash` gets a report of each error that a file or the start of a worker raised.
    """

    def __init__(
        self, pool: Pool, spec: IndexSpec, *, on_crash: Callable[[CrashReport], object]
    ) -> None:
        self._pool = pool
        self._spec = spec
        self._folder = folder_at(spec.root)
        self._texts = str(IndexDirectory(Path(spec.directory)).texts)
        self._on_crash = on_crash

    async def parse(
        self, files: list[FileToRead], repeated: frozenset[str] | None = frozenset()
    ) -> list[ParsedFile]:
        """Parse a batch, in order. See `Batch` for `repeated`.

        Raises:
            Misconfigured: `VAULT_NOT_FOUND` if the vault was moved or unmounted.
            Failed: `INDEXER_FAILED` if no worker starts.
        """
        try:
            return await self._run(files, repeated, SECONDS_PER_BATCH)
        except WorkerCrashed:
            return [await self._parse_alone(file, repeated) for file in files]

    async def _parse_alone(self, file: FileToRead, repeated: frozenset[str] | None) -> ParsedFile:
        try:
            [parsed] = await self._run([file], repeated, SECONDS_PER_NOTE)
        except WorkerCrashed as crash:
            # With `repeated` None, the file is in the sample of `find_repeated`. The run parses it
            # again, and reports the crash then.
            if crash.report is not None and repeated is not None:
                self._on_crash(crash.report)
            return unparsed(file)
        return parsed

    async def _run(
        self, files: list[FileToRead], repeated: frozenset[str] | None, seconds: float
    ) -> list[ParsedFile]:
        size = sum(file.entry.size for file in files)
        batch = Batch(self._spec, self._folder, files, self._texts, repeated)
        report: CrashReport | None = None
        for _ in range(WORKERS_TRIED):
            try:
                parsed = await self._pool.run(
                    batch, cpu_seconds=seconds + SECONDS_PER_MEGABYTE * size / 1e6
                )
            except WorkerNotReady as failure:
                report = failure.report
                continue
            if parsed is None:
                raise vault_moved()
            return parsed
        if report is not None:
            self._on_crash(report)
        raise Failed(
            "INDEXER_FAILED",
            "The processes that read notes do not start. An index that was complete"
            " before still serves.",
        )


class _PipeReport:
    """Sends events, and progress at most ten times a second."""

    def __init__(self) -> None:
        self._last_phase: tuple[str, float] = ("", 0.0)
        self._pipe = take_output()

    def phase(self, name: str, done: int, total: int | None, characters: int = 0) -> None:
        last, at = self._last_phase
        now = time.monotonic()
        if name == last and done != total and now - at < PROGRESS_INTERVAL_SECONDS:
            return
        self._last_phase = (name, now)
        self.send(Phase(name, done, total, characters))

    def warn(self, warning: Warning) -> None:
        self.send(warning)

    def published(self, run: RunResult | None = None) -> None:
        self.send(Published(run))

    def send(self, event: Event) -> None:
        self._pipe.write(encode(event))
        self._pipe.flush()
