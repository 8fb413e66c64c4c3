"""The state of a vault, its index and its embeddings."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from vault_agent import __version__
from vault_agent.config import switched_on
from vault_agent.model.health import EmbeddingHealth, Health, IndexHealth, ServedVault
from vault_agent.model.warning import Warning

if TYPE_CHECKING:
    from vault_agent.config import Config
    from vault_agent.model.jobs import Job
    from vault_agent.vaults.checks import Checks
    from vault_agent.vaults.runs import IndexedVault, Runs
    from vault_agent.vaults.watch import Watch
    from vault_agent.vaults.writes import Writes


MAX_EXCLUDED = 10
"""Folders that are named because their notes are excluded. The job has more."""


def health(
    config: Config,
    vault: IndexedVault,
    *,
    running: Job | None,
    runs: Runs,
    checks: Checks,
    watch: Watch,
    writing: Writes,
) -> Health:
    """Return the state of a vault for `GET /health`. `running` is its running job."""
    index, task, embeddings = vault.index, vault.task, runs.embeddings
    meta, refusal, latest = index.meta, index.refusal, index.latest
    about_embeddings = embeddings.warnings(indexing=running is not None)
    has_embedder = embeddings.embedder is not None
    usable = all(warning.code != "EMBEDDING_UNAVAILABLE" for warning in about_embeddings)
    about_watch = [each for each in watch.warnings() if each.code != "INDEX_BEHIND"]
    warnings = (*checks.warnings(), *about_watch, *about_embeddings) if meta else ()
    warnings += writing.warnings()
    if refusal is not None:
        warnings = (Warning(refusal.code, *refusal.over_http()),)
    return Health(
        status="error" if refusal else "degraded" if meta is None or warnings else "ok",
        version=__version__,
        vault=ServedVault(task.vault, _readable(PurePath(task.root).name)),
        index=IndexHealth(
            available=meta is not None,
            stale=checks.stale,
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
        write=writing.health(),
    )


def _readable(name: str) -> str:
    """Return a folder's name as text, where its bytes may not be."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
