"""The types of the fields of requests."""

from __future__ import annotations

import math
from datetime import date
from typing import Annotated, Any, get_args

from vault_agent.model.sent import TRIMMED, Between, Doc, Form, Length, Unreadable, Validator
from vault_agent.model.sessions import SESSION_ID

CHUNK_NUMBER = r"(0|[1-9][0-9]{0,6})"
_DEEPEST = 100
_BY_ID = r"id:[^\s:/]{1,200}"
"""A note by the `id` of its frontmatter."""


def _calendar_date(text: str) -> str:
    try:
        if date.fromisoformat(text).isoformat() == text:  # fromisoformat accepts other forms too
            return text
    except ValueError:
        pass
    raise Unreadable("date", "must be a calendar date, as YYYY-MM-DD")


def without_nul(text: str) -> str:
    """Return a text if it has no NUL."""
    if "\0" in text:
        raise Unreadable("nul", "must not contain the character NUL")
    return text


def _one_line(text: str) -> str:
    if len(text.splitlines()) > 1 or text.endswith(("\n", "\r")):
        raise Unreadable("one_line", "must be one line")
    return without_nul(text)


def _properties(values: dict[str, Any]) -> dict[str, Any]:
    # Checked as a whole, because the place of an error must not name a key.
    if not all(1 <= len(name) <= NAME_CHARACTERS for name in values):
        raise Unreadable("names", f"must have keys of 1 to {NAME_CHARACTERS} characters")
    _check_json(values)
    return values


def _check_json(value: Any, depth: int = 0) -> None:
    """Refuse what YAML could not give back: numbers that are not finite, NUL, too deep nesting."""
    if depth > _DEEPEST:
        raise Unreadable("depth", "is nested too deeply")
    if isinstance(value, float) and not math.isfinite(value):
        raise Unreadable("finite", "must have finite numbers")
    if isinstance(value, str):
        without_nul(value)
    for entry in value if isinstance(value, list) else ():
        _check_json(entry, depth + 1)
    for name, entry in value.items() if isinstance(value, dict) else ():
        _one_line(name)
        _check_json(entry, depth + 1)


def some_of(choices: Any) -> Validator:
    """Return what makes a text one of some texts of a literal type, separated by commas."""
    names = get_args(choices)

    def check(text: str) -> str:
        if not set(text.split(",")) <= set(names):
            what = f"must be one or more of {', '.join(names)}, separated by commas"
            raise Unreadable("choices", what)
        return text

    one = f"({'|'.join(names)})"
    return Validator(check, {"pattern": f"^{one}(,{one})*$"})


# --- names and numbers --------------------------------------------------------------------------

NoteId = Annotated[
    str,
    Form(
        rf"[0-9a-f]{{32}}|{_BY_ID}",
        "must be a note's ID, 32 digits from 0 to f: take it from a result",
    ),
]
NoteOrChunkId = Annotated[
    str,
    Form(
        rf"[0-9a-f]{{32}}(:{CHUNK_NUMBER})?|{_BY_ID}",
        "must be the ID of a note or chunk: take it from a result",
    ),
]
JobId = Annotated[str, Form(r"[0-9A-Za-z_-]{1,64}", "must be a job's ID")]
SessionId = Annotated[str, Form(SESSION_ID, "must be the agent's own ID of a session")]
WriteId = Annotated[str, Form(r"[0-9A-Za-z_-]{1,64}", "must be the ID of a write")]
TaskId = Annotated[
    str, Form(r"[0-9a-f]{32}:[1-9][0-9]{0,8}:[0-9a-f]{8}", "must be the ID of a task")
]
HeadingId = Annotated[str, Form(r"h:[0-9]{1,7}:[0-9a-f]{8}", "must be the ID of a heading")]
BlockId = Annotated[str, Form(r"\^?[A-Za-z0-9-]{1,200}", "must be the ID of a block")]
ExpectedHash = Annotated[
    str, Form(r"[0-9a-f]{16,64}", "must be a hash, 16 to 64 digits from 0 to f")
]
"""The SHA-256 of a note's or section's bytes, or at least its first 16 digits."""
IdempotencyKey = Annotated[
    str, Form(r"[\x21-\x7e]{1,128}", "must have 1 to 128 printable ASCII characters")
]
Date = Annotated[str, Validator(_calendar_date, {"format": "date"})]
FilePath = Annotated[str, Length(1, 4096)]
"""A path relative to the vault, written exactly."""

# --- texts --------------------------------------------------------------------------------------

Text = Annotated[str, TRIMMED, Length(1, 500)]
Texts = Annotated[tuple[Text, ...], Length(0, 50)]
"""A list of texts. In a query string the parameter is repeated."""
Query = Annotated[str, TRIMMED, Length(1, 1000)]
Content = Annotated[str, Validator(without_nul)]
"""Text for a note. Its line ends become those of the note."""
Line = Annotated[str, Length(1), Validator(_one_line)]
"""Text of one line."""
Heading = Annotated[str, Length(1, 1000)]
NAME_CHARACTERS = 200
Name = Annotated[str, Length(1, NAME_CHARACTERS), Validator(_one_line)]
TagName = Annotated[str, TRIMMED, Length(1, 500), Validator(_one_line)]
Properties = Annotated[dict[str, Any], Length(0, 1000), Validator(_properties)]
"""Keys and values of a frontmatter, in order."""

FirstDay = Annotated[Date | None, Doc("The first day, inclusive.")]
LastDay = Annotated[Date | None, Doc("The last day, inclusive.")]
Cursor = Annotated[Annotated[str, Length(0, 300)] | None, Doc("`nextCursor` of the page before.")]
AtLeastOne = Between(1, float("inf"))
