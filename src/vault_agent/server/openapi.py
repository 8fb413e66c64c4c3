"""The OpenAPI 3.1 description, made from the operations, routes and models."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import orjson
from pydantic.json_schema import models_json_schema

from vault_agent import __version__
from vault_agent.model.jobs import OneJob
from vault_agent.model.reply import ErrorReply
from vault_agent.model.warning import Warning
from vault_agent.server.replies import status_of
from vault_agent.server.routes import ROUTES, Route
from vault_agent.wire.schema import REF, Schemas
from vault_agent.wire.writing import WriteBody

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vault_agent.wire.base import Model

_Mode = Literal["validation", "serialization"]


class _Refs(NamedTuple):
    """The schemas of bodies by model, and those of replies."""

    requests: Mapping[Any, dict[str, Any]]
    replies: Schemas

    def reply(self, kind: type) -> dict[str, Any]:
        """Return a reference to the envelope of a reply with this data."""
        name = f"{kind.__name__}Reply"
        self.replies.definitions[name] = {
            "title": name,
            "description": "A success: the data and the warnings.",
            "type": "object",
            "properties": {
                "data": self.replies.of(kind),
                "warnings": {"type": "array", "items": self.replies.of(Warning)},
            },
            "required": ["data", "warnings"],
            "additionalProperties": False,
        }
        return {"$ref": f"{REF}{name}"}


EVERYWHERE = (
    "INVALID_REQUEST",
    "UNAUTHORIZED",
    "ORIGIN_NOT_ALLOWED",
    "BODY_TOO_LARGE",
    "UNSUPPORTED_MEDIA_TYPE",
    "HOST_NOT_ALLOWED",
    "INTERNAL_ERROR",
)
"""Error codes of every route."""

_MEANING = {
    400: "The request breaks a rule.",
    401: "The key is missing or wrong.",
    403: "The caller may not do this, or the file may not be served.",
    404: "Not found.",
    409: "The index is missing, unusable or busy, or the note does not allow this.",
    410: "It has changed or expired.",
    412: "The note has changed since it was read.",
    413: "Over a size limit.",
    415: "Not application/json in UTF-8.",
    416: "The range is outside the attachment.",
    429: "Too many requests.",
    421: "The Host header names another server.",
    422: "The request does not fit an earlier one.",
    428: "The request must say more.",
    500: "A defect of the server.",
    502: "What was written could not be read back.",
    503: "A required resource is not available at the moment.",
    507: "The disk is full.",
}


@cache
def openapi_json() -> bytes:
    """Return the document as JSON. It is made at the first call, because few clients need it."""
    return orjson.dumps(describe())


def describe() -> dict[str, Any]:
    """Return the document."""
    requests, definitions = models_json_schema(_requests(), ref_template=f"{REF}{{model}}")
    replies = Schemas(definitions.get("$defs", {}))
    refs = _Refs(requests, replies)
    paths: dict[str, dict[str, Any]] = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, refs)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "vault-agent",
            "version": __version__,
            "description": "Search, read and, if switched on, change vaults of Markdown notes. With"
            " `vaults.enabled`, each path that is not of the server itself also exists below"
            " `/vaults/{vault}`, for the vault of that name.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/"}],
        "security": [{}, {"apiKey": []}],
        "paths": paths,
        "components": {
            "schemas": dict(sorted(replies.definitions.items())),
            "securitySchemes": {
                "apiKey": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "Required on every route if a key is configured.",
                }
            },
        },
    }


def _requests() -> list[tuple[type[Model], _Mode]]:
    """Return the models of bodies."""
    found = {
        route.request: None for route in ROUTES if route.http.takes_body and not route.http.in_path
    }
    return [(model, "validation") for model in found]


def _operation(route: Route, refs: _Refs) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": route.operation.name,
        "summary": route.operation.summary,
        "parameters": _parameters(route),
        "responses": _responses(route, refs),
    }
    if route.http.octets:
        operation["parameters"] += _CONDITIONS[1:]
        operation["requestBody"] = {
            "required": True,
            "content": {"application/octet-stream": {}},
        }
    if route.http.takes_body:
        operation["parameters"] += _CONDITIONS if issubclass(route.request, WriteBody) else []
        operation["requestBody"] = {
            "required": route.http.body is True,
            "content": {"application/json": {"schema": _body(route, refs)}},
        }
    return operation


def _body(route: Route, refs: _Refs) -> dict[str, Any]:
    """Return the schema of a body: the request without the fields that are in the path."""
    if not route.http.in_path:
        return refs.requests[route.request, "validation"]
    schema = route.request.model_json_schema(by_alias=True)
    for name in route.http.in_path:
        del schema["properties"][name]
    required = [name for name in schema.pop("required", ()) if name not in route.http.in_path]
    return {**schema, "required": required} if required else schema


_CONDITIONS: list[dict[str, Any]] = [
    {
        "name": "If-Match",
        "in": "header",
        "required": False,
        "description": "The same as `expectedHash`, in double quotes.",
        "schema": {"type": "string"},
    },
    {
        "name": "Idempotency-Key",
        "in": "header",
        "required": False,
        "description": "The same as `idempotencyKey`.",
        "schema": {"type": "string"},
    },
]


def _parameters(route: Route) -> list[dict[str, Any]]:
    schema = route.request.model_json_schema(by_alias=True)
    rules, required = schema.get("properties", {}), schema.get("required", ())
    definitions = schema.get("$defs", {})
    found = []
    for name in (*route.http.in_path, *route.in_query):
        inside, rule = name in route.http.in_path, rules[name]
        place = "path" if inside else "query"
        needed = inside or name in required
        if reference := rule.pop("$ref", None):
            rule |= definitions[reference.rpartition("/")[2]]
        parameter = {"name": name, "in": place, "required": needed, "schema": rule}
        if description := rule.pop("description", None):
            parameter["description"] = description
        found.append(parameter)
    return found


def _responses(route: Route, refs: _Refs) -> dict[str, Any]:
    success: dict[str, Any] = {"description": "Success.", "content": _content(route, refs)}
    if route.http.status == 202 and OneJob in route.operation.replies:
        success["headers"] = {"Location": {"schema": {"type": "string"}}}
    responses: dict[str, Any] = {str(route.http.status): success}
    if route.http.creates:
        responses["201"] = {"description": "Made.", "content": _content(route, refs)}
    if route.http.status == 200 and OneJob in route.operation.replies[1:]:
        responses["202"] = {
            "description": "A job does it, because it is large.",
            "content": _content(route, refs),
            "headers": {"Location": {"schema": {"type": "string"}}},
        }
    if "RANGE_NOT_SATISFIABLE" in route.codes:
        responses["206"] = {
            "description": "The requested range.",
            "content": {"application/octet-stream": {}},
        }
    if route.http.tagged:
        responses["304"] = {"description": "The copy named by If-None-Match is still valid."}
    codes: dict[int, list[str]] = {}
    for code in (*EVERYWHERE, *route.codes):
        codes.setdefault(status_of(code), []).append(code)
    for status, names in sorted(codes.items()):
        responses[str(status)] = {
            "description": f"{_MEANING[status]} Codes: {', '.join(sorted(names))}.",
            "content": {"application/json": {"schema": refs.replies.of(ErrorReply)}},
        }
    return responses


def _content(route: Route, refs: _Refs) -> dict[str, Any]:
    schemas = [refs.reply(reply) for reply in route.operation.replies]
    content: dict[str, Any] = {}
    for media in route.http.media:
        if media == "application/json":
            schema = {"anyOf": schemas} if len(schemas) > 1 else {"type": "object"}
            content[media] = {"schema": schemas[0] if len(schemas) == 1 else schema}
        else:
            content[media] = {}
    return content
