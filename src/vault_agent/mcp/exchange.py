"""One HTTP exchange: a JSON-RPC message in, its reply out.

Messages are parsed strictly, and errors never repeat what was sent.

The SDK runs the request (`serve_one`): it knows the methods and results of each revision of the
protocol. What is checked before that is checked here, because the SDK's own HTTP transport quotes
the input in errors.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio
import orjson
from mcp.server.connection import Connection
from mcp.server.runner import serve_one
from mcp.shared.exceptions import MCPError, NoBackChannelError
from mcp.shared.inbound import (
    ERROR_CODE_HTTP_STATUS,
    InboundLadderRejection,
    classify_inbound_request,
    find_duplicated_routing_header,
)
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp_types import HEADER_MISMATCH, PROTOCOL_VERSION_META_KEY
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from vault_agent.api.requests import whole_number
from vault_agent.errors import InvalidRequest
from vault_agent.mcp.handshake import CLIENT_META, client_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp.server.lowlevel import Server
    from mcp.shared.dispatcher import CallOptions

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
    is_id = isinstance(raw_id, str | int) and not isinstance(raw_id, bool)
    request_id = raw_id if is_id else None
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


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise RpcError(INVALID_REQUEST, "A key appears twice in one object of the message.")
    return members


VERSION_HEADER = "mcp-protocol-version"
ASSUMED_VERSION = "2025-03-26"
"""The revision of a client that sends no version header."""

_VERSION = re.compile(r"[A-Za-z0-9._-]{1,32}")
"""A version that is repeated in the error, as the protocol asks."""
_MESSAGES = {
    METHOD_NOT_FOUND: "There is no such method.",
    INVALID_PARAMS: "The parameters are not valid for this method.",
    INTERNAL_ERROR: "Internal server error.",
}


class Post(NamedTuple):
    """An HTTP request: its headers with names in lower case, the names as sent, and the body."""

    headers: Mapping[str, str]
    names: tuple[str, ...]
    body: bytes


class PostReply(NamedTuple):
    """The HTTP reply. `body` is empty for a notification."""

    status: int
    body: bytes


@dataclass(frozen=True, slots=True)
class Call:
    """What a handler gets besides the parameters: the client's view."""

    view: Any
    legacy: bool  # whether the client speaks a revision before 2026-07-28


async def exchange(server: Server[Any], view: Any, post: Post) -> PostReply:
    """Answer one POST.

    Args:
        server: the SDK's server with our handlers.
        view: what this client may see. Handlers get it as `ctx.request.view`.
        post: the request, whose body is one JSON-RPC message.

    Never raises, except if it is cancelled or a handler has a defect.
    """
    try:
        message = parse_message(post.body)
    except RpcError as error:
        return PostReply(400, error.body())
    version = post.headers.get(VERSION_HEADER)
    named = message.meta.get(PROTOCOL_VERSION_META_KEY)
    # An unknown version gets the list of ours, even without the other headers.
    if version not in (None, *HANDSHAKE_PROTOCOL_VERSIONS, *MODERN_PROTOCOL_VERSIONS) and (
        named in (None, version)
    ):
        return _refused(_unsupported(version or "", message.id))
    if message.id is None:
        return PostReply(202, b"")
    modern = version in MODERN_PROTOCOL_VERSIONS or (
        version not in HANDSHAKE_PROTOCOL_VERSIONS
        and (version is not None or named is not None)
        and message.method != "initialize"
    )
    if not modern:
        connection = Connection.from_envelope(version or ASSUMED_VERSION, None, None)
    else:
        try:
            connection = _classified(message, post)
        except RpcError as error:
            return _refused(error)
    client = client_name(message.meta.get(CLIENT_META))
    if client is not None:
        view = view.of_client(client)
    call = Call(view, legacy=not modern)
    try:
        result = await serve_one(
            server,
            _Context(message.id, call, post.headers),
            message.method,
            message.params,
            connection=connection,
            lifespan_state=None,
        )
    except (MCPError, ValidationError) as error:
        rpc_error = _known(error, message.id)
        # Before 2026-07-28 the status says only that the message was read.
        return _refused(rpc_error) if modern else PostReply(200, rpc_error.body())
    reply = {"jsonrpc": "2.0", "id": message.id, "result": result}
    return PostReply(200, orjson.dumps(reply))


def _classified(message: Message, post: Post) -> Connection:
    """Return the connection of a request that carries its own version and capabilities."""
    if find_duplicated_routing_header((name, "") for name in post.names) is not None:
        raise RpcError(HEADER_MISMATCH, "A routing header appears twice.", to=message.id)
    body = {"method": message.method, "params": message.params}
    verdict = classify_inbound_request(body, headers=post.headers)
    if isinstance(verdict, InboundLadderRejection):
        if verdict.code == UNSUPPORTED_VERSION:
            raise _unsupported(post.headers.get(VERSION_HEADER, ""), message.id)
        raise RpcError(verdict.code, verdict.message, to=message.id)
    return Connection.from_envelope(
        verdict.protocol_version, verdict.client_info, verdict.client_capabilities
    )


def _unsupported(requested: str, request_id: RequestId | None) -> RpcError:
    name = requested if _VERSION.fullmatch(requested) else ""
    data = {"supported": list(MODERN_PROTOCOL_VERSIONS), "requested": name}
    return RpcError(UNSUPPORTED_VERSION, "Unsupported protocol version", to=request_id, data=data)


def _known(error: MCPError | ValidationError, request_id: RequestId | None) -> RpcError:
    """Return the error for the client. The SDK's data and texts may quote the request."""
    if isinstance(error, ValidationError):
        return RpcError(INVALID_PARAMS, _MESSAGES[INVALID_PARAMS], to=request_id)
    if isinstance(error, TeachingError):
        return RpcError(error.error.code, error.error.message, to=request_id)
    code = error.error.code
    return RpcError(code, _MESSAGES.get(code, "The request was refused."), to=request_id)


def _refused(error: RpcError) -> PostReply:
    return PostReply(ERROR_CODE_HTTP_STATUS.get(error.code, 200), error.body())


class TeachingError(MCPError):
    """A JSON-RPC error with a text of ours, which reaches the client as it is."""


@dataclass(slots=True)
class _Context:
    """The SDK's view of one request. The server sends no requests to clients."""

    request_id: RequestId
    call: Call
    headers: Mapping[str, str]
    can_send_request: bool = False
    cancel_requested: anyio.Event = field(default_factory=anyio.Event)

    @property
    def transport(self) -> TransportContext:
        return TransportContext(
            kind="streamable-http", can_send_request=False, headers=self.headers
        )

    @property
    def message_metadata(self) -> ServerMessageMetadata:
        return ServerMessageMetadata(request_context=self.call)

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        del params, opts
        raise NoBackChannelError(method)

    async def notify(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> None:
        del method, params, opts

    async def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        del progress, total, message
