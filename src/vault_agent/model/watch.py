"""The state of a watched vault, and what is told about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vault_agent.model.jobs import Trigger


class WatchState(StrEnum):
    """Whether changes of a vault are noticed, and how."""

    OFF = "off"
    STARTING = "starting"
    WATCHING = "watching"  # by the system's events
    POLLING = "polling"  # by scans
    AWAY = "away"  # the vault's folder is missing, or another one is in its place
    STOPPED = "stopped"  # the watcher does not answer


@dataclass(frozen=True, slots=True)
class SaveToHit:
    """The time from an event to a search that sees the change, in milliseconds."""

    p50: int
    p99: int
    count: int  # of the changes that these are computed from


@dataclass(frozen=True, slots=True)
class WatchStatus:
    """How a vault is watched at one moment. Times are ISO 8601, UTC."""

    enabled: bool = False
    state: WatchState = WatchState.OFF
    mode: str | None = None  # events or poll
    reason: str | None = None  # the code of why changes are polled
    folders: int = 0
    beat_at: str | None = None
    last_event_at: str | None = None
    last_run_at: str | None = None
    last_scan_at: str | None = None
    pending: int = 0
    lag_seconds: float = 0.0
    save_to_hit_ms: SaveToHit | None = None
    missed: int = 0
    everything: Mapping[str, int] = field(default_factory=dict)  # whole looks by reason
    restarts: int = 0


@dataclass(frozen=True, slots=True)
class WatchBatch:
    """One run that a watcher has started."""

    at: str
    trigger: Trigger
    added: int
    changed: int
    removed: int
    renamed: int
    milliseconds: Mapping[str, int]  # by phase
    error: str | None = None  # the code of the error that ended it


@dataclass(frozen=True, slots=True)
class Revision:
    """A revision of the index that searches now see."""

    generation: int
    revision: int
    added: int
    changed: int
    removed: int
    renamed: int
    note_ids: tuple[str, ...]  # of the first notes that were touched
    complete: bool  # whether `note_ids` names all of them
