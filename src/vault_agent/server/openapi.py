"""The OpenAPI 3.1 description, made from the operations, routes and models."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from vault_agent import __version__
from vault_agent.api.operation import JSON, OCTETS
from vault_agent.api.schema import REF, Schemas
from vault_agent.model.jobs import OneJob
from vault_agent.model.reply import ErrorReply
from vault_agent.model.warning import Warning
from vault_agent.model.writing import WriteBody
from vault_agent.server.routes import ROUTES

if TYPE_CHECKING:
    from vault_agent.api.operation import Operation
    from vault_agent.model.values import SentField


class _Both(NamedTuple):
    """The schemas of requests and those of replies."""

    requests: Schemas
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


_COMMON = orjson.loads(Path(__file__).with_name("openapi.json").read_bytes())
"""The parts of the document that are the same for every operation."""


@cache
def openapi_json() -> bytes:
    """Return the document as JSON. It is made at the first call, because few clients need it."""
    return orjson.dumps(describe())


def describe() -> dict[str, Any]:
    """Return the document."""
    definitions: dict[str, dict[str, Any]] = {}
    schemas = _Both(Schemas(definitions, requests=True), Schemas(definitions))
    paths: dict[str, dict[str, Any]] = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _described(route, schemas)
    base = _COMMON["document"]
    return {
        **base,
        "info": {**base["info"], "version": __version__},
        "paths": paths,
        "components": {**base["components"], "schemas": dict(sorted(definitions.items()))},
    }


def _described(route: Operation[Any, Any], schemas: _Both) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": route.name,
        "summary": route.summary,
        "parameters": [_parameter(route, field, schemas) for field in _in_address(route)],
        "responses": _responses(route, schemas),
    }
    if route.octets:
        described["parameters"] += _COMMON["conditions"][1:]
        described["requestBody"] = {"required": True, "content": {OCTETS: {}}}
    if route.takes_body:
        if issubclass(route.request, WriteBody):
            described["parameters"] += _COMMON["conditions"]
        schema = _body(route, schemas)
        described["requestBody"] = {
            "required": any(not field.has_default for field in _in_body(route)),
            "content": {JSON: {"schema": schema}},
        }
    return described


def _in_address(route: Operation[Any, Any]) -> list[SentField]:
    """Return the fields of a request that are in the path, then those in the query string."""
    fields = {field.key: field for field in route.fields}
    return [fields[name] for name in (*route.in_path, *route.in_query)]


def _in_body(route: Operation[Any, Any]) -> list[SentField]:
    return [field for field in route.fields if field.key not in route.in_path]


def _body(route: Operation[Any, Any], schemas: _Both) -> dict[str, Any]:
    """Return the schema of a body: the request without the fields that are in the path."""
    reference = schemas.requests.of(route.request)
    if not route.in_path:
        return reference
    schema = schemas.requests.definitions.pop(route.request.__name__)
    fields = _in_body(route)
    required = [field.key for field in fields if not field.has_default]
    properties = {field.key: schema["properties"][field.key] for field in fields}
    return {**schema, "properties": properties, "required": required}


def _parameter(route: Operation[Any, Any], field: SentField, schemas: _Both) -> dict[str, Any]:
    inside, schema = field.key in route.in_path, schemas.requests.field(field)
    if reference := schema.pop("$ref", None):
        schema = {**schemas.requests.definitions[reference.rpartition("/")[2]], **schema}
    parameter = {
        "name": field.key,
        "in": "path" if inside else "query",
        "required": inside or not field.has_default,
        "schema": schema,
    }
    if description := schema.pop("description", None):
        parameter["description"] = description
    return parameter


def _responses(route: Operation[Any, Any], schemas: _Both) -> dict[str, Any]:
    content = _content(route, schemas)
    success: dict[str, Any] = {"description": "Success.", "content": content}
    has_job = OneJob in route.replies
    if route.status == 202 and has_job:
        success |= _COMMON["location"]
    responses: dict[str, Any] = {str(route.status): success}
    if route.creates:
        responses["201"] = {"description": "Made.", "content": content}
    if len(route.replies) > 1 and has_job:
        described = "A job does it, because it is large."
        responses["202"] = {"description": described, "content": content, **_COMMON["location"]}
    if route.ranged:
        responses["206"] = {"description": "The requested range.", "content": {OCTETS: {}}}
    if route.has_etag:
        responses["304"] = {"description": "The copy named by If-None-Match is still valid."}
    errors = {JSON: {"schema": schemas.replies.of(ErrorReply)}}
    for status, meaning in _COMMON["errors"].items():
        responses[status] = {"description": meaning, "content": errors}
    return responses


def _content(route: Operation[Any, Any], schemas: _Both) -> dict[str, Any]:
    replies = [schemas.reply(reply) for reply in route.replies]
    content: dict[str, Any] = {media: {} for media in route.media}
    if JSON in content:
        several = {"anyOf": replies} if replies else {"type": "object"}
        content[JSON] = {"schema": replies[0] if len(replies) == 1 else several}
    return content
