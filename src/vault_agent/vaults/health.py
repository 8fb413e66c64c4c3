"""The state of a vault, its index and its embeddings, and the checks between runs.

The keeper compares the vault with its index, so that requests are not delayed. A check that finds
a problem adds a warning to every reply.
"""

from __future__ import annotations

import time
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING

import anyio

from vault_agent import __version__
from vault_agent.config.settings import switched_on
from vault_agent.errors import IndexUnavailable, Misconfigured
from vault_agent.indexing.protocol import Compare
from vault_agent.model.health import EmbeddingHealth, Health, IndexHealth, ServedVault, WatchState
from vault_agent.model.jobs import JobKind
from vault_agent.model.warning import Warning

if TYPE_CHECKING:
    from vault_agent.config.settings import Config
    from vault_agent.errors import VaultAgentError
    from vault_agent.model.jobs import Job
    from vault_agent.vaults.index_queue import IndexQueue
    from vault_agent.vaults.jobs import Jobs
    from vault_agent.vaults.runs import Runs, VaultCore
    from vault_agent.vaults.watch import Watch
    from vault_agent.vaults.write_access import WriteAccess


MAX_EXCLUDED = 10
"""The most folders with excluded notes that the state names. The job of the index names more."""
STALE_CHECK_SECONDS = 30.0
_SECONDS_UNTIL_ANNOUNCED = 1.0


class Checks:
    """Whether an index is behind its vault, as the last comparison of both has found.

    Nothing is compared while a job indexes or the watch notices changes. The result of a comparison
    is dropped if the index queue had work meanwhile.
    """

    def __init__(
        self, core: VaultCore, runs: Runs, jobs: Jobs, watch: Watch, queue: IndexQueue
    ) -> None:
        self._core = core
        self._runs = runs
        self._jobs = jobs
        self._watch = watch
        self._queue = queue
        self._stale = False
        self._unreachable: Warning | None = None  # why the vault could not be read
        self._runs_before = 0  # `Runs.whole_runs` when the last comparison began
        self._comparing = False
        self._next_comparison = 0.0

    @property
    def stale(self) -> bool:
        """Whether the last comparison found changes. False after a whole run, and under a watch."""
        return self._stale and not self._result_is_outdated and not self._watched

    @property
    def _result_is_outdated(self) -> bool:
        """Whether a run has read all notes since the last comparison began."""
        return self._runs_before != self._runs.whole_runs

    @property
    def _watched(self) -> bool:
        return self._watch.is_live or self._watch.state is WatchState.AWAY

    def warnings(self) -> tuple[Warning, ...]:
        """Return the warnings for a reply from this index."""
        warnings: list[Warning] = []
        indexing = self._jobs.is_indexing
        if self._unreachable and not self._result_is_outdated and not self._watched:
            warnings.append(self._unreachable)
        if self.stale:
            what = "Notes have changed since the last run."
            warnings.append(Warning.of("INDEX_STALE", what, indexing=indexing))
        if self._runs.incomplete:
            what = "The last index run did not finish."
            warnings.append(Warning.of("INDEX_INCOMPLETE", what, indexing=indexing))
        return tuple(warnings)

    def compare_if_due(self) -> None:
        """Start a comparison of vault and index if a whole run or `STALE_CHECK_SECONDS` passed."""
        now = time.monotonic()
        is_due = self._result_is_outdated or now >= self._next_comparison
        if not is_due or self._jobs.is_indexing or self._core.index.meta is None:
            return
        if self._watched or self._queue.is_busy:
            return
        if not self._comparing:
            if self._result_is_outdated:
                self._stale, self._unreachable = False, None
                self._runs_before = self._runs.whole_runs
            self._next_comparison = now + STALE_CHECK_SECONDS
            self._comparing = True
            self._core.background.spawn(self._compare)

    async def _compare(self) -> None:
        queue, activity = self._queue, self._queue.activity_count
        is_steady = not queue.is_busy
        compare = partial(self._core.indexer.ask, Compare(self._core.spec))
        stale, unreachable = False, None
        try:
            stale = (await compare()).stale
            if stale:
                # A write of this server is on the disk a moment before the queue gets its path.
                await anyio.sleep(_SECONDS_UNTIL_ANNOUNCED)
                stale = (await compare()).stale
        except Misconfigured as error:
            unreachable = Warning(error.code, *error.over_http())
        finally:
            self._comparing = False
        if self._jobs.is_indexing or self._result_is_outdated:
            return
        if not is_steady or queue.is_busy or queue.activity_count != activity:
            self._next_comparison = 0.0
            return
        self._stale, self._unreachable = stale, unreachable

    def health(self, config: Config, write_access: WriteAccess) -> Health:
        """Return the state of the vault for `GET /health`."""
        running, runs, watch = self._jobs.running, self._runs, self._watch
        index, spec, embeddings = self._core.index, self._core.spec, runs.embeddings
        meta, refusal, latest = index.meta, index.refusal, index.latest
        about_embeddings = embeddings.warnings(indexing=running is not None)
        has_embedder = embeddings.embedder is not None
        usable = all(warning.code != "EMBEDDING_UNAVAILABLE" for warning in about_embeddings)
        about_watch = [warning for warning in watch.warnings() if warning.code != "INDEX_BEHIND"]
        warnings = (*self.warnings(), *about_watch, *about_embeddings) if meta else ()
        warnings += write_access.warnings()
        if refusal is not None:
            about_index = while_running(refusal, self._jobs.indexing)
            warnings = (Warning(about_index.code, *about_index.over_http()),)
        return Health(
            status="error" if refusal else "degraded" if meta is None or warnings else "ok",
            version=__version__,
            vault=ServedVault(spec.identity, _readable(PurePath(spec.root).name)),
            index=IndexHealth(
                available=meta is not None,
                stale=self.stale,
                generation=meta.generation if meta else None,
                notes=meta.notes if meta else 0,
                chunks=meta.chunks if meta else 0,
                indexed_at=runs.indexed_at if meta else None,
            ),
            embeddings=EmbeddingHealth(
                enabled=config.embedding.enabled,
                available=has_embedder and meta is not None and usable,
                share=latest.embedded_share if latest and has_embedder else 0.0,
            ),
            running_job=running.id if running else None,
            switched_on=switched_on(config),
            warnings=(*warnings, *watch.notices(), *runs.excluded[:MAX_EXCLUDED]),
            watch=watch.status(),
            write=write_access.health(),
        )


def while_running(error: VaultAgentError, running: Job | None) -> VaultAgentError:
    """Return an error of the index. If the running job will solve it, the error names the job."""
    if running is None:
        return error
    if running.kind is JobKind.REINDEX:
        what = "The index is being rebuilt."
    elif error.code == "INDEX_NOT_FOUND":
        what = "The first index is being built."
    else:
        return error
    return IndexUnavailable(error.code, what, {"jobId": running.id}, indexing=True)


def _readable(name: str) -> str:
    """Return a folder's name as valid text, also if its bytes are not UTF-8."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
