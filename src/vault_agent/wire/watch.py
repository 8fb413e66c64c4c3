"""The replies and events about watching."""

from __future__ import annotations

from pydantic import Field

from vault_agent.model.jobs import Trigger
from vault_agent.model.watch import WatchState
from vault_agent.wire.base import Model


class SaveToHitData(Model):
    """The time from a change to a search that sees it, in milliseconds."""

    p50: int
    p99: int
    count: int


class WatchData(Model):
    """How the vault is watched. Times are ISO 8601, UTC."""

    enabled: bool
    state: WatchState
    mode: str | None = Field(description="`events` or `poll`.")
    reason: str | None = Field(description="The code of why changes are polled.")
    folders: int
    beat_at: str | None
    last_event_at: str | None
    last_run_at: str | None
    last_scan_at: str | None
    pending: int = Field(description="Changes that searches do not see yet.")
    lag_seconds: float = Field(description="The age of the oldest of them.")
    save_to_hit_ms: SaveToHitData | None
    missed: int = Field(description="Scans that found what no event had named.")
    everything: dict[str, int] = Field(description="Looks at the whole vault, by reason.")
    restarts: int


class WatchBatchData(Model):
    """One run that a watcher has started. `milliseconds` has the time of each phase."""

    at: str
    trigger: Trigger
    added: int
    changed: int
    removed: int
    renamed: int
    milliseconds: dict[str, int]
    error: str | None


class WatchReport(WatchData):
    """How the vault is watched, and the last hundred runs, newest first."""

    batches: list[WatchBatchData]


class RevisionData(Model):
    """A revision of the index that searches now see."""

    generation: int
    revision: int
    added: int
    changed: int
    removed: int
    renamed: int
    note_ids: tuple[str, ...] = Field(description="At most 100 of the notes that were touched.")
    complete: bool = Field(description="Whether `noteIds` names all of them.")
