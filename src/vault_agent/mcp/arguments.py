"""Checks a tool's arguments by its JSON schema, with errors that say what to send instead.

The SDK's validator would quote the arguments. Only the part of JSON Schema that our tools use is
known here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vault_agent.errors import InvalidRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

# Names that other servers give to arguments of ours.
KNOWN_ELSEWHERE = {
    "max_results": "limit",
    "maxResults": "limit",
    "top_k": "limit",
    "k": "limit",
    "n_results": "limit",
    "pattern": "query",
    "text": "query",
    "q": "query",
    "search": "query",
    "path_prefix": "path",
    "path_filter": "path",
    "folder": "path",
    "directory": "path",
    "dir": "path",
    "filename": "path",
    "file": "path",
    "filepath": "path",
    "file_path": "path",
    "note": "path",
    "name": "path",
    "id": "path",
    "tag": "tags",
    "heading": "section",
    "max_tokens": "maxTokens",
    "due_before": "dueBefore",
    "offset": "cursor",
    "page": "cursor",
    "body": "content",
    "markdown": "content",
    "old_string": "search",
    "old_text": "search",
    "find": "search",
    "new_string": "replace",
    "new_text": "replace",
    "replacement": "replace",
    "destination": "to",
    "new_path": "to",
    "newPath": "to",
    "hash": "expectedHash",
    "expected_hash": "expectedHash",
    "dry_run": "dryRun",
    "write_id": "writeId",
}
_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}
_KINDS = {
    "string": "text",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
}


def check(tool: str, schema: Mapping[str, Any], given: object) -> dict[str, Any]:
    """Return the arguments of a call, with the schema's defaults added.

    Raises:
        InvalidRequest: `INVALID_REQUEST`, `INVALID_LIMIT` or `INVALID_QUERY`. The message never
            contains what was sent.
    """
    arguments = {} if given is None else given
    if not isinstance(arguments, dict):
        raise InvalidRequest("INVALID_REQUEST", f"{tool} takes an object of arguments.")
    arguments = _without_left_out(schema, arguments)
    _check_object(tool, schema, arguments, "")
    defaults = {
        name: each["default"] for name, each in schema["properties"].items() if "default" in each
    }
    # Where any value may be sent, null is one.
    free = {name for name, each in schema["properties"].items() if "type" not in each}
    sent = {name: each for name, each in arguments.items() if each is not None or name in free}
    return {**defaults, **sent}


def _without_left_out(schema: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments without optional ones that are empty text.

    Models send that for what they leave out.
    """
    required = schema.get("required", ())
    return {
        name: value
        for name, value in given.items()
        if value != ""
        or name in required
        or schema["properties"].get(name, {}).get("type") != "string"
    }


def _check_object(
    tool: str, schema: Mapping[str, Any], given: Mapping[str, Any], place: str
) -> None:
    if "properties" not in schema:
        return  # any object: the operation checks it
    properties = schema["properties"]
    unknown = [name for name in given if name not in properties]
    if unknown:
        takes = f"{place or tool} takes {', '.join(properties)}."
        known = [
            f" `{name}` is called `{ours}`."
            for name in unknown
            if (ours := KNOWN_ELSEWHERE.get(name)) in properties
        ]
        raise InvalidRequest("INVALID_REQUEST", f"unknown argument; {takes}{''.join(known)}")
    missing = [name for name in schema.get("required", ()) if given.get(name) is None]
    if missing:
        kind = _KINDS.get(properties[missing[0]].get("type"), "JSON")
        raise InvalidRequest("INVALID_REQUEST", f"{missing[0]} is missing. Give it as {kind}.")
    for name, value in given.items():
        if value is not None:  # models send null for what they leave out
            _check_value(tool, properties[name], value, f"{place}.{name}" if place else name)


def _check_value(tool: str, schema: Mapping[str, Any], value: object, place: str) -> None:
    if "type" not in schema:
        return  # any value
    kind = schema["type"]
    code = {"limit": "INVALID_LIMIT", "query": "INVALID_QUERY"}.get(place, "INVALID_REQUEST")
    if not isinstance(value, _TYPES[kind]) or (kind == "integer" and isinstance(value, bool)):
        raise InvalidRequest(code, f"{place} must be {_KINDS[kind]}.")
    if "enum" in schema and value not in schema["enum"]:
        raise InvalidRequest(code, f"{place} must be one of {', '.join(schema['enum'])}.")
    if isinstance(value, str):
        _check_length(code, schema, len(value.strip()), place, "characters")
    elif isinstance(value, int) and not isinstance(value, bool):
        least, most = schema.get("minimum", value), schema.get("maximum", value)
        if not least <= value <= most:
            raise InvalidRequest(code, f"{place} must be from {least} to {most:,}.")
    elif isinstance(value, list):
        _check_length(code, schema, len(value), place, "items")
        for each in value:
            _check_value(tool, schema["items"], each, f"each of {place}")
    elif isinstance(value, dict):
        _check_object(tool, schema, value, place)


def _check_length(code: str, schema: Mapping[str, Any], length: int, place: str, unit: str) -> None:
    suffix = "Length" if unit == "characters" else "Items"
    least, most = schema.get(f"min{suffix}", 0), schema.get(f"max{suffix}")
    if length < least:
        raise InvalidRequest(code, f"{place} must not be empty.")
    if most is not None and length > most:
        raise InvalidRequest(code, f"{place} must have at most {most:,} {unit}.")
