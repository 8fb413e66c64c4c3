"""One open vault: its index, its jobs, its checks and its keeper.

Over 300 lines: every call to a vault passes through here, and most methods only delegate.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, TypeVar

import anyio

from vault_agent import __version__
from vault_agent.config import index_directory
from vault_agent.errors import (
    Failed,
    IndexUnavailable,
    Unavailable,
    VaultAgentError,
)
from vault_agent.indexing.protocol import (
    Compare,
    EmbedOptions,
    Index,
    Indexed,
    Phase,
    Published,
    Verify,
    Warned,
)
from vault_agent.indexing.task import IndexTask, fingerprint_of
from vault_agent.library.background import Background, quietly
from vault_agent.library.checks import Checks, set_damaged_aside
from vault_agent.library.jobs import Jobs
from vault_agent.library.keeper_process import Keeper
from vault_agent.library.lists import Lists
from vault_agent.model.health import Health
from vault_agent.model.jobs import JobKind, JobState, JobSummary, Trigger
from vault_agent.model.warning import Warning
from vault_agent.search import fetch
from vault_agent.search.pages import search_page
from vault_agent.search.related import related
from vault_agent.store.current import CurrentIndex, SnapshotOutdated
from vault_agent.store.database import translated
from vault_agent.store.jobs.record import open_jobs
from vault_agent.store.layout import IndexDirectory
from vault_agent.system.cancelling import in_thread, open_in_thread, opened_in_thread, to_its_end
from vault_agent.vault.attachments import describe, open_attachment
from vault_agent.vault.exclude import Exclusions
from vault_agent.vault.root import VaultRoot

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

    from vault_agent.config import Config
    from vault_agent.embedding.client import EndpointSettings, HttpEmbedder
    from vault_agent.indexing.task import IndexRun
    from vault_agent.library.jobs import Progress
    from vault_agent.library.keeper_process import News
    from vault_agent.model.jobs import Job
    from vault_agent.model.retrieval import AttachmentInfo, ChunkContent, NoteContent
    from vault_agent.model.search import Answer, RelatedQuery, SearchQuery
    from vault_agent.store.current import Snapshot
    from vault_agent.store.jobs.record import JobStore
    from vault_agent.system.crash import CrashReport
    from vault_agent.vault.attachments import OpenAttachment

Reply = TypeVar("Reply")

MAX_ATTEMPTS = 5
MAX_PARALLEL = 4


@dataclass(frozen=True, slots=True)
class JobOptions:
    """The options of an index job."""

    require_embeddings: bool = False
    fresh_embeddings: bool = False


@dataclass(frozen=True, slots=True)
class Shared:
    """Resources that all vaults of a process share."""

    embedder: HttpEmbedder | None
    endpoint: EndpointSettings | None  # of the embedder; None without embeddings
    on_crash: Callable[[str, CrashReport], object]  # gets the failed process's name


class OpenVault:
    """The operations of one vault. Made by `open_vault`."""

    def __init__(  # noqa: PLR0917 - one caller, and each argument has another type
        self,
        config: Config,
        shared: Shared,
        exclusions: Exclusions,
        directory: IndexDirectory,
        index: CurrentIndex,
        keeper: Keeper,
        background: Background,
        store: JobStore,
        task: IndexTask,
    ) -> None:
        self.config = config
        self.jobs = Jobs(store, lambda report: shared.on_crash("server", report))
        self._exclusions = exclusions
        self._directory = directory
        self._index = index
        self._keeper = keeper
        self._embedder = shared.embedder
        self._endpoint = shared.endpoint
        self._task = task
        self._background = background
        self._refreshed = anyio.Event()
        self._checks = Checks(
            index,
            directory,
            background,
            compare=lambda: keeper.ask(Compare(task)),
            verify=lambda: keeper.ask(Verify(task, shared.endpoint)),
            busy=lambda: self._indexing,
        )
        self.lists = Lists(
            self._read,
            (task.root, str(config.vault.root)),
            warnings=self._checks.warnings,
            regex_seconds=config.search.regex_seconds,
            embedder=shared.embedder,
            indexing=lambda: self._indexing,
        )

    @property
    def identity(self) -> str:
        """The identity of the vault: a hash of its resolved root."""
        return self._task.vault

    # --- reading -------------------------------------------------------------------------------

    async def search(self, query: SearchQuery) -> Answer:
        """Return ranked candidates for a query."""
        return await self._read(
            lambda now: search_page(
                now,
                query,
                embedder=self._embedder,
                warnings=self._checks.warnings(),
                indexing=self._indexing,
            )
        )

    async def related(self, query: RelatedQuery) -> Answer:
        """Return candidates that are similar to a note or chunk."""
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
        async with opened_in_thread(self._open_vault) as root:
            return await self._read(
                lambda now: fetch.note(now, root, note_id, allow_large=allow_large)
            )

    async def chunk(self, note_id: str, index: int) -> ChunkContent:
        """Return one chunk."""
        return await self._read(
            lambda now: fetch.chunk(now, note_id, index, warnings=self._checks.warnings())
        )

    async def attachment(self, path: str) -> AttachmentInfo:
        """Return the metadata of an attachment."""

        def look() -> AttachmentInfo:
            with self._open_vault() as root:
                return describe(root, path)

        return await asyncio.to_thread(look)

    async def open_attachment(self, path: str, *, allow_large: bool) -> OpenAttachment:
        """Open an attachment for reading. The caller must enter it before the next `await`."""

        def open_it() -> OpenAttachment:
            with self._open_vault() as root:
                return open_attachment(root, path, allow_large=allow_large)

        return await open_in_thread(open_it)

    async def health(self) -> Health:
        """Return the current state of the vault, its index and its embeddings."""
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
            vault_id=self.identity,
            vault_name=_readable(PurePath(self._task.root).name),
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

    # --- runs -----------------------------------------------------------------------------------

    async def submit(
        self,
        kind: JobKind,
        options: JobOptions | None = None,
        trigger: Trigger = Trigger.USER,
    ) -> Job:
        """Start a job that indexes the whole vault, and return it.

        Raises:
            Busy: `INDEX_BUSY` with `details.jobId` while another one is active.
            Failed: `DISK_FULL`, `INDEX_IO_ERROR`, `JOBS_DAMAGED` if it cannot be recorded.
        """
        chosen = options or JobOptions()
        return await self.jobs.submit(
            kind, lambda progress: self._run_job(kind, chosen, progress), trigger
        )

    async def index_paths(self, paths: Sequence[str]) -> IndexRun:
        """Update the index for these vault-relative paths, and return the result.

        Waits for earlier runs to end, their embedding included. Searches see the new revision as
        soon as it is published; this returns after that, when the run has also merged what the next
        run builds on. It is not a job, and does not embed.

        Raises:
            VaultAgentError: what `index` raises, and `INDEXER_FAILED`.
        """
        request = Index(replace(self._task, paths=tuple(paths)))

        def on_event(event: News) -> None:
            if isinstance(event, Published):
                self._background.spawn(self._refresh)

        return await self._run(request, on_event)

    async def wait_for(self, generation: int, revision: int) -> None:
        """Wait until searches see this revision of the index or a later one.

        Raises:
            IndexUnavailable: `INDEX_INCOMPATIBLE` if the index may no longer be searched, or
                `INDEX_NOT_FOUND` if it is gone.
        """
        while True:
            refreshed, meta = self._refreshed, self._index.meta
            self._index.check()
            if meta is not None and (meta.generation, meta.revision) >= (generation, revision):
                return
            await refreshed.wait()

    async def _run_job(self, kind: JobKind, options: JobOptions, progress: Progress) -> JobSummary:
        """Index the whole vault in the indexing process, and embed if that is enabled."""
        indexed = False

        def on_event(event: News) -> None:
            nonlocal indexed
            if isinstance(event, Phase):
                progress.phase(event.name, event.done, event.total, event.characters)
            elif isinstance(event, Warned):
                progress.warn(event.warning)
            elif isinstance(event, Published):
                self._background.spawn(self._refresh)
            elif isinstance(event, Indexed):
                indexed = True
                self._checks.run_succeeded()
                progress.index_finished()

        embed = None
        if self._endpoint is not None:
            embed = EmbedOptions(
                self._endpoint,
                require=options.require_embeddings or self.config.embedding.require,
                fresh=options.fresh_embeddings,
                doubted=self._embeddings_doubted(),
            )
        task = replace(self._task, rebuild=kind is JobKind.REINDEX)
        try:
            run = await self._run(Index(task, embed), on_event)
        except BaseException:
            self._checks.incomplete = not indexed
            raise
        return run.summary

    async def _run(self, request: Index, on_event: Callable[[News], object]) -> IndexRun:
        """Run the request in the keeper, serve the published index, and remove old files."""
        try:
            run = await self._keeper.run(request, on_event)
            await self._refresh()
            self._index.check()  # the run may not have seen the damage that keeps it from serving
        except BaseException:
            # The run may have published before it failed.
            await to_its_end(quietly(self._refresh()))
            raise
        finally:
            await in_thread(self._sweep)
        return run

    async def _refresh(self) -> None:
        """Serve the newest complete state, and wake all who wait for it."""
        try:
            # Not cancelled: it opens files.
            await to_its_end(self._index.refresh())
        finally:
            self._refreshed.set()
            self._refreshed = anyio.Event()

    # --- start, and internals -------------------------------------------------------------------

    async def start(self) -> None:
        """Serve the existing index, or start to build the first one."""
        await self.jobs.recover()
        await self._index.refresh()
        self._checks.incomplete = await self._last_run_was_cut_short()
        if self._index.meta is None and self._index.refusal is None:
            await self.submit(JobKind.INDEX, trigger=Trigger.START)
            return
        self._checks.verify_soon()
        if self._index.meta is not None and self.config.index.at_start:
            await self.submit(JobKind.INDEX, trigger=Trigger.START)

    def announce_query(self) -> None:
        """Ask an embedding run to pause briefly, so that a search can use the endpoint."""
        self._keeper.announce_query()

    async def listening_at(self, address: str) -> None:
        """Record the server's address for the error message of a second server."""
        await asyncio.to_thread(self._directory.note_address, address)

    def _open_vault(self) -> VaultRoot:
        """Open the vault's folder, unless it was unmounted, moved or replaced since the start."""
        return VaultRoot.open(self._task.root, self._exclusions, identity=self._task.vault)

    async def _read(self, action: Callable[[Snapshot], Awaitable[Reply]]) -> Reply:
        """Answer from the current snapshot. If a run replaces it meanwhile, try the next one."""
        for _ in range(MAX_ATTEMPTS):
            async with self._snapshot() as snapshot:
                try:
                    return await action(snapshot)
                except SnapshotOutdated:
                    pass
                except IndexUnavailable:
                    # One request is not proof. Every page is read before an index is set aside.
                    self._checks.verify_soon()
                    raise
            await self._refresh()
        raise Failed("INTERNAL_ERROR", "The index changed faster than it could be read. Ask again.")

    @asynccontextmanager
    async def _snapshot(self) -> AsyncIterator[Snapshot]:
        self._checks.compare_if_due()
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
        """Whether a job runs, which may be creating what is missing."""
        return self.jobs.running is not None

    def _embedding_warnings(self) -> tuple[Warning, ...]:
        """Return why semantic search is unavailable or incomplete, if it is."""
        embedder, snapshot = self._embedder, self._index.latest
        if embedder is None or snapshot is None:
            return ()
        from vault_agent.search.semantic import share_warnings, usable_matrix  # imports numpy

        try:
            embedder.check()
            usable_matrix(snapshot, embedder.space, indexing=self._indexing)
        except Unavailable as reason:
            return (Warning(reason.code, reason.message),)
        return share_warnings(snapshot, indexing=self._indexing)

    def _embeddings_doubted(self) -> bool:
        """Whether the endpoint has returned vectors that do not match those of the index."""
        matrix = self._index.latest.matrix if self._index.latest else None
        space = self._embedder.space if self._embedder is not None else None
        return matrix is not None and space is not None and not matrix.space.matches(space)

    async def _last_run_was_cut_short(self) -> bool:
        last = await self.jobs.last_finished()
        return not (last is None or last.state is JobState.SUCCEEDED or last.index_finished)

    def _sweep(self) -> None:
        """Remove replaced and half-written files, unless another run has begun."""
        with suppress(VaultAgentError, OSError), self._directory.writing(wait=False):
            with suppress(OSError):
                set_damaged_aside(self._index, self._directory)
            number, served = self._directory.current(), self._index.meta
            self._directory.sweep(keep=number)
            if served is not None and served.generation == number:
                self._directory.sweep_fulltext(number, keep=served.revision)


def _readable(name: str) -> str:
    """Return a folder's name as text, where its bytes may not be."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


@asynccontextmanager
async def open_vault(config: Config, shared: Shared) -> AsyncIterator[OpenVault]:
    """Open a vault and its index. Only one server at a time can have it open.

    Raises:
        Misconfigured: `VAULT_NOT_FOUND`, `CONFIG_INVALID`.
        Busy: `INDEX_LOCKED` while another server uses this index.
        Failed: `DISK_FULL`, `INDEX_IO_ERROR`.
    """
    directory = IndexDirectory(index_directory(config))
    exclusions = Exclusions(config.vault.exclude)
    with VaultRoot.open(config.vault.root or "", exclusions) as root:
        path, identity = root.path, root.identity
    fingerprint = fingerprint_of(
        exclusions, config.index.max_note_bytes, config.index.frontmatter_fields
    )
    task = IndexTask(
        root=path,
        directory=str(directory.path),
        vault=identity,
        exclude=config.vault.exclude,
        max_note_bytes=config.index.max_note_bytes,
        fields=config.index.frontmatter_fields,
        fingerprint=fingerprint,
        rebuild=False,
        parallel=min(MAX_PARALLEL, os.cpu_count() or 1),
    )
    index = CurrentIndex(
        directory,
        vault=identity,
        fingerprint=fingerprint,
        vectors=shared.embedder is not None,
    )
    # Closed in reverse order: jobs, background tasks, the keeper, the index.
    async with AsyncExitStack() as stack:
        with translated():
            directory.create()
            stack.enter_context(directory.serving())
        store = await stack.enter_async_context(open_jobs(directory.jobs))
        stack.push_async_callback(index.close)
        background = Background(lambda report: shared.on_crash("server", report))
        keeper = Keeper(background, shared.on_crash)
        stack.push_async_callback(keeper.close)
        await stack.enter_async_context(background)
        vault = OpenVault(
            config, shared, exclusions, directory, index, keeper, background, store, task
        )
        stack.push_async_callback(vault.jobs.close)
        stack.callback(keeper.retire)
        await vault.start()
        yield vault
