"""Jobs and their progress."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vault_agent.model.warning import Warning


class JobKind(StrEnum):
    """What a job does."""

    INDEX = "index"
    REINDEX = "reindex"
    MOVE = "move"  # of a file whose links stand in many notes
    UNDO = "undo"  # of such a move

    @property
    def indexes(self) -> bool:
        """Whether it makes the index, and changes no notes."""
        return self in (JobKind.INDEX, JobKind.REINDEX)


class Trigger(StrEnum):
    """What started a job."""

    USER = "user"
    START = "start"  # the start of the server
    WATCH = "watch"  # a change of a file
    SCAN = "scan"  # a periodic check of the vault


class JobState(StrEnum):
    """The state of a job. The last four are final."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"

    @property
    def final(self) -> bool:
        """Whether the job has ended."""
        return self not in (JobState.QUEUED, JobState.RUNNING)


@dataclass(frozen=True, slots=True)
class PhaseProgress:
    """The progress of one phase. `total` is None until it is known."""

    name: str  # scan, parse, store, embed; of a move plan, write
    done: int
    total: int | None


@dataclass(frozen=True, slots=True)
class JobSummary:
    """The summary of a finished job. Of a move, the notes and links that it has changed."""

    added: int = 0
    changed: int = 0
    removed: int = 0
    renamed: int = 0
    unchanged: int = 0
    chunks: int = 0
    links: int = 0
    unresolved_links: int = 0
    embedded: int = 0
    reused: int = 0
    embedding_failed: int = 0
    write_id: str | None = None  # of a move, for undo


@dataclass(frozen=True, slots=True)
class Job:
    """The state of one job at one moment."""

    id: str
    kind: JobKind
    state: JobState
    created_at: str  # ISO 8601, UTC
    trigger: Trigger = Trigger.USER
    started_at: str | None = None
    finished_at: str | None = None
    phase: str | None = None
    phases: tuple[PhaseProgress, ...] = ()
    rate: float | None = None  # items per second in the current phase
    character_rate: float | None = None  # characters per second, in phases that count them
    eta_seconds: float | None = None
    warnings: tuple[Warning, ...] = ()  # the first MAX_WARNINGS
    warning_count: int = 0
    summary: JobSummary | None = None
    error: Warning | None = None  # code, message and details of the error that ended it
    index_finished: bool = False  # the index is complete, even if the embeddings are not
