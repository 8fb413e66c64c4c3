"""The types of the replies of HTTP for the modules of the page, made from the models of the contract.

`python -m tests.web.wire_types` writes `web/types/wire.d.ts`, which `web/check.mjs` reads. It declares a
namespace `Wire` with each model of a reply, `Wire.Data<"GET", "/stats">`, the data that a route
replies with, and `Wire.News`, what the stream of events has.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from vault_agent.api.operation import Operation
from vault_agent.api.schema import REF, Schemas
from vault_agent.model.health import Revision, WatchStatus
from vault_agent.model.jobs import Job
from vault_agent.model.memory import MemoryNews
from vault_agent.model.writing import WriteNews
from vault_agent.server.routes import ROUTES

FILE = Path(__file__).parents[2] / "web" / "types" / "wire.d.ts"
_HEAD = """\
// Made by `python -m tests.web.wire_types` from the models of the HTTP contract. Do not edit.

declare namespace Wire {"""
_TAIL = """\
  /** The body of a reply: its data, or an error. */
  interface Body<Data> {
    data: Data;
    warnings?: Warning[];
    error?: { code: string; message: string; details?: Record<string, unknown> };
  }
  /** The data of the reply of a route. That of an address that is not written out is unknown. */
  type Data<Method extends string, Path extends string> = Replied<`${Method} ${Path}`>;

  type Replied<Asked extends string> =
    Asked extends `${infer Method} /vaults/${infer _}/${infer Rest}` ? Replied<`${Method} /${Rest}`> :"""
_NEWS = {
    "revision": Revision,
    "write": WriteNews,
    "job": Job,
    "memory": MemoryNews,
    "watch": WatchStatus,
}
"""What `server/events.py` sends, by the name of the event. `resync` has no data."""
_PLAIN = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean"}


def declarations() -> str:
    """Return the text of the file."""
    schemas = Schemas()
    names = {
        kind: schemas.of(kind)["$ref"].removeprefix(REF)
        for route in ROUTES
        for kind in route.replies
    }
    news = {name: schemas.of(kind)["$ref"].removeprefix(REF) for name, kind in _NEWS.items()}
    lines = [_HEAD]
    for name, schema in sorted(schemas.definitions.items()):
        lines += _declared(name, schema)
    events = [f'{{ type: "{name}"; data: {kind} }}' for name, kind in news.items()]
    lines += ["  /** An event of a vault. */", f"  type News = {' | '.join(events)};"]
    lines.append(_TAIL)
    # `${string}` also fits several parts of a path, so the longer of two routes comes first.
    for route in sorted(ROUTES, key=lambda each: (-each.path.count("/"), "{" in each.path)):
        data = " | ".join(names[kind] for kind in route.replies)
        if route.media == ("application/octet-stream",):
            data = "ArrayBuffer"
        if data:
            lines.append(f"    Asked extends `{_pattern(route)}` ? {data} :")
    return "\n".join([*lines, "    unknown;", "}", ""])


def _pattern(route: Operation) -> str:
    return f"{route.method} {re.sub(r'{[^}]*}', '${string}', route.path)}"


def _declared(name: str, schema: dict[str, Any]) -> Iterator[str]:
    if "properties" not in schema:
        yield f"  type {name} = {_type(schema)};"
        return
    yield f"  interface {name} {{"
    required = schema.get("required", ())
    for key, rule in schema["properties"].items():
        yield f"    {key}{'' if key in required else '?'}: {_type(rule)};"
    yield "  }"


def _type(schema: dict[str, Any]) -> str:
    """Return the TypeScript of a schema."""
    if "$ref" in schema:
        return str(schema["$ref"]).removeprefix(REF)
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(map(_type, schema["anyOf"])))
    if "const" in schema or "enum" in schema:
        values = schema.get("enum", [schema.get("const")])
        return " | ".join(
            f'"{each}"' if isinstance(each, str) else str(each).lower() for each in values
        )
    kind = schema.get("type")
    if kind == "null":
        return "null"
    if kind == "array" and "prefixItems" in schema:
        return f"[{', '.join(map(_type, schema['prefixItems']))}]"
    if kind == "array":
        item = _type(schema.get("items", {}))
        return f"({item})[]" if " " in item else f"{item}[]"
    if kind == "object":
        more = schema.get("additionalProperties")
        return f"Record<string, {_type(more) if isinstance(more, dict) else 'unknown'}>"
    return _PLAIN.get(str(kind), "unknown")


if __name__ == "__main__":
    FILE.write_text(declarations(), encoding="utf-8")
