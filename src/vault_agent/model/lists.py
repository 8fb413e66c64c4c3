"""Lists of notes and of tasks."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from vault_agent.model.search import Filters

if TYPE_CHECKING:
    from vault_agent.model.warning import Warning


class Sort(StrEnum):
    """The orders of a list of notes. Dates and connections are in descending order."""

    UPDATED = "updated"
    CREATED = "created"
    TITLE = "title"
    PATH = "path"
    CONNECTIONS = "connections"


class ListPlace(NamedTuple):
    """Where a list goes on: after the note with this sort value and key (see `note_key`)."""

    value: str | int
    path: str


@dataclass(frozen=True, slots=True)
class ListQuery:
    """A request for a list of notes."""

    filters: Filters = field(default_factory=Filters)
    recursive: bool = True  # whether folders include the folders below
    linked: bool | None = None  # only notes with, or without, connections
    open_tasks: bool = False  # only notes with open tasks
    promoted: bool | None = None  # only notes that are promoted, or that are not
    sort: Sort = Sort.PATH
    limit: int = 50


@dataclass(frozen=True, slots=True)
class ListedNote:
    """A row of a list of notes."""

    note_id: str
    path: str
    title: str
    type: str | None
    tags: tuple[str, ...]
    created: str | None  # `created` or `date` as written
    updated: str  # as written, or the time of the file
    excerpt: str
    connections: int  # other notes that it links to, or that link to it
    id: str | None = None  # of the frontmatter
    status: str | None = None
    files: tuple[str, ...] = ()
    promoted: bool = False


@dataclass(frozen=True, slots=True)
class NoteList:
    """A page of a list of notes. `places` are those after each note, `total` counts all pages."""

    notes: tuple[ListedNote, ...]
    places: tuple[ListPlace, ...]
    total: int
    has_more: bool
    warnings: tuple[Warning, ...] = ()


class TaskStatus(StrEnum):
    """The status of a task, by the character in its box: x is done, - cancelled, others open."""

    OPEN = "open"
    DONE = "done"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class TaskQuery:
    """A request for tasks. Days are ISO dates, inclusive."""

    filters: Filters = field(default_factory=Filters)  # of their notes
    status: TaskStatus | None = TaskStatus.OPEN
    tags: tuple[str, ...] = ()  # of the task itself, all of them
    due_after: str | None = None
    due_before: str | None = None
    limit: int = 50


class TaskPlace(NamedTuple):
    """Where a list of tasks goes on: after this line of the note with this key."""

    path: str
    line: int


@dataclass(frozen=True, slots=True)
class TaskFields:
    """What a task's text says besides its description. Dates are ISO dates."""

    text: str
    due: str | None = None
    scheduled: str | None = None
    start: str | None = None
    created: str | None = None
    done: str | None = None
    cancelled: str | None = None
    priority: str | None = None
    recurrence: str | None = None
    id: str | None = None
    depends_on: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    format: str | None = None  # emoji or dataview, if it has fields


@dataclass(frozen=True, slots=True)
class ListedTask:
    """A row of a list of tasks."""

    task_id: str
    path: str
    line: int
    status: TaskStatus
    symbol: str
    heading_path: tuple[str, ...]
    fields: TaskFields


@dataclass(frozen=True, slots=True)
class TaskList:
    """A page of a list of tasks. `places` are those after each task."""

    tasks: tuple[ListedTask, ...]
    places: tuple[TaskPlace, ...]
    has_more: bool
    warnings: tuple[Warning, ...] = ()
