"""Lists of notes and of tasks."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, NamedTuple

from vault_agent.model.search import Filters
from vault_agent.model.sent import Doc, IfAny, OneOf, Unsent
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
    """A note in a list."""

    note_id: str
    path: str
    title: str
    type: str | None
    tags: tuple[str, ...]
    created: Annotated[str | None, Doc("`created` or `date` of the frontmatter, as written.")]
    updated: Annotated[str, Doc("`updated` of the frontmatter, or the time of the file.")]
    excerpt: Annotated[str, Doc("The beginning of its text, at most 160 characters.")]
    connections: Annotated[int, Doc("Other notes that it links to or that link to it.")]
    id: IfAny[Annotated[str | None, Doc("`id` of the frontmatter.")]] = None
    status: IfAny[str | None] = None
    files: IfAny[Annotated[tuple[str, ...], Doc("The first ten `files` of the frontmatter.")]] = ()
    promoted: IfAny[bool] = False
    vault: IfAny[Annotated[str | None, Doc("Its vault, if the request names one.")]] = None


@dataclass(frozen=True, slots=True)
class NoteList:
    """A page of a list of notes. `total` counts all pages."""

    notes: tuple[ListedNote, ...]
    total: int
    has_more: bool
    next_cursor: str | None = None
    places: Unsent[tuple[ListPlace, ...]] = ()  # those after each note
    warnings: Unsent[tuple[Warning, ...]] = ()


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
    """A task: a list item with a check box. Dates are as YYYY-MM-DD."""

    task_id: Annotated[str, Doc("`{noteId}:{line}:{hash of the line}`.")]
    path: str
    line: int
    status: TaskStatus
    symbol: Annotated[str, Doc("The character in the box.")]
    text: Annotated[str, Doc("The text without its fields.")]
    due: str | None
    scheduled: str | None
    start: str | None
    created: str | None
    done: str | None
    cancelled: str | None
    priority: str | None
    recurrence: str | None
    id: str | None
    depends_on: tuple[str, ...]
    tags: tuple[str, ...]
    heading_path: tuple[str, ...]
    format: Annotated[str | None, OneOf("emoji", "dataview"), Doc("How its fields are written.")]


@dataclass(frozen=True, slots=True)
class TaskList:
    """A page of a list of tasks, in the order of paths and lines."""

    tasks: tuple[ListedTask, ...]
    has_more: bool
    next_cursor: str | None = None
    places: Unsent[tuple[TaskPlace, ...]] = ()  # those after each task
    warnings: Unsent[tuple[Warning, ...]] = ()
