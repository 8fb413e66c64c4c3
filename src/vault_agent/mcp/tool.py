"""What a tool is: a name, a schema, and a function from arguments to text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from vault_agent.mcp.view import View
    from vault_agent.model.writing import Right

    Schema = dict[str, Any]
    Shown = str | dict[str, Any]
    Run = Callable[[View, Mapping[str, Any]], Awaitable[Shown]]

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
