"""The page of routes, made from the description of the HTTP interface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docs.make.markdown import joined, sentence, table, wrapped

from vault_agent.model.writing import WriteBody
from vault_agent.server.openapi import describe
from vault_agent.server.routes import ROUTES

if TYPE_CHECKING:
    from vault_agent.api.operation import Operation

_HEAD = """\
# Routes

`make docs` writes this page from the program. `GET /openapi.json` has the same, with the fields of
all replies. [HTTP](http.md) says what holds for all routes: keys, limits, pages and vaults."""


Field = tuple[str, dict[str, Any], bool, str]
"""The name of a field, its schema, whether it is required, and what it means."""

_WRITES = "The body of each route that changes notes may have these fields besides its own."


def page() -> str:
    """Return the page."""
    document = describe()
    schemas = document["components"]["schemas"]
    every_write = _every_write(document)
    parts = [_HEAD, "## Every write", _WRITES, _table(every_write, schemas)]
    nested: dict[str, dict[str, Any]] = {}
    for route in ROUTES:
        fields = [field for field in _fields(route, document) if field not in every_write]
        for _, rule, _, _ in fields:
            nested |= _nested(rule, schemas)
        needs = f" It needs `{route.needs}`." if route.needs else ""
        about = wrapped(" ".join(f"{route.summary}{needs}".split()))
        parts += [f"## `{route.method} {route.path}`", about, _table(fields, schemas)]
    for name, schema in nested.items():
        about = wrapped(" ".join(schema.get("description", "").split()))
        parts += [f"## {name}", about, _table(_properties(schema), schemas)]
    return joined(parts)


def _every_write(document: dict[str, Any]) -> list[Field]:
    """Return the fields that all bodies of writes have, apart from what they name."""
    writes = [
        route for route in ROUTES if route.takes_body and issubclass(route.request, WriteBody)
    ]
    first, *others = (_fields(route, document) for route in writes)
    return [field for field in first if all(field in other for other in others)]


def _fields(route: Operation, document: dict[str, Any]) -> list[Field]:
    """Return the parameters of a route, then the fields of its body.

    What a path already says, and headers that repeat a field, are left out.
    """
    described = document["paths"][route.path][route.method.lower()]
    fields = [
        (each["name"], each["schema"], each["required"], each.get("description", ""))
        for each in described["parameters"]
        if each["in"] == "query" or "description" in each
    ]
    if route.takes_body:
        content = described["requestBody"]["content"]["application/json"]["schema"]
        fields += _properties(_resolved(content, document["components"]["schemas"]))
    return fields


def _properties(schema: dict[str, Any]) -> list[Field]:
    required = schema.get("required", ())
    return [
        (name, rule, name in required, rule.get("description", ""))
        for name, rule in schema["properties"].items()
    ]


def _nested(rule: dict[str, Any], schemas: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the objects within a field, by their names."""
    rule = _resolved(rule, schemas)
    if "properties" in rule:
        return {rule["title"]: rule}
    return _nested(rule["items"], schemas) if "items" in rule else {}


def _table(fields: list[Field], schemas: dict[str, Any]) -> str:
    rows = [
        (f"`{name}`", _type(rule, schemas), _text(rule, needed, text))
        for name, rule, needed, text in fields
    ]
    return table(("Field", "Type", "Meaning"), rows)


def _resolved(schema: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    """Return a schema itself, where another one refers to it or allows null besides."""
    if "$ref" in schema:
        return _resolved(schemas[schema["$ref"].rpartition("/")[2]], schemas)
    branches = [each for each in schema.get("anyOf", ()) if each.get("type") != "null"]
    return _resolved(branches[0], schemas) if len(branches) == 1 else schema


def _type(rule: dict[str, Any], schemas: dict[str, Any]) -> str:
    rule = _resolved(rule, schemas)
    if "anyOf" in rule:
        return " or ".join(dict.fromkeys(_type(each, schemas) for each in rule["anyOf"]))
    if "enum" in rule:
        return ", ".join(f"`{value}`" for value in rule["enum"])
    if "const" in rule:
        return f"`{rule['const']}`"
    if rule.get("type") == "array":
        return f"list of {_type(rule.get('items', {}), schemas)}"
    if "properties" in rule:
        return f"[{rule['title']}](#{rule['title'].lower()})"
    return str(rule.get("type", "any"))


def _text(rule: dict[str, Any], needed: bool, text: str) -> str:
    """Return what a field means, with its limits."""
    rules = {name: value for one in (*rule.get("anyOf", ()), rule) for name, value in one.items()}
    parts = ["Required." if needed else "", sentence(text) if text else ""]
    for low, high, unit in (
        ("minimum", "maximum", ""),
        ("minLength", "maxLength", " characters"),
        ("minItems", "maxItems", " entries"),
    ):
        if high in rules:
            least = f"{rules[low]:,} to" if rules.get(low) else "At most"
            parts.append(f"{least} {rules[high]:,}{unit}.")
    default = rules.get("default")
    if default not in (None, "", [], False) and not isinstance(default, dict):
        parts.append(f"Default: `{str(default).lower() if default is True else default}`.")
    return " ".join(filter(None, parts))
