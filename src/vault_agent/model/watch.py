"""The state of a watched vault, and what is told about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from vault_agent.model.sent import Doc


class WatchState(StrEnum):
    """Whether changes of a vault are noticed, and how."""

    OFF = "off"
    STARTING = "starting"
    WATCHING = "watching"  # by the system's events
    POLLING = "polling"  # by scans
    AWAY = "away"  # the vault's folder is missing


@dataclass(frozen=True, slots=True)
class WatchStatus:
    """How the vault is watched. Times are ISO 8601, UTC."""

    enabled: bool = False
    state: WatchState = WatchState.OFF
    reason: Annotated[str | None, Doc("The code of why changes are polled.")] = None
    last_event_at: str | None = None
    last_run_at: str | None = None
    last_scan_at: str | None = None
    pending: Annotated[int, Doc("Changes that searches do not see yet.")] = 0
    lag_seconds: Annotated[float, Doc("The age of the oldest of them.")] = 0.0


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
