"""The JSON Schema of requests and replies, made from their classes."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from enum import Enum
from functools import cache
from itertools import pairwise
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin

from vault_agent.model.sent import RULES, OneOf, ReadAs
from vault_agent.model.values import SentField, is_named_tuple, sent_fields

REF = "#/components/schemas/"

_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}


class Schemas:
    """The schemas of classes, by name. Each class that is asked for is added with its parts."""

    def __init__(
        self, definitions: dict[str, dict[str, Any]] | None = None, *, requests: bool = False
    ) -> None:
        """Add to `definitions`. With `requests`, fields with a default are not required."""
        self.definitions = {} if definitions is None else definitions
        self._classes: dict[str, type] = {}
        self._requests = requests

    def of(self, kind: Any) -> dict[str, Any]:
        """Return the schema of a type. That of a class is a reference to its definition.

        Raises:
            TypeError: for a type that has no schema, and for a second class of one name.
        """
        if kind is Any:
            return {}
        if kind in _PLAIN:
            return {"type": _PLAIN[kind]}
        if isinstance(kind, type) and (
            is_dataclass(kind) or is_named_tuple(kind) or issubclass(kind, Enum)
        ):
            return self._reference(kind)
        return self._generic(get_origin(kind), get_args(kind), kind)

    def _reference(self, kind: type) -> dict[str, Any]:
        name = kind.__name__
        if name not in self._classes:
            if name in self.definitions and not issubclass(kind, Enum):  # requests have enums too
                raise TypeError(f"two classes are called {name}")
            self._classes[name] = kind
            self.definitions[name] = {}  # for a class that contains itself
            self.definitions[name].update(self._class(kind))
        if self._classes[name] is not kind:
            raise TypeError(f"two classes are called {name}")
        return {"$ref": f"{REF}{name}"}

    def _class(self, kind: type) -> dict[str, Any]:
        described = {"title": kind.__name__, "description": inspect.getdoc(kind) or ""}
        if issubclass(kind, Enum):
            return {**described, "type": "string", "enum": [field.value for field in kind]}
        fields = sent_fields(cast("Any", kind))
        return {
            **described,
            "type": "object",
            "properties": {field.key: self.field(field) for field in fields},
            **self._required(fields),
            "additionalProperties": False,
        }

    def _required(self, fields: Sequence[SentField]) -> dict[str, list[str]]:
        if not self._requests:
            return {"required": [field.key for field in fields if not field.if_any]}
        names = [field.key for field in fields if not field.has_default]
        return {"required": names} if names else {}

    def field(self, field: SentField) -> dict[str, Any]:
        """Return the schema of a field, with its description and its default."""
        schema = self._marked(field.kind, field.marks)
        doc = field.doc or _docs_of(field.owner).get(field.name, "")
        if doc:
            schema = {**schema, "description": doc}
        default = field.default
        if self._requests and isinstance(default, str | int | float):
            schema = {**schema, "default": default}
        return schema

    def _marked(self, kind: Any, marks: Sequence[Any]) -> dict[str, Any]:
        """Return the schema of a type, with the rules that mark it."""
        for mark in marks:
            if isinstance(mark, ReadAs):
                kind = mark.kind
        schema = self.of(kind)
        for mark in marks:
            if isinstance(mark, OneOf):
                schema = _limited(schema, mark.texts)
            elif isinstance(mark, RULES):
                schema = {**schema, **mark.schema(schema.get("type", ""))}
        return schema

    def _generic(self, origin: Any, parts: tuple[Any, ...], kind: Any) -> dict[str, Any]:
        if origin is Annotated:
            return self._marked(parts[0], parts[1:])
        if origin in (Union, UnionType):
            return {"anyOf": [self.of(part) for part in parts]}
        if origin is Literal:
            texts = {"type": "string"} if all(isinstance(choice, str) for choice in parts) else {}
            return {**texts, "enum": list(parts)}
        if origin is tuple and parts[-1] is not ...:
            return {
                "type": "array",
                "prefixItems": [self.of(part) for part in parts],
                "minItems": len(parts),
                "maxItems": len(parts),
            }
        if origin in (tuple, list, Sequence):
            return {"type": "array", "items": self.of(parts[0])}
        if origin in (dict, Mapping):
            return {"type": "object", "additionalProperties": self.of(parts[1]) or True}
        raise TypeError(f"{kind} has no schema")


def _limited(schema: dict[str, Any], texts: tuple[str, ...]) -> dict[str, Any]:
    """Return the schema of a text, or of a text or null, that is one of a few."""
    if "anyOf" in schema:
        return {"anyOf": [_limited(part, texts) for part in schema["anyOf"]]}
    return {**schema, "enum": list(texts)} if schema.get("type") == "string" else schema


@cache
def _docs_of(kind: type) -> dict[str, str]:
    """Return the docstrings below the fields of a class and its bases, by name."""
    docs: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        if base.__module__.startswith("vault_agent."):
            for field, below in pairwise(_bodies(base.__module__)[base.__name__]):
                match field, below:
                    case (
                        ast.AnnAssign(target=ast.Name(id=name)),
                        ast.Expr(value=ast.Constant(value=str(doc))),
                    ):
                        docs[name] = " ".join(doc.split())
    return docs


@cache
def _bodies(module: str) -> dict[str, list[ast.stmt]]:
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {part.name: part.body for part in tree.body if isinstance(part, ast.ClassDef)}
