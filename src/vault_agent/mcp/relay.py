"""The relay: JSON-RPC lines on standard input to `POST /mcp` of a server, and its replies back.

Clients start one relay each, and wait only seconds for its first reply. So it starts fast: it
imports little besides the standard library. It gives the handshake and the lists itself
(`handshake.py`), while a server is found or started. Of the rest of the protocol it knows only what
HTTP asks of a client: the headers, and that a cancelled request closes its connection.

Threads, because they need no import of asyncio: one reads lines, and one for each request waits for
its reply. All are daemons, so nothing keeps the process from ending.
"""

from __future__ import annotations

import base64
import json
import os
import re
import signal
import sys
import threading
import time
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from vault_agent.mcp.handshake import CLIENT_META, VERSION_META, client_name, is_handshake
from vault_agent.mcp.tool import reading_tools

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from http.client import HTTPResponse

MAX_LINE_BYTES = 1024 * 1024
"""The longest line: as the largest body of a request that writes."""
IN_FLIGHT = 16
PARENT_SECONDS = 5.0
"""How often the relay looks whether its parent is still there."""
LOOKS_PER_TOUCH = 6
"""So often the relay looks at its parent before it asks the server again, which ends when idle."""
LAST_REPLIES_SECONDS = 30.0
"""How long replies may take after the input's end. The first one may wait for a server's start."""

VAULT_HEADER = "Vault-Agent-Vault"
"""The header that names the vault of a project."""
SESSION_HEADER = "Vault-Agent-Session"
"""The header that is the same in all requests of a relay."""

_NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_TOKEN = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
_SERVER_ERROR = -32000
_INVALID_REQUEST = -32600
_PARSE_ERROR = -32700
_PING = {"jsonrpc": "2.0", "id": "relay", "method": "ping"}
_NEEDS_KEY = "UNAUTHORIZED: the server needs its API key. The user can set server.api_key."
_OUTCOME_UNKNOWN = (
    "WRITE_OUTCOME_UNKNOWN: the server ended during the call, so the write is there once or not"
    " at all. Read the note first."
)
_SECONDS_TO_CONNECT = 10.0


class NoServer(Exception):
    """No server can be used. The text is for the client: a code, what is wrong, what to do."""


class ServerAt(NamedTuple):
    """Where the server listens, and its key."""

    endpoint: str
    api_key: str | None

    def connect(self) -> HTTPConnection:
        """Return a new connection.

        Raises:
            OSError: if the server does not take it in time.
        """
        parts = urlsplit(self.endpoint)
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        connection = kind(parts.hostname or "", parts.port, timeout=_SECONDS_TO_CONNECT)
        connection.connect()
        connection.sock.settimeout(None)
        return connection


class Relay:
    """Relays lines between two descriptors and a server.

    `find` returns the server. It is called with True if the one that it returned before does not
    answer any more, and then may start another one. It may take seconds. `path` is that of the
    endpoint. `vault` is what the tools are about, by its
    identity; None for the default vault. `own` returns the result of a handshake or list without a
    server, or None if only a server has it, and `is_up` whether one runs.
    """

    def __init__(
        self,
        find: Callable[[bool], ServerAt],
        path: str,
        source: int,
        sink: int,
        *,
        vault: str | None = None,
        own: Callable[[dict[str, Any]], dict[str, Any] | None] = lambda _: None,
        is_up: Callable[[], bool] = lambda: True,
    ) -> None:
        self._find = find
        self._own = own
        self._is_up = is_up
        self._warming = False
        self._vault = vault
        self._session = os.urandom(8).hex()
        self._path = path
        self._source = source
        self._sink = sink
        self._server: ServerAt | None = None
        self._finding = threading.Lock()
        self._writing = threading.Lock()
        self._places = threading.BoundedSemaphore(IN_FLIGHT)
        self._active: dict[Any, _Request] = {}
        self._owed: set[_Request] = set()  # whose reply is not written, or not to its end
        self._version: str | None = None  # negotiated by `initialize`
        self._client: str | None = None  # its name, for the log of writes
        self.ended = threading.Event()

    def run(self) -> None:
        """Relay until the input ends, the output is closed, a signal comes, or the parent is gone.

        What was asked before the input's end is answered first, within `LAST_REPLIES_SECONDS`.
        Requests that are in flight then are cancelled.
        """
        parent = os.getppid()
        threading.Thread(target=self._read, daemon=True).start()
        looks = 0
        while not self.ended.wait(PARENT_SECONDS) and os.getppid() == parent:
            looks += 1
            if looks % LOOKS_PER_TOUCH == 0:
                self.touch()
        for request in list(self._active.values()):
            request.cancel()

    def touch(self) -> None:
        """Ping the server with the key, so that it does not end while a client is connected.

        A server that is gone is found or started again by the next call.
        """
        server = self._server
        if server is None:
            return
        with suppress(OSError, HTTPException):
            connection = server.connect()
            connection.sock.settimeout(PARENT_SECONDS)
            headers = self._headers(_PING, server)
            connection.request("POST", self._path, body=json.dumps(_PING), headers=headers)
            connection.getresponse().read()
            connection.close()

    @property
    def active(self) -> int:
        """The number of requests in flight."""
        return len(self._active)

    # --- input ----------------------------------------------------------------------------------

    def _read(self) -> None:
        try:
            with os.fdopen(self._source, "rb", closefd=False) as lines:
                for line in lines:
                    if line.strip():
                        self._take(line)
            until = time.monotonic() + LAST_REPLIES_SECONDS
            while self._owed and time.monotonic() < until and not self.ended.wait(0.01):
                pass
        except OSError:
            pass  # the client closed it
        finally:
            self.ended.set()

    def _take(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            self._refuse(None, _PARSE_ERROR, "The line is not valid JSON in UTF-8.")
            return
        if len(line) > MAX_LINE_BYTES and not _is_reply(message):
            what = f"The request is over {MAX_LINE_BYTES // 1024:,} KiB. Send less at once."
            self._refuse(_id_of(message), _INVALID_REQUEST, what)
            return
        if not isinstance(message, dict):
            self._refuse(None, _INVALID_REQUEST, "The line is not one JSON-RPC object.")
            return
        if "id" not in message:
            self._notice(message)
            return
        number = _id_of(message)
        if number is None:
            self._refuse(None, _INVALID_REQUEST, "The ID must be text or a whole number.")
            return
        if _is_reply(message):
            return
        if number in self._active:
            self._refuse(number, _INVALID_REQUEST, "A request with this ID is in flight.")
            return
        request = self._active[number] = _Request(number, line, message)
        self._owed.add(request)
        self._places.acquire()
        threading.Thread(target=self._serve, args=(request,), daemon=True).start()

    def _notice(self, message: dict[str, Any]) -> None:
        """Handle a notification. The server keeps no state of clients: only one kind matters."""
        if message.get("method") == "notifications/cancelled":
            number = _params(message).get("requestId")
            request = self._active.get(number) if isinstance(number, str | int) else None
            if request is not None:
                request.cancel()

    # --- one request ----------------------------------------------------------------------------

    def _serve(self, request: _Request) -> None:
        own = None
        try:
            own = self._own(request.message)
            if own is not None and (is_handshake(request.message) or not self._is_up()):
                self._answer(request, own)
                self._warm()
            else:
                self._ask(request)
        except NoServer as error:
            if own is not None:
                self._answer(request, own)
            elif request.message["method"] == "tools/call":
                # As a result, which models see.
                self._write(_failed_call(request.id, str(error)), request)
            else:
                self._refuse(request.id, _SERVER_ERROR, str(error), request)
        except Exception as error:  # noqa: BLE001 - a reply is owed, and nothing else handles it
            text = f"INTERNAL_ERROR: the relay failed ({type(error).__name__})."
            self._refuse(request.id, _SERVER_ERROR, text, request)
        finally:
            self._free(request)
            self._owed.discard(request)
            self._places.release()

    def _free(self, request: _Request) -> None:
        """Let the client use the request's ID again."""
        if self._active.get(request.id) is request:
            del self._active[request.id]

    def _answer(self, request: _Request, result: dict[str, Any]) -> None:
        """Give the relay's own answer."""
        message = request.message
        if message["method"] == "initialize":
            self._version = str(result["protocolVersion"])
            self._know_client(message)
        line = json.dumps({"jsonrpc": "2.0", "id": request.id, "result": result}).encode()
        self._free(request)
        self._write(line, request)
        self._owed.discard(request)

    def _warm(self) -> None:
        """Find or start the server, for the first call."""
        if self._warming:
            return
        self._warming = True
        with suppress(NoServer):  # the call gets the reason
            self._located(None)

    def _ask(self, request: _Request) -> None:
        """Send a request, and once more if the server has ended meanwhile.

        A call that may have written is not repeated.
        """
        for last in (False, True):
            server = self._located(None)
            try:
                self._exchange(request, server)
            except (OSError, HTTPException):
                if request.cancelled:
                    return
                if request.sent and _may_write(request.message):
                    self._located(server)
                    self._write(_failed_call(request.id, _OUTCOME_UNKNOWN), request)
                    return
                if last or request.answered:
                    raise NoServer(
                        "SERVER_UNAVAILABLE: the server does not answer. Call again."
                    ) from None
                self._located(server)
            else:
                return

    def _located(self, failed: ServerAt | None) -> ServerAt:
        """Return the server. `failed` is the one that does not answer any more."""
        with self._finding:
            if self._server is None or self._server is failed:
                self._server = self._find(failed is not None)
            return self._server

    def _exchange(self, request: _Request, server: ServerAt) -> None:
        headers = self._headers(request.message, server)
        connection = request.connection = server.connect()
        try:
            if request.cancelled:
                return
            request.sent = True
            connection.request("POST", self._path, body=request.line, headers=headers)
            self._forward(request, connection.getresponse())
        finally:
            request.connection = None
            connection.close()

    def _headers(self, message: dict[str, Any], server: ServerAt) -> dict[str, str]:
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            SESSION_HEADER: self._session,
        }
        if server.api_key is not None:
            headers["Authorization"] = f"Bearer {server.api_key}"
        if self._vault is not None:
            headers[VAULT_HEADER] = self._vault
        params = _params(message)
        meta = params.get("_meta")
        version = meta.get(VERSION_META) if isinstance(meta, dict) else None
        method = message["method"]
        self._know_client(message)
        if self._client is not None:
            headers["User-Agent"] = self._client
        if isinstance(version, str) and isinstance(method, str):
            headers["MCP-Protocol-Version"] = _header(version)
            headers["Mcp-Method"] = _header(method)
            named = params.get(_NAMED_BY.get(method, ""))
            if isinstance(named, str):
                headers["Mcp-Name"] = _header(named)
        elif self._version is not None and method != "initialize":
            headers["MCP-Protocol-Version"] = self._version
        return headers

    def _know_client(self, message: dict[str, Any]) -> None:
        """Keep the name of the program that a message gives."""
        params = _params(message)
        meta = params.get("_meta")
        info = params.get("clientInfo") if message["method"] == "initialize" else None
        info = meta.get(CLIENT_META, info) if isinstance(meta, dict) else info
        self._client = client_name(info) or self._client

    def _forward(self, request: _Request, response: HTTPResponse) -> None:
        """Write a reply as a line."""
        body = response.read()
        if response.status != 200 or request.message["method"] == "initialize":
            body = self._looked_at(request, response.status, body)
        # Before the reply is written: the client may send the next request at once.
        self._free(request)
        self._write(body, request)

    def _looked_at(self, request: _Request, status: int, body: bytes) -> bytes:
        """Return the reply with the request's ID, which errors of the HTTP layer lack."""
        try:
            reply = json.loads(body)
        except ValueError:
            raise NoServer(
                f"SERVER_UNAVAILABLE: the server replied with status {status}."
            ) from None
        if request.message["method"] == "initialize" and isinstance(reply.get("result"), dict):
            self._version = str(reply["result"].get("protocolVersion"))
            return body
        if status == 401:
            raise NoServer(_NEEDS_KEY)
        error = reply.get("error", {})
        if isinstance(error.get("code"), str):
            raise NoServer(_refusal(error))
        return json.dumps({**reply, "id": request.id}).encode()

    # --- output ---------------------------------------------------------------------------------

    def _refuse(
        self, number: str | int | None, code: int, text: str, request: _Request | None = None
    ) -> None:
        error = {"code": code, "message": text}
        line = json.dumps({"jsonrpc": "2.0", "id": number, "error": error}).encode()
        if request is not None:
            self._free(request)
        self._write(line, request)

    def _write(self, line: bytes, request: _Request | None = None) -> None:
        """Write a line. Wait while the client does not read, which stops the reading too."""
        with self._writing:
            if request is not None:
                if request.cancelled:
                    return
                request.answered = True
            rest = memoryview(line.replace(b"\n", b" ").replace(b"\r", b" ") + b"\n")
            try:
                while rest:
                    rest = rest[os.write(self._sink, rest) :]
            except OSError:
                self.ended.set()


class _Request:
    """A request in flight."""

    def __init__(self, number: str | int, line: bytes, message: dict[str, Any]) -> None:
        self.id = number
        self.line = line
        self.message = message
        self.connection: HTTPConnection | None = None
        self.cancelled = False
        self.sent = False  # whether a server may have it
        self.answered = False

    def cancel(self) -> None:
        """Stop the request: the server stops the work once the connection is closed."""
        self.cancelled = True
        connection = self.connection  # its own thread may let go of it at any time
        if connection is not None and (sock := connection.sock) is not None:
            with suppress(OSError):
                # Closing alone would not wake the thread that waits for the reply.
                sock.shutdown(2)


def _is_reply(message: object) -> bool:
    """Whether a message is a reply. The server never asks, so it is ignored."""
    return isinstance(message, dict) and "id" in message and "method" not in message


def _id_of(message: object) -> str | int | None:
    """Return the ID of a request, or None if it has none that is valid."""
    number = message.get("id") if isinstance(message, dict) else None
    return number if isinstance(number, str | int) and not isinstance(number, bool) else None


def _params(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a message; {} if it has none that are an object."""
    params = message.get("params")
    return params if isinstance(params, dict) else {}


def _refusal(error: dict[str, Any]) -> str:
    """Return an error of the HTTP layer as text, such as that MCP is switched off."""
    details = error.get("details")
    what = details.get("what") if isinstance(details, dict) else None
    if error["code"] == "FEATURE_DISABLED" and isinstance(what, str):
        return f"FEATURE_DISABLED: {what} The user can turn it on: vault-agent enable mcp"
    return f"{error['code']}: {error.get('message', '')}"


def _may_write(message: dict[str, Any]) -> bool:
    """Whether a request may change notes: the call of a tool that is not known to read."""
    name = _params(message).get("name")
    return message.get("method") == "tools/call" and name not in reading_tools()


def _failed_call(number: str | int, text: str) -> bytes:
    """Return the result of a call that has failed."""
    content = [{"type": "text", "text": text}]
    result = {"resultType": "complete", "content": content, "isError": True}
    return json.dumps({"jsonrpc": "2.0", "id": number, "result": result}).encode()


def run_relay(
    find: Callable[[bool], ServerAt],
    path: str,
    *,
    vault: str | None = None,
    own: Callable[[dict[str, Any]], dict[str, Any] | None],
    is_up: Callable[[], bool],
) -> None:
    """Relay between standard input and output, and end the process with code 0.

    Standard output carries protocol lines only: everything else that is printed goes to standard
    error.
    """
    sink = os.dup(1)
    os.dup2(2, 1)
    if sys.platform == "win32":
        import msvcrt

        for descriptor in (0, sink):
            msvcrt.setmode(descriptor, os.O_BINARY)
    relay = Relay(find, path, 0, sink, vault=vault, own=own, is_up=is_up)
    for name in ("SIGTERM", "SIGHUP", "SIGINT"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda *_: relay.ended.set())
    relay.run()
    # At once: a thread may still wait for a server or for standard input.
    os._exit(0)


def _header(value: str) -> str:
    """Return a header's value, in base64 if it cannot stand there as it is."""
    if _TOKEN.fullmatch(value) and not value.startswith("=?base64?"):
        return value
    encoded = base64.b64encode(value.encode("utf-8", "surrogatepass")).decode("ascii")
    return f"=?base64?{encoded}?="
