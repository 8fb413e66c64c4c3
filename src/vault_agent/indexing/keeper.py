"""The indexing process: reads tasks as JSON lines, works, and says how it goes.

Ends as soon as its standard input does, whatever it is doing: a killed server leaves nothing
running behind it, and a run that is cut off leaves the index as it was.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import queue
import signal
import sys
import threading
import time
from contextlib import suppress
from dataclasses import asdict, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import orjson

from vault_agent.errors import Failed, Unavailable, VaultAgentError
from vault_agent.indexing.compare import is_stale
from vault_agent.indexing.index import index
from vault_agent.indexing.parse import FileTask, ParsedFile, parser, put_aside
from vault_agent.indexing.task import IndexTask
from vault_agent.indexing.verify import verify
from vault_agent.system.files import keep_new_files_private
from vault_agent.system.workers import WorkerCrashed, WorkerNotReady, WorkerPool, WorkerTimedOut
from vault_agent.vault.root import VaultRoot

if TYPE_CHECKING:
    from collections.abc import Callable

    from vault_agent.model.jobs import JobSummary
    from vault_agent.model.warning import Warning

PROGRESS_INTERVAL_SECONDS = 0.1
SECONDS_PER_BATCH = 30.0
SECONDS_PER_NOTE = 5.0
SECONDS_PER_MEGABYTE = 2.0
"""How long a worker may take; a hundred times what the slowest hostile note took."""
WORKERS_TRIED = 3
"""For one batch, where they end before they have seen it."""
NICENESS = 10
"""Below the server, so that a search goes first where both want the processor."""


def main() -> None:
    """Serve tasks from standard input until it ends, or until one index run is done."""
    with suppress(AttributeError, OSError):  # Windows has no niceness
        os.nice(NICENESS)
    keep_new_files_private()
    gc.freeze()  # imports stay; and rows by the hundred thousand are not worth looking through
    gc.set_threshold(200_000, 20, 20)
    desk = _Desk()
    threading.Thread(target=desk.read, daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which decides
    status = 1
    try:
        while _carry_out(desk.tasks.get(), desk):
            pass
        status = 0
    finally:
        # The reading thread still waits for input, and would hold up an orderly end.
        os._exit(status)


class _Desk:
    """Where messages arrive, on a thread of their own."""

    def __init__(self) -> None:
        self.tasks: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self.on_query: Callable[[], object] | None = None

    def read(self) -> None:
        """Take in messages until there is nobody left to send any, then end the process."""
        for line in sys.stdin.buffer:
            message = json.loads(line)
            if message["task"] != "query":
                self.tasks.put(message)
            elif self.on_query is not None:
                self.on_query()
        os._exit(1)


def _carry_out(message: dict[str, Any], desk: _Desk) -> bool:
    """Do one task; True when this process can do another."""
    task = IndexTask(**{field.name: message[field.name] for field in fields(IndexTask)})
    report = _Report()
    try:
        if message["task"] == "compare":
            report.say(event="compared", stale=asyncio.run(is_stale(task)))
            return True
        if message["task"] == "verify":
            report.say(event="verified", vectors_whole=asyncio.run(_verify(task, message)))
            return True
        summary = asyncio.run(_index(task, message, desk, report))
        report.say(event="done", summary=asdict(summary))
    except VaultAgentError as error:
        report.say(event="failed", code=error.code, message=error.message)
        return bool(message["task"] != "index")
    return False


async def _verify(task: IndexTask, message: dict[str, Any]) -> bool:
    """Look through the index, then through its vectors; False where some of those were damaged."""
    await verify(task)
    if message["embedding"] is None:
        return True
    from vault_agent.embedding.client import EndpointSettings
    from vault_agent.indexing.embed import verify_vectors  # as below

    return await verify_vectors(task.directory, EndpointSettings(**message["embedding"]))


async def _index(
    task: IndexTask, message: dict[str, Any], desk: _Desk, report: _Report
) -> JobSummary:
    args = (task.root, task.exclude, task.max_note_bytes)
    pool: WorkerPool[list[FileTask], list[ParsedFile]]
    async with WorkerPool(parser, args, size=task.parallel) as pool:
        run = await index(task, _Parser(pool, task.root).parse, report)
    if message["embedding"] is None:
        return run.summary
    # Only here: they bring numpy and an HTTP client, which most runs have no use for.
    from vault_agent.embedding.client import EndpointSettings, HttpEmbedder
    from vault_agent.indexing.embed import embed

    settings = EndpointSettings(**message["embedding"])
    async with HttpEmbedder(settings) as embedder:
        give_way = asyncio.get_running_loop().call_soon_threadsafe
        desk.on_query = partial(give_way, embedder.give_way)
        account = await embed(
            task.directory,
            embedder,
            settings,
            report,
            fresh=message["fresh_embeddings"],
            doubted=message["doubt_embeddings"],
        )
    if account.failed and message["require_embeddings"]:
        raise Unavailable(
            "EMBEDDING_UNAVAILABLE",
            f"{account.failed:,} chunks could not be embedded, and embeddings were required. The "
            "index itself is complete and serves; the job's warnings say what failed.",
            remedy="",
        )
    return replace(
        run.summary,
        embedded=account.embedded,
        reused=account.reused,
        embedding_failed=account.failed,
    )


class _Parser:
    """Spreads batches over workers; a note that breaks its worker is put aside, alone."""

    def __init__(self, pool: WorkerPool[list[FileTask], list[ParsedFile]], root: str) -> None:
        self._pool = pool
        self._root = root

    async def parse(self, tasks: list[FileTask]) -> list[ParsedFile]:
        """Parse a batch, in order.

        Raises:
            Misconfigured: `VAULT_NOT_FOUND` where the vault has gone.
            Failed: `INDEXER_FAILED` where no worker gets as far as reading a note.
        """
        return await self._settle(tasks, SECONDS_PER_BATCH)

    async def _settle(self, tasks: list[FileTask], seconds: float) -> list[ParsedFile]:
        try:
            return await self._run(tasks, seconds)
        except WorkerCrashed as crash:
            if len(tasks) == 1 and isinstance(crash, WorkerTimedOut):
                return [put_aside(tasks[0].entry)]
        if len(tasks) == 1:
            try:
                # Somebody else may have ended the worker: a note is to blame if it ends another.
                return await self._run(tasks, seconds)
            except WorkerCrashed:
                return [put_aside(tasks[0].entry)]
        # One of them did it. Halving finds it in a few steps and keeps the others together.
        middle, seconds = len(tasks) // 2, max(seconds / 2, SECONDS_PER_NOTE)
        return [
            *await self._settle(tasks[:middle], seconds),
            *await self._settle(tasks[middle:], seconds),
        ]

    async def _run(self, tasks: list[FileTask], seconds: float) -> list[ParsedFile]:
        size = sum(task.entry.size for task in tasks)
        for _ in range(WORKERS_TRIED):
            try:
                return await self._pool.run(
                    tasks, timeout_seconds=seconds + SECONDS_PER_MEGABYTE * size / 1e6
                )
            except WorkerNotReady:
                continue
        VaultRoot.open(self._root).close()  # a worker's first need, and it says so if it is gone
        raise Failed(
            "INDEXER_FAILED",
            "The processes that read notes do not start. The last complete index still serves.",
        )


class _Report:
    """Progress as JSON lines on standard output, ten times a second at most."""

    def __init__(self) -> None:
        self._said: tuple[str, float] = ("", 0.0)

    def phase(self, name: str, done: int, total: int | None, characters: int = 0) -> None:
        last, at = self._said
        now = time.monotonic()
        if name == last and done != total and now - at < PROGRESS_INTERVAL_SECONDS:
            return
        self._said = (name, now)
        self.say(event="phase", phase=name, done=done, total=total, characters=characters)

    def warn(self, warning: Warning) -> None:
        self.say(event="warning", **asdict(warning))

    def published(self) -> None:
        self.say(event="published")

    def say(self, **event: object) -> None:
        sys.stdout.buffer.write(orjson.dumps(event, default=dict) + b"\n")
        sys.stdout.buffer.flush()
