"""The one composition root: opens everything a server needs, and closes it in order."""

from __future__ import annotations

import asyncio
import os
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import asdict
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeVar

from vault_agent import __version__
from vault_agent.config import endpoint_settings, index_directory
from vault_agent.errors import (
    Failed,
    IndexUnavailable,
    Misconfigured,
    Unavailable,
    VaultAgentError,
)
from vault_agent.indexing.task import IndexTask, fingerprint_of
from vault_agent.library.checks import Background, Checks, quietly
from vault_agent.library.jobs import Jobs
from vault_agent.library.keeper_process import Indexer
from vault_agent.model.health import Health
from vault_agent.model.jobs import JobKind, JobState, JobSummary
from vault_agent.model.warning import Warning
from vault_agent.search import fetch
from vault_agent.search.related import related
from vault_agent.search.search import search
from vault_agent.store.current import CurrentIndex, SnapshotOutdated
from vault_agent.store.database import translated
from vault_agent.store.jobs.record import open_jobs
from vault_agent.store.layout import IndexDirectory
from vault_agent.vault.attachments import describe, open_attachment
from vault_agent.vault.exclude import Exclusions
from vault_agent.vault.root import VaultRoot

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from vault_agent.config import Config
    from vault_agent.embedding.client import HttpEmbedder
    from vault_agent.library.jobs import JobOptions, Progress
    from vault_agent.model.retrieval import AttachmentInfo, ChunkContent, NoteContent
    from vault_agent.model.search import Answer, RelatedQuery, SearchQuery
    from vault_agent.store.current import Snapshot
    from vault_agent.store.jobs.record import JobStore
    from vault_agent.vault.attachments import OpenAttachment

Reply = TypeVar("Reply")

MAX_ATTEMPTS = 5
MAX_PARALLEL = 4


class Engine:
    """What the server can do. Made by `open_engine`."""

    def __init__(  # noqa: PLR0917 - one caller, and each argument a type of its own
        self,
        config: Config,
        exclusions: Exclusions,
        directory: IndexDirectory,
        index: CurrentIndex,
        indexer: Indexer,
        embedder: HttpEmbedder | None,
        store: JobStore,
        task: IndexTask,
        endpoint: dict[str, Any] | None,
    ) -> None:
        self.config = config
        self.jobs = Jobs(store, self.run_job)
        self._exclusions = exclusions
        self._directory = directory
        self._index = index
        self._indexer = indexer
        self._embedder = embedder
        self._task = task
        self._endpoint = endpoint  # settings of the embedding endpoint, where it is used
        self._background = Background()
        self._checks = Checks(
            index,
            directory,
            self._background,
            ask=lambda task: indexer.ask(self._message(task)),
            busy=lambda: self._indexing,
        )

    # --- what is asked of it ------------------------------------------------------------------

    async def search(self, query: SearchQuery) -> Answer:
        """Return ranked candidates for a query."""
        return await self._read(
            lambda now: search(
                now,
                query,
                embedder=self._embedder,
                warnings=self._checks.warnings(),
                indexing=self._indexing,
            )
        )

    async def related(self, query: RelatedQuery) -> Answer:
        """Return candidates like a note or chunk."""
        embeddings = self._embedder is not None
        return await self._read(
            lambda now: related(
                now,
                query,
                embeddings=embeddings,
                warnings=self._checks.warnings(),
                indexing=self._indexing,
            )
        )

    async def note(self, note_id: str, *, allow_large: bool) -> NoteContent:
        """Return one note."""
        with await asyncio.to_thread(self._open_vault) as root:
            return await self._read(
                lambda now: fetch.note(now, root, note_id, allow_large=allow_large)
            )

    async def chunk(self, note_id: str, index: int) -> ChunkContent:
        """Return one chunk."""
        return await self._read(
            lambda now: fetch.chunk(now, note_id, index, warnings=self._checks.warnings())
        )

    async def attachment(self, path: str) -> AttachmentInfo:
        """Return what is known of an attachment."""

        def look() -> AttachmentInfo:
            with self._open_vault() as root:
                return describe(root, path)

        return await asyncio.to_thread(look)

    async def open_attachment(self, path: str, *, allow_large: bool) -> OpenAttachment:
        """Open an attachment for reading."""

        def open_it() -> OpenAttachment:
            with self._open_vault() as root:
                return open_attachment(root, path, allow_large=allow_large)

        return await asyncio.to_thread(open_it)

    async def health(self) -> Health:
        """Return what can be done at this moment."""
        meta, refusal, running = self._index.meta, self._index.refusal, self.jobs.running
        embeddings = self._embedding_warnings()
        usable = all(warning.code != "EMBEDDING_UNAVAILABLE" for warning in embeddings)
        latest = self._index.latest
        warnings = (*self._checks.warnings(), *embeddings) if meta else ()
        if refusal is not None:
            warnings = (Warning(refusal.code, refusal.message),)
        return Health(
            status="error" if refusal else "degraded" if meta is None or warnings else "ok",
            version=__version__,
            vault_id=self._task.vault,
            vault_name=PurePath(self._task.root).name,
            index_available=meta is not None,
            index_stale=self._checks.stale,
            index_generation=meta.generation if meta else None,
            notes=meta.notes if meta else 0,
            chunks=meta.chunks if meta else 0,
            embeddings_enabled=self.config.embedding.enabled,
            embeddings_available=self._embedder is not None and meta is not None and usable,
            embeddings_share=latest.embedded_share if latest and self._embedder else 0.0,
            running_job=running.id if running else None,
            warnings=warnings,
        )

    # --- what it does by itself -----------------------------------------------------------------

    async def start(self) -> None:
        """Take up the index there is, or begin to build the first one."""
        if self._embedder is not None:
            self._embedder.warm_up()
        await self.jobs.recover()
        await self._index.refresh()
        self._checks.incomplete = await self._last_run_was_cut_short()
        if self._index.meta is None and self._index.refusal is None:
            await self.jobs.submit(JobKind.INDEX)
        else:
            self._checks.verify_soon()

    async def run_job(self, kind: JobKind, options: JobOptions, progress: Progress) -> JobSummary:
        """Carry out one index job in the indexing process."""

        def on_event(event: dict[str, Any]) -> None:
            if event["event"] == "phase":
                progress.phase(event["phase"], event["done"], event["total"], event["characters"])
            elif event["event"] == "warning":
                progress.warn(Warning(event["code"], event["message"], event["details"]))
            elif event["event"] == "published":
                self._background.spawn(self._index.refresh())

        message = self._message(
            "index",
            rebuild=kind is JobKind.REINDEX,
            require_embeddings=options.require_embeddings or self.config.embedding.require,
            fresh_embeddings=options.fresh_embeddings,
            doubt_embeddings=self._embeddings_doubted(),
        )
        try:
            summary = await self._indexer.index(message, on_event)
            await self._index.refresh()
        except BaseException:
            self._checks.incomplete = True
            await quietly(self._index.refresh())  # it may have been published before that
            raise
        finally:
            await asyncio.to_thread(self._sweep)
            self._background.spawn(self._indexer.warm_up())
        self._checks.run_succeeded()
        return summary

    async def listening_at(self, address: str) -> None:
        """Take note of where the server listens, so that a second one can say so."""
        await asyncio.to_thread(self._directory.note_address, address)

    async def close(self) -> None:
        """Stop what runs, in the order in which things depend on each other."""
        await self.jobs.close()
        await self._background.close()
        await self._indexer.close()
        await self._index.close()

    def _open_vault(self) -> VaultRoot:
        """Open what is at the vault's path now: it may have been unmounted, moved or replaced."""
        root = VaultRoot.open(self._task.root, self._exclusions)
        if root.identity != self._task.vault:
            root.close()
            raise Misconfigured(
                "VAULT_NOT_FOUND",
                "The vault root leads elsewhere now.",
                remedy="Restart the server.",
            )
        return root

    async def _read(self, action: Callable[[Snapshot], Awaitable[Reply]]) -> Reply:
        """Answer from the current snapshot, or from the next where it was replaced meanwhile."""
        for _ in range(MAX_ATTEMPTS):
            async with self._snapshot() as snapshot:
                try:
                    return await action(snapshot)
                except SnapshotOutdated:
                    pass
                except IndexUnavailable:
                    # One request is no proof. Every page is read before anything is put aside.
                    self._checks.verify_soon()
                    raise
            await self._index.refresh()
        raise Failed("INTERNAL_ERROR", "The index changed faster than it could be read. Ask again.")

    @asynccontextmanager
    async def _snapshot(self) -> AsyncIterator[Snapshot]:
        self._checks.compare_now_and_then()
        try:
            async with self._index.snapshot() as snapshot:
                yield snapshot
        except IndexUnavailable as error:
            running = self.jobs.running
            if error.code == "INDEX_NOT_FOUND" and running is not None:
                raise IndexUnavailable(
                    error.code,
                    "The first index is being built.",
                    {"jobId": running.id},
                    indexing=True,
                ) from None
            raise

    @property
    def _indexing(self) -> bool:
        """Whether a job runs: it may be making what is missing."""
        return self.jobs.running is not None

    def _embedding_warnings(self) -> tuple[Warning, ...]:
        """Say what search by meaning lacks at this moment."""
        embedder, snapshot = self._embedder, self._index.latest
        if embedder is None or snapshot is None:
            return ()
        from vault_agent.search.semantic import share_warnings, usable_matrix  # brings numpy

        try:
            embedder.check()
            usable_matrix(snapshot, embedder.space, indexing=self._indexing)
        except Unavailable as reason:
            return (Warning(reason.code, reason.message),)
        return share_warnings(snapshot, indexing=self._indexing)

    def _embeddings_doubted(self) -> bool:
        """Whether the endpoint has given vectors that do not fit those of the index."""
        matrix = self._index.latest.matrix if self._index.latest else None
        space = self._embedder.space if self._embedder is not None else None
        return matrix is not None and space is not None and not matrix.space.matches(space)

    async def _last_run_was_cut_short(self) -> bool:
        last = await self.jobs.last_finished()
        return last is not None and last.state is not JobState.SUCCEEDED

    def _sweep(self) -> None:
        """Remove what a run has replaced or left half-written, unless another one has begun."""
        with suppress(VaultAgentError, OSError), self._directory.writing(wait=False):
            number = self._directory.current()
            self._directory.sweep(keep=number)
            if number is not None and self._index.meta is not None:
                self._directory.sweep_fulltext(number, keep=self._index.meta.revision)

    def _message(self, task: str, **more: bool) -> dict[str, Any]:
        """Return a task for the indexing process."""
        return {**asdict(self._task), "embedding": self._endpoint, "task": task, **more}


@asynccontextmanager
async def open_engine(config: Config) -> AsyncIterator[Engine]:
    """Open the vault and its index; one server at a time.

    Raises:
        Misconfigured: `VAULT_NOT_FOUND`, `CONFIG_INVALID`.
        Busy: `INDEX_LOCKED` while another server has this index.
        Failed: `DISK_FULL`, `INDEX_IO_ERROR`.
    """
    directory = IndexDirectory(index_directory(config))
    exclusions = Exclusions(config.vault.exclude)
    async with AsyncExitStack() as stack:
        with VaultRoot.open(config.vault.root or "", exclusions) as root:
            path, identity = root.path, root.identity
        with translated():
            directory.create()
            stack.enter_context(directory.serving())
        fingerprint = fingerprint_of(exclusions, config.index.max_note_bytes)
        settings = endpoint_settings(config.embedding) if config.embedding.enabled else None
        indexer = Indexer()
        embedder = None
        if settings is not None:
            # Before numpy loads: its linear algebra gains nothing from threads at this size, and
            # with its default of one a core a scan was 20 to 40 times slower.
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
            from vault_agent.embedding.client import EndpointSettings, HttpEmbedder

            embedder = HttpEmbedder(EndpointSettings(**settings), on_query=indexer.announce_query)
            await stack.enter_async_context(embedder)
        index = CurrentIndex(
            directory,
            vault=identity,
            fingerprint=fingerprint,
            vectors=embedder is not None,
        )
        task = IndexTask(
            root=path,
            directory=str(directory.path),
            vault=identity,
            exclude=config.vault.exclude,
            max_note_bytes=config.index.max_note_bytes,
            fingerprint=fingerprint,
            rebuild=False,
            parallel=min(MAX_PARALLEL, os.cpu_count() or 1),
        )
        store = await stack.enter_async_context(open_jobs(directory.jobs))
        engine = Engine(
            config, exclusions, directory, index, indexer, embedder, store, task, settings
        )
        stack.push_async_callback(engine.close)
        await engine.start()
        yield engine
