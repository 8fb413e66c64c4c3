"""One open vault: its index, its jobs, its checks and its keeper.

Over 300 lines: every call to a vault passes through here, and most methods only delegate.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from vault_agent.config.registry import DEFAULT
from vault_agent.errors import Failed, IndexUnavailable
from vault_agent.freshness.background import Background, quietly
from vault_agent.freshness.checks import Checks, sweep
from vault_agent.freshness.embeddings import Embeddings
from vault_agent.freshness.jobs import JobOptions, Jobs
from vault_agent.freshness.watch import Watch
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
from vault_agent.model.jobs import JobKind, JobSummary, Trigger
from vault_agent.model.watch import WatchState
from vault_agent.model.writing import IndexState
from vault_agent.search.pages import search_page
from vault_agent.search.related import related
from vault_agent.store.current import CurrentIndex, SnapshotOutdated
from vault_agent.system.cancelling import in_thread, to_its_end
from vault_agent.system.change import Change
from vault_agent.vault.root import VaultRoot
from vault_agent.vaults.authoring import Authoring
from vault_agent.vaults.event_stream import News, revision_of
from vault_agent.vaults.files import LinksOfVault
from vault_agent.vaults.graph_layout import GraphLayout
from vault_agent.vaults.health import health
from vault_agent.vaults.links import Links
from vault_agent.vaults.lists import Lists
from vault_agent.vaults.pages import Pages
from vault_agent.vaults.refusals import while_running
from vault_agent.vaults.secret import Secret
from vault_agent.vaults.texts import Texts
from vault_agent.vaults.typing_help import TypingHelp
from vault_agent.vaults.writes import Writes

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
    from pathlib import Path

    from vault_agent.config import Config
    from vault_agent.embedding.client import HttpEmbedder
    from vault_agent.freshness.debounce import Batch
    from vault_agent.freshness.indexer import Keeper, RunEvent
    from vault_agent.freshness.jobs import Progress
    from vault_agent.indexing.task import IndexRun, IndexTask
    from vault_agent.model.health import Health
    from vault_agent.model.jobs import Job
    from vault_agent.model.search import Answer, RelatedQuery, SearchQuery
    from vault_agent.model.warning import Warning
    from vault_agent.store.current import Snapshot
    from vault_agent.store.jobs.record import JobStore
    from vault_agent.store.layout import IndexDirectory
    from vault_agent.vault.exclude import Exclusions
    from vault_agent.vaults.shared import Shared
    from vault_agent.writing.files import Files
    from vault_agent.writing.write import Writing

Reply = TypeVar("Reply")
Options = ParamSpec("Options")

MAX_ATTEMPTS = 5
_UNAVAILABLE = "EMBEDDING_UNAVAILABLE"


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
        address: str,
    ) -> None:
        """Make it of its parts. `address` is what requests call it."""
        self.config = config
        self.secret = Secret(directory.path / "secret")
        self.ended_sessions = directory.path / "sessions.ended"
        self.news = News()
        self.jobs = Jobs(
            store, lambda report: shared.on_crash("server", report), self.news.add, shared.turn
        )
        self.address = address
        self.app: object = None  # see `vault_agent.app.app_of`
        self._known = shared.known
        self._is_read_only = shared.may_write and not config.write.enabled
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
        self.writes = Writes(
            config,
            directory,
            exclusions,
            self._open_vault,
            background,
            self._follow_paths,
            LinksOfVault(self._index_changes, self.snapshot),
            shared.texts,
            has_types=task.typed,
            embed=self.embed if self._embeddings.enabled else None,
            on_unindexed=lambda paths: self.watch.look_at(paths),  # noqa: PLW0108 - made later
            on_written=self.news.add,
            on_crash=lambda report: shared.on_crash("server", report),
        )
        self._checks = Checks(
            index,
            directory,
            background,
            compare=lambda: keeper.ask(Compare(task)),
            verify=lambda: keeper.ask(Verify(task)),
            busy=lambda: self.jobs.is_indexing,
            watched=lambda: self.watch.is_live or self.watch.state is WatchState.AWAY,
            written=self.writes.mark,
        )
        self.watch = Watch(
            self,
            config.watch,
            task,
            self.jobs,
            background,
            on_change=self.news.add,
            on_crash=shared.on_crash,
            own_among=self.writes.own_among,
        )
        self.links = Links(self.read, lambda: keeper.ask(Cluster(task)), self._checks.warnings)
        self.layout = GraphLayout(
            directory.positions, lambda: keeper.ask(LayOut(task)), self.links.revision, background
        )
        self.typing = TypingHelp(self.read, self._open_vault, background)
        self.pages = Pages(
            self.read,
            self._open_vault,
            self.secret,
            task.vault,
            address,
            allowance=shared.texts,
        )
        self.texts = Texts(self.read, self._open_vault, shared.texts, warnings=self.warnings)
        self.lists = Lists(
            self.read,
            (task.root, str(config.vault.root)),
            warnings=self._checks.warnings,
            regex_seconds=config.search.regex_seconds,
            embedder=shared.embedder,
            indexing=lambda: self.jobs.is_indexing,
        )

        self.authoring = Authoring(lambda: self.writing, self.lists, self._open_vault, config.write)

    @property
    def identity(self) -> str:
        """The identity of the vault: a hash of its resolved root."""
        return self._task.vault

    @property
    def name(self) -> str | None:
        """What replies call it, or None for the default vault."""
        if self.address == DEFAULT:
            return None
        return self._known.unique(self.address, self.identity)

    @property
    def is_read_only(self) -> bool:
        """Whether notes may be changed in other vaults of the server, but never in this one."""
        return self._is_read_only

    @property
    def embedder(self) -> HttpEmbedder | None:
        """The embedding client, or None if embeddings are off."""
        return self._embeddings.embedder

    @property
    def workplace(self) -> Path:
        """The folder of the index, for files that live as long as a request."""
        return self._directory.path

    async def search(self, query: SearchQuery) -> Answer:
        """Return ranked candidates for a query."""
        answer = await self.read(
            search_page,
            query,
            embedder=self._embeddings.embedder,
            warnings=self.warnings(),
            indexing=self.jobs.is_indexing,
        )
        if answer.hits or self.watch.is_live:
            return answer
        return replace(answer, indexed_at=self._checks.indexed_at)

    async def related(self, query: RelatedQuery) -> Answer:
        """Return candidates that are similar to a note or chunk."""
        return await self.read(
            related,
            query,
            embeddings=self._embeddings.embedder is not None,
            warnings=self.warnings(),
            indexing=self.jobs.is_indexing,
        )

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
            writing=self.writes,
        )

    @property
    def writing(self) -> Writing:
        """The writes of the vault. Raises Misconfigured `FEATURE_DISABLED`."""
        return self.writes.writing

    @property
    def files(self) -> Files:
        """The writes of whole files. Raises Misconfigured `FEATURE_DISABLED`."""
        return self.writes.files

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

        Waits for earlier runs. It is not a job, and does not embed. Raises what `index` raises, and
        `INDEXER_FAILED`.
        """
        return await self._run(replace(self._task, paths=tuple(paths)), self._hear)

    async def _follow_paths(
        self, paths: Sequence[str], on_served: Callable[[IndexState], object]
    ) -> None:
        """Index what writes have changed. See `following.Run`."""

        def serve() -> None:
            if (meta := self._index.meta) is not None:
                on_served(IndexState(meta.generation, meta.revision))

        task = replace(self._task, paths=tuple(paths))
        await self._run(task, lambda event: self._hear(event, serve))
        serve()  # nothing was to be published

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

    async def start(self, *, took_over: bool = False) -> None:
        """Serve the existing index, or start to build the first one. Renew one of a moved vault."""
        await self.jobs.recover()
        await self._index.refresh()
        self._checks.incomplete = await self.jobs.were_cut_short()
        self._checks.indexed_at = await self.jobs.last_indexed()
        watched = self.config.watch.enabled
        if watched:
            self.watch.start(embeddings=self._embeddings.enabled)
        if self._index.meta is None and self._index.refusal is None:
            await self.submit(JobKind.INDEX, trigger=Trigger.START)
            return
        refused = self._index.refusal is not None and not self._index.has_other_exclusions
        if self.address != DEFAULT and refused:
            # Nobody would be asked to rebuild it: commands are mostly about the default vault.
            await self.submit(JobKind.REINDEX, trigger=Trigger.START)
            return
        self._checks.verify_soon()
        at_start = took_over or (self.config.index.at_start and not watched)
        if self._index.has_other_exclusions or (self._index.meta is not None and at_start):
            await self.submit(JobKind.INDEX, trigger=Trigger.START)

    async def listening_at(self, address: str, *, until_idle: bool = False) -> None:
        """Record the server's address for clients and for the error of a second server."""
        await asyncio.to_thread(self._directory.note_address, address, until_idle=until_idle)

    def _open_vault(self) -> VaultRoot:
        """Open the vault's folder, unless it was unmounted, moved or replaced since the start."""
        return VaultRoot.open(self._task.root, self._exclusions, identity=self._task.vault)

    async def read(
        self,
        function: Callable[Concatenate[Snapshot, Options], Awaitable[Reply]],
        *args: Options.args,
        **options: Options.kwargs,
    ) -> Reply:
        """Return what `function(snapshot, *args, **options)` returns, for the current revision.

        If a run replaces the revision meanwhile, it is called again with the next one. This is the
        only place that does so.

        Raises:
            IndexUnavailable: why the index is not served.
            Failed: `INTERNAL_ERROR` if the index changes faster than it can be read.
            VaultAgentError: as `function`.
        """
        for _ in range(MAX_ATTEMPTS):
            async with self.snapshot() as snapshot:
                try:
                    return await function(snapshot, *args, **options)
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
            excluding = self._index.has_other_exclusions
            raise while_running(error, self.jobs.indexing, excluding=excluding) from None

    def warnings(self) -> tuple[Warning, ...]:
        """Return the warnings for a reply from the index."""
        return (*self._checks.warnings(), *self.watch.warnings())
