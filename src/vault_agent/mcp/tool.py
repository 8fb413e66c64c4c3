"""What a tool is: a row of `tools.toml`.

The relay lists tools too, so this imports nothing slow. Arguments are checked by the schema, with
errors that say what to send instead. The SDK's validator would quote the arguments. Only the part
of JSON Schema that our tools use is known here.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from vault_agent.errors import InvalidRequest
from vault_agent.model.writing import Right

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    Schema = dict[str, Any]

OWN = "vault-agent"
"""The toolset with our own names."""
TOOL_SWITCHES = ("memory.enabled", "journal.enabled", "vaults.enabled")
"""The settings that enable tools, prompts and resources."""
_TABLE = tomllib.loads(Path(__file__).with_name("tools.toml").read_text("utf-8"))
_ARGUMENTS: Mapping[str, Schema] = _TABLE.pop("kinds")


class ClientTools(NamedTuple):
    """What decides which tools, prompts and resources a client has.

    Args:
        toolset: the name of its toolset.
        rights: what it may write, such as `create`.
        switched_on: the settings that are on, such as `memory.enabled`.
        is_named_agent: whether it is one, which lacks what is `not_for_named`.
    """

    toolset: str
    rights: Collection[str]
    switched_on: Collection[str]
    is_named_agent: bool

    def has(self, needs: Collection[str], *, not_for_named: bool = False) -> bool:
        """Whether it has what the settings `needs` enable together."""
        if not_for_named and self.is_named_agent:
            return False
        return set(needs) <= set(self.switched_on)


class Tool(NamedTuple):
    """A tool as a client has it: it reads, unless it says that it writes.

    Args:
        name: its name.
        description: for the model.
        properties: the JSON schemas of its arguments.
        required: the names of those that must be given.
        writes: whether it changes notes.
        destructive: whether a write of it can change what is there.
        idempotent: whether the same call again changes nothing more.
        needs: the settings that enable it together, such as `memory.enabled`.
        not_for_named: whether named agents lack it.
    """

    name: str
    description: str
    properties: Mapping[str, Schema]
    required: Sequence[str] = ()
    writes: bool = False
    destructive: bool = True
    idempotent: bool = False
    needs: Sequence[str] = ()
    not_for_named: bool = False

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


def tools_for(client: ClientTools) -> list[Tool]:
    """Return the tools that a client has, in the order of the table."""
    tools = (_tool(client.toolset, name, client.rights) for name in _TABLE[client.toolset])
    return [
        tool
        for tool in tools
        if tool is not None and client.has(tool.needs, not_for_named=tool.not_for_named)
    ]


def own_tool(name: str) -> Tool:
    """Return one of our tools as a client with all rights has it."""
    tool = _tool(OWN, name, tuple(Right))
    assert tool is not None  # noqa: S101 - it is in the table, and has its right
    return tool


@cache
def reading_tools() -> frozenset[str]:
    """Return the tools that never write, in any toolset."""
    tools = [
        tool
        for toolset, rows in _TABLE.items()
        for name in rows
        if (tool := _tool(toolset, name, tuple(Right))) is not None
    ]
    writing = {tool.name for tool in tools if tool.writes}
    return frozenset(tool.name for tool in tools) - writing


def _tool(toolset: str, name: str, rights: Collection[str]) -> Tool | None:
    """Return a tool by its row of the table, or None without the right that it needs."""
    row = _TABLE[toolset][name]
    if isinstance(row, str):  # the toolset that it is of
        return _tool(row, name, rights)
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
    return Tool(name, properties=properties, **fields)


def _schema(argument: str | Schema, rights: Collection[str]) -> Schema:
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


_TYPES: dict[str, tuple[type, str]] = {
    "string": (str, "text"),
    "integer": (int, "a whole number"),
    "boolean": (bool, "true or false"),
    "array": (list, "a list"),
    "object": (dict, "an object"),
}
"""The Python type of each type of JSON, and what errors call it."""


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
        _, kind = _TYPES.get(properties[missing[0]].get("type"), (object, "JSON"))
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
    type_of, words = _TYPES[kind]
    if not isinstance(value, type_of) or (kind == "integer" and isinstance(value, bool)):
        raise InvalidRequest(code, f"{place} must be {words}.")
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
