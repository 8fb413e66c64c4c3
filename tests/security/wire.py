"""Requests as raw bytes, without an HTTP library that normalises them."""

from __future__ import annotations

import json
import socket
from typing import Any, NamedTuple, Self
from urllib.parse import urlsplit

from tests.support.clocks import PATIENCE


class Answer(NamedTuple):
    """A raw reply."""

    status: int
    head: bytes
    body: bytes

    @property
    def code(self) -> str:
        """The error's code."""
        return str(json.loads(self.body)["error"]["code"])

    @property
    def data(self) -> Any:
        return json.loads(self.body)["data"]


class Wire:
    """One kept-alive connection. It reconnects if the server has closed it."""

    def __init__(self, endpoint: str, key: str | None = None) -> None:
        parts = urlsplit(endpoint)
        self.authority = parts.netloc
        self._address = (parts.hostname, parts.port)
        self._key = key
        self._socket: socket.socket | None = None
        self._left = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.hang_up()

    def hang_up(self) -> None:
        """Close the connection."""
        if self._socket is not None:
            self._socket.close()
        self._socket, self._left = None, b""

    def ask(
        self,
        method: str,
        target: str | bytes,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
    ) -> Answer:
        """Send a valid request. A header given as "" is omitted."""
        plain = target.encode("latin-1") if isinstance(target, str) else target
        every = {"Host": self.authority, "Connection": "keep-alive"}
        if self._key is not None:
            every["Authorization"] = f"Bearer {self._key}"
        if body is not None:
            every |= {"Content-Type": "application/json", "Content-Length": str(len(body))}
        every |= headers or {}
        lines = [f"{name}: {value}".encode("latin-1") for name, value in every.items() if value]
        head = b"\r\n".join([b"%s %s HTTP/1.1" % (method.encode(), plain), *lines])
        data = head + b"\r\n\r\n" + (body or b"")
        return self.send(data, has_body=method != "HEAD")

    def post(self, path: str, body: object, headers: dict[str, str] | None = None) -> Answer:
        """Post a value as JSON."""
        return self.ask("POST", path, json.dumps(body).encode(), headers)

    def send(self, data: bytes, *, has_body: bool = True) -> Answer:
        """Send bytes and read one reply. Status 0 means that the connection ended without one."""
        for _ in range(2):
            fresh = self._socket is None
            try:
                return self._exchange(data, has_body=has_body)
            except TimeoutError:
                self.hang_up()
                raise
            except (ConnectionError, EOFError):
                self.hang_up()
                if fresh:
                    break  # else it was closed in the meantime: retry on a new connection
        return Answer(0, b"", b"")

    def _exchange(self, data: bytes, *, has_body: bool) -> Answer:
        if self._socket is None:
            self._socket = socket.create_connection(self._address, PATIENCE)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.settimeout(PATIENCE)
        self._socket.sendall(data)
        head = self._until(b"\r\n\r\n")
        status = int(head.split(b" ", 2)[1])
        fields = dict(
            line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:] if b": " in line
        )
        body = b""
        if has_body and status not in (204, 304):
            if b"content-length" in fields:
                body = self._exactly(int(fields[b"content-length"]))
            elif fields.get(b"transfer-encoding") == b"chunked":
                body = self._chunks()
        if fields.get(b"connection") == b"close":
            self.hang_up()
        return Answer(status, head, body)

    def _chunks(self) -> bytes:
        pieces = []
        while size := int(self._until(b"\r\n"), 16):
            pieces.append(self._exactly(size))
            self._exactly(2)
        self._until(b"\r\n")
        return b"".join(pieces)

    def _until(self, mark: bytes) -> bytes:
        while mark not in self._left:
            self._receive()
        found, _, self._left = self._left.partition(mark)
        return found

    def _exactly(self, size: int) -> bytes:
        while len(self._left) < size:
            self._receive()
        found, self._left = self._left[:size], self._left[size:]
        return found

    def _receive(self) -> None:
        piece = self._socket.recv(1 << 16)
        if not piece:
            raise EOFError
        self._left += piece
