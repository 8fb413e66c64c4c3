"""One open vault: its index, its jobs, its checks and its keeper.

Over 300 lines: every call to a vault passes through here, and most methods only delegate.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote

from vault_agent.config.registry import DEFAULT
from vault_agent.errors import (
    Failed,
    IndexUnavailable,
)
from vault_agent.indexing.protocol import (
    Cluster,
    Compare,
    Compared,
    Index,
    LayOut,
    Phase,
    Published,
    Verify,
    Warned,
)
from vault_agent.library.authoring import Authoring
from vault_agent.library.background import Background, quietly
from vault_agent.library.checks import Checks, sweep
from vault_agent.library.embeddings import Embeddings
from vault_agent.library.files import LinksOfVault
from vault_agent.library.graph_layout import GraphLayout
from vault_agent.library.health import health
from vault_agent.library.jobs import Jobs
from vault_agent.library.links import Links
from vault_agent.library.lists import Lists
from vault_agent.library.news import News, revision_of
from vault_agent.library.pages import Pages
from vault_agent.library.secret import Secret
from vault_agent.library.typing_help import TypingHelp
from vault_agent.library.watch import Watch
from vault_agent.model.jobs import JobKind, JobState, JobSummary, Trigger
from vault_agent.model.watch import WatchState
from vault_agent.model.writing import PENDING, IndexState, Right, WriteLimits
from vault_agent.search import fetch
from vault_agent.search.outline import note_frontmatter, note_outline
from vault_agent.search.pages import search_page
from vault_agent.search.part import part
from vault_agent.search.related import related
from vault_agent.store.current import CurrentIndex, SnapshotOutdated
from vault_agent.store.writes.log import WriteLog
from vault_agent.system.cancelling import in_thread, open_in_thread, opened_in_thread, to_its_end
from vault_agent.system.change import Change
from vault_agent.vault.attachments import describe, open_attachment
from vault_agent.vault.root import VaultRoot
from vault_agent.writing.files import Files
from vault_agent.writing.journal import Journal
from vault_agent.writing.write import Writing

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
    from pathlib import Path

    from vault_agent.config import Config
    from vault_agent.embedding.client import EndpointSettings, HttpEmbedder
    from vault_agent.indexing.task import IndexRun, IndexTask
    from vault_agent.library.jobs import Progress
    from vault_agent.library.keeper_process import Keeper, RunEvent
    from vault_agent.library.library import Library
    from vault_agent.library.waiting import Batch
    from vault_agent.model.health import Health
    from vault_agent.model.jobs import Job
    from vault_agent.model.reading import NotePart, PartQuery
    from vault_agent.model.retrieval import AttachmentInfo, ChunkContent, NoteContent
    from vault_agent.model.scope import Scope
    from vault_agent.model.search import Answer, RelatedQuery, SearchQuery
    from vault_agent.model.warning import Warning
    from vault_agent.search.outline import NoteFrontmatter, NoteOutline
    from vault_agent.store.current import Snapshot
    from vault_agent.store.jobs.record import JobStore
    from vault_agent.store.layout import IndexDirectory
    from vault_agent.system.crash import CrashReport
    from vault_agent.vault.attachments import OpenAttachment
    from vault_agent.vault.exclude import Exclusions

Reply = TypeVar("Reply")

MAX_ATTEMPTS = 5
_UNAVAILABLE = "EMBEDDING_UNAVAILABLE"


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
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)  # of index jobs


class OpenVault:
    """The operations of one vault. Made by `open_library`."""

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
        self.secret = Secret(directory.path / "secret")
        self.ended_sessions = directory.path / "sessions.ended"
        self.news = News()
        self.jobs = Jobs(
            store, lambda report: shared.on_crash("server", report), self.news.add, shared.turn
        )
        self.address = DEFAULT
        """What requests call it: `default`, or the address of a registered vault."""
        self.library: Library | None = None
        """The library that opened it."""
        self._exclusions = exclusions
        self._directory = directory
        self._index = index
        self.keeper = keeper
        self._embeddings = Embeddings(
            shared.embedder, shared.endpoint, index, keeper, task.directory
        )
        self._task = task
        self._background = background
        self._refreshed = Change()
        self._checks = Checks(
            index,
            directory,
            background,
            compare=lambda: keeper.ask(Compare(task)),
            verify=lambda: keeper.ask(Verify(task, shared.endpoint)),
            busy=lambda: self._indexing,
            watched=lambda: self.watch.is_live or self.watch.state is WatchState.AWAY,
        )
        self.watch = Watch(
            self,
            config.watch,
            task,
            self.jobs,
            background,
            on_change=self.news.add,
            on_crash=shared.on_crash,
        )
        self.links = Links(self._read, lambda: keeper.ask(Cluster(task)), self._checks.warnings)
        self.layout = GraphLayout(
            directory.positions,
            lambda: keeper.ask(LayOut(task)),
            self.links.revision,
            background,
        )
        self.typing = TypingHelp(self._read, self._open_vault, background)
        self.pages = Pages(
            self._read, self._open_vault, self.secret, task.vault, lambda: self.prefix
        )
        self.lists = Lists(
            self._read,
            (task.root, str(config.vault.root)),
            warnings=self._checks.warnings,
            regex_seconds=config.search.regex_seconds,
            embedder=shared.embedder,
            indexing=lambda: self._indexing,
        )

        self.writing: Writing = None  # type: ignore[assignment]  # set at the start if it is on
        self.authoring = Authoring(lambda: self.writing, self.lists, self._open_vault, config.write)

    @property
    def identity(self) -> str:
        """The identity of the vault: a hash of its resolved root."""
        return self._task.vault

    @property
    def embedder(self) -> HttpEmbedder | None:
        """The embedding client, or None if embeddings are off."""
        return self._embeddings.embedder

    @property
    def workplace(self) -> Path:
        """The folder of the index, for files that live as long as a request."""
        return self._directory.path

    @property
    def prefix(self) -> str:
        """What the paths of this vault's routes begin with."""
        return "" if self.address == DEFAULT else f"/vaults/{quote(self.address, safe=':')}"

    # --- reading -------------------------------------------------------------------------------

    async def search(self, query: SearchQuery) -> Answer:
        """Return ranked candidates for a query."""
        answer = await self._read(
            lambda now: search_page(
                now,
                query,
                embedder=self._embeddings.embedder,
                warnings=self.warnings(),
                indexing=self._indexing,
            )
        )
        if answer.hits or self.watch.is_live:
            return answer
        return replace(answer, indexed_at=self._checks.indexed_at)

    async def related(self, query: RelatedQuery) -> Answer:
        """Return candidates that are similar to a note or chunk."""
        embeddings = self._embeddings.embedder is not None
        return await self._read(
            lambda now: related(
                now,
                query,
                embeddings=embeddings,
                warnings=self.warnings(),
                indexing=self._indexing,
            )
        )

    async def note(self, note_id: str, *, allow_large: bool) -> NoteContent:
        """Return one note."""
        async with opened_in_thread(self._open_vault) as root:
            return await self._read(
                lambda now: fetch.note(now, root, note_id, allow_large=allow_large)
            )

    async def part(self, note_id: str, query: PartQuery, *, max_bytes: int) -> NotePart:
        """Return a page of a part of a note's current text."""
        async with opened_in_thread(self._open_vault) as root:
            return await self._read(
                lambda now: part(now, root, note_id, query, max_bytes=max_bytes)
            )

    async def outline(self, note_id: str, scope: Scope) -> NoteOutline:
        """Return the headings and blocks of a note's current file."""
        async with opened_in_thread(self._open_vault) as root:
            return await self._read(lambda now: note_outline(now, root, note_id, scope))

    async def frontmatter(self, note_id: str, scope: Scope) -> NoteFrontmatter:
        """Return the frontmatter of a note's current file."""
        async with opened_in_thread(self._open_vault) as root:
            return await self._read(lambda now: note_frontmatter(now, root, note_id, scope))

    async def chunk(self, note_id: str, index: int) -> ChunkContent:
        """Return one chunk."""
        return await self._read(
            lambda now: fetch.chunk(now, note_id, index, warnings=self.warnings())
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
        self._checks.compare_if_due()
        return health(
            self.config,
            self._task,
            index=self._index,
            running=self.jobs.running,
            checks=self._checks,
            embeddings=self._embeddings,
            watch=self.watch,
        )

    @property
    def files(self) -> Files:
        """The writes of whole files. Raises Misconfigured `FEATURE_DISABLED`."""
        index = LinksOfVault(self._index_changes, self.snapshot)
        limit = self.config.write.max_move_notes
        return Files(self.writing, index, self._open_vault, self.writing.may_write, limit)

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
        return await self._run(replace(self._task, paths=tuple(paths)), self._hear)

    def _open_writing(self) -> None:
        chosen = self.config.write
        limits = WriteLimits(
            folders=chosen.folders,
            allow=frozenset(map(Right, chosen.allow)),
            quiet_seconds=chosen.quiet_seconds,
            max_note_bytes=chosen.max_note_bytes,
            max_per_minute=chosen.max_per_minute,
            undo_days=chosen.undo_days,
            undo_writes=chosen.undo_writes,
            undo_bytes=chosen.undo_bytes,
        )
        folder = self._directory.path
        log = WriteLog.open(folder / "writes.db", folder / "writes" / "before")
        self.writing = Writing(
            Journal(self._open_vault, log, limits, self._exclusions), self._follow
        )
        self._background.spawn(self.writing.run)

    async def _follow(self, paths: Sequence[str], wait_ms: int) -> IndexState:
        """Index what a write has changed, and return the revision that has it."""
        if self._index.meta is None:
            return PENDING
        try:
            async with asyncio.timeout(wait_ms / 1000):
                await self.index_paths(paths)
        except TimeoutError:
            return PENDING
        meta = self._index.meta
        return PENDING if meta is None else IndexState(meta.generation, meta.revision)

    async def look(
        self,
        batch: Batch,
        folder: tuple[int, ...],
        on_event: Callable[[RunEvent], object],
        on_served: Callable[[], object],
    ) -> IndexRun:
        """Index the changes that a watch has noticed. `on_served` is called once they are seen."""
        task = replace(
            self._task, paths=batch.paths, removable=batch.removable, folder=folder or None
        )

        def hear(event: RunEvent) -> None:
            on_event(event)
            self._hear(event, on_served)

        run = await self._run(task, hear)
        if batch.paths is None:
            self._checks.run_succeeded()
        return run

    async def _index_changes(self) -> None:
        """Index all changes of the vault since the last run. It is not a job."""
        await self._run(self._task, self._hear)
        self._checks.run_succeeded()

    async def embed(self) -> bool:
        """Embed the chunks without a vector. Return False if the endpoint fails."""
        works = True

        def hear(event: RunEvent) -> None:
            nonlocal works
            works = works and not (isinstance(event, Warned) and event.code == _UNAVAILABLE)
            self._hear(event)

        await self._embeddings.make(hear)
        return works

    async def is_same_vault(self) -> bool:
        """Whether the folder at the vault's path has most of the indexed notes."""
        answer = await self.keeper.ask(Compare(self._task))
        return isinstance(answer, Compared) and answer.same_vault

    async def wait_for(self, generation: int, revision: int) -> None:
        """Wait until searches see this revision of the index or a later one.

        Raises:
            IndexUnavailable: `INDEX_INCOMPATIBLE` if the index may no longer be searched, or
                `INDEX_NOT_FOUND` if it is gone.
        """
        while True:
            meta = self._index.meta
            self._index.check()
            if meta is not None and (meta.generation, meta.revision) >= (generation, revision):
                return
            await self._refreshed.wait()

    async def _run_job(self, kind: JobKind, options: JobOptions, progress: Progress) -> JobSummary:
        """Index the whole vault in the indexing process, and embed if that is enabled."""
        indexed = False

        def hear(event: RunEvent) -> None:
            if isinstance(event, Phase):
                progress.phase(event.name, event.done, event.total, event.characters)
            elif isinstance(event, Warned):
                progress.warn(event.warning)
            self._hear(event)

        # This job makes what is missing, and shows it.
        self.keeper.finish_embedding(self._task.directory)
        try:
            run = await self._run(replace(self._task, rebuild=kind is JobKind.REINDEX), hear)
            indexed = True
        finally:
            self._checks.incomplete = not indexed
        self._checks.run_succeeded()
        self.watch.accept_folder()
        progress.index_finished()
        made = await self._embeddings.make(
            hear,
            require=options.require_embeddings or self.config.embedding.require,
            fresh=options.fresh_embeddings,
        )
        if made is None:
            return run.summary
        await self.refresh()
        return replace(
            run.summary, embedded=made.embedded, reused=made.reused, embedding_failed=made.failed
        )

    async def _run(self, task: IndexTask, on_event: Callable[[RunEvent], object]) -> IndexRun:
        """Run the task in the keeper, serve the published index, and remove old files."""
        try:
            run = await self.keeper.run(Index(task), on_event)
            await self.refresh()
            self._index.check()  # the run may not have seen the damage that keeps it from serving
        except BaseException:
            # The run may have published before it failed.
            await to_its_end(quietly(self.refresh()))
            raise
        finally:
            await in_thread(sweep, self._index, self._directory)
        return run

    def _hear(self, event: RunEvent, on_served: Callable[[], object] = lambda: None) -> None:
        """Serve what a process has published."""
        if isinstance(event, Published):
            self._background.spawn(self._serve, event.run, on_served)

    async def _serve(self, run: IndexRun | None, on_served: Callable[[], object]) -> None:
        await self.refresh()
        if run is not None:
            self.news.add(revision_of(run))
            on_served()

    async def refresh(self) -> None:
        """Serve the newest complete state, and wake all who wait for it."""
        try:
            # Not cancelled: it opens files.
            await to_its_end(self._index.refresh())
        finally:
            latest = self._index.latest
            self.links.forget(latest.revision if latest is not None else None)
            self.layout.renew()
            self._refreshed.announce()

    # --- start, and internals -------------------------------------------------------------------

    async def start(self) -> None:
        """Serve the existing index, or start to build the first one."""
        await self.jobs.recover()
        await self._index.refresh()
        self._checks.incomplete = await self._last_run_was_cut_short()
        self._checks.indexed_at = await self.jobs.last_indexed()
        if self.config.write.enabled:
            self._open_writing()
        watched = self.config.watch.enabled
        if watched:
            self.watch.start(embeddings=self._embeddings.enabled)
        if self._index.meta is None and self._index.refusal is None:
            await self.submit(JobKind.INDEX, trigger=Trigger.START)
            return
        if self.address != DEFAULT and self._made_otherwise:
            # Nobody would be asked to rebuild it: commands are mostly about the default vault.
            await self.submit(JobKind.REINDEX, trigger=Trigger.START)
            return
        self._checks.verify_soon()
        if self._index.has_other_exclusions or (
            self._index.meta is not None and self.config.index.at_start and not watched
        ):
            await self.submit(JobKind.INDEX, trigger=Trigger.START)

    @property
    def _made_otherwise(self) -> bool:
        """Whether the index is not served, and a run that looks for changes would not help."""
        return self._index.refusal is not None and not self._index.has_other_exclusions

    def announce_query(self) -> None:
        """Ask an embedding run to pause briefly, so that a search can use the endpoint."""
        self.keeper.announce_query()

    async def listening_at(self, address: str, *, until_idle: bool = False) -> None:
        """Record the server's address for clients and for the error of a second server."""
        await asyncio.to_thread(self._directory.note_address, address, until_idle=until_idle)

    def _open_vault(self) -> VaultRoot:
        """Open the vault's folder, unless it was unmounted, moved or replaced since the start."""
        return VaultRoot.open(self._task.root, self._exclusions, identity=self._task.vault)

    async def _read(self, action: Callable[[Snapshot], Awaitable[Reply]]) -> Reply:
        """Answer from the current snapshot. If a run replaces it meanwhile, try the next one."""
        for _ in range(MAX_ATTEMPTS):
            async with self.snapshot() as snapshot:
                try:
                    return await action(snapshot)
                except SnapshotOutdated:
                    pass
                except IndexUnavailable:
                    # One request is not proof. Every page is read before an index is set aside.
                    self._checks.verify_soon()
                    raise
            await self.refresh()
        raise Failed("INTERNAL_ERROR", "The index changed faster than it could be read. Ask again.")

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Snapshot]:
        """Lend the current revision, for a search over several vaults.

        Raises:
            IndexUnavailable: why it is not served.
        """
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
            if running is not None and self._index.has_other_exclusions:
                raise IndexUnavailable(
                    error.code,
                    "Notes that are excluded now are being removed from the index.",
                    {"jobId": running.id},
                    indexing=True,
                ) from None
            raise

    @property
    def _indexing(self) -> bool:
        """Whether a job runs, which may be creating what is missing."""
        return self.jobs.running is not None

    def warnings(self) -> tuple[Warning, ...]:
        """Return the warnings for a reply from the index."""
        return (*self._checks.warnings(), *self.watch.warnings())

    async def _last_run_was_cut_short(self) -> bool:
        last = await self.jobs.last_finished()
        return not (last is None or last.state is JobState.SUCCEEDED or last.index_finished)
