"""What a client may send."""

from __future__ import annotations

import re
from datetime import date
from typing import Annotated, Literal, LiteralString

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, WithJsonSchema
from pydantic_core import PydanticCustomError

from vault_agent.model.search import Filters, Mode, RelatedQuery, SearchQuery
from vault_agent.wire.base import Model

_CHUNK_NUMBER = r"(0|[1-9][0-9]{0,6})"

ResultFields = Literal["full", "compact"]


def _calendar_date(text: str) -> str:
    try:
        if date.fromisoformat(text).isoformat() == text:  # which takes other spellings too
            return text
    except ValueError:
        pass
    raise PydanticCustomError("date", "must be a day of the calendar, as YYYY-MM-DD")


def _of_form(pattern: str, rule: LiteralString) -> tuple[AfterValidator, WithJsonSchema]:
    """Return the annotations of a text that matches as a whole, and is refused by `rule`."""
    form = re.compile(pattern)

    def check(text: str) -> str:
        if form.fullmatch(text) is None:
            raise PydanticCustomError("form", rule)
        return text

    return AfterValidator(check), WithJsonSchema({"type": "string", "pattern": f"^{pattern}$"})


def _flag(value: object) -> bool:
    if isinstance(value, bool):
        return value
    if value not in ("true", "false"):
        raise PydanticCustomError("flag", "must be true or false")
    return value == "true"


def _number(value: object) -> int:
    # One spelling each, as in an ID: no sign, no leading zero, no digits of other scripts.
    written = str(value) if type(value) in (int, str) else ""
    if re.fullmatch(_CHUNK_NUMBER, written) is None:
        raise PydanticCustomError("index", "must be a whole number from 0 to 9999999")
    return int(written)


NoteId = Annotated[
    str,
    *_of_form(r"[0-9a-f]{32}", "must be a note's ID, 32 digits from 0 to f: take it from a result"),
]
NoteOrChunkId = Annotated[
    str,
    *_of_form(
        rf"[0-9a-f]{{32}}(:{_CHUNK_NUMBER})?",
        "must be the ID of a note or chunk: take it from a result",
    ),
]
JobId = Annotated[str, *_of_form(r"[0-9A-Za-z_-]{1,64}", "must be a job's ID")]
Limit = Annotated[int, Field(ge=1, le=50)]
CalendarDate = Annotated[
    str,
    AfterValidator(_calendar_date),
    WithJsonSchema({"type": "string", "format": "date"}),
]
Flag = Annotated[bool, BeforeValidator(_flag), WithJsonSchema({"type": "boolean"})]
"""A boolean; in a query string `true` or `false`, and no other spelling."""

Index = Annotated[
    int,
    BeforeValidator(_number),
    WithJsonSchema({"type": "integer", "minimum": 0, "maximum": 9_999_999}),
]
"""A whole number; in a path its digits."""

_FilterText = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]
_FilterList = Annotated[tuple[_FilterText, ...], Field(max_length=50)]


class FiltersBody(Model):
    """What a result must satisfy."""

    paths: _FilterList = Field(
        default=(), description="Folders or glob patterns, relative to the vault; any of them."
    )
    tags: _FilterList = Field(
        default=(), description="All of them; a tag includes those nested under it."
    )
    types: _FilterList = Field(default=(), description="The frontmatter's `type`; any of them.")
    after: CalendarDate | None = Field(default=None, description="The first day, inclusive.")
    before: CalendarDate | None = Field(default=None, description="The last day, inclusive.")

    def to_filters(self) -> Filters:
        """Return the same as the product's own value."""
        return Filters(
            paths=self.paths,
            tags=self.tags,
            types=self.types,
            after=self.after,
            before=self.before,
        )


class _RankingBody(Model):
    mode: Mode | None = Field(
        default=None, description="Omitted: the best that is usable, and the reply says which."
    )
    limit: Limit = Field(default=10, description="An integer as such: 10, not 10.0.")
    filters: FiltersBody = FiltersBody()
    explain: bool = Field(default=False, description="Say for every result how its score arose.")
    fields: ResultFields = Field(
        default="full", description="`compact` makes ten results fit into 1.5 KB."
    )


class SearchBody(_RankingBody):
    """The body of `POST /search`."""

    query: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000)
    ] = Field(description="Any text; counted after trimming.")

    def to_query(self) -> SearchQuery:
        """Return the same as the product's own value."""
        return SearchQuery(
            query=self.query,
            mode=self.mode,
            limit=self.limit,
            filters=self.filters.to_filters(),
            explain=self.explain,
        )


class RelatedBody(_RankingBody):
    """The body of `POST /related`."""

    id: NoteOrChunkId = Field(description="A note ID or a chunk ID.")

    def to_query(self) -> RelatedQuery:
        """Return the same as the product's own value."""
        return RelatedQuery(
            id=self.id,
            mode=self.mode,
            limit=self.limit,
            filters=self.filters.to_filters(),
            explain=self.explain,
        )


class IndexBody(Model):
    """The body of `POST /index` and `POST /reindex`; may be left out."""

    require_embeddings: bool = Field(
        default=False, description="The job fails where embeddings cannot be made."
    )
    fresh_embeddings: bool = Field(
        default=False, description="Embed every text again, even where a vector is known."
    )


class NoParams(Model):
    """A request without parameters."""


class NoteRequest(Model):
    """Which note, and whether a large one is wanted."""

    note_id: NoteId
    allow_large: Flag = Field(default=False, description="Lift the limit of 200 KiB.")


class ChunkRequest(Model):
    """Which chunk."""

    note_id: NoteId
    chunk_index: Index


class JobRequest(Model):
    """Which job."""

    job_id: JobId


class AttachmentRequest(Model):
    """Which attachment; the vault decides which paths are attachments."""

    path: Annotated[str, StringConstraints(min_length=1, max_length=4096)]


class DownloadRequest(AttachmentRequest):
    """Which attachment, and whether its bytes are wanted."""

    download: Flag = Field(default=False, description="Send the bytes, not what is known of them.")
    allow_large: Flag = Field(default=False, description="Lift the limit of 10 MiB.")
