"""The requests that change notes.

Every one of them is a `WriteBody`: `expectedHash`, `dryRun`, `idempotencyKey` and `waitMs` mean the
same everywhere. What names a note that exists is a `NoteBody`: `path` or `noteId`, one of them.

Over 300 lines: one model for each operation, and nothing else.
"""

from __future__ import annotations

import math
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, JsonValue, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from vault_agent.wire.base import Model
from vault_agent.wire.queries import CursorText, whole
from vault_agent.wire.requests import CalendarDate, Flag, NoteId, SessionId, of_form

_NAME_CHARACTERS = 200

# --- the types of fields ------------------------------------------------------------------------


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise PydanticCustomError("nul", "must not contain the character NUL")
    return text


def _one_line(text: str) -> str:
    if len(text.splitlines()) > 1 or text.endswith(("\n", "\r")):
        raise PydanticCustomError("one_line", "must be one line")
    return _without_nul(text)


def _properties(values: dict[str, JsonValue]) -> dict[str, JsonValue]:
    # Checked as a whole, because the place of an error must not name a key.
    if not all(1 <= len(name) <= _NAME_CHARACTERS for name in values):
        raise PydanticCustomError(
            "names", "must have keys of 1 to {most} characters", {"most": _NAME_CHARACTERS}
        )
    _check_json(values)
    return values


def _check_json(value: JsonValue) -> None:
    """Refuse what YAML could not give back: numbers that are not finite, and NUL."""
    if isinstance(value, float) and not math.isfinite(value):
        raise PydanticCustomError("finite", "must have finite numbers")
    if isinstance(value, str):
        _without_nul(value)
    for each in value if isinstance(value, list) else ():
        _check_json(each)
    for name, each in value.items() if isinstance(value, dict) else ():
        _one_line(name)
        _check_json(each)


def _variables(values: dict[str, str]) -> dict[str, str]:
    for text in (*values, *values.values()):
        _without_nul(text)
    return values


Content = Annotated[str, AfterValidator(_without_nul)]
"""Text for a note. Its line ends become those of the note."""

Line = Annotated[str, StringConstraints(min_length=1), AfterValidator(_one_line)]
"""Text of one line."""

NotePath = Annotated[str, StringConstraints(min_length=1, max_length=4096)]
"""A path relative to the vault, written exactly."""

ExpectedHash = Annotated[
    str, *of_form(r"[0-9a-f]{16,64}", "must be a hash, 16 to 64 digits from 0 to f")
]
"""The SHA-256 of a note's or section's bytes, or at least its first 16 digits."""

IdempotencyKey = Annotated[
    str, *of_form(r"[\x21-\x7e]{1,128}", "must have 1 to 128 printable ASCII characters")
]
"""1 to 128 printable ASCII characters."""

WriteId = Annotated[str, *of_form(r"[0-9A-Za-z_-]{1,64}", "must be the ID of a write")]
TaskId = Annotated[
    str,
    *of_form(r"[0-9a-f]{32}:[1-9][0-9]{0,8}:[0-9a-f]{8}", "must be the ID of a task"),
]
HeadingId = Annotated[str, *of_form(r"h:[0-9]{1,7}:[0-9a-f]{8}", "must be the ID of a heading")]
BlockId = Annotated[str, *of_form(r"\^?[A-Za-z0-9-]{1,200}", "must be the ID of a block")]
Heading = Annotated[str, StringConstraints(min_length=1, max_length=1000)]
Name = Annotated[
    str, StringConstraints(min_length=1, max_length=_NAME_CHARACTERS), AfterValidator(_one_line)
]
Properties = Annotated[dict[str, JsonValue], Field(max_length=1000), AfterValidator(_properties)]
"""Keys and values of a frontmatter, in order."""

TagName = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=500),
    AfterValidator(_one_line),
]

# --- what all have ------------------------------------------------------------------------------


class WriteBody(Model):
    """What every request to change something may say."""

    expected_hash: ExpectedHash | None = Field(
        default=None,
        description="The `contentHash` of the note as you know it, or its first 16 digits. If the"
        " note has changed, nothing is written. A section is compared by its `sectionHash`.",
    )
    dry_run: bool = Field(
        default=False, description="Check everything and return the diff, but write nothing."
    )
    idempotency_key: IdempotencyKey | None = Field(
        default=None,
        description="A name for this request. The same request with the same key is done once.",
    )
    wait_ms: Annotated[int, Field(ge=0, le=10_000)] = Field(
        default=2_000, description="How long to wait until a search finds the change."
    )


class NoteBody(WriteBody):
    """A request to change a note that exists."""

    path: NotePath | None = None
    note_id: NoteId | None = None

    @model_validator(mode="after")
    def _one_name(self) -> Self:
        if (self.path is None) == (self.note_id is None):
            raise PydanticCustomError("one_name", "must have either `path` or `noteId`")
        return self


# --- a whole note -------------------------------------------------------------------------------

WriteMode = Literal["create", "overwrite", "append", "prepend", "upsert"]


class WriteNoteBody(NoteBody):
    """The body of `POST /write/note`."""

    content: Content
    mode: WriteMode = Field(
        default="create",
        description="`upsert` creates the note with `frontmatter`, or appends if it exists.",
    )
    frontmatter: Properties | None = Field(
        default=None, description="Of a note that is created or overwritten."
    )
    blank_line: bool = Field(
        default=False, description="Put one empty line before text that is appended."
    )
    allow_repeat: bool = Field(
        default=False, description="Append text again that you have just appended."
    )


class FrontmatterBody(NoteBody):
    """The body of `POST /write/frontmatter`: the keys to set and to delete, in one write."""

    set: Properties = Field(default_factory=dict)
    delete: Annotated[tuple[Name, ...], Field(max_length=1000)] = ()

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.set and not self.delete:
            raise PydanticCustomError("nothing", "must have a key to `set` or to `delete`")
        return self


class TagsBody(NoteBody):
    """The body of `POST /write/tags`."""

    add: Annotated[tuple[TagName, ...], Field(max_length=100)] = ()
    remove: Annotated[tuple[TagName, ...], Field(max_length=100)] = ()
    where: Literal["frontmatter", "inline", "both"] = "frontmatter"

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.add and not self.remove:
            raise PydanticCustomError("nothing", "must have a tag to `add` or to `remove`")
        return self


class ReplaceBody(NoteBody):
    """The body of `POST /write/replace`."""

    search: Annotated[Content, StringConstraints(min_length=1)]
    replace: Content
    regex: bool = Field(
        default=False,
        description=r"`search` has the syntax of RE2. `\1` and `\g<name>` in `replace` are groups.",
    )
    case_sensitive: bool = True
    whole_word: bool = False
    in_frontmatter: bool = Field(default=False, description="Replace in the frontmatter, too.")
    expected_count: Annotated[int, Field(ge=1, le=10_000)] | None = Field(
        default=1, description="How many matches there must be. `null` is any number."
    )


SectionAction = Literal[
    "append", "prepend", "replace", "insertBefore", "insertAfter", "renameHeading"
]


class SectionBody(NoteBody):
    """The body of `POST /write/section`: one of `heading`, `headingId` and `blockId`."""

    heading: Heading | Annotated[tuple[Heading, ...], Field(min_length=1, max_length=20)] | None = (
        Field(
            default=None,
            description='A heading, or a path of headings: `A > B` or `["A", "B"]`.',
        )
    )
    heading_id: HeadingId | None = Field(default=None, description="From the note's outline.")
    block_id: BlockId | None = Field(default=None, description="`^abc` or `abc`.")
    action: SectionAction = "append"
    content: Content = Field(description="With `renameHeading`, the new text of the heading.")
    create_if_missing: bool = Field(
        default=False, description="Make the heading, under its parent if a path names one."
    )
    deep: bool = Field(default=False, description="Append after the subsections.")
    allow_repeat: bool = Field(
        default=False, description="Append text again that you have just appended."
    )

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if sum(each is not None for each in (self.heading, self.heading_id, self.block_id)) != 1:
            raise PydanticCustomError(
                "one_place", "must have one of `heading`, `headingId` and `blockId`"
            )
        return self

    @property
    def heading_path(self) -> tuple[str, ...] | None:
        """The headings from the outermost that is named to the one that is meant."""
        if not isinstance(self.heading, str):
            return self.heading
        return tuple(each.strip() for each in self.heading.split(" > "))


# --- files and folders --------------------------------------------------------------------------


class DeleteBody(NoteBody):
    """The body of `POST /write/delete`. The note goes to `.trash/`."""

    confirm: bool = Field(default=False, description="Must be true.")
    permanent: bool = Field(default=False, description="Do not keep it in `.trash/`.")
    missing_ok: bool = Field(default=False, description="A note that is not there is no error.")


class MoveBody(NoteBody):
    """The body of `POST /write/move`: a note, an attachment or a folder."""

    to: NotePath = Field(
        description="The new path, or a folder: one that exists, or any with / at its end."
    )
    rewrite_links: bool = Field(
        default=True, description="Change the links that would lead elsewhere."
    )


class FolderBody(WriteBody):
    """The body of `POST /write/folder`."""

    path: NotePath


class UploadRequest(Model):
    """A request to add an attachment. Its bytes are the body of the HTTP request."""

    path: NotePath
    dry_run: Flag = False
    wait_ms: whole(0, 10_000) = 2_000  # type: ignore[valid-type]


class AttachmentBody(WriteBody):
    """An attachment to add, with its bytes. An existing file is never replaced."""

    path: NotePath
    content: bytes


# --- tasks --------------------------------------------------------------------------------------

Priority = Literal["highest", "high", "medium", "low", "lowest"]


class AddTaskBody(NoteBody):
    """The body of `POST /write/tasks/add`."""

    text: Annotated[Line, StringConstraints(max_length=2_000)]
    section: Heading | None = Field(
        default=None, description="The heading to append it under; else the end of the note."
    )
    due: CalendarDate | None = None
    scheduled: CalendarDate | None = None
    start: CalendarDate | None = None
    priority: Priority | None = None
    recurrence: Annotated[Line, StringConstraints(max_length=200)] | None = Field(
        default=None, description="As `every week`."
    )
    allow_repeat: bool = Field(default=False, description="Add a task again that you just added.")


TaskState = Literal["done", "open", "cancelled", "toggle"]


class SetTaskBody(WriteBody):
    """The body of `POST /write/tasks/set`: a task by `taskId`, or by its note and line."""

    task_id: TaskId | None = Field(default=None, description="From `GET /tasks`.")
    path: NotePath | None = None
    note_id: NoteId | None = None
    line: Annotated[int, Field(ge=1)] | None = None
    text: Annotated[Line, StringConstraints(max_length=4_000)] | None = Field(
        default=None, description="The task's text as `GET /tasks` has it, to be sure of the line."
    )
    only_this_line: bool = Field(
        default=False, description="Refuse a task that has moved to another line."
    )
    status: TaskState

    @model_validator(mode="after")
    def _one_task(self) -> Self:
        by_line = (self.path is None) != (self.note_id is None) and self.line is not None
        nothing_else = not {self.path, self.note_id, self.line, self.text} - {None}
        if not (nothing_else if self.task_id is not None else by_line):
            raise PydanticCustomError(
                "one_task", "must have either `taskId`, or `path` or `noteId` with `line`"
            )
        return self


# --- templates, devlog, decisions ---------------------------------------------------------------


class TemplateBody(WriteBody):
    """The body of `POST /write/template`: a new note from a template.

    In the vaults of projects and in the global one `type` and `title` are enough.
    """

    template: Name | None = Field(default=None, description="By default that of the type.")
    path: NotePath | None = Field(
        default=None, description="By default in the folder of the type, named after the title."
    )
    type: Annotated[str, *of_form(r"[a-z][a-z0-9-]{0,31}", "must be a type of notes")] | None = None
    title: Annotated[Line, StringConstraints(max_length=500)] | None = Field(
        default=None, description="By default the name in `path`."
    )
    content: Content | None = Field(
        default=None, description="With a type: the text below the frontmatter, without a template."
    )
    frontmatter: Properties | None = Field(
        default=None, description="With a type: more keys of the frontmatter."
    )
    variables: Annotated[dict[str, str], Field(max_length=100), AfterValidator(_variables)] = Field(
        default_factory=dict
    )


class DevlogBody(WriteBody):
    """The body of `POST /write/devlog`: one line of what was done or learned."""

    kind: Literal["impl", "problem", "insight", "verify"]
    topic: Annotated[Line, StringConstraints(max_length=200)]
    text: Annotated[Content, StringConstraints(min_length=1, max_length=2_000)] = Field(
        description="Line ends become spaces."
    )
    allow_repeat: bool = Field(default=False, description="Add a line again that you just added.")
    session_id: SessionId | None = Field(
        default=None,
        description="The session whose journal gets the line too. Default: the only open one.",
    )


class DevlogRequest(Model):
    """A request for the last lines of the devlog."""

    topic: Annotated[Line, StringConstraints(max_length=200)] | None = Field(
        default=None, description="Default: all topics."
    )
    limit: whole(1, 1000) = 10  # type: ignore[valid-type]


class AdrBody(WriteBody):
    """The body of `POST /write/adr`: the record of a decision, with the next free number."""

    title: Annotated[Line, StringConstraints(max_length=200)]
    content: Content | None = Field(
        default=None, description="The text below the title. Default: the headings of a record."
    )


# --- undo ---------------------------------------------------------------------------------------


class UndoBody(WriteBody):
    """The body of `POST /write/undo`."""

    write_id: WriteId | None = Field(default=None, description="Default: your own last write.")
    copy_beside: bool = Field(
        default=False,
        alias="copy",
        description="If the note has changed since, put the text before beside it.",
    )


class ForgetBody(Model):
    """The body of `POST /writes/forget`: delete the kept bytes of writes, so they can't be undone.

    One of the three says which.
    """

    write_id: WriteId | None = None
    older_than_days: Annotated[int, Field(ge=0, le=36_500)] | None = None
    all: bool = False

    @model_validator(mode="after")
    def _one_of_three(self) -> Self:
        if (self.write_id is not None) + (self.older_than_days is not None) + self.all != 1:
            raise PydanticCustomError(
                "one_of", "must have one of `writeId`, `olderThanDays` and `all`"
            )
        return self


# --- reading ------------------------------------------------------------------------------------


class NoteParams(Model):
    """A request about a note: its outline, or its frontmatter."""

    note_id: NoteId


class WritesRequest(Model):
    """A request for the log of writes, newest first."""

    path: NotePath | None = Field(default=None, description="Only writes to this path.")
    agent: Annotated[str, StringConstraints(min_length=1, max_length=64)] | None = Field(
        default=None, description="Only writes of this agent."
    )
    limit: whole(1, 200) = 50  # type: ignore[valid-type]
    cursor: CursorText | None = Field(default=None, description="`nextCursor` of the page before.")


class WriteRequest(Model):
    """A request for one entry of the log of writes."""

    write_id: WriteId
