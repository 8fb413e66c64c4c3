"""One open vault: its parts, how they are put together, and how it is opened."""

from __future__ import annotations

import asyncio
import os
import shutil
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

import anyio

from vault_agent.config.server_key import server_writes
from vault_agent.config.settings import index_directory
from vault_agent.config.vault_list import DEFAULT, Role
from vault_agent.errors import Busy, Failed, Forbidden, VaultAgentError, switched_off
from vault_agent.indexing.protocol import IndexSpec, UpdateIndex
from vault_agent.model.jobs import JobKind, JobState, Trigger
from vault_agent.search.related import related
from vault_agent.search.search import search_in
from vault_agent.store.current import CurrentIndex
from vault_agent.store.database import translated
from vault_agent.store.directory import IndexDirectory, has_notes, take_over
from vault_agent.store.jobs import open_jobs
from vault_agent.system.address import record_address, record_vault, recorded_uid
from vault_agent.system.cancelling import in_thread, open_in_thread, opened_in_thread
from vault_agent.vault.attachments import open_attachment
from vault_agent.vault.opening import CannotOpen
from vault_agent.vault.paths import Exclusions, Verdict
from vault_agent.vault.root import VaultRoot
from vault_agent.vaults.embeddings import Embeddings, EmbedLater
from vault_agent.vaults.event_stream import EventStream
from vault_agent.vaults.health import Checks
from vault_agent.vaults.index_queue import IndexQueue
from vault_agent.vaults.index_reader import IndexReader, Suggester
from vault_agent.vaults.indexer import Indexer
from vault_agent.vaults.jobs import IndexBody, Jobs
from vault_agent.vaults.links import GraphLayout, Links
from vault_agent.vaults.runs import NOTES_EXCLUDED, Background, Runs, VaultCore
from vault_agent.vaults.secret import Secret
from vault_agent.vaults.watch import WHOLE_VAULT, Watch
from vault_agent.vaults.web_view import WebView
from vault_agent.vaults.write_access import WriteAccess

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator

    from vault_agent.config.settings import Config
    from vault_agent.config.vault_list import Registered
    from vault_agent.model.health import Health
    from vault_agent.model.jobs import Job, JobSummary
    from vault_agent.model.scope import Scope
    from vault_agent.model.search import Answer, RelatedQuery, SearchQuery
    from vault_agent.search.related import Subject
    from vault_agent.store.current import Snapshot
    from vault_agent.store.database import Connection
    from vault_agent.store.directory import ServerLock
    from vault_agent.store.jobs import JobStore
    from vault_agent.vault.attachments import OpenAttachment
    from vault_agent.vaults.jobs import ActiveJob
    from vault_agent.vaults.shared import Shared
    from vault_agent.writing.files import Files
    from vault_agent.writing.vault_writer import VaultWriter


Reply = TypeVar("Reply")
Options = ParamSpec("Options")

_BUSY_SECONDS = 1.0
_GREPS = 2
"""Calls of `grep` at once. Others wait."""


class OpenVault:
    """The parts of one vault. Made by `open_vault`, and for an agent by `open_for_agent`.

    An agent's vault has the folder and the paths of the owner's vault, and an index of what the
    agent sees. It is read like any other vault. Its `write_access` and `watch` are those of the
    owner's vault.
    """

    def __init__(
        self,
        config: Config,
        shared: Shared,
        core: VaultCore,
        store: JobStore,
        full_name: str,
        *,
        owners_vault: OpenVault | None = None,
    ) -> None:
        """Make it of its parts. `full_name` is `default`, or as `Registered.full_name`.

        `owners_vault` is set for an agent's vault: the vault that the agent sees a part of.
        """
        self.config = config
        self.agent_vaults: set[OpenVault] = set()
        """The open vaults of agents that see some of this one."""
        self._owners_vault = owners_vault
        self.full_name = full_name
        self._core = core
        self._registry = shared.registry
        self.reranker = shared.reranker
        self._rebuilt: int | None = None  # the damaged generation that was rebuilt
        self._is_writing_on = shared.write_enabled
        self.embedder = shared.embedder
        self.spec = core.spec
        self.identity = core.spec.identity
        """A hash of its resolved root."""
        self.scope = core.spec.exclusions.scope
        """The part of the folder that it is about: all, or what an agent sees."""
        self.index_folder = core.directory.path
        """Where its index lies, with those of its agents."""
        self.secret = Secret(core.directory.path / "secret")
        self.ended_sessions = core.directory.path / "sessions.ended"
        self.events = core.events
        self.indexer = core.indexer
        self.open_root = core.open_root

        # The parts that keep the index up to date.
        self.jobs = Jobs(store, partial(core.on_crash, "server"), core.events.add, shared.turn)
        source = None if owners_vault is None else str(owners_vault.index_folder)
        embeddings = Embeddings(shared, core.index, core.indexer, core.spec.directory, source)
        self.runs = Runs(core, embeddings)
        self.runs.on_begin, embeddings.on_made = self._tell_agent_vaults, self._share_vectors
        embeds = embeddings.enabled and owners_vault is None
        embed_later = EmbedLater(self.runs.embed, core.background.spawn, enabled=embeds)
        self.watch: Watch = (
            owners_vault.watch
            if owners_vault is not None
            else Watch(core, self.runs, embed_later, config.watch)
        )
        on_failure = self.watch.add_changes if owners_vault is None else None
        self._queue = IndexQueue(self.runs, core.background, embed_later, on_failure)
        self.checks = Checks(core, self.runs, self.jobs, self.watch, self._queue)

        self.reader = IndexReader(
            core=core,
            runs=self.runs,
            jobs=self.jobs,
            checks=self.checks,
            # The owner's watch counts notes that an agent does not see.
            watch=self.watch if owners_vault is None else None,
            queue=self._queue,
        )
        self.write_access: WriteAccess = (
            WriteAccess(
                core=core,
                queue=self._queue,
                index=self.reader,
                text_workers=shared.text_workers,
                settings=config.write,
            )
            if owners_vault is None
            else owners_vault.write_access
        )
        self.links = Links(core, self.reader.read, self.checks.warnings)
        ahead = config.web.enabled and owners_vault is None
        self.graph_layout = GraphLayout(core, self.links.revision, ahead=ahead)
        self.runs.on_refresh = self._follow_revision
        self.suggester = Suggester(core, self.reader.read, shared.text_workers)
        self.web_view = WebView(core, self.reader.read, self.secret, full_name, shared.text_workers)
        self.text_workers = shared.text_workers
        self.root_paths = (core.spec.root, str(config.vault.root))  # resolved, as configured
        self.grep_turns = anyio.Semaphore(_GREPS)

    def check_writable(self) -> None:
        """Check that notes may be changed.

        Raises:
            Misconfigured: `FEATURE_DISABLED` if writing is off.
            Forbidden: `VAULT_READ_ONLY` if only this vault is closed to it. `config_of` and
                `config_of_default` turn `write.enabled` off in its settings then.
        """
        if not self._is_writing_on:
            raise switched_off("write.enabled")
        if self.config.write.enabled:
            return
        if self.name is not None:
            raise Forbidden("VAULT_READ_ONLY", "The notes of this vault are never changed.")
        # The default vault has no name, and is closed only without `write.folders`.
        what = "No folder of this vault may be changed: write.folders names none."
        raise Forbidden("VAULT_READ_ONLY", what, {"setting": "write.folders"})

    @property
    def name(self) -> str | None:
        """Its name in replies, or None for the default vault."""
        if self.full_name == DEFAULT:
            return None
        return self._registry.unique(self.full_name, self.identity)

    async def read_files(
        self,
        function: Callable[Concatenate[Snapshot, VaultRoot, Options], Awaitable[Reply]],
        *args: Options.args,
        **options: Options.kwargs,
    ) -> Reply:
        """Return what `function(snapshot, root, *args, **options)` returns, as `IndexReader.read`.

        Raises:
            VaultAgentError: as `IndexReader.read`; `VAULT_NOT_FOUND`.
        """
        async with opened_in_thread(self.open_root) as root:
            return await self.reader.read(function, root, *args, **options)

    async def in_folder(
        self,
        function: Callable[Concatenate[VaultRoot, Options], Reply],
        *args: Options.args,
        **options: Options.kwargs,
    ) -> Reply:
        """Return what `function(root, *args, **options)` returns, called in a thread.

        Raises:
            VaultAgentError: as `function`; `VAULT_NOT_FOUND`.
        """

        def call() -> Reply:
            with self.open_root() as root:
                return function(root, *args, **options)

        return await in_thread(call)

    async def open_attachment(self, path: str, *, allow_large: bool) -> OpenAttachment:
        """Open an attachment for reading. The caller must enter it before the next `await`."""

        def open_it() -> OpenAttachment:
            with self.open_root() as root:
                return open_attachment(root, path, allow_large=allow_large)

        return await open_in_thread(open_it)

    async def search(self, query: SearchQuery) -> Answer:
        """Return ranked results of a query."""
        answer = await self.reader.read(
            search_in,
            query,
            embedder=self.embedder,
            reranker=self.reranker,
            warnings=self.reader.warnings(),
            indexing=self.jobs.is_indexing,
        )
        if answer.results or self.watch.is_current:
            return answer
        return replace(answer, indexed_at=self.runs.indexed_at)

    async def related(self, query: RelatedQuery, subject: Subject | None = None) -> Answer:
        """Return results that are similar to a note or chunk.

        With `subject`, that is the note or chunk of another vault.
        """
        return await self.reader.read(
            related,
            query,
            subject,
            embeddings=self.embedder is not None,
            warnings=self.reader.warnings(),
            indexing=self.jobs.is_indexing,
        )

    async def health(self) -> Health:
        """Return the current state of the vault, its index and its embeddings."""
        self.checks.compare_if_due()
        return self.checks.health(self.config, self.write_access)

    @property
    def writer(self) -> VaultWriter:
        """Carries out the writes that callers ask for. Raises as `WriteAccess.writer`."""
        return self.write_access.writer

    @property
    def files(self) -> Files:
        """Moves, deletes and adds whole files. Raises as `WriteAccess.writer`."""
        return self.write_access.files

    def excluded_folder(self, path: str) -> str | None:
        """Return the name of a folder above a path that is excluded by default, or None."""
        reason = self._core.spec.exclusions.reason(path)
        return reason[0] if reason is not None and reason[1] is Verdict.DEFAULT else None

    async def submit(
        self,
        kind: JobKind,
        options: IndexBody | None = None,
        trigger: Trigger = Trigger.USER,
    ) -> Job:
        """Start a job that indexes the whole vault, and return it.

        Raises:
            Busy: `INDEX_BUSY` with `details.jobId` while another one is active.
            Failed: `DISK_FULL`, `INDEX_IO_ERROR` if it cannot be recorded.
            Unavailable: `EMBEDDING_UNAVAILABLE` if the options ask for embeddings that are off.
        """
        chosen = options or IndexBody()
        if chosen.require_embeddings or chosen.fresh_embeddings:
            self.runs.embeddings.require_on()
        chosen = replace(
            chosen, require_embeddings=chosen.require_embeddings or self.config.embedding.require
        )

        async def work(progress: ActiveJob) -> JobSummary:
            with self._forgetting_a_full_disk():
                return await self.runs.index_all(kind, chosen, progress)

        return await self.jobs.submit(kind, work, trigger)

    def _follow_revision(self) -> None:
        """Drop what is kept of revisions that are not served. Rebuild a damaged index.

        A damaged generation is rebuilt once. If the rebuild fails, its job has the reason. After an
        error of the disk, the next refresh or failed read starts another rebuild.
        """
        index = self._core.index
        latest = index.latest
        self.links.forget(latest.revision if latest is not None else None)
        self.graph_layout.renew()
        if index.damaged not in (None, self._rebuilt):
            self._rebuilt = index.damaged
            self._core.background.spawn(self._rebuild)

    async def _rebuild(self) -> None:
        """Rebuild the index after the active job of the index, if there is one."""
        while True:
            while (running := self.jobs.indexing) is not None:
                async for _ in self.jobs.watch(running.id):
                    pass
            # Another job may have begun at this moment.
            with suppress(Busy), self._forgetting_a_full_disk():
                await self.submit(JobKind.REINDEX, trigger=Trigger.START)
                return
            await anyio.sleep(_BUSY_SECONDS)

    @contextmanager
    def _forgetting_a_full_disk(self) -> Iterator[None]:
        """Forget that a rebuild was tried if the disk was full, or failed."""
        try:
            yield
        except Failed as failure:
            if failure.code in ("DISK_FULL", "INDEX_IO_ERROR"):
                self._rebuilt = None
            raise

    async def start(self, *, behind: bool) -> None:
        """Serve the existing index, or start to build one.

        If the index may be `behind` its notes, start to update it too.
        """
        index = self._core.index
        await index.refresh()
        finished = await self.jobs.list_finished()
        complete = [
            job for job in finished if job.state is JobState.SUCCEEDED or job.index_finished
        ]
        if complete:
            self.runs.indexed_at = complete[0].finished_at or complete[0].started_at
        if finished:
            self.runs.incomplete = finished[0] not in complete
            self.runs.excluded = tuple(
                warning for warning in finished[0].warnings if warning.code == NOTES_EXCLUDED
            )
        await self._index_at_start(behind=behind)
        # After the first job, which has the warnings of the first index.
        if self.config.watch.enabled and self._owners_vault is None:
            self.watch.start()

    async def _index_at_start(self, *, behind: bool) -> None:
        index = self._core.index
        is_default = self.full_name == DEFAULT and self._owners_vault is None
        if index.refusal is None:
            if index.meta is None or behind:
                await self.submit(JobKind.INDEX, trigger=Trigger.START)
        elif index.has_other_fingerprint or index.damaged is not None or not is_default:
            # Only the default vault waits until somebody asks for a rebuild: most commands name it.
            self._rebuilt = index.damaged
            await self.submit(JobKind.REINDEX, trigger=Trigger.START)

    async def listening_at(self, url: str | None, *, until_idle: bool = False) -> None:
        """Record the server's URL for clients and for the error of a second server.

        None when the server stops: no client must find it any more.
        """
        folder = self._core.directory.path
        await asyncio.to_thread(record_address, folder, url, until_idle=until_idle)

    def _tell_agent_vaults(self, request: UpdateIndex) -> None:
        """Let the vaults of agents index the paths of this run too."""
        for vault in self.agent_vaults:
            vault.follow_run(request)

    def follow_run(self, request: UpdateIndex) -> None:
        """Index the paths of a run of the owner's index, as far as this vault has them."""
        excludes = self._core.spec.exclusions.excludes
        paths = [WHOLE_VAULT]
        if request.paths is not None:
            paths = [path for path in request.paths if not excludes(path, is_dir=True)]
        if request.rebuild:
            self._core.background.spawn(self._rebuild)
        elif paths and not request.indexes_attachments:
            self._queue.add(paths)

    def _share_vectors(self) -> None:
        for vault in self.agent_vaults:
            vault.use_vectors_of_owner()

    def use_vectors_of_owner(self) -> None:
        """Use the vectors that the owner's index has now, as soon as it can be written."""
        self._core.background.spawn(self.runs.embed)


MAX_PARALLEL = 4
AGENTS = "agents"
"""The folder with the indexes of a vault's agents, in the folder of the vault's own index."""


@asynccontextmanager
async def open_vault(
    config: Config,
    shared: Shared,
    *,
    entry: Registered | None = None,
    indexer: Indexer | None = None,
    lock: ServerLock | None = None,
) -> AsyncIterator[OpenVault]:
    """Open the vault of `config.vault` and its index. Only one server at a time can have it open.

    `entry` is its entry in the list of vaults, or None. `indexer` is that of the default vault,
    which all others share. `lock` keeps the index locked beyond the context.

    Raises:
        Misconfigured: `VAULT_NOT_FOUND`, `CONFIG_INVALID`.
        Busy: `INDEX_LOCKED` while another server uses this index.
        Failed: `DISK_FULL`, `INDEX_IO_ERROR`.
    """
    directory = IndexDirectory(index_directory(config))
    exclusions = Exclusions(config.vault.exclude)
    with VaultRoot.open(config.vault.root or "", exclusions) as root:
        path, identity = root.path, root.identity
    has_note_types = entry is not None and entry.has_note_types
    spec = IndexSpec(
        root=path,
        directory=str(directory.path),
        identity=identity,
        exclusions=exclusions,
        max_note_bytes=config.index.max_note_bytes,
        attachments=config.index.attachments,
        fields=config.index.frontmatter_fields,
        parallel=min(MAX_PARALLEL, os.cpu_count() or 1),
        has_note_types=has_note_types,
    )
    async with AsyncExitStack() as stack:
        with translated():
            if lock is not None:
                lock.release_others(directory)
            is_ours = partial(_is_ours, config, exclusions, entry)
            moved = await asyncio.to_thread(take_over, directory, identity, is_ours)
            directory.create()
            if lock is None:
                stack.enter_context(directory.serving())
            else:
                lock.hold(directory)
            record_vault(directory.path, path, None if entry is None else entry.uid)
        if own := indexer is None:
            indexer = Indexer(shared.on_crash)
            stack.push_async_callback(indexer.close)
        full_name = DEFAULT if entry is None else entry.full_name
        vault = await _make(stack, config, shared, spec, indexer, full_name=full_name)
        if own:
            stack.callback(indexer.retire)
        by_server = entry is not None and entry.role is not Role.OTHER and server_writes(config)
        await vault.start(behind=moved)
        await stack.enter_async_context(vault.write_access.accepting(by_server=by_server))
        yield vault


@asynccontextmanager
async def open_for_agent(
    owners_vault: OpenVault, shared: Shared, name: str, scope: Scope
) -> AsyncIterator[OpenVault]:
    """Open what an agent sees of a vault as a vault of its own, with its own index.

    Raises:
        VaultAgentError: as `open_vault`.
    """
    directory = IndexDirectory(owners_vault.index_folder / AGENTS / name)
    exclusions = Exclusions(owners_vault.spec.exclusions.patterns, scope)
    spec = replace(owners_vault.spec, directory=str(directory.path), exclusions=exclusions)
    async with AsyncExitStack() as stack:
        with translated():
            directory.create()
            stack.enter_context(directory.serving())
        vault = await _make(
            *(stack, owners_vault.config, shared, spec, owners_vault.indexer),
            full_name=owners_vault.full_name,
            owners_vault=owners_vault,
        )
        owners_vault.agent_vaults.add(vault)
        stack.callback(owners_vault.agent_vaults.discard, vault)
        await vault.start(behind=True)
        yield vault


async def _make(
    stack: AsyncExitStack,
    config: Config,
    shared: Shared,
    spec: IndexSpec,
    indexer: Indexer,
    *,
    full_name: str,
    owners_vault: OpenVault | None = None,
) -> OpenVault:
    """Make a vault of its parts. They are closed in reverse order: jobs, tasks, the index."""
    directory = IndexDirectory(Path(spec.directory))
    source = directory if owners_vault is None else IndexDirectory(owners_vault.index_folder)
    index = CurrentIndex(
        directory,
        identity=spec.identity,
        fingerprint=spec.fingerprint,
        vectors=None if shared.embedder is None else source.vectors,
        scope=spec.exclusions.scope,
    )
    store = await stack.enter_async_context(open_jobs(directory.jobs))
    stack.push_async_callback(index.close)
    background = Background(lambda report: shared.on_crash("server", report))
    await stack.enter_async_context(background)
    core = VaultCore(spec, directory, index, indexer, background, EventStream(), shared.on_crash)
    vault = OpenVault(config, shared, core, store, full_name, owners_vault=owners_vault)
    stack.push_async_callback(vault.jobs.close)
    return vault


def remove_agents(index_folder: Path, names: Collection[str]) -> None:
    """Remove the indexes of agents whose name is not in `names`."""
    for folder in (index_folder / AGENTS).glob("*/"):
        if folder.name not in names:
            shutil.rmtree(folder, ignore_errors=True)


def _is_ours(
    config: Config, exclusions: Exclusions, entry: Registered | None, index: IndexDirectory
) -> bool:
    """Whether an index is the one of this vault before it was moved.

    A registered vault is known by its `uid`, any other one by its notes.
    """
    if entry is not None:
        return recorded_uid(index.path) == entry.uid
    with VaultRoot.open(config.vault.root or "", exclusions) as root:

        def size_of(path: str) -> int | None:
            try:
                status = root.status(path)
            except CannotOpen:
                return None
            return None if status is None else status.st_size

        return has_notes(index, size_of)


_READY_SECONDS = 20.0


async def ready(vault: OpenVault, writer: VaultWriter) -> None:
    """Wait until a vault that may have just been opened can be written and is indexed.

    Raises:
        Busy: `SERVER_BUSY` if it takes too long.
    """
    try:
        async with asyncio.timeout(_READY_SECONDS):
            await writer.ready()
            while (job := vault.jobs.indexing) is not None:
                async for _ in vault.jobs.watch(job.id):
                    pass
    except TimeoutError:
        raise Busy("SERVER_BUSY", "The vault is still being opened or indexed.") from None


async def ask(vault: OpenVault, read: Callable[[Connection], Reply]) -> Reply:
    """Return what `read` finds in the index of a vault."""
    return await vault.reader.read(lambda snapshot: snapshot.read(read))


async def index_now(vault: OpenVault, *, seconds: float) -> None:
    """Index what has changed in a vault, and wait for the end of the job for at most `seconds`.

    The job goes on if it takes longer. If it fails, the index stays as it was.
    """
    with suppress(VaultAgentError, TimeoutError):
        job = vault.jobs.running or await vault.submit(JobKind.INDEX, trigger=Trigger.SCAN)
        async with asyncio.timeout(seconds):
            async for _ in vault.jobs.watch(job.id):
                pass


def is_unwatched(vault: OpenVault) -> bool:
    """Whether the vault is not the default one, and no watch notices its changes."""
    return vault.full_name != DEFAULT and not vault.watch.is_live
