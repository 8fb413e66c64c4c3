"""The requests and replies about names and lists of notes."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints
from pydantic_core import PydanticCustomError

from vault_agent.model.grep import GrepQuery
from vault_agent.model.lists import ListQuery, Sort, TaskQuery, TaskStatus
from vault_agent.model.scope import EVERYTHING, Scope
from vault_agent.model.search import Filters
from vault_agent.wire.base import Model
from vault_agent.wire.queries import CursorText, Texts, whole
from vault_agent.wire.requests import CalendarDate, FiltersBody, Flag, NoteId

# --- names ------------------------------------------------------------------------------------


class ResolveRequest(Model):
    """A request for the notes that a name means."""

    name: Annotated[str, StringConstraints(pattern=r"\S", max_length=4096)] = Field(
        description="An ID, a path, the end of a path, a note's name, alias or title, a"
        " `[[wikilink]]`, a `[Markdown](link.md)`, or an `obsidian://` or `file://` address."
    )
    from_: NoteId | None = Field(
        default=None,
        alias="from",
        description="The ID of the note that has the link: it means what it leads to there.",
    )


# --- lines by regular expression ----------------------------------------------------------------


class GrepBody(Model):
    """The body of `POST /grep`."""

    pattern: Annotated[str, StringConstraints(min_length=1, max_length=1000)] = Field(
        description="A regular expression in the syntax of RE2. It is matched line by line."
    )
    ignore_case: bool = False
    context: Annotated[int, Field(ge=0, le=3)] = Field(
        default=0, description="Lines to return before and after each matching line."
    )
    limit: Annotated[int, Field(ge=1, le=200)] = Field(
        default=50, description="Lines. A JSON integer: 10, not 10.0."
    )
    filters: FiltersBody = FiltersBody()
    cursor: CursorText | None = Field(default=None, description="`nextCursor` of the page before.")

    def to_query(self, scope: Scope = EVERYTHING) -> GrepQuery:
        """Return the domain value for a caller with this scope."""
        return GrepQuery(
            pattern=self.pattern,
            ignore_case=self.ignore_case,
            context=self.context,
            limit=self.limit,
            filters=self.filters.to_filters(scope),
        )


# --- notes --------------------------------------------------------------------------------------


def _sort(value: object) -> object:
    if isinstance(value, str) and value not in set(Sort):
        raise PydanticCustomError("sort", "must be one of: {names}", {"names": ", ".join(Sort)})
    return Sort(value) if isinstance(value, str) else value


def _properties(values: tuple[str, ...]) -> tuple[str, ...]:
    if not all(each.partition(":")[0].strip() and ":" in each for each in values):
        raise PydanticCustomError("property", "must be key:value")
    return values


class NotesRequest(Model):
    """A request for a list of notes. Each parameter but `tag` matches by any of its values."""

    path: Texts = Field(default=(), description="Folders or glob patterns.")
    recursive: Flag = Field(default=True, description="Whether to list the folders below, too.")
    tag: Texts = Field(
        default=(), description="All must match. A tag includes those nested under it."
    )
    type: Texts = Field(default=(), description="Values of `type` in the frontmatter.")
    property: Annotated[Texts, AfterValidator(_properties)] = Field(
        default=(), description="As key:value. All keys must match, by any of their values."
    )
    file: Texts = Field(
        default=(), description="Paths, folders or file names in `files` of the frontmatter."
    )
    status: Texts = Field(default=(), description="Values of `status` in the frontmatter.")
    project: Texts = Field(default=(), description="Values of `project` in the frontmatter.")
    session: Texts = Field(default=(), description="Values of `session` in the frontmatter.")
    agent: Texts = Field(default=(), description="Values of `agent` in the frontmatter.")
    promoted: Flag | None = Field(
        default=None, description="Only notes that are promoted to the global vault, or not."
    )
    after: CalendarDate | None = Field(default=None, description="The first day, inclusive.")
    before: CalendarDate | None = Field(default=None, description="The last day, inclusive.")
    linked: Flag | None = Field(
        default=None, description="Only notes with links from or to other notes, or without."
    )
    tasks: Literal["open"] | None = Field(default=None, description="Only notes with open tasks.")
    sort: Annotated[Sort, BeforeValidator(_sort)] = Sort.PATH
    limit: whole(1, 200) = 50  # type: ignore[valid-type]
    cursor: CursorText | None = Field(default=None, description="`nextCursor` of the page before.")

    def to_query(self, scope: Scope = EVERYTHING) -> ListQuery:
        """Return the domain value for a caller with this scope."""
        pairs = [each.partition(":") for each in self.property]
        return ListQuery(
            filters=Filters(
                paths=self.path,
                tags=self.tag,
                types=self.type,
                properties=(
                    *((name.strip(), value.strip()) for name, _, value in pairs),
                    *(("status", each) for each in self.status),
                    *(("project", each) for each in self.project),
                    *(("session", each) for each in self.session),
                    *(("agent", each) for each in self.agent),
                ),
                about=self.file,
                after=self.after,
                before=self.before,
                scope=scope,
            ),
            recursive=self.recursive,
            linked=self.linked,
            open_tasks=self.tasks == "open",
            promoted=self.promoted,
            sort=self.sort,
            limit=self.limit,
        )


def _is_empty(value: object) -> bool:
    return value in (None, (), False)


# --- tasks --------------------------------------------------------------------------------------


class TasksRequest(Model):
    """A request for a list of tasks."""

    path: Texts = Field(default=(), description="Notes, folders or glob patterns.")
    folder: Texts = Field(default=(), description="More folders, as in `path`.")
    status: Literal["open", "done", "cancelled", "all"] = "open"
    tag: Texts = Field(default=(), description="Tags of the task itself. All must match.")
    due_after: CalendarDate | None = Field(default=None, description="The first day, inclusive.")
    due_before: CalendarDate | None = Field(default=None, description="The last day, inclusive.")
    limit: whole(1, 200) = 50  # type: ignore[valid-type]
    cursor: CursorText | None = Field(default=None, description="`nextCursor` of the page before.")

    def to_query(self, scope: Scope = EVERYTHING) -> TaskQuery:
        """Return the domain value for a caller with this scope."""
        return TaskQuery(
            filters=Filters(paths=(*self.path, *self.folder), scope=scope),
            status=None if self.status == "all" else TaskStatus(self.status),
            tags=self.tag,
            due_after=self.due_after,
            due_before=self.due_before,
            limit=self.limit,
        )
