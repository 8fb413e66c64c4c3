"""What a tool is: a name, a schema, and a function from arguments to text.

Arguments are checked by the schema, with errors that say what to send instead. The SDK's validator
would quote the arguments. Only the part of JSON Schema that our tools use is known here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vault_agent.errors import InvalidRequest

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from vault_agent.mcp.view import View
    from vault_agent.model.writing import Right

    Schema = dict[str, Any]
    Shown = str | dict[str, Any]
    Run = Callable[[View, Mapping[str, Any]], Awaitable[Shown]]
    from collections.abc import Mapping

STRING: Schema = {"type": "string"}
CURSOR = STRING
HASH = STRING
LINE: Schema = {"type": "string", "minLength": 1}
TEXT: Schema = {**LINE, "maxLength": 1000}
PATH: Schema = {**LINE, "maxLength": 4096}
DATE: Schema = {"type": "string", "description": "YYYY-MM-DD"}
TAGS: Schema = {"type": "array", "items": STRING, "maxItems": 50}
LINE_NUMBER: Schema = {"type": "integer", "minimum": 1}
FALSE: Schema = {"type": "boolean", "default": False}
TRUE: Schema = {"type": "boolean", "default": True}


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: it reads, unless it says that it writes.

    Args:
        name: its name.
        description: for the model. A constant: nothing of a vault enters it.
        properties: the JSON schemas of its arguments.
        required: the names of those that must be given.
        run: returns the text of the reply, or a value, which the reply has as JSON too.
        right: the right without which a client does not have it; None if it needs none.
        writes: whether it changes notes.
        destructive: whether a write of it can change what is there.
        idempotent: whether the same call again changes nothing more.
        needs: the setting that enables it, such as `memory.enabled`; None if it always is.
        owner: whether only clients of the owner have it, not agents with limits.
    """

    name: str
    description: str
    properties: Mapping[str, Mapping[str, Any]]
    required: tuple[str, ...]
    run: Run
    right: Right | None = None
    writes: bool = False
    destructive: bool = True
    idempotent: bool = False
    needs: str | None = None
    owner: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments."""
        schema: dict[str, Any] = {"type": "object", "properties": dict(self.properties)}
        if self.required:
            schema["required"] = list(self.required)
        return {**schema, "additionalProperties": False}

    @property
    def annotations(self) -> dict[str, bool]:
        """What clients are told about the tool's effects."""
        if not self.writes:
            return {"readOnlyHint": True, "openWorldHint": False}
        return {
            "readOnlyHint": False,
            "destructiveHint": self.destructive,
            "idempotentHint": self.idempotent,
            "openWorldHint": False,
        }

    @property
    def listed(self) -> dict[str, Any]:
        """The tool as `tools/list` describes it."""
        return {
            "name": self.name,
            "description": self.description,
            "inputSchema": self.schema,
            "annotations": self.annotations,
        }


def allowed(tools: Iterable[Tool], rights: frozenset[Right]) -> tuple[Tool, ...]:
    """Return those of the tools that a client with these rights has."""
    return tuple(tool for tool in tools if tool.right is None or tool.right in rights)


def limit(most: int, default: int) -> Schema:
    """Return the schema of an argument `limit`."""
    return {"type": "integer", "minimum": 1, "maximum": most, "default": default}


def one_of(*names: str, default: str | None = None) -> Schema:
    """Return the schema of an argument that is one of some names."""
    schema: Schema = {"type": "string", "enum": list(names)}
    return schema if default is None else {**schema, "default": default}


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


def check(tool: Tool, arguments: object) -> dict[str, Any]:
    """Return the arguments of a call, with the defaults of the tool's schema added.

    What is null or empty text is left out where it may be: models send that for what they do not
    give.

    Raises:
        InvalidRequest: `INVALID_REQUEST`, `INVALID_LIMIT` or `INVALID_QUERY`. The message never
            contains what was sent.
    """
    if arguments is None:
        arguments = {}
    if not isinstance(arguments, dict):
        raise InvalidRequest("INVALID_REQUEST", f"{tool.name} takes an object of arguments.")
    return _object(tool.schema, arguments, "", takes=tool.name)


def _object(
    schema: Mapping[str, Any], members: Mapping[str, Any], place: str, *, takes: str
) -> dict[str, Any]:
    """Return an object with its defaults. `takes` is what an error calls it."""
    if "properties" not in schema:
        return dict(members)  # any object: the operation checks it
    properties, required = schema["properties"], schema.get("required", ())
    if not members.keys() <= properties.keys():
        names = ", ".join(properties)
        raise InvalidRequest("INVALID_REQUEST", f"unknown argument; {takes} takes {names}.")
    missing = [name for name in required if members.get(name) is None]
    if missing:
        kind = _KINDS.get(properties[missing[0]].get("type"), "JSON")
        raise InvalidRequest("INVALID_REQUEST", f"{missing[0]} is missing. Give it as {kind}.")
    checked = {name: kind["default"] for name, kind in properties.items() if "default" in kind}
    for name, value in members.items():
        if "type" not in properties[name]:
            checked[name] = value  # any value, also null
        elif name in required or value not in (None, ""):
            checked[name] = _value(properties[name], value, f"{place}.{name}" if place else name)
    return checked


def _value(schema: Mapping[str, Any], value: Any, place: str) -> Any:
    """Return a value of some type, with the defaults of the objects in it."""
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
        return [_value(schema["items"], item, f"each of {place}") for item in value]
    elif isinstance(value, dict):
        return _object(schema, value, place, takes=place)
    return value


def _check_length(code: str, schema: Mapping[str, Any], length: int, place: str, unit: str) -> None:
    suffix = "Length" if unit == "characters" else "Items"
    least, most = schema.get(f"min{suffix}", 0), schema.get(f"max{suffix}")
    if length < least:
        raise InvalidRequest(code, f"{place} must not be empty.")
    if most is not None and length > most:
        raise InvalidRequest(code, f"{place} must have at most {most:,} {unit}.")
