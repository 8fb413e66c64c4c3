"""The state of the server."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from vault_agent.model.sent import Doc, Unsent
from vault_agent.model.warning import Warning
from vault_agent.model.watch import WatchStatus
from vault_agent.model.write_state import WriteHealth


@dataclass(frozen=True, slots=True)
class ServedVault:
    """The served vault: its identity, and the name of its folder."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class IndexHealth:
    """The state of the index."""

    available: bool = False
    stale: bool = False
    generation: int | None = None
    notes: int = 0
    chunks: int = 0
    indexed_at: Annotated[
        str | None, Doc("When the last run had read all notes; ISO 8601, UTC.")
    ] = None


@dataclass(frozen=True, slots=True)
class EmbeddingHealth:
    """The state of the embeddings."""

    enabled: bool = False
    available: bool = False
    share: Annotated[float, Doc("Of the chunks those that have one, 0 to 1.")] = 0.0


@dataclass(frozen=True, slots=True)
class Health:
    """The state of the server, its index and its embeddings."""

    status: Literal["ok", "degraded", "error"]
    version: str
    vault: ServedVault
    index: IndexHealth = IndexHealth()
    embeddings: EmbeddingHealth = EmbeddingHealth()
    running_job: str | None = None
    switched_on: Annotated[
        tuple[str, ...], Doc("The settings of the features that are on: `watch.enabled`.")
    ] = ()
    watch: WatchStatus = field(default_factory=WatchStatus)
    write: WriteHealth = field(default_factory=WriteHealth)
    warnings: Unsent[tuple[Warning, ...]] = ()
