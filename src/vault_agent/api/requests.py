"""The parts that requests share, and how requests are read.

Reading is strict: `true` is not a number, `1.0` is not an integer, and unknown fields are refused.
An error names a field and a rule, and never repeats the input.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_origin

import orjson

from vault_agent.errors import InvalidRequest
from vault_agent.model.fields import FilePath, NoteId
from vault_agent.model.sent import Doc, Unreadable
from vault_agent.model.values import read, sent_fields

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from vault_agent.model.values import SentField

Request = TypeVar("Request")


@dataclass(frozen=True, slots=True)
class NoParams:
    """A request without parameters."""


FileOfNote = Annotated[
    FilePath | None,
    Doc(
        "The note's path, as `/resolve` gave it: it finds the file of a note that is not in the"
        " index yet."
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteParams:
    """A request about a note: its outline, or its frontmatter."""

    note_id: NoteId
    path: FileOfNote = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PathParams:
    """A request for a file. The vault checks whether the path is one."""

    path: FilePath


# --- reading ------------------------------------------------------------------------------------

_CODES = {
    **dict.fromkeys(("id", "noteId", "chunkIndex", "jobId", "from", "to"), "INVALID_ID"),
    **dict.fromkeys(("limit", "depth", "contexts", "max"), "INVALID_LIMIT"),
    "query": "INVALID_QUERY",
    "mode": "INVALID_MODE",
    "cursor": "INVALID_CURSOR",
    "path": "INVALID_PATH",
}
"""The error code of a field. Other fields have INVALID_REQUEST."""
_MOST_DIGITS = 20


def parse(kind: type[Request], body: bytes, in_path: Mapping[str, str] | None = None) -> Request:
    """Read a JSON body as a request. `in_path` has the fields that are not in the body.

    Raises:
        InvalidRequest: for text that is not UTF-8 or not JSON, a lone surrogate, too deep nesting,
            too large numbers, a repeated key, a field that breaks its rule, or one of `in_path`.
    """
    try:
        content = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise InvalidRequest("INVALID_REQUEST", "The request body is not valid JSON.") from None
    if isinstance(content, dict) and in_path:
        if content.keys() & in_path.keys():
            raise unknown_field([name for name in wire_names(kind) if name not in in_path])
        content |= in_path
    request = _read(kind, content)
    # Parsers differ on which of two equal keys counts, so a repeated key is an error. The body is
    # valid and flat here, so the second parse cannot fail or recurse deeply.
    json.loads(body, object_pairs_hook=_refuse_repeated_keys, parse_int=whole_number)
    return request


def whole_number(digits: str) -> int:
    """Return a whole number of JSON. orjson makes a float of a larger one, which loses digits.

    Raises:
        InvalidRequest: `INVALID_REQUEST` for a number over 64 bits.
    """
    if len(digits) > _MOST_DIGITS or not -(1 << 63) <= int(digits) < 1 << 64:
        what = "A whole number has over 64 bits. Give it as text."
        raise InvalidRequest("INVALID_REQUEST", what)
    return int(digits)


def parse_strings(kind: type[Request], values: Mapping[str, str | tuple[str, ...]]) -> Request:
    """Read path or query parameters as a request. Raises InvalidRequest."""
    return _read(kind, values, texts=True)


def parse_values(kind: type[Request], values: Mapping[str, Any]) -> Request:
    """Read arguments that came as JSON as a request. Raises InvalidRequest."""
    try:
        content = orjson.dumps(values)
    except orjson.JSONEncodeError:  # orjson writes less deep nesting than it reads
        raise InvalidRequest("INVALID_REQUEST", "A value is nested too deeply.") from None
    return parse(kind, content)


def _read(kind: type[Request], content: object, *, texts: bool = False) -> Request:
    try:
        return read(kind, content, strict=True, texts=texts)
    except Unreadable as error:
        raise _invalid(kind, error) from None


def _invalid(kind: type, error: Unreadable) -> InvalidRequest:
    """Return the error for the first broken rule. It names field and rule, never the input."""
    place = ".".join(error.place)
    if error.rule == "extra_forbidden":
        return unknown_field(wire_names(kind), place)
    code = _CODES.get(error.place[0] if error.place else "", "INVALID_REQUEST")
    details = {"field": place, "rule": error.rule} if place else {"rule": error.rule}
    return InvalidRequest(code, f"{place or 'The request body'} {error.text}.", details)


def unknown_field(names: Sequence[str], place: str = "") -> InvalidRequest:
    """Return the error for an unknown field, without its name."""
    if place:
        message = f"{place} has an unknown field."
    elif names:
        message = f"Unknown field. Known are: {', '.join(names)}."
    else:
        message = "This call takes no parameters."
    return InvalidRequest("INVALID_REQUEST", message, {"rule": "extra_forbidden"})


def wire_names(kind: type) -> list[str]:
    """Return the names of a request's fields in JSON."""
    return [field.key for field in sent_fields(kind)]


def repeatable(fields: Iterable[SentField]) -> set[str]:
    """Return the parameters of a request that may be repeated in a query string."""
    return {field.key for field in fields if get_origin(field.kind) is tuple}


def _refuse_repeated_keys(pairs: list[tuple[str, Any]]) -> None:
    if len({key for key, _ in pairs}) != len(pairs):
        raise InvalidRequest("INVALID_REQUEST", "A key appears twice in the request body.")
