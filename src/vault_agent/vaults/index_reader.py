"""Reads of the index of one open vault. A read of an outdated snapshot is repeated."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Concatenate, ParamSpec, Protocol, TypeVar

import anyio

from vault_agent.errors import Failed, IndexUnavailable, NotFound, VaultAgentError
from vault_agent.model.identifiers import identify
from vault_agent.search.complete import read_names, stats_of, suggest
from vault_agent.store.current import SnapshotOutdated
from vault_agent.store.index.notes import note_by_id
from vault_agent.vaults.health import while_running

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from vault_agent.model.names import Stats, Suggestion, SuggestQuery
    from vault_agent.model.warning import Warning
    from vault_agent.search.complete import NameCatalog
    from vault_agent.store.current import Snapshot
    from vault_agent.system.workers import TextWorkers
    from vault_agent.vaults.health import Checks
    from vault_agent.vaults.index_queue import IndexQueue
    from vault_agent.vaults.jobs import Jobs
    from vault_agent.vaults.runs import Runs, VaultCore
    from vault_agent.vaults.shared import Read
    from vault_agent.vaults.watch import Watch

Reply = TypeVar("Reply")
Options = ParamSpec("Options")

MAX_ATTEMPTS = 5


class HasWarnings(Protocol):
    """A dataclass with warnings."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def warnings(self) -> tuple[Warning, ...]:
        """The warnings of a reply."""


Warned = TypeVar("Warned", bound=HasWarnings)


class IndexReader:
    """Lends the current revision of a vault's index, and gives its warnings."""

    def __init__(
        self,
        core: VaultCore,
        runs: Runs,
        jobs: Jobs,
        checks: Checks,
        watch: Watch | None,
        *,
        queue: IndexQueue,
    ) -> None:
        """Make it of its parts.

        `watch` is None in an agent's vault. There each read waits for the paths in the queue, and
        no warning is of a watch.
        """
        self._core = core
        self._runs = runs
        self._jobs = jobs
        self._checks = checks
        self._watch = watch
        self._queue = queue

    async def read(
        self,
        function: Callable[Concatenate[Snapshot, Options], Awaitable[Reply]],
        *args: Options.args,
        **options: Options.kwargs,
    ) -> Reply:
        """Return what `function(snapshot, *args, **options)` returns, for the current revision.

        If a run replaces the revision meanwhile, the function is called again with the next one. If
        the function misses a note while the queue has paths, it is called again after their run:
        the server may have just written the note.

        Raises:
            IndexUnavailable: why the index is not served.
            Failed: `INTERNAL_ERROR` if the index changes faster than it can be read.
            VaultAgentError: as `function`.
        """
        waited = False
        for _ in range(MAX_ATTEMPTS):
            missing: NotFound | None = None
            async with self.snapshot() as snapshot:
                try:
                    return await function(snapshot, *args, **options)
                except SnapshotOutdated:
                    pass
                except NotFound as error:
                    if waited or error.code != "NOTE_NOT_FOUND":
                        raise
                    missing = error
                except IndexUnavailable as damage:
                    await self._runs.refuse(damage, snapshot.meta.generation)
                    raise
            if missing is not None:
                if not await self._queue.catch_up():
                    raise missing
                waited = True
            await self._runs.refresh()
        raise Failed("INTERNAL_ERROR", "The index changed faster than it could be read. Ask again.")

    async def read_with_warnings(
        self,
        function: Callable[Concatenate[Snapshot, Options], Awaitable[Warned]],
        *args: Options.args,
        **options: Options.kwargs,
    ) -> Warned:
        """As `read`, with the warnings of the index before those of the reply."""
        reply = await self.read(function, *args, **options)
        return replace(reply, warnings=(*self.warnings(), *reply.warnings))

    @asynccontextmanager
    async def snapshot(self, *, up_to_date: bool = False) -> AsyncIterator[Snapshot]:
        """Lend the current revision of the index. Reads of it agree.

        With `up_to_date`, first index all changes of the vault.

        Raises:
            IndexUnavailable: why it is not served.
        """
        if up_to_date:
            await self._runs.index_changes()
        if self._watch is None:  # in an agent's vault
            await self._queue.catch_up()
        self._checks.compare_if_due()
        index = self._core.index
        try:
            async with index.snapshot() as snapshot:
                yield snapshot
        except IndexUnavailable as error:
            if index.damaged is not None:
                self._runs.announce()  # a rebuild that failed on a full disk begins again
            raise while_running(error, self._jobs.indexing) from None

    async def knows(self, path: str) -> bool:
        """Whether the index has a note at a path."""
        try:
            async with self.snapshot() as snapshot:
                return await snapshot.read(note_by_id, identify(path)) is not None
        except VaultAgentError:
            return False

    def warnings(self) -> tuple[Warning, ...]:
        """Return the warnings for a reply from the index."""
        of_watch = () if self._watch is None else self._watch.warnings()
        return (*self._checks.warnings(), *of_watch)


class Suggester:
    """Suggests names for what a user types, and counts what the index has.

    The names of a new revision are read in the background. Until then, suggestions are of the
    previous names, so that nobody waits while they type.
    """

    def __init__(self, core: VaultCore, read: Read, text_workers: TextWorkers) -> None:
        self._core = core
        self._read = read
        self._text_workers = text_workers
        self._names: NameCatalog | None = None
        self._stats: Stats | None = None
        self._reading = anyio.Lock()

    async def suggest(self, query: SuggestQuery) -> list[Suggestion]:
        """Return suggestions for what was typed, best first."""

        async def answer(now: Snapshot) -> list[Suggestion]:
            names = await self._known(now)
            return await suggest(now, names, query, self._core.open_root, self._text_workers)

        return await self._read(answer)

    async def stats(self) -> Stats:
        """Return numbers of the current revision."""

        async def answer(now: Snapshot) -> Stats:
            if self._stats is None or self._stats.revision != now.revision:
                self._stats = await stats_of(now)
            return self._stats

        return await self._read(answer)

    async def _known(self, now: Snapshot) -> NameCatalog:
        kept = self._names
        if kept is None:
            async with self._reading:
                if self._names is None:
                    self._names = await read_names(now)
                return self._names
        if kept.revision != now.revision and not self._reading.statistics().locked:
            self._core.background.spawn(self._renew)
        return kept

    async def _renew(self) -> None:
        async with self._reading:
            self._names = await self._read(read_names)
