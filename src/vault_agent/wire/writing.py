"""What the requests that change notes are made of.

Every one of them is a `WriteBody`: `expectedHash`, `dryRun`, `idempotencyKey` and `waitMs` mean the
same everywhere. What names a note that exists is a `NoteBody`: `path` or `noteId`, one of them.
"""

from __future__ import annotations

import math
from typing import Annotated, Self

from pydantic import AfterValidator, Field, JsonValue, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from vault_agent.wire.base import Model
from vault_agent.wire.requests import NoteId, of_form

_NAME_CHARACTERS = 200

# --- the types of fields ------------------------------------------------------------------------


def without_nul(text: str) -> str:
    """Return a text if it has no NUL. Raises a `PydanticCustomError`."""
    if "\0" in text:
        raise PydanticCustomError("nul", "must not contain the character NUL")
    return text


def _one_line(text: str) -> str:
    if len(text.splitlines()) > 1 or text.endswith(("\n", "\r")):
        raise PydanticCustomError("one_line", "must be one line")
    return without_nul(text)


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
        without_nul(value)
    for each in value if isinstance(value, list) else ():
        _check_json(each)
    for name, each in value.items() if isinstance(value, dict) else ():
        _one_line(name)
        _check_json(each)


Content = Annotated[str, AfterValidator(without_nul)]
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
