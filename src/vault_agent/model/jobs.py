"""Jobs and their progress."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from vault_agent.model.sent import Internal
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
    """The progress of one phase. `total` is null until it is known."""

    name: str  # scan, parse, attachments, store, embed; of a move plan, write
    done: int
    total: int | None


@dataclass(frozen=True, slots=True)
class Waiting:
    """An endpoint that has not answered for a while, in the middle of a job."""

    address: str
    seconds: float


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
    write_id: str | None = None
    """Of a move, for `undo`."""


@dataclass(frozen=True, slots=True)
class Job:
    """The state of one job. Times are ISO 8601, UTC."""

    id: str
    kind: JobKind
    trigger: Trigger = field(default=Trigger.USER, kw_only=True)
    """Who or what started it."""
    state: JobState
    created_at: str
    started_at: str | None = None
    finished_at: str | None = None
    phase: str | None = None
    phases: tuple[PhaseProgress, ...] = ()
    rate: float | None = None
    """Items of the current phase per second."""
    character_rate: float | None = None
    """Characters per second while texts are embedded."""
    eta_seconds: float | None = None
    waiting: Waiting | None = None
    """The endpoint that does not answer now."""
    warnings: tuple[Warning, ...] = ()
    """The first 100."""
    warning_count: int = 0
    summary: JobSummary | None = None
    error: Warning | None = None
    """The error that ended it."""
    index_finished: Internal[bool] = False  # the index is complete, even if the embeddings are not


@dataclass(frozen=True, slots=True)
class OneJob:
    """One job."""

    job: Job


@dataclass(frozen=True, slots=True)
class JobList:
    """The jobs, newest first."""

    jobs: tuple[Job, ...]
