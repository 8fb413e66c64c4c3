"""The operations about names and lists of notes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints
from pydantic_core import PydanticCustomError

from vault_agent.api.context import CallContext
from vault_agent.api.cursors import decode_cursor, encode_cursor, invalid_cursor
from vault_agent.api.operation import Found, operation
from vault_agent.api.pages import entries_that_fit
from vault_agent.errors import NotFound
from vault_agent.markdown.named_parts import anchor
from vault_agent.model.context import Context, ContextQuery
from vault_agent.model.grep import GrepAnswer, GrepQuery, Place
from vault_agent.model.lists import (
    ListPlace,
    ListQuery,
    NoteList,
    Sort,
    TaskList,
    TaskPlace,
    TaskQuery,
    TaskStatus,
)
from vault_agent.model.names import NamedNotes
from vault_agent.model.scope import EVERYTHING, Scope
from vault_agent.model.search import Filters
from vault_agent.search.context import gather
from vault_agent.search.grep import grep as find_lines
from vault_agent.search.lists import list_notes
from vault_agent.search.resolve import resolve as find_named
from vault_agent.search.tasks import list_tasks
from vault_agent.wire.base import Model
from vault_agent.wire.queries import CursorText, Text, Texts, whole
from vault_agent.wire.requests import CalendarDate, FiltersBody, Flag, NoteId

if TYPE_CHECKING:
    from vault_agent.vaults.open_vault import OpenVault


class ContextQueryBody(Model):
    """What to take: a note by its name, or the results of a search."""

    kind: Literal["search", "read"] = "search"
    query: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000)
    ] = Field(description="A search's text, or a note's path, name, title or link.")
    limit: Annotated[int, Field(ge=1, le=20)] = Field(default=5, description="Results of a search.")
    path: Text | None = Field(default=None, description="A folder or glob, for a search.")
    tags: Annotated[tuple[Text, ...], Field(max_length=50)] = Field(
        default=(), description="All must match, for a search."
    )
    section: Text | None = Field(
        default=None, description="A heading, or headings as `A > B`, of a note that is read."
    )

    def to_query(self, scope: Scope = EVERYTHING) -> ContextQuery:
        """Return the domain value, limited to the caller's scope."""
        paths = () if self.path is None else (self.path,)
        return ContextQuery(
            kind=self.kind,
            query=self.query,
            filters=Filters(paths=paths, tags=self.tags, scope=scope),
            limit=self.limit,
            section=self.section,
        )


class ContextBody(Model):
    """The body of `POST /context`."""

    queries: Annotated[tuple[ContextQueryBody, ...], Field(min_length=1, max_length=20)]
    max_tokens: Annotated[int, Field(ge=200, le=32_000)] = Field(
        default=4_000, description="The most tokens of the section, as estimated."
    )


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
    filters: FiltersBody = Field(default_factory=FiltersBody)
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


_MAX_NUMBER = 1 << 53


@operation("GET", "/resolve", listed="notes", scoped=True)
async def resolve(call: CallContext, sent: ResolveRequest) -> Found[NamedNotes]:
    """Find the notes that a path, name, title, link or ID means."""
    try:
        found = await call.vault.read(
            find_named,
            sent.name,
            open_vault=call.vault.open_root,
            roots=call.vault.roots,
            scope=call.scope,
            source=sent.from_,
            attachments=True,
        )
    except NotFound as error:
        folder = call.vault.excluded_folder(call.scope.outer(sent.name))
        if error.code != "NOTE_NOT_FOUND" or folder is None:
            raise
        raise NotFound(
            error.code,
            f"No note has this path. Folders named {folder} are excluded.",
            {**error.details, "excluded": folder},
            remedy=f"To index it, add !{folder}/ to vault.exclude.",
        ) from None
    if found.heading is not None:
        found = replace(found, anchor=anchor(found.heading))
    return Found(found)


@operation("GET", "/notes", listed="notes", scoped=True)
async def notes(call: CallContext, sent: NotesRequest) -> Found[NoteList]:
    """List notes that pass filters, in an order."""
    start = None
    if sent.cursor is not None:
        kind = int if sent.sort is Sort.CONNECTIONS else str
        position = _position(call.vault, sent, sent.cursor, kind, str)
        start = ListPlace(position[0], str(position[1]))
    found = await call.vault.answer(list_notes, sent.to_query(call.scope), start)
    rows = found.notes
    if (name := call.vault.name) is not None:
        rows = tuple(replace(row, vault=name) for row in rows)
    kept = entries_that_fit(rows)
    more = found.has_more or kept < len(rows)
    data = replace(
        found,
        notes=rows[:kept],
        has_more=more,
        next_cursor=_next(call.vault, sent, found.places[kept - 1]) if more else None,
    )
    return Found(data, found.warnings)


@operation("GET", "/tasks", listed="tasks", scoped=True)
async def tasks(call: CallContext, sent: TasksRequest) -> Found[TaskList]:
    """List the tasks of notes, in the order of paths and lines."""
    start = None
    if sent.cursor is not None:
        position = _position(call.vault, sent, sent.cursor, str, int)
        start = TaskPlace(str(position[0]), int(position[1]))
    found = await call.vault.answer(list_tasks, sent.to_query(call.scope), start)
    kept = entries_that_fit(found.tasks)
    more = found.has_more or kept < len(found.tasks)
    data = replace(
        found,
        tasks=found.tasks[:kept],
        has_more=more,
        next_cursor=_next(call.vault, sent, found.places[kept - 1]) if more else None,
    )
    return Found(data, found.warnings)


def _position(
    vault: OpenVault, sent: Model, cursor: str, *types: type[int | str]
) -> tuple[int | str, ...]:
    """Return the position of a cursor, with numbers that the database can take."""
    position = decode_cursor(sent, cursor, *types, vault=vault.identity).position
    if any(isinstance(value, int) and not 0 <= value < _MAX_NUMBER for value in position):
        raise invalid_cursor()
    return position


def _next(vault: OpenVault, sent: Model, place: tuple[int | str, ...]) -> str:
    return encode_cursor(sent, place, vault=vault.identity)


@operation("POST", "/context", scoped=True)
async def context(call: CallContext, sent: ContextBody) -> Found[Context]:
    """Gather excerpts of notes for a prompt, within a number of tokens."""
    queries = [each.to_query(call.scope) for each in sent.queries]
    found = await call.vault.answer(
        gather,
        queries,
        max_tokens=sent.max_tokens,
        roots=call.vault.roots,
        embedder=call.vault.embedder,
        indexing=call.vault.jobs.is_indexing,
    )
    return Found(found, found.warnings)


@operation("POST", "/grep", listed="lines", scoped=True)
async def grep(call: CallContext, sent: GrepBody) -> Found[GrepAnswer]:
    """Find lines by a regular expression."""
    start = None
    if sent.cursor is not None:
        position = _position(call.vault, sent, sent.cursor, str, int, int)
        start = Place(str(position[0]), int(position[1]), int(position[2]))
    seconds = call.vault.config.search.regex_seconds
    async with call.vault.scans:
        found = await call.vault.answer(
            find_lines, sent.to_query(call.scope), seconds=seconds, start=start
        )
    if found.place is not None:
        found = replace(found, has_more=True, next_cursor=_next(call.vault, sent, found.place))
    return Found(found, found.warnings)
