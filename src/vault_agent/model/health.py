"""The state of the server."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from vault_agent.model.watch import WatchStatus
from vault_agent.model.writing import WriteHealth

if TYPE_CHECKING:
    from vault_agent.model.warning import Warning


@dataclass(frozen=True, slots=True)
class Health:
    """The state of the server at one moment."""

    status: Literal["ok", "degraded", "error"]
    version: str
    vault_id: str
    vault_name: str  # of the root folder
    index_available: bool
    index_stale: bool
    index_generation: int | None
    notes: int
    chunks: int
    embeddings_enabled: bool
    embeddings_available: bool
    embeddings_share: float  # of the chunks, 0 to 1
    running_job: str | None
    switched_on: tuple[str, ...] = ()  # the settings of the features that are on
    indexed_at: str | None = None  # when the last run had looked at all notes; ISO 8601, UTC
    warnings: tuple[Warning, ...] = ()
    watch: WatchStatus = field(default_factory=WatchStatus)
    write: WriteHealth = field(default_factory=WriteHealth)
