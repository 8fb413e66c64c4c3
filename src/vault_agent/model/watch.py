"""The state of a watched vault, and what is told about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated

from vault_agent.model.jobs import Trigger
from vault_agent.model.sent import Doc


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
    count: Annotated[int, Doc("The changes that these are computed from.")]


@dataclass(frozen=True, slots=True)
class WatchStatus:
    """How the vault is watched. Times are ISO 8601, UTC."""

    enabled: bool = False
    state: WatchState = WatchState.OFF
    mode: Annotated[str | None, Doc("`events` or `poll`.")] = None
    reason: Annotated[str | None, Doc("The code of why changes are polled.")] = None
    folders: int = 0
    beat_at: str | None = None
    last_event_at: str | None = None
    last_run_at: str | None = None
    last_scan_at: str | None = None
    pending: Annotated[int, Doc("Changes that searches do not see yet.")] = 0
    lag_seconds: Annotated[float, Doc("The age of the oldest of them.")] = 0.0
    save_to_hit_ms: SaveToHit | None = None
    missed: Annotated[int, Doc("Scans that found what no event had named.")] = 0
    everything: Annotated[Mapping[str, int], Doc("Looks at the whole vault, by reason.")] = field(
        default_factory=dict
    )
    restarts: int = 0


@dataclass(frozen=True, slots=True)
class WatchBatch:
    """One run that a watcher has started. `milliseconds` has the time of each phase."""

    at: str
    trigger: Trigger
    added: int
    changed: int
    removed: int
    renamed: int
    milliseconds: Mapping[str, int]
    error: Annotated[str | None, Doc("The code of the error that ended it.")] = None


@dataclass(frozen=True, slots=True)
class WatchReport(WatchStatus):
    """How the vault is watched, and the last hundred runs, newest first."""

    batches: tuple[WatchBatch, ...] = ()


@dataclass(frozen=True, slots=True)
class Revision:
    """A revision of the index that searches now see."""

    generation: int
    revision: int
    added: int
    changed: int
    removed: int
    renamed: int
    note_ids: Annotated[tuple[str, ...], Doc("At most 100 of the notes that were touched.")]
    complete: Annotated[bool, Doc("Whether `noteIds` names all of them.")]
