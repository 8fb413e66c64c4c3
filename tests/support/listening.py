"""Ports of 127.0.0.1 that tests open, close and open again, served by aiohttp in this process."""

from __future__ import annotations

import asyncio
import random
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Self

from aiohttp import web

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def free_port() -> int:
    """Return a port that stays free until somebody takes this one.

    Systems give connections, and servers that ask for any port, higher ones.
    """
    while True:
        port = random.SystemRandom().randrange(10_000, 32_000)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


class Listening:
    """Serves POST on the paths of `routes`. `port` 0 is a free one, kept when it listens again."""

    def __init__(self, path: str, port: int, *, cancels: bool = False) -> None:
        self.path = path
        self.port = port
        self._cancels = cancels  # a reply whose client has gone
        self._runner: web.AppRunner | None = None
        self._sockets: tuple = ()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}{self.path}"

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def start(self) -> None:
        """Listen. After a stop, listen on the same port again."""
        app = web.Application(client_max_size=64 << 20)
        for path, handler in self.routes().items():
            app.router.add_post(path, handler)
        self._runner = web.AppRunner(
            app, shutdown_timeout=0.1, handle_signals=False, handler_cancellation=self._cancels
        )
        await self._runner.setup()
        self.port = self.port or free_port()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port, reuse_address=True)
        await site.start()
        self._sockets = site._server.sockets

    async def stop(self) -> None:
        """Close the port and all connections."""
        if self._runner is None:
            return
        # Python 3.11 never closes a connection that it accepted just before its server was closed
        # (python/cpython#109564): so accept none, and let the last one begin.
        for each in self._sockets:
            asyncio.get_running_loop().remove_reader(each.fileno())
        for _ in range(3):
            await asyncio.sleep(0)
        await self._runner.cleanup()
        self._runner = None

    def routes(self) -> dict[str, Handler]:
        """Return what answers the requests of each path."""
        return {self.path: self.answer_to}

    async def answer_to(self, request: web.Request) -> web.StreamResponse:
        raise NotImplementedError
