"""The runs that bring the index of one vault up to date, and what they publish.

Runs that nobody waits for are tasks in the background of the vault.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self, TypeVarTuple

import anyio

from vault_agent.errors import IndexUnavailable, VaultAgentError
from vault_agent.indexing.protocol import Phase, Published, ReadAttachments, UpdateIndex
from vault_agent.model.jobs import JobKind
from vault_agent.model.warning import Warning
from vault_agent.model.writing import IndexState
from vault_agent.store.failures import is_damage
from vault_agent.system.cancelling import in_thread, to_its_end
from vault_agent.system.crash import describe_crash
from vault_agent.vault.root import VaultRoot
from vault_agent.vaults.event_stream import Signal, revision_of
from vault_agent.vaults.jobs import timestamp

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Sequence
    from types import TracebackType

    from vault_agent.indexing.protocol import IndexSpec, RunResult
    from vault_agent.model.jobs import JobSummary
    from vault_agent.store.current import CurrentIndex
    from vault_agent.store.directory import IndexDirectory
    from vault_agent.system.crash import CrashReport
    from vault_agent.vaults.embeddings import Embeddings
    from vault_agent.vaults.event_stream import EventStream
    from vault_agent.vaults.indexer import Indexer, OnCrash, RunEvent
    from vault_agent.vaults.jobs import ActiveJob, IndexBody

NOTES_EXCLUDED = "NOTES_EXCLUDED"
_UNAVAILABLE = "EMBEDDING_UNAVAILABLE"


@dataclass(frozen=True, slots=True)
class VaultCore:
    """What the parts of an open vault share, such as `Runs`, `Watch` and `Links`.

    Args:
        spec: what of the vault is indexed, and how.
        directory: the folder of the index.
        index: the revision that is served.
        indexer: starts the indexing processes, and sends them requests.
        background: runs tasks while the vault is open.
        events: tells clients what has happened.
        on_crash: gets the name of a process and the report of its crash.
    """

    spec: IndexSpec
    directory: IndexDirectory
    index: CurrentIndex
    indexer: Indexer
    background: Background
    events: EventStream
    on_crash: OnCrash

    def open_root(self) -> VaultRoot:
        """Open the vault's folder, unless it was unmounted, moved or replaced since the start."""
        return VaultRoot.open(self.spec.root, self.spec.exclusions, identity=self.spec.identity)


class Runs:
    """Runs the indexing of one vault, and serves what it has published.

    `index_paths` is for our own writes and, in an agent's vault, for the paths that a run of the
    owner's index has taken. `index_watched` is for the watch. `index_changes` is for a request that
    needs the notes as they are now. `index_all` is for a job, and embeds too.
    """

    def __init__(self, core: VaultCore, embeddings: Embeddings) -> None:
        self.embeddings = embeddings
        self.whole_runs = 0
        """The number of runs that have read all notes."""
        self.incomplete = False
        """Whether the last job failed, and no run has read all notes since."""
        self.indexed_at: str | None = None
        """When a run had last read all notes; ISO 8601."""
        self.excluded: tuple[Warning, ...] = ()
        """Folders with notes that the last run of the whole vault skipped by their names."""
        self._core = core
        self._refreshed = Signal()
        self._reading_attachments = anyio.Lock()
        self.on_begin: Callable[[UpdateIndex], object] = lambda _: None
        """Called with the request of each run, when it begins."""
        self.on_refresh: Callable[[], object] = lambda: None
        """Called each time that another revision may be served."""

    async def index_paths(
        self, paths: Sequence[str], on_served: Callable[[IndexState], object] = lambda _: None
    ) -> None:
        """Index files that have changed, without a job and without embeddings.

        `on_served` is called when searches see them: once it is published, and at the end.

        Raises:
            VaultAgentError: as `Indexer.run`.
        """

        def tell_served() -> None:
            if (meta := self._core.index.meta) is not None:
                on_served(IndexState("indexed", meta.generation, meta.revision))

        request = UpdateIndex(self._core.spec, paths=tuple(paths))
        await self._run(request, lambda event: self._serve_published(event, tell_served))
        tell_served()  # a run that changes nothing publishes nothing

    async def index_watched(
        self, paths: tuple[str, ...] | None, on_served: Callable[[], object]
    ) -> None:
        """Index the paths that a watch names, or the whole vault.

        `on_served` is called when searches see a revision that the run has published, so never by a
        run that changes nothing.
        """

        def tell_served() -> None:
            if paths is None:
                self._set_indexed_at()
            on_served()

        request = UpdateIndex(self._core.spec, paths=paths, by_watch=True)
        await self._run(request, lambda event: self._serve_published(event, tell_served))
        if paths is None:
            self._finish_whole_run()

    async def index_changes(self) -> None:
        """Index all changes of the vault since the last run, without a job."""
        request = UpdateIndex(self._core.spec)
        await self._run(request, lambda event: self._serve_published(event, self._set_indexed_at))
        self._finish_whole_run()

    async def embed(self, *, fresh: bool = False) -> bool:
        """Embed the chunks without a vector, or all. Return False if the endpoint fails.

        An agent's vault takes over the vectors of the owner's index instead.
        """
        works = True

        def on_event(event: RunEvent) -> None:
            nonlocal works
            works = works and not (isinstance(event, Warning) and event.code == _UNAVAILABLE)
            self._serve_published(event)

        await self.embeddings.make(on_event, fresh=fresh)
        return works

    async def wait_for(self, generation: int, revision: int) -> None:
        """Wait until searches see this revision of the index or a later one.

        Raises:
            IndexUnavailable: `INDEX_INCOMPATIBLE` if the index may no longer be searched, or
                `INDEX_NOT_FOUND` if it is gone.
        """
        while True:
            meta = self._core.index.meta
            self._core.index.check()
            if meta is not None and (meta.generation, meta.revision) >= (generation, revision):
                return
            await self._refreshed.wait()

    async def index_all(
        self,
        kind: JobKind,
        options: IndexBody,
        progress: ActiveJob,
    ) -> JobSummary:
        """Index the whole vault, and embed if that is enabled."""
        indexed = False

        def on_event(event: RunEvent) -> None:
            if isinstance(event, Phase):
                asks = event.name == "embed" and event.done != event.total
                progress.phase(
                    event.name,
                    event.done,
                    event.total,
                    event.characters,
                    endpoint=self.embeddings.address if asks else None,
                )
            elif isinstance(event, Warning):
                progress.warn(event)
            self._serve_published(event, self._set_indexed_at)

        # The job makes the vectors that are missing, and reports their progress.
        await self._core.indexer.stop_embedding(self._core.spec.directory)
        try:
            request = UpdateIndex(self._core.spec, rebuild=kind is JobKind.REINDEX)
            run = await self._run(request, on_event, then_index_attachments=False)
            indexed = True
        finally:
            self.incomplete = not indexed
        self._finish_whole_run()
        progress.index_finished()
        last = await self._read_attachments(on_event) if run.attachments_due else None
        made = await self.embeddings.make(
            on_event, require=options.require_embeddings, fresh=options.fresh_embeddings
        )
        summary = replace(run.summary, chunks=(last or run).summary.chunks)
        if made is None:
            return summary
        await self.refresh()
        return replace(
            summary, embedded=made.embedded, reused=made.reused, embedding_failed=made.failed
        )

    async def _read_attachments(self, on_event: Callable[[RunEvent], object]) -> RunResult | None:
        """Read each attachment whose text waits to be read once, and index the texts.

        Return the result of the last index run, or None if no text was read.
        """
        spec, run = self._core.spec, None
        after: str | None = ""
        async with self._reading_attachments:
            while after is not None:
                request = ReadAttachments(spec, after)
                read = await self._core.indexer.read_attachments(request, on_event)
                if read.paths:
                    update = UpdateIndex(spec, paths=read.paths, indexes_attachments=True)
                    run = await self._run(update, on_event, then_index_attachments=False)
                after = read.last
        return run

    async def _read_in_background(self) -> None:
        """Read the attachments that a run has left unread, and embed their texts."""
        with suppress(VaultAgentError):  # the next run reports them as unread again
            if await self._read_attachments(self._serve_published) is not None:
                await self.embed()

    async def refresh(self) -> None:
        """Serve the newest published state, and announce it."""
        try:
            # A cancellation waits until it has opened its files.
            await to_its_end(self._core.index.refresh())
        finally:
            self.announce()

    async def refuse(self, damage: IndexUnavailable, generation: int) -> None:
        """Stop serving a generation in which a read or a run has met damage."""
        if is_damage(damage):
            await to_its_end(self._core.index.refuse(damage, generation))
            self.announce()

    def announce(self) -> None:
        """Call `on_refresh`, and wake the tasks of `wait_for`."""
        self.on_refresh()
        self._refreshed.announce()

    async def _run(
        self,
        request: UpdateIndex,
        on_event: Callable[[RunEvent], object],
        *,
        then_index_attachments: bool = True,
    ) -> RunResult:
        """Send the request to the keeper, serve what it publishes, and remove old files.

        Searches see the index as soon as it is published. With `then_index_attachments`, the
        attachments that the run has left unread are read in the background.
        """
        self.on_begin(request)
        index, excluded = self._core.index, []

        def record_excluded(event: RunEvent) -> None:
            if isinstance(event, Warning) and event.code == NOTES_EXCLUDED:
                excluded.append(event)
            on_event(event)

        try:
            run = await self._core.indexer.run(request, record_excluded)
            if request.paths is None:
                self.excluded = tuple(excluded)
            await self.refresh()
            index.check()  # raises if damage that the run has not met keeps it from being served
        except IndexUnavailable as damage:
            if index.meta is not None:
                await self.refuse(damage, index.meta.generation)
            else:
                self.announce()
            raise
        except BaseException:
            # The run may have published before it failed.
            await to_its_end(quietly(self.refresh()))
            raise
        finally:
            await in_thread(sweep, self._core.directory)
        if then_index_attachments and run.attachments_due:
            self._core.background.spawn(self._read_in_background)
        return run

    def _serve_published(
        self, event: RunEvent, on_served: Callable[[], object] = lambda: None
    ) -> None:
        """If the event says that a new state is published, serve it in the background."""
        if isinstance(event, Published):
            self._core.background.spawn(self._serve_run, event.run, on_served)

    async def _serve_run(self, run: RunResult | None, on_served: Callable[[], object]) -> None:
        await self.refresh()
        if run is not None:
            on_served()  # before the news, so that clients who get it find this done
            self._core.events.add(revision_of(run))

    def _set_indexed_at(self) -> None:
        """Record that searches see all notes as they are on the disk now."""
        self.indexed_at = timestamp()

    def _finish_whole_run(self) -> None:
        """Record that a run has read all notes, even if it has published nothing."""
        self._set_indexed_at()
        self.incomplete = False
        self.whole_runs += 1


def sweep(directory: IndexDirectory) -> None:
    """Remove replaced and half-written files, unless another run has begun."""
    with suppress(VaultAgentError, OSError), directory.writing(wait=False):
        directory.sweep(keep=directory.current())


_Args = TypeVarTuple("_Args")


class Background:
    """A task group in which a failing task does not end the others.

    Leaving the context cancels all tasks and waits for their end. A `VaultAgentError` or `OSError`
    is ignored, because `health` shows its effect. Any other error is reported to `on_crash`.
    """

    def __init__(self, on_crash: Callable[[CrashReport], object]) -> None:
        self._on_crash = on_crash
        self._group = anyio.create_task_group()

    async def __aenter__(self) -> Self:
        await self._group.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._group.cancel_scope.cancel()
        await self._group.__aexit__(None, None, None)

    def spawn(self, work: Callable[[*_Args], Coroutine[Any, Any, object]], *args: *_Args) -> None:
        """Start a task that runs `work(*args)`."""
        self._group.start_soon(self._run, lambda: work(*args))

    async def _run(self, work: Callable[[], Coroutine[Any, Any, object]]) -> None:
        try:
            await quietly(work())
        except Exception as error:  # noqa: BLE001 - it would cancel the whole task group
            self._on_crash(describe_crash(error))


async def quietly(work: Awaitable[object]) -> None:
    """Await work and ignore a `VaultAgentError` or `OSError`."""
    with suppress(VaultAgentError, OSError):
        await work
