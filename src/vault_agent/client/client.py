"""The client of the HTTP server. It raises the errors that the server replies with.

A reply keeps the received bytes. `envelope` is the parsed JSON, and `read` makes a value of `model`
of its data where a command wants one.
"""

from __future__ import annotations

import re
import socket
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, urlencode, urlsplit

import h11
import orjson

from vault_agent import __version__
from vault_agent.errors import (
    Failed,
    IndexUnavailable,
    Unavailable,
    VaultAgentError,
    at_terminal,
    error_of,
)
from vault_agent.model.camel import camel

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping

    from vault_agent.model.jobs import Job
    from vault_agent.model.warning import Warning as Notice

Data = TypeVar("Data")

_PARTS = re.compile(r"\{(\w+)\}")
_WITH_SLASHES = "path"
"""The part of a path that is itself one: the server checks whether it leaves the vault."""

_CONNECT_SECONDS = 5.0
_READ_SECONDS = 120.0  # between two reads: a query may wait until the model is loaded
_SILENCE_SECONDS = 30.0  # the heartbeat comes every 5 s

MAX_REPLY_BYTES = 128 * 1024 * 1024
"""Limit of a JSON reply. A note has up to 64 MiB, and a line end takes two bytes in JSON."""
DOWNLOAD_LIMIT = 10 * 1024 * 1024
"""Limit of an attachment without `allow_large`. The server has the same limit."""
MAX_EVENT_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Reply:
    """A successful reply: its bytes, the parsed JSON and the warnings.

    `fault` is raised for data of another form.
    """

    body: bytes
    envelope: dict[str, Any]
    warnings: tuple[Notice, ...]
    fault: VaultAgentError

    def read(self, kind: type[Data]) -> Data:
        """Return the value of `kind` that the data stands for.

        Raises:
            Failed: `INTERNAL_ERROR` if it has another form, and is of another version of the
                server.
            Unavailable: `SERVER_UNAVAILABLE` if it is of another program.
        """
        return _value(kind, self.envelope["data"], self.fault)


class _OfOtherVersion(dict[str, Any]):
    """An object of a server of another version. `fault` is raised for a missing field."""

    def __init__(self, fields: dict[str, Any], fault: VaultAgentError) -> None:
        super().__init__(fields)
        self._fault = fault

    def __missing__(self, name: str) -> Any:
        raise self._fault


class Client:
    """The calls of one server.

    Every call raises the error of `vault_agent.errors` for the code in the server's reply, or
    Unavailable SERVER_UNAVAILABLE if no server answers. It follows no redirects and ignores proxies
    in the environment, so that data goes only to the configured server.
    """

    def __init__(
        self,
        endpoint: str,
        api_key: str | None = None,
        *,
        on_vault: Callable[[str], None] | None = None,
    ) -> None:
        """Create a client. `on_vault` is called once, with the identity of the served vault."""
        self.vault: str | None = None
        """The identity of the served vault, known after the first reply."""
        self.vault_name: str | None = None  # that calls are about; None for the default one
        self.on_wait: Callable[[str], None] | None = None
        """Is called before a wait for an index, with why. Without it, there is no such wait."""
        self._on_vault = on_vault
        self._is_other_version = True  # of the server, until a reply says that it is the same
        self.endpoint = endpoint.rstrip("/")
        self._address = Address.of(endpoint)
        self._headers = {"User-Agent": f"vault-agent/{__version__}"}
        if api_key:
            self._headers["Authorization"] = f"Bearer {api_key}"

    # --- calls ---------------------------------------------------------------------------------

    def call(self, route: str, body: Mapping[str, Any] | None = None, /, **fields: object) -> Reply:
        """Carry out an operation: a method and the template of a path, as `GET /notes/{noteId}`.

        `fields` have the names of the request in Python. Those that are None, False or empty are
        left out, so their defaults apply. `body` has names of JSON and is sent as it is. With
        `on_wait`, an operation that needs an index which is being built waits for it, of each vault
        that it is about.
        """
        waited_for: set[str] = set()
        while True:
            try:
                reply = self._call(route, body, fields)
                skipped = [warning for warning in reply.warnings if warning.code == "VAULT_SKIPPED"]
                jobs = {
                    warning.details["jobId"]: warning.details["vault"]
                    for warning in skipped
                    if "jobId" in warning.details
                }
                if self.on_wait is None or jobs.keys() <= waited_for:
                    return reply
                what = "An index is being built."
            except IndexUnavailable as error:
                job_id = error.details.get("jobId")
                if self.on_wait is None or job_id is None or job_id in waited_for:
                    raise
                jobs = {job_id: error.details.get("vault", self.vault_name)}
                what = error.what
            if not waited_for:
                self.on_wait(what)
            for job_id in jobs.keys() - waited_for:
                for _ in self.events(job_id, jobs[job_id]):
                    pass
            waited_for |= jobs.keys()

    def _call(
        self, route: str, body: Mapping[str, Any] | None, fields: Mapping[str, object]
    ) -> Reply:
        method, path, others = addressed(route, fields)
        content = {**(body or {}), **others} if method == "POST" else None
        if content is None and others:
            path = f"{path}?{urlencode({n: _text(v) for n, v in others.items()}, doseq=True)}"
        with self._open(method, path, content) as response:
            received = self._content(response, MAX_REPLY_BYTES)
        envelope = _object(received)
        if envelope is None or not isinstance(envelope.get("data"), dict):
            raise self._not_vault_agent()
        warnings = envelope.get("warnings")
        notices = self._notices(warnings) if warnings else ()
        fault = self._fault()
        if self._is_other_version:
            envelope = _of_other_version(envelope, fault)
        return Reply(received, envelope, notices, fault)

    def download(self, path: str, *, allow_large: bool = False) -> Generator[bytes]:
        """Yield an attachment's bytes. `allow_large` lifts the limit of 10 MiB.

        A reply without Content-Length, or over the limit, raises Unavailable.
        """
        _, place, _ = addressed("GET /attachments/{path}", {"path": path})
        query = "?download=true" + ("&allowLarge=true" if allow_large else "")
        with self._open("GET", place + query) as response:
            size = response.content_length
            if size is None:
                raise self._not_vault_agent()
            if size > DOWNLOAD_LIMIT and not allow_large:
                raise self._too_much(DOWNLOAD_LIMIT)
            yield from response.blocks()

    def events(self, job_id: str, vault: str | None = None) -> Generator[Job]:
        """Yield the states of a job until it has ended. `vault`: by default `vault_name`."""
        from vault_agent.model.jobs import Job

        _, path, _ = addressed("GET /jobs/{jobId}/events", {"job_id": job_id})
        with self._open("GET", path, silence=_SILENCE_SECONDS, vault=vault) as response:
            for line in self._lines(response):
                # The data of each event is one line of JSON.
                if line.startswith(b"data:"):
                    yield _value(Job, orjson.loads(line[5:]), self._fault())

    # --- internals ----------------------------------------------------------------------------

    def _notices(self, warnings: object) -> tuple[Notice, ...]:
        from vault_agent.model.warning import Warning as Notice

        return tuple(
            replace(notice, message=at_terminal(notice.code, notice.message, notice.details))
            for notice in _value(tuple[Notice, ...], warnings, self._fault())
        )

    @contextmanager
    def _open(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        silence: float = _READ_SECONDS,
        vault: str | None = None,
    ) -> Iterator[Response]:
        """Send a request and yield the successful response. Its body is not read yet."""
        headers = dict(self._headers)
        vault = vault or self.vault_name
        if vault is not None:
            path = f"/vaults/{quote(vault, safe='')}{path}"
        content = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            content = orjson.dumps(body)
        try:
            with exchange(
                self._address,
                method,
                path,  # unchanged: the server refuses `..` and encoded slashes
                headers,
                content,
                silence=silence,
            ) as response:
                self._is_other_version = response.headers.get("x-vault-agent") != __version__
                self._report_vault(response.headers.get("x-vault-id"))
                if response.status >= 300:
                    content = self._content(response, MAX_REPLY_BYTES)
                    raise self._error(_object(content))
                yield response
        except NotConnected:
            raise Unavailable(
                "SERVER_UNAVAILABLE",
                f"no server answers at {self.endpoint}.",
            ) from None
        except BrokenReply:
            raise Unavailable(
                "SERVER_UNAVAILABLE",
                f"the server at {self.endpoint} ended the connection before its reply was"
                " complete.",
            ) from None

    def _report_vault(self, vault: str | None) -> None:
        if vault is None:
            return
        self.vault = vault
        if self._on_vault is not None:
            self._on_vault(vault)
            self._on_vault = None

    def _lines(self, response: Response) -> Generator[bytes]:
        """Yield the lines of a reply. A line over MAX_EVENT_BYTES raises Unavailable."""
        begun = bytearray()
        for block in response.blocks():
            first, *others = block.split(b"\n")
            begun += first
            if len(begun) > MAX_EVENT_BYTES:
                raise self._too_much(MAX_EVENT_BYTES)
            for other in others:
                yield bytes(begun)
                begun = bytearray(other)

    def _content(self, response: Response, limit: int) -> bytes:
        """Return the body of a reply. A body over `limit` bytes raises Unavailable."""
        content = bytearray()
        for block in response.blocks():
            content += block
            if len(content) > limit:
                raise self._too_much(limit)
        return bytes(content)

    def _error(self, envelope: dict[str, Any] | None) -> VaultAgentError:
        error = envelope.get("error") if envelope else None
        if not isinstance(error, dict) or not isinstance(error.get("code"), str):
            return self._not_vault_agent()
        details = error.get("details")
        return error_of(
            error["code"],
            str(error.get("message", "")),
            details if isinstance(details, dict) else None,
        )

    def _fault(self) -> VaultAgentError:
        """Return the error for data of another form."""
        if self.vault is None:
            return self._not_vault_agent()
        return Failed(
            "INTERNAL_ERROR", "unexpected reply: client and server may have different versions"
        )

    def _too_much(self, limit: int) -> Unavailable:
        return Unavailable(
            "SERVER_UNAVAILABLE",
            f"the server at {self.endpoint} sends more than {limit >> 20} MiB in one reply."
            " It may not be vault-agent.",
        )

    def _not_vault_agent(self) -> Unavailable:
        return Unavailable(
            "SERVER_UNAVAILABLE",
            f"What answers at {self.endpoint} is not vault-agent.",
        )


def _object(content: bytes) -> dict[str, Any] | None:
    try:
        value = orjson.loads(content)
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, dict) else None


def addressed(route: str, fields: Mapping[str, Any]) -> tuple[str, str, dict[str, Any]]:
    """Return a method, a path with its fields, and the other fields by their names in JSON.

    Fields that are None, False or empty are left out.
    """
    named = {
        camel(name): value
        for name, value in fields.items()
        if not (value is None or value is False or value in ((), [], {}))
    }
    method, _, template = route.partition(" ")
    path = _PARTS.sub(lambda part: _quoted(part[1], named), template)
    in_path = _PARTS.findall(template)
    return method, path, {name: named[name] for name in named if name not in in_path}


def _quoted(name: str, named: Mapping[str, Any]) -> str:
    return quote(str(named[name]), safe="/" if name == _WITH_SLASHES else "")


def _value(kind: type[Data], content: object, fault: VaultAgentError) -> Data:
    """Return a part of a reply as a value. Raises `fault` if it is none."""
    from vault_agent.model.sent import Unreadable
    from vault_agent.model.values import read

    try:
        return read(kind, content)
    except Unreadable:
        raise fault from None


def _of_other_version(value: Any, fault: VaultAgentError) -> Any:
    """Return parsed JSON whose objects raise `fault` for a missing field."""
    if isinstance(value, dict):
        fields = {name: _of_other_version(entry, fault) for name, entry in value.items()}
        return _OfOtherVersion(fields, fault)
    if isinstance(value, list):
        return [_of_other_version(entry, fault) for entry in value]
    return value


def _text(value: object) -> object:
    return str(value).lower() if isinstance(value, bool) else value


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server is. `prefix` is the path before every route, without a slash at its end."""

    host: str
    port: int
    tls: bool
    authority: str
    prefix: str

    @classmethod
    def of(cls, endpoint: str) -> Address:
        """Return the address in an http or https URL."""
        parts = urlsplit(endpoint)
        host, tls = parts.hostname or "", parts.scheme == "https"
        name = host if host.isascii() else host.encode("idna").decode("ascii")
        name = f"[{name}]" if ":" in name else name
        return cls(
            host=host,
            port=parts.port or (443 if tls else 80),
            tls=tls,
            authority=name if parts.port is None else f"{name}:{parts.port}",
            prefix=quote(parts.path.rstrip("/"), safe="/%:@!$&'()*+,;=~"),
        )


_BLOCK = 1 << 16
_MAX_HEAD_BYTES = 1 << 16


class NotConnected(Exception):
    """No server accepts connections at the address."""


class BrokenReply(Exception):
    """The reply is not HTTP, ended early, or did not arrive in time."""


class Response:
    """A reply whose head has arrived."""

    def __init__(self, connection: socket.socket, request: h11.Request, body: bytes) -> None:
        """Send a request, and wait for the head of its reply."""
        self._connection = connection
        self._protocol = h11.Connection(h11.CLIENT, max_incomplete_event_size=_MAX_HEAD_BYTES)
        parts = (request, h11.Data(data=body), h11.EndOfMessage())
        content = b"".join(self._protocol.send(part) or b"" for part in parts)
        # A server that refuses a request may reply before it has read all of it.
        with _broken(), suppress(ConnectionError):
            connection.sendall(content)
        while isinstance(head := self._event(), h11.InformationalResponse):
            pass  # it only announces the reply
        if not isinstance(head, h11.Response):
            raise BrokenReply
        self.status = head.status_code
        self.headers = {
            name.decode("ascii"): value.decode("latin-1") for name, value in head.headers
        }
        """By name in lower case."""

    @property
    def content_length(self) -> int | None:
        """The number of bytes of the body, or None if the reply does not say."""
        length = self.headers.get("content-length")
        return None if length is None or "transfer-encoding" in self.headers else int(length)

    def blocks(self) -> Generator[bytes]:
        """Yield the body as it arrives.

        Raises:
            BrokenReply: if it ends early, or pauses for too long.
        """
        while isinstance(event := self._event(), h11.Data):
            yield bytes(event.data)

    def _event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        with _broken():
            while (event := self._protocol.next_event()) is h11.NEED_DATA:
                self._protocol.receive_data(self._connection.recv(_BLOCK))
            return event


@contextmanager
def exchange(
    address: Address,
    method: str,
    path: str,
    headers: Mapping[str, str],
    body: bytes | None,
    *,
    silence: float,
) -> Iterator[Response]:
    """Send a request and yield its reply, whose body is not read yet.

    `path` is sent unchanged after the address's prefix. `silence` is the limit in seconds for each
    wait.

    Raises:
        NotConnected: if no server accepts the connection.
        BrokenReply: if what arrives is no HTTP reply.
    """
    try:
        connection = _connected(address, silence)
    except (OSError, UnicodeError):
        raise NotConnected from None
    try:
        sent_headers = {"Host": address.authority, **headers, "Connection": "close"}
        if body is not None:
            sent_headers["Content-Length"] = str(len(body))
        request = h11.Request(
            method=method, target=address.prefix + path, headers=list(sent_headers.items())
        )
        yield Response(connection, request, body or b"")
    finally:
        connection.close()


def _connected(address: Address, silence: float) -> socket.socket:
    # Of bytes no name is made for international domains, whose import takes a millisecond.
    host: Any = address.host.encode() if address.host.isascii() else address.host
    plain = socket.create_connection((host, address.port), timeout=_CONNECT_SECONDS)
    try:
        if address.tls:
            import ssl

            plain = ssl.create_default_context().wrap_socket(plain, server_hostname=address.host)
        plain.settimeout(silence)
    except BaseException:
        plain.close()
        raise
    return plain


@contextmanager
def _broken() -> Iterator[None]:
    """Raise `BrokenReply` for errors of the connection, and for bytes that are not HTTP."""
    try:
        yield
    except (OSError, h11.ProtocolError):
        raise BrokenReply from None
