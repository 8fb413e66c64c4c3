"""The OpenAPI 3.1 description, made from the operations, routes and models."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import orjson
from pydantic.json_schema import models_json_schema

from vault_agent import __version__
from vault_agent.api.operation import JSON, OCTETS
from vault_agent.model.jobs import OneJob
from vault_agent.model.reply import ErrorReply
from vault_agent.model.warning import Warning
from vault_agent.server.routes import ROUTES
from vault_agent.wire.schema import REF, Schemas
from vault_agent.wire.writing import WriteBody

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vault_agent.api.operation import Operation
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


_ERRORS = {
    "4XX": "The request cannot be answered. `error.code` says why, `error.message` what to do.",
    "5XX": "The server could not do it. `error.code` says why.",
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
        paths.setdefault(route.path, {})[route.method.lower()] = _described(route, refs)
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
    found = {route.request: None for route in ROUTES if route.takes_body and not route.in_path}
    return [(model, "validation") for model in found]


def _described(route: Operation[Any, Any], refs: _Refs) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": route.name,
        "summary": route.summary,
        "parameters": _parameters(route),
        "responses": _responses(route, refs),
    }
    if route.octets:
        described["parameters"] += _CONDITIONS[1:]
        described["requestBody"] = {"required": True, "content": {OCTETS: {}}}
    if route.takes_body:
        described["parameters"] += _CONDITIONS if issubclass(route.request, WriteBody) else []
        schema = _body(route, refs)
        described["requestBody"] = {
            "required": bool(_required(route)),
            "content": {JSON: {"schema": schema}},
        }
    return described


def _required(route: Operation[Any, Any]) -> list[str]:
    """Return the fields that a body must have."""
    schema = route.request.model_json_schema(by_alias=True)
    return [name for name in schema.get("required", ()) if name not in route.in_path]


def _body(route: Operation[Any, Any], refs: _Refs) -> dict[str, Any]:
    """Return the schema of a body: the request without the fields that are in the path."""
    if not route.in_path:
        return refs.requests[route.request, "validation"]
    schema = route.request.model_json_schema(by_alias=True)
    for name in route.in_path:
        del schema["properties"][name]
    schema.pop("required", None)
    return {**schema, "required": needed} if (needed := _required(route)) else schema


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


def _parameters(route: Operation[Any, Any]) -> list[dict[str, Any]]:
    schema = route.request.model_json_schema(by_alias=True)
    rules, required = schema.get("properties", {}), schema.get("required", ())
    definitions = schema.get("$defs", {})
    found = []
    for name in (*route.in_path, *route.in_query):
        inside, rule = name in route.in_path, rules[name]
        place = "path" if inside else "query"
        needed = inside or name in required
        if reference := rule.pop("$ref", None):
            rule |= definitions[reference.rpartition("/")[2]]
        parameter = {"name": name, "in": place, "required": needed, "schema": rule}
        if description := rule.pop("description", None):
            parameter["description"] = description
        found.append(parameter)
    return found


def _responses(route: Operation[Any, Any], refs: _Refs) -> dict[str, Any]:
    content = _content(route, refs)
    success: dict[str, Any] = {"description": "Success.", "content": content}
    location = {"headers": {"Location": {"schema": {"type": "string"}}}}
    has_job = OneJob in route.replies
    if route.status == 202 and has_job:
        success |= location
    responses: dict[str, Any] = {str(route.status): success}
    if route.creates:
        responses["201"] = {"description": "Made.", "content": content}
    if len(route.replies) > 1 and has_job:
        described = "A job does it, because it is large."
        responses["202"] = {"description": described, "content": content, **location}
    if route.ranged:
        responses["206"] = {"description": "The requested range.", "content": {OCTETS: {}}}
    if route.tagged:
        responses["304"] = {"description": "The copy named by If-None-Match is still valid."}
    errors = {JSON: {"schema": refs.replies.of(ErrorReply)}}
    for status, meaning in _ERRORS.items():
        responses[status] = {"description": meaning, "content": errors}
    return responses


def _content(route: Operation[Any, Any], refs: _Refs) -> dict[str, Any]:
    schemas = [refs.reply(reply) for reply in route.replies]
    content: dict[str, Any] = {media: {} for media in route.media}
    if JSON in content:
        several = {"anyOf": schemas} if schemas else {"type": "object"}
        content[JSON] = {"schema": schemas[0] if len(schemas) == 1 else several}
    return content
