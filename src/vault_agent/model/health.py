"""The state of the server, of its vaults, and of the watch of their folders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Literal

from vault_agent.model.sent import Internal, OneOf
from vault_agent.model.warning import Warning
from vault_agent.model.writing import WriteHealth


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
    reason: str | None = None
    """The code of why changes are polled."""
    last_event_at: str | None = None
    last_run_at: str | None = None
    last_scan_at: str | None = None
    pending: int = 0
    """Changes that searches do not see yet."""
    lag_seconds: float = 0.0
    """The age of the oldest of them."""


@dataclass(frozen=True, slots=True)
class Revision:
    """A revision of the index that searches now see."""

    generation: int
    revision: int
    added: int
    changed: int
    removed: int
    renamed: int
    note_ids: tuple[str, ...]
    """At most 100 of the notes that were touched."""
    complete: bool
    """Whether `noteIds` names all of them."""


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
    indexed_at: str | None = None
    """When the last run had read all notes; ISO 8601, UTC."""


@dataclass(frozen=True, slots=True)
class EmbeddingHealth:
    """The state of the embeddings."""

    enabled: bool = False
    available: bool = False
    share: float = 0.0
    """Of the chunks those that have one, 0 to 1."""


@dataclass(frozen=True, slots=True)
class Health:
    """The state of the server, its index and its embeddings."""

    status: Literal["ok", "degraded", "error"]
    version: str
    vault: ServedVault
    index: IndexHealth = IndexHealth()
    embeddings: EmbeddingHealth = EmbeddingHealth()
    running_job: str | None = None
    switched_on: tuple[str, ...] = ()
    """The settings of the features that are on: `watch.enabled`."""
    watch: WatchStatus = field(default_factory=WatchStatus)
    write: WriteHealth = field(default_factory=WriteHealth)
    warnings: Internal[tuple[Warning, ...]] = ()


VaultReadiness = Literal["ready", "indexing", "closed", "missing", "untrusted", "error"]


@dataclass(frozen=True, slots=True)
class VaultState:
    """A vault of the server, without its folder."""

    name: str
    """What requests call it: `project:NAME`, `global`, …"""
    role: Annotated[str, OneOf("default", "project", "global", "other")]
    identity: str
    open: bool
    """A registered vault is opened at its first use."""
    state: VaultReadiness
    notes: int | None = None
    """Of an open vault."""
    types: Mapping[str, int] | None = None
    """Notes by type; `""` for notes without one."""
    last_indexed: str | None = None
    """ISO 8601, UTC."""
    code: str | None = None
    """Why its index does not serve."""


@dataclass(frozen=True, slots=True)
class VaultList:
    """The vaults of the server, the default one first."""

    vaults: tuple[VaultState, ...]
