"""What a tool is: a row of `tools.toml`, and a function from arguments to text.

Arguments are checked by the schema, with errors that say what to send instead. The SDK's validator
would quote the arguments. Only the part of JSON Schema that our tools use is known here.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vault_agent.errors import InvalidRequest

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from vault_agent.mcp.view import View
    from vault_agent.model.writing import Right

    Schema = dict[str, Any]
    Shown = str | dict[str, Any]
    Run = Callable[[View, Mapping[str, Any]], Awaitable[Shown]]

OWN = "vault-agent"
"""The toolset with our own names."""
_TABLE = tomllib.loads(Path(__file__).with_name("tools.toml").read_text("utf-8"))
_ARGUMENTS: Mapping[str, Schema] = _TABLE.pop("kinds")


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as a client has it: it reads, unless it says that it writes.

    Args:
        name: its name.
        run: returns the text of the reply, or a value, which the reply has as JSON too.
        description: for the model.
        properties: the JSON schemas of its arguments.
        required: the names of those that must be given.
        writes: whether it changes notes.
        destructive: whether a write of it can change what is there.
        idempotent: whether the same call again changes nothing more.
        needs: the setting that enables it, such as `memory.enabled`; None if it always is.
        owner: whether only clients of the owner have it, not agents with limits.
    """

    name: str
    run: Run
    description: str
    properties: Mapping[str, Schema]
    required: Sequence[str] = ()
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


def make_tools(toolset: str, runs: Mapping[str, Run], rights: frozenset[Right]) -> tuple[Tool, ...]:
    """Return the tools of a toolset for a client that may write what `rights` say.

    `runs` has what runs each tool of the toolset, by its name.
    """
    tools = (make_tool(toolset, name, runs[name], rights) for name in _TABLE[toolset])
    return tuple(tool for tool in tools if tool is not None)


def make_tool(
    toolset: str, name: str, run: Run, rights: frozenset[Right] = frozenset()
) -> Tool | None:
    """Return a tool by its row of the table, or None without the right that it needs."""
    row = _TABLE[toolset][name]
    if isinstance(row, str):  # the toolset that it is of
        return make_tool(row, name, run, rights)
    fields = dict(row)
    if fields.pop("right", None) not in (None, *rights):
        return None
    for right, changes in fields.pop("with", {}).items():
        if right in rights:
            arguments = {**fields["arguments"], **changes.get("arguments", {})}
            fields |= {**changes, "arguments": arguments}
    properties = {
        argument: _schema(schema, rights)
        for argument, schema in fields.pop("arguments", {}).items()
    }
    if any(schema.get("enum") == [] for schema in properties.values()):
        return None  # it has no mode for them
    return Tool(name, run, properties=properties, **fields)


def _schema(argument: str | Schema, rights: frozenset[Right]) -> Schema:
    """Return the JSON schema of an argument."""
    if isinstance(argument, str):
        return _ARGUMENTS[argument]
    if "is" in argument:
        more = {name: value for name, value in argument.items() if name != "is"}
        return {**_ARGUMENTS[argument["is"]], **more}
    if "modes" in argument:
        modes = [mode for mode, right in argument["modes"].items() if right in rights]
        return {"type": "string", "enum": modes, "default": next(iter(modes), None)}
    return argument


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
