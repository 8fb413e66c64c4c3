"""The base of all HTTP models, and their parsing.

Validation is strict: `true` is not a number, `1.0` is not an integer, and unknown fields are
refused. An error names a field and a rule, and never repeats the input.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from vault_agent.errors import InvalidRequest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_CODES = {
    "query": "INVALID_QUERY",
    "mode": "INVALID_MODE",
    "limit": "INVALID_LIMIT",
    "cursor": "INVALID_CURSOR",
    "id": "INVALID_ID",
    "noteId": "INVALID_ID",
    "chunkIndex": "INVALID_ID",
    "jobId": "INVALID_ID",
    "path": "INVALID_PATH",
    "from": "INVALID_ID",
    "to": "INVALID_ID",
    "depth": "INVALID_LIMIT",
    "contexts": "INVALID_LIMIT",
    "max": "INVALID_LIMIT",
    # Filters in a query string. Those of a body are in `filters`.
    "paths": "INVALID_FILTER",
    "tags": "INVALID_FILTER",
    "types": "INVALID_FILTER",
    "after": "INVALID_FILTER",
    "before": "INVALID_FILTER",
    "dueAfter": "INVALID_FILTER",
    "dueBefore": "INVALID_FILTER",
    "prefix": "INVALID_FILTER",
    "minDegree": "INVALID_FILTER",
    "status": "INVALID_FILTER",
    "kind": "INVALID_FILTER",
    "kinds": "INVALID_FILTER",
    "by": "INVALID_FILTER",
    "groupBy": "INVALID_FILTER",
    "tag": "INVALID_FILTER",
    "type": "INVALID_FILTER",
    "property": "INVALID_FILTER",
    "file": "INVALID_FILTER",
    "project": "INVALID_FILTER",
    "session": "INVALID_FILTER",
    "agent": "INVALID_FILTER",
    "promoted": "INVALID_FILTER",
    "tasks": "INVALID_FILTER",
}
"""The error code of a field. Other fields have INVALID_REQUEST."""

_RULES = {
    "missing": "is missing",
    "string_type": "must be text",
    "string_too_short": "must not be empty",
    "string_too_long": "must have at most {max_length:,} characters",
    "int_type": "must be a whole number",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "bool_type": "must be true or false",
    "enum": "must be {expected}",
    "literal_error": "must be {expected}",
    "too_long": "must have at most {max_length} items",
    "model_type": "must be an object",
}
"""Our text for each rule of the validator, whose own text is about Python."""


class Model(BaseModel):
    """A frozen value of the HTTP contract: camelCase in JSON, snake_case in Python."""

    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        frozen=True,
        alias_generator=to_camel,
        validate_by_alias=True,
        validate_by_name=True,
        serialize_by_alias=True,
        hide_input_in_errors=True,
        # Validators are built at first use, so a command builds only those that it needs.
        defer_build=True,
    )


AnyModel = TypeVar("AnyModel", bound=Model)


def parse(model: type[AnyModel], body: bytes) -> AnyModel:
    """Parse a JSON body as a request.

    Raises InvalidRequest for text that is not UTF-8 or not JSON, a lone surrogate, too deep
    nesting, too large numbers, a repeated key, or a field that breaks its rule.
    """
    try:
        request = model.model_validate_json(body, by_alias=True, by_name=False)
    except ValidationError as error:
        raise invalid(model, error) from None
    # Parsers differ on which of two equal keys counts, so a repeated key is an error. The body is
    # valid and flat here, so the second parse cannot fail or recurse deeply.
    json.loads(body, object_pairs_hook=_refuse_repeated_keys)
    return request


def parse_with(model: type[AnyModel], body: bytes, more: Mapping[str, str]) -> AnyModel:
    """Parse a JSON body as a request that has more fields, which are not in the body.

    Raises InvalidRequest as `parse`, and if the body has one of these fields too.
    """
    try:
        content = orjson.loads(body)
        if not isinstance(content, dict):
            return parse(model, body)  # which says what it must be
        if content.keys() & more.keys():
            raise unknown_field([name for name in wire_names(model) if name not in more])
        whole = orjson.dumps({**content, **more})
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):  # the latter: too deep
        raise InvalidRequest("INVALID_REQUEST", "The request body is not valid JSON.") from None
    request = parse(model, whole)
    json.loads(body, object_pairs_hook=_refuse_repeated_keys)  # as in `parse`
    return request


def parse_strings(model: type[AnyModel], values: Mapping[str, str | tuple[str, ...]]) -> AnyModel:
    """Parse path or query parameters as a request. Raises InvalidRequest."""
    try:
        return model.model_validate(values, by_alias=True, by_name=False)
    except ValidationError as error:
        raise invalid(model, error) from None


def parse_values(model: type[AnyModel], values: Mapping[str, Any]) -> AnyModel:
    """Parse arguments that were read from JSON as a request. Raises InvalidRequest."""
    return parse(model, orjson.dumps(values))


def dump(model: Model) -> bytes:
    """Return a model as JSON."""
    return orjson.dumps(model.model_dump(mode="json"))


def invalid(model: type[Model], error: ValidationError) -> InvalidRequest:
    """Return the error for the first broken rule. It names field and rule, never the input."""
    first = error.errors(include_url=False, include_input=False)[0]
    rule = first["type"]
    if rule == "json_invalid":
        return InvalidRequest("INVALID_REQUEST", "The request body is not valid JSON.")
    if rule == "extra_forbidden":
        # The last part of the location is the unknown name, which is input.
        place = ".".join(str(part) for part in first["loc"][:-1])
        return unknown_field(wire_names(model), place)
    place = ".".join(str(part) for part in first["loc"])
    code = _CODES.get(str(first["loc"][0]) if first["loc"] else "", "INVALID_REQUEST")
    details = {"field": place, "rule": rule} if place else {"rule": rule}
    # The context contains the numbers and names of the rule, never the input.
    text = _RULES[rule].format_map(first.get("ctx", {})) if rule in _RULES else first["msg"]
    return InvalidRequest(code, f"{place or 'The request body'} {text}.", details)


def unknown_field(known: Sequence[str], place: str = "") -> InvalidRequest:
    """Return the error for an unknown field, without its name."""
    if place:
        message = f"{place} has an unknown field."
    elif known:
        message = f"Unknown field. Known are: {', '.join(known)}."
    else:
        message = "This call takes no parameters."
    return InvalidRequest("INVALID_REQUEST", message, {"rule": "extra_forbidden"})


def wire_names(model: type[Model]) -> list[str]:
    """Return the names of a model's fields in JSON."""
    return [field.alias or name for name, field in model.model_fields.items()]


def _refuse_repeated_keys(pairs: list[tuple[str, Any]]) -> None:
    if len({key for key, _ in pairs}) != len(pairs):
        raise InvalidRequest("INVALID_REQUEST", "A key appears twice in the request body.")
