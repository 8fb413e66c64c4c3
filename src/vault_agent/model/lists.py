"""Lists of notes and of tasks."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Literal, NamedTuple

from vault_agent.model.fields import Cursor, FirstDay, LastDay, Texts
from vault_agent.model.notes import TitledNote
from vault_agent.model.search import Filters
from vault_agent.model.sent import Between, IfAny, Internal, OneOf, Unreadable, Validator
from vault_agent.model.warning import Warning


class Sort(StrEnum):
    """The orders of a list of notes. Dates and connections are in descending order."""

    UPDATED = "updated"
    CREATED = "created"
    TITLE = "title"
    PATH = "path"
    CONNECTIONS = "connections"


class ListPlace(NamedTuple):
    """Where a list goes on: after this note, which has this sort value."""

    value: str | int
    note_id: str


def _pairs(texts: tuple[str, ...]) -> tuple[str, ...]:
    if not all(text.partition(":")[0].strip() and ":" in text for text in texts):
        raise Unreadable("property", "must be key:value")
    return texts


@dataclass(frozen=True, slots=True, kw_only=True)
class ListQuery:
    """A request for a list of notes. Each parameter but `tag` matches by any of its values."""

    path: Texts = ()
    """Folders or glob patterns."""
    recursive: bool = True
    """Whether to list the folders below, too."""
    tag: Texts = ()
    """All must match. A tag includes those nested under it."""
    type: Texts = ()
    """Values of `type` in the frontmatter."""
    property_: Annotated[Texts, Validator(_pairs)] = ()
    """As key:value. All keys must match, by any of their values."""
    file: Texts = ()
    """Paths, folders or file names in `files` of the frontmatter."""
    status: Texts = ()
    """Values of `status` in the frontmatter."""
    project: Texts = ()
    """Values of `project` in the frontmatter."""
    session: Texts = ()
    """Values of `session` in the frontmatter."""
    agent: Texts = ()
    """Values of `agent` in the frontmatter."""
    promoted: bool | None = None
    """Only notes that are promoted to the global vault, or not."""
    after: FirstDay = None
    before: LastDay = None
    linked: bool | None = None
    """Only notes with links from or to other notes, or without."""
    tasks: Literal["open"] | None = None
    """Only notes with open tasks."""
    sort: Sort = Sort.PATH
    limit: Annotated[int, Between(1, 200)] = 50
    cursor: Cursor = None

    @property
    def filters(self) -> Filters:
        """The conditions that each note satisfies."""
        pairs = [pair.partition(":") for pair in self.property_]
        return Filters(
            paths=self.path,
            tags=self.tag,
            types=self.type,
            properties=(
                *((name.strip(), value.strip()) for name, _, value in pairs),
                *(("agent", agent) for agent in self.agent),
            ),
            about_files=self.file,
            projects=self.project,
            sessions=self.session,
            statuses=self.status,
            after=self.after,
            before=self.before,
        )


@dataclass(frozen=True, slots=True)
class ListedNote(TitledNote):
    """A note in a list."""

    type: str | None
    tags: tuple[str, ...]
    created: str | None
    """`created` or `date` of the frontmatter, as written."""
    updated: str
    """`updated` of the frontmatter, or the time of the file."""
    excerpt: str
    """The beginning of its text, at most 160 characters."""
    connections: int
    """Other notes that it links to or that link to it."""
    id: IfAny[str | None] = None
    """`id` of the frontmatter."""
    status: IfAny[str | None] = None
    files: IfAny[tuple[str, ...]] = ()
    """The first ten `files` of the frontmatter."""
    promoted: IfAny[bool] = False
    vault: IfAny[str | None] = None
    """Its vault, if the request names one."""


@dataclass(frozen=True, slots=True)
class NoteList:
    """A page of a list of notes. `total` counts all pages."""

    notes: tuple[ListedNote, ...]
    total: int
    has_more: bool
    next_cursor: str | None = None
    places: Internal[tuple[ListPlace, ...]] = ()  # those after each note
    warnings: Internal[tuple[Warning, ...]] = ()


class TaskStatus(StrEnum):
    """The status of a task, by the character in its box: x is done, - cancelled, others open."""

    OPEN = "open"
    DONE = "done"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskQuery:
    """A request for a list of tasks."""

    path: Texts = ()
    """Notes, folders or glob patterns."""
    folder: Texts = ()
    """More folders, as in `path`."""
    status: Literal["open", "done", "cancelled", "all"] = "open"
    tag: Texts = ()
    """Tags of the task itself. All must match."""
    due_after: FirstDay = None
    due_before: LastDay = None
    limit: Annotated[int, Between(1, 200)] = 50
    cursor: Cursor = None

    @property
    def filters(self) -> Filters:
        """The conditions that the notes of the tasks satisfy."""
        return Filters(paths=(*self.path, *self.folder))


class TaskPlace(NamedTuple):
    """Where a list of tasks goes on: after this line of this note."""

    note_id: str
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

    task_id: str
    """`{noteId}:{line}:{hash of the line}`."""
    path: str
    line: int
    status: TaskStatus
    symbol: str
    """The character in the box."""
    text: str
    """The text without its fields."""
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
    format: Annotated[str | None, OneOf("emoji", "dataview")]
    """How its fields are written."""


@dataclass(frozen=True, slots=True)
class TaskList:
    """A page of a list of tasks, in the order of paths and lines."""

    tasks: tuple[ListedTask, ...]
    has_more: bool
    next_cursor: str | None = None
    places: Internal[tuple[TaskPlace, ...]] = ()  # those after each task
    warnings: Internal[tuple[Warning, ...]] = ()
