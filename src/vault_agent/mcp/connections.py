"""Where a server is, and idle connections to it. Imports the standard library only."""

from __future__ import annotations

import threading
from http.client import HTTPConnection, HTTPSConnection
from typing import NamedTuple
from urllib.parse import urlsplit

_SECONDS_TO_CONNECT = 10.0


class ServerAt(NamedTuple):
    """Where the server listens, and its key."""

    endpoint: str
    api_key: str | None


class Connections:
    """Idle connections to the server."""

    def __init__(self) -> None:
        self._idle: list[tuple[ServerAt, HTTPConnection]] = []
        self._lock = threading.Lock()
        self._closed = False

    def take(self, server: ServerAt, *, reused: bool) -> HTTPConnection | None:
        """Return an idle connection, None if there is none, or with `reused` False a new one."""
        if reused:
            with self._lock:
                while self._idle:
                    known, connection = self._idle.pop()
                    if known == server:
                        return connection
                    connection.close()
            return None
        return self.open(server)

    def open(self, server: ServerAt) -> HTTPConnection:
        """Return a new connection.

        Raises:
            OSError: if the server does not take it in time.
        """
        parts = urlsplit(server.endpoint)
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        connection = kind(parts.hostname or "", parts.port, timeout=_SECONDS_TO_CONNECT)
        connection.connect()
        connection.sock.settimeout(None)
        return connection

    def close(self) -> None:
        """Close all idle connections, and each that is put back from now on."""
        with self._lock:
            self._closed = True
            while self._idle:
                self._idle.pop()[1].close()

    def put(self, server: ServerAt, connection: HTTPConnection) -> None:
        """Keep a connection for the next request, unless the server closes it."""
        if connection.sock is None:
            return
        with self._lock:
            if self._closed:
                connection.close()
            else:
                self._idle.append((server, connection))
