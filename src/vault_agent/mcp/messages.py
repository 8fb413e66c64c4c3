"""JSON-RPC messages: strict parsing, and errors that never repeat what was sent."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from vault_agent.api.requests import whole_number
from vault_agent.errors import InvalidRequest
from vault_agent.mcp.lists import CLIENT_META, client_name

if TYPE_CHECKING:
    from collections.abc import Mapping

RequestId = str | int

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
UNSUPPORTED_VERSION = -32022


class RpcError(Exception):
    """A JSON-RPC error. `to` is the ID of the request, or None if it is unknown."""

    def __init__(
        self, code: int, message: str, *, to: RequestId | None = None, data: Any = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.id = to
        self.data = data

    def body(self) -> bytes:
        """Return the error as a JSON-RPC message."""
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.data is not None:
            error["data"] = self.data
        return orjson.dumps({"jsonrpc": "2.0", "id": self.id, "error": error})


class Message(NamedTuple):
    """A request, or a notification if `id` is None."""

    id: RequestId | None
    method: str
    params: Mapping[str, Any] | None

    @property
    def meta(self) -> Mapping[str, Any]:
        """The `_meta` object of the parameters; empty if there is none."""
        meta = self.params.get("_meta") if self.params is not None else None
        return meta if isinstance(meta, dict) else {}

    @property
    def client(self) -> str | None:
        """The name of the program that calls, if the request carries one of plain characters."""
        return client_name(self.meta.get(CLIENT_META))


def parse_message(body: bytes) -> Message:
    """Parse one JSON-RPC request or notification.

    Raises:
        RpcError: `PARSE_ERROR` for text that is not strict JSON in UTF-8 (also `NaN`, lone
            surrogates, a byte order mark, too deep nesting), `INVALID_REQUEST` for a batch, a
            repeated key, or JSON that is not a request. The input is not repeated.
    """
    try:
        parsed = orjson.loads(body)
        # orjson takes the last of two equal keys, other parsers the first.
        json.loads(body, object_pairs_hook=_distinct, parse_int=whole_number)
    except RpcError:
        raise
    except InvalidRequest as error:
        raise RpcError(INVALID_REQUEST, error.what) from None
    except (ValueError, RecursionError):
        raise RpcError(PARSE_ERROR, "The message is not valid JSON in UTF-8.") from None
    if isinstance(parsed, list):
        raise RpcError(INVALID_REQUEST, "Batches are not supported: send one message a request.")
    if not isinstance(parsed, dict):
        raise RpcError(INVALID_REQUEST, "The message is not a JSON-RPC object.")
    raw_id = parsed.get("id")
    request_id = raw_id if _is_id(raw_id) else None
    method, params = parsed.get("method"), parsed.get("params")
    if (
        parsed.get("jsonrpc") != "2.0"
        or not isinstance(method, str)
        or ("id" in parsed and request_id is None)
    ):
        what = "The message is not a JSON-RPC 2.0 request with a method, and an ID that is text or"
        raise RpcError(INVALID_REQUEST, f"{what} a whole number.", to=request_id)
    if params is not None and not isinstance(params, dict):
        raise RpcError(INVALID_PARAMS, "The parameters must be an object.", to=request_id)
    return Message(request_id, method, params)


def result_body(request_id: RequestId | None, result: Mapping[str, Any]) -> bytes:
    """Return the reply to a request."""
    return orjson.dumps({"jsonrpc": "2.0", "id": request_id, "result": result})


def _is_id(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise RpcError(INVALID_REQUEST, "A key appears twice in one object of the message.")
    return members
