"""One open vault: its parts, how they are put together, and how it is opened."""

from __future__ import annotations

import asyncio
import os
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

import anyio

from vault_agent.config import index_directory
from vault_agent.config.access import writes_by_itself
from vault_agent.config.registry import DEFAULT, Role
from vault_agent.errors import Busy
from vault_agent.indexing.protocol import Cluster, LayOut
from vault_agent.indexing.task import IndexTask, fingerprint_of
from vault_agent.model.jobs import JobKind, Trigger
from vault_agent.search.related import related
from vault_agent.search.search import search
from vault_agent.store.current import CurrentIndex
from vault_agent.store.database import translated
from vault_agent.store.jobs import open_jobs
from vault_agent.store.layout import IndexDirectory, has_notes, take_over
from vault_agent.system.cancelling import in_thread, open_in_thread, opened_in_thread
from vault_agent.vault.attachments import open_attachment
from vault_agent.vault.exclude import Exclusions, Verdict
from vault_agent.vault.opening import CannotOpen
from vault_agent.vault.root import VaultRoot
from vault_agent.vaults.background import Background
from vault_agent.vaults.embeddings import Embeddings
from vault_agent.vaults.event_stream import EventStream
from vault_agent.vaults.following import EmbedLater, Following
from vault_agent.vaults.graph_layout import GraphLayout
from vault_agent.vaults.health import Checks, health
from vault_agent.vaults.indexer import Indexer
from vault_agent.vaults.jobs import JobOptions, Jobs
from vault_agent.vaults.links import Links
from vault_agent.vaults.pages import Pages
from vault_agent.vaults.reading import LinksOfVault, Reading, TypingHelp
from vault_agent.vaults.runs import NOTES_EXCLUDED, IndexedVault, Runs
from vault_agent.vaults.secret import Secret
from vault_agent.vaults.watch import Watch
from vault_agent.vaults.writes import Writes

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from vault_agent.config import Config
    from vault_agent.config.registry import Registered
    from vault_agent.model.health import Health
    from vault_agent.model.jobs import Job
    from vault_agent.model.search import Answer, RelatedQuery, SearchQuery
    from vault_agent.model.writing import LoggedWrite
    from vault_agent.models.embedder import Embedder
    from vault_agent.search.related import Subject
    from vault_agent.store.current import Snapshot
    from vault_agent.store.jobs import JobStore
    from vault_agent.store.layout import ServerLock
    from vault_agent.vault.attachments import OpenAttachment
    from vault_agent.vaults.shared import Shared
    from vault_agent.writing.files import Files
    from vault_agent.writing.write import Writing


Reply = TypeVar("Reply")
Options = ParamSpec("Options")

_BUSY_SECONDS = 1.0
_SCANS = 2
"""Scans of the whole vault at once. Others wait."""


class OpenVault:
    """The operations of one vault. Made by `open_vault`."""

    def __init__(
        self, config: Config, shared: Shared, vault: IndexedVault, store: JobStore, address: str
    ) -> None:
        """Make it of its parts. `address` is what requests call it."""
        self.config = config
        self.address = address
        self._vault = vault
        self._known = shared.known
        self.reranker = shared.reranker
        self._rebuilt: int | None = None  # the damaged generation that was rebuilt
        self._is_read_only = shared.may_write and not config.write.enabled
        self.secret = Secret(vault.directory.path / "secret")
        self.ended_sessions = vault.directory.path / "sessions.ended"
        self.events = vault.events
        self.indexer = vault.indexer
        self.open_root = vault.open_root

        # What is on the disk is in the index.
        self.jobs = Jobs(store, partial(vault.on_crash, "server"), vault.events.add, shared.turn)
        embeddings = Embeddings(
            shared.embedder, shared.endpoint, vault.index, vault.indexer, vault.task.directory
        )
        self.runs = Runs(vault, embeddings)
        embed_later = EmbedLater(self.runs, vault.background, enabled=embeddings.enabled)
        self.watch = Watch(vault, self.runs, embed_later, config.watch)
        following = Following(self.runs, vault.background, embed_later, self.watch.look_at)
        self.checks = Checks(vault, self.runs, self.jobs, self.watch, following)

        # Reads and writes.
        reading = Reading(vault, self.runs, self.jobs, self.checks, self.watch, following=following)
        self.read, self.answer, self.snapshot = reading.read, reading.answer, reading.snapshot
        self.warnings = reading.warnings
        links = LinksOfVault(self.runs, reading)
        self.writes = Writes(
            vault, following, links, shared.texts, config.write, on_written=self._announce_write
        )
        self.links = Links(self.read, partial(vault.ask, Cluster(vault.task)), self.checks.warnings)
        self.layout = GraphLayout(
            vault.directory.positions,
            partial(vault.ask, LayOut(vault.task)),
            self.links.revision,
            vault.background,
            ahead=config.web.enabled,
        )
        self.runs.on_refresh(self._follow_revision)
        self.typing = TypingHelp(self.read, vault.open_root, vault.background, shared.texts)
        self.pages = Pages(
            self.read, vault.open_root, self.secret, self.identity, address, allowance=shared.texts
        )
        self.allowance = shared.texts
        self.roots = (vault.task.root, str(config.vault.root))
        self.scans = anyio.Semaphore(_SCANS)

    @property
    def identity(self) -> str:
        """The identity of the vault: a hash of its resolved root."""
        return self._vault.task.vault

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
    def embedder(self) -> Embedder | None:
        """The embedding client, or None if embeddings are off."""
        return self.runs.embeddings.embedder

    @property
    def workplace(self) -> Path:
        """The folder of the index, for files that live as long as a request."""
        return self._vault.directory.path

    async def read_files(
        self,
        function: Callable[Concatenate[Snapshot, VaultRoot, Options], Awaitable[Reply]],
        *args: Options.args,
        **options: Options.kwargs,
    ) -> Reply:
        """Return what `function(snapshot, root, *args, **options)` returns, as `read`.

        Raises:
            VaultAgentError: as `read`; `VAULT_NOT_FOUND`.
        """
        async with opened_in_thread(self.open_root) as root:
            return await self.read(function, root, *args, **options)

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

        def look() -> Reply:
            with self.open_root() as root:
                return function(root, *args, **options)

        return await in_thread(look)

    async def open_attachment(self, path: str, *, allow_large: bool) -> OpenAttachment:
        """Open an attachment for reading. The caller must enter it before the next `await`."""

        def open_it() -> OpenAttachment:
            with self.open_root() as root:
                return open_attachment(root, path, allow_large=allow_large)

        return await open_in_thread(open_it)

    async def search(self, query: SearchQuery) -> Answer:
        """Return ranked candidates for a query."""
        answer = await self.read(
            search,
            query,
            embedder=self.embedder,
            reranker=self.reranker,
            warnings=self.warnings(),
            indexing=self.jobs.is_indexing,
        )
        if answer.hits or self.watch.is_current:
            return answer
        return replace(answer, indexed_at=self.runs.indexed_at)

    async def related(self, query: RelatedQuery, subject: Subject | None = None) -> Answer:
        """Return candidates that are similar to a note or chunk, or to one of another vault."""
        return await self.read(
            related,
            query,
            subject,
            embeddings=self.embedder is not None,
            warnings=self.warnings(),
            indexing=self.jobs.is_indexing,
        )

    async def health(self) -> Health:
        """Return the current state of the vault, its index and its embeddings."""
        self.checks.compare_if_due()
        return health(
            self.config,
            self._vault,
            running=self.jobs.running,
            runs=self.runs,
            checks=self.checks,
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

    def excluded_folder(self, path: str) -> str | None:
        """Return the name of a folder above a path that is excluded by default, or None."""
        reason = self._vault.exclusions.reason(path)
        return reason[0] if reason is not None and reason[1] is Verdict.DEFAULT else None

    async def submit(
        self,
        kind: JobKind,
        options: JobOptions | None = None,
        trigger: Trigger = Trigger.USER,
    ) -> Job:
        """Start a job that indexes the whole vault, and return it.

        Raises:
            Busy: `INDEX_BUSY` with `details.jobId` while another one is active.
            Failed: `DISK_FULL`, `INDEX_IO_ERROR` if it cannot be recorded.
            Unavailable: `EMBEDDING_UNAVAILABLE` if the options ask for embeddings that are off.
        """
        chosen = options or JobOptions()
        if chosen.require_embeddings or chosen.fresh_embeddings:
            self.runs.embeddings.require_on()
        chosen = replace(
            chosen, require_embeddings=chosen.require_embeddings or self.config.embedding.require
        )
        return await self.jobs.submit(
            kind, lambda progress: self.runs.job(kind, chosen, progress), trigger
        )

    def _announce_write(self, logged: LoggedWrite) -> None:
        self._vault.events.add(logged)

    def _follow_revision(self) -> None:
        """Drop what is kept of other revisions than the one that is served. Rebuild after damage.

        A damaged generation is rebuilt once: if that fails, the reason stands in its job.
        """
        index = self._vault.index
        latest = index.latest
        self.links.forget(latest.revision if latest is not None else None)
        self.layout.renew()
        if index.damaged not in (None, self._rebuilt):
            self._rebuilt = index.damaged
            self._vault.background.spawn(self._rebuild)

    async def _rebuild(self) -> None:
        """Rebuild the index, after the job that runs."""
        while True:
            while (running := self.jobs.indexing) is not None:
                async for _ in self.jobs.watch(running.id):
                    pass
            with suppress(Busy):  # another job has begun at this moment
                await self.submit(JobKind.REINDEX, trigger=Trigger.START)
                return
            await anyio.sleep(_BUSY_SECONDS)

    async def start(self, *, took_over: bool = False) -> None:
        """Serve the existing index, or start to build the first one. Renew one of a moved vault."""
        index = self._vault.index
        await self.jobs.recover()
        await index.refresh()
        self.runs.incomplete = await self.jobs.were_cut_short()
        self.runs.indexed_at = await self.jobs.last_indexed()
        last = await self.jobs.last_finished()
        if last is not None:
            self.runs.excluded = tuple(
                warning for warning in last.warnings if warning.code == NOTES_EXCLUDED
            )
        if self.config.watch.enabled:
            self.watch.start()
        if index.meta is None and index.refusal is None:
            await self.submit(JobKind.INDEX, trigger=Trigger.START)
            return
        refused = index.refusal is not None and not index.has_other_exclusions
        if refused and (self.address != DEFAULT or index.is_outdated or index.damaged is not None):
            # Of another vault nobody would be asked: commands are mostly about the default one.
            self._rebuilt = index.damaged
            await self.submit(JobKind.REINDEX, trigger=Trigger.START)
            return
        if index.has_other_exclusions or (index.meta is not None and took_over):
            await self.submit(JobKind.INDEX, trigger=Trigger.START)

    async def listening_at(self, address: str | None, *, until_idle: bool = False) -> None:
        """Record the server's address for clients and for the error of a second server.

        None: it stops, so no client shall find it any more.
        """
        directory = self._vault.directory
        await asyncio.to_thread(directory.note_address, address, until_idle=until_idle)


MAX_PARALLEL = 4


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

    `entry` is its entry in the list of vaults; None for the default vault. `indexer` is that of
    the default vault, which all others share. `lock` holds its index beyond the context.

    Raises:
        Misconfigured: `VAULT_NOT_FOUND`, `CONFIG_INVALID`.
        Busy: `INDEX_LOCKED` while another server uses this index.
        Failed: `DISK_FULL`, `INDEX_IO_ERROR`.
    """
    directory = IndexDirectory(index_directory(config))
    exclusions = Exclusions(config.vault.exclude)
    with VaultRoot.open(config.vault.root or "", exclusions) as root:
        path, identity = root.path, root.identity
    typed = entry is not None and entry.has_note_types
    fingerprint = fingerprint_of(
        exclusions,
        config.index.max_note_bytes,
        config.index.frontmatter_fields,
        typed=typed,
        attachments=config.index.attachments,
    )
    task = IndexTask(
        root=path,
        directory=str(directory.path),
        vault=identity,
        exclude=config.vault.exclude,
        max_note_bytes=config.index.max_note_bytes,
        attachments=config.index.attachments,
        fields=config.index.frontmatter_fields,
        fingerprint=fingerprint,
        rebuild=False,
        parallel=min(MAX_PARALLEL, os.cpu_count() or 1),
        typed=typed,
    )
    index = CurrentIndex(
        directory,
        vault=identity,
        fingerprint=fingerprint,
        vectors=shared.embedder is not None,
        is_excluded=exclusions.excludes,
    )
    # Closed in reverse order: jobs, background tasks, the keeper, the index.
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
            directory.note_vault(path)
            if entry is not None:
                directory.note_owner(path, entry.uid)
        store = await stack.enter_async_context(open_jobs(directory.jobs))
        stack.push_async_callback(index.close)
        background = Background(lambda report: shared.on_crash("server", report))
        if own := indexer is None:
            indexer = Indexer(shared.on_crash)
            stack.push_async_callback(indexer.close)
        await stack.enter_async_context(background)
        indexed = IndexedVault(
            task, exclusions, directory, index, indexer, background, EventStream(), shared.on_crash
        )
        address = DEFAULT if entry is None else entry.address
        vault = OpenVault(config, shared, indexed, store, address)
        stack.push_async_callback(vault.jobs.close)
        if own:
            stack.callback(indexer.retire)
        by_itself = entry is not None and entry.role is not Role.OTHER and writes_by_itself(config)
        await vault.start(took_over=moved)
        await stack.enter_async_context(vault.writes.accepting(by_itself=by_itself))
        yield vault


def _is_ours(
    config: Config, exclusions: Exclusions, entry: Registered | None, index: IndexDirectory
) -> bool:
    """Whether an index is the one of this vault before it was moved.

    A registered vault is known by its `uid`, any other one by its notes.
    """
    if entry is not None:
        return index.owner == entry.uid
    with VaultRoot.open(config.vault.root or "", exclusions) as root:

        def size_of(path: str) -> int | None:
            try:
                status = root.status(path)
            except CannotOpen:
                return None
            return None if status is None else status.st_size

        return has_notes(index, size_of)
