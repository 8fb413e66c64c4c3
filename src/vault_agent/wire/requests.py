"""The requests of the HTTP contract."""

from __future__ import annotations

import json
import re
from datetime import date
from typing import Annotated, Literal, LiteralString

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, WithJsonSchema
from pydantic_core import PydanticCustomError

from vault_agent.model.modes import Linked, Mode
from vault_agent.model.scope import EVERYTHING, Scope
from vault_agent.model.search import Filters, RelatedQuery, SearchQuery
from vault_agent.wire.base import Model
from vault_agent.wire.queries import CursorText, Text, whole

_CHUNK_NUMBER = r"(0|[1-9][0-9]{0,6})"

ResultFields = Literal["full", "compact"]


def _calendar_date(text: str) -> str:
    try:
        if date.fromisoformat(text).isoformat() == text:  # fromisoformat accepts other forms too
            return text
    except ValueError:
        pass
    raise PydanticCustomError("date", "must be a calendar date, as YYYY-MM-DD")


def of_form(pattern: str, rule: LiteralString) -> tuple[AfterValidator, WithJsonSchema]:
    """Return the annotations of a text that must match the whole pattern. `rule` is the error."""
    form = re.compile(pattern)

    def check(text: str) -> str:
        if form.fullmatch(text) is None:
            raise PydanticCustomError("form", rule)
        return text

    return AfterValidator(check), WithJsonSchema({"type": "string", "pattern": f"^({pattern})$"})


def _flag(value: object) -> bool:
    if isinstance(value, bool):
        return value
    if value not in ("true", "false"):
        raise PydanticCustomError("flag", "must be true or false")
    return value == "true"


def _scalar(value: object) -> object:
    """Return a number or boolean as it is written in frontmatter."""
    return json.dumps(value) if isinstance(value, (bool, int, float)) else value


def _number(value: object) -> int:
    # Each number has one form, as in an ID: no sign, no leading zero, only ASCII digits.
    written = str(value) if type(value) in (int, str) else ""
    if re.fullmatch(_CHUNK_NUMBER, written) is None:
        raise PydanticCustomError("index", "must be a whole number from 0 to 9999999")
    return int(written)


_BY_ID = r"id:[^\s:/]{1,200}"
"""A note by the `id` of its frontmatter."""

NoteId = Annotated[
    str,
    *of_form(
        rf"[0-9a-f]{{32}}|{_BY_ID}",
        "must be a note's ID, 32 digits from 0 to f: take it from a result",
    ),
]
NoteOrChunkId = Annotated[
    str,
    *of_form(
        rf"[0-9a-f]{{32}}(:{_CHUNK_NUMBER})?|{_BY_ID}",
        "must be the ID of a note or chunk: take it from a result",
    ),
]
JobId = Annotated[str, *of_form(r"[0-9A-Za-z_-]{1,64}", "must be a job's ID")]
SessionId = Annotated[
    str, StringConstraints(pattern=r"^[0-9A-Za-z][0-9A-Za-z._:-]*$", max_length=200)
]
"""An agent's own name of a session."""
Limit = Annotated[int, Field(ge=1, le=50)]
CalendarDate = Annotated[
    str,
    AfterValidator(_calendar_date),
    WithJsonSchema({"type": "string", "format": "date"}),
]
Flag = Annotated[bool, BeforeValidator(_flag), WithJsonSchema({"type": "boolean"})]
"""A boolean. In a query string only `true` and `false` are valid."""

Index = Annotated[
    int,
    BeforeValidator(_number),
    WithJsonSchema({"type": "integer", "minimum": 0, "maximum": 9_999_999}),
]
"""A whole number. In a path it is written in digits."""

_PropertyValue = Annotated[
    str, BeforeValidator(_scalar), StringConstraints(strip_whitespace=True, max_length=500)
]
_FilterList = Annotated[tuple[Text, ...], Field(max_length=50)]


class FiltersBody(Model):
    """Conditions that every result satisfies."""

    paths: _FilterList = Field(
        default=(), description="Folders or glob patterns, relative to the vault. One must match."
    )
    tags: _FilterList = Field(
        default=(), description="All must match. A tag includes those nested under it."
    )
    types: _FilterList = Field(
        default=(), description="Values of `type` in the frontmatter. One must match."
    )
    properties: Annotated[dict[Text, _PropertyValue], Field(max_length=50)] = Field(
        default_factory=dict,
        description="Values of frontmatter properties. All must match. A list matches by any value",
    )
    files: _FilterList = Field(
        default=(),
        description="Paths, folders or file names in `files` of the frontmatter. One must match.",
    )
    projects: _FilterList = Field(default=(), description="Values of `project`. One must match.")
    sessions: _FilterList = Field(default=(), description="Values of `session`. One must match.")
    statuses: _FilterList = Field(default=(), description="Values of `status`. One must match.")
    after: CalendarDate | None = Field(default=None, description="The first day, inclusive.")
    before: CalendarDate | None = Field(default=None, description="The last day, inclusive.")

    def to_filters(self, scope: Scope = EVERYTHING) -> Filters:
        """Return the domain value for a caller with this scope."""
        return Filters(
            paths=self.paths,
            tags=self.tags,
            types=self.types,
            properties=(
                *self.properties.items(),
                *(("project", each) for each in self.projects),
                *(("session", each) for each in self.sessions),
                *(("status", each) for each in self.statuses),
            ),
            about=self.files,
            after=self.after,
            before=self.before,
            scope=scope,
        )


_VaultName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
MAX_VAULTS = 256
"""Vaults of one search. All of them are open at once."""
VaultNames = Annotated[tuple[_VaultName, ...], Field(max_length=MAX_VAULTS)]


class _RankingBody(Model):
    mode: Mode | None = Field(
        default=None, description="If omitted, the best available mode. The reply says which."
    )
    limit: Limit = Field(default=10, description="A JSON integer: 10, not 10.0.")
    filters: FiltersBody = Field(default_factory=FiltersBody)  # a default would be copied deeply
    explain: bool = Field(default=False, description="Show how each score is made.")
    vaults: VaultNames = Field(
        default=(),
        description="Vaults to search as one, such as `project:NAME` and `global`. If"
        " omitted, that of the path.",
    )
    fields: ResultFields = Field(
        default="full", description="With `compact`, ten results fit into 1.5 KB."
    )


class SearchBody(_RankingBody):
    """The body of `POST /search`."""

    query: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000)
    ] = Field(description="Any text. The length is counted after trimming.")

    match: Literal["best", "all"] = Field(
        default="best",
        description="With `all`, each word must be in the note as a whole word.",
    )
    cursor: CursorText | None = Field(default=None, description="`nextCursor` of the page before.")

    def to_query(self, scope: Scope = EVERYTHING) -> SearchQuery:
        """Return the domain value of the first page, for a caller with this scope."""
        return SearchQuery(
            query=self.query,
            mode=self.mode,
            limit=self.limit,
            filters=self.filters.to_filters(scope),
            explain=self.explain,
            every_word=self.match == "all",
        )


class RelatedBody(_RankingBody):
    """The body of `POST /related`."""

    id: NoteOrChunkId = Field(description="A note ID or a chunk ID.")
    linked: Linked = Field(
        default=Linked.INCLUDE,
        description="Whether results may be linked with the note: `exclude` for suggestions.",
    )

    def to_query(self, scope: Scope = EVERYTHING) -> RelatedQuery:
        """Return the domain value for a caller with this scope."""
        return RelatedQuery(
            id=self.id,
            mode=self.mode,
            limit=self.limit,
            filters=self.filters.to_filters(scope),
            explain=self.explain,
            linked=self.linked,
        )


class IndexBody(Model):
    """The optional body of `POST /index` and `POST /reindex`."""

    require_embeddings: bool = Field(
        default=False, description="Fail the job if embeddings cannot be made."
    )
    fresh_embeddings: bool = Field(
        default=False, description="Embed every text again and reuse no vectors."
    )


class NoParams(Model):
    """A request without parameters."""


FileOfNote = Annotated[
    Annotated[str, StringConstraints(min_length=1, max_length=4096)] | None,
    Field(
        default=None,
        description="The note's path, as `/resolve` gave it: it finds the file of a note that is"
        " not in the index yet.",
    ),
]


class NoteRequest(Model):
    """A request for a note."""

    note_id: NoteId
    path: FileOfNote
    allow_large: Flag = Field(default=False, description="Lift the limit of 200 KiB.")
    piece: whole(0, 1_000) | None = Field(  # type: ignore[valid-type]
        default=None,
        description="Send only this piece of 204,800 characters, from 0, of a note up to 64 MiB.",
    )


class ChunkRequest(Model):
    """A request for a chunk."""

    note_id: NoteId
    chunk_index: Index


class JobRequest(Model):
    """A request for a job."""

    job_id: JobId


class AttachmentRequest(Model):
    """A request for an attachment. The vault checks whether the path is one."""

    path: Annotated[str, StringConstraints(min_length=1, max_length=4096)]


class FolderRequest(Model):
    """A request for what is in a folder besides notes."""

    folder: Annotated[str, StringConstraints(max_length=4096)] = Field(
        default="", description="Its path; empty for the vault itself."
    )


class DownloadRequest(AttachmentRequest):
    """A request for an attachment's metadata or bytes."""

    download: Flag = Field(default=False, description="Return the bytes instead of the metadata.")
    allow_large: Flag = Field(default=False, description="Lift the limit of 10 MiB.")
