"""A registered vault while it is open, in a task of its own."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

from vault_agent.errors import Busy

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
    from contextlib import AbstractAsyncContextManager

    from vault_agent.vaults.open_vault import OpenVault


class HostedVault:
    """Opens a vault, keeps it until `close`, and knows whether it is used.

    An open vault has a task group, which one task must enter and leave. A request may end before
    the vault is closed, so the vault has its own task.
    """

    def __init__(
        self,
        open_it: Callable[[], AbstractAsyncContextManager[OpenVault]],
        *,
        on_close: Callable[[OpenVault], Awaitable[object]],
        on_end: Callable[[], object],
    ) -> None:
        """Begin to open it.

        `on_close` is called before it is closed, and `on_end` when it is closed or failed.
        """
        self.vault: OpenVault | None = None
        self.used_at = time.monotonic()
        self._users = 0
        self._closing = asyncio.Event()
        self._looking = asyncio.Lock()
        self._open_it = open_it
        self._on_close, self._on_end = on_close, on_end
        loop = asyncio.get_running_loop()
        self._opened: asyncio.Future[OpenVault] = loop.create_future()
        self._task = asyncio.create_task(self._keep())

    async def opened(self) -> OpenVault:
        """Wait until it is open.

        Raises:
            VaultAgentError: why it cannot be opened. The next request tries again.
        """
        return await asyncio.shield(self._opened)

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Count a user, so that it is not closed."""
        self._users += 1
        try:
            yield
        finally:
            self._users -= 1
            self.used_at = time.monotonic()

    @asynccontextmanager
    async def looked_at(self) -> AsyncIterator[OpenVault | None]:
        """Lend it for its state, which is no use of it. None if it is not open, or closes."""
        async with self._looking:
            yield None if self.is_closing else self.vault

    @property
    def is_closing(self) -> bool:
        """Whether it is being closed."""
        return self._closing.is_set()

    @property
    def is_busy(self) -> bool:
        """Whether a request or a job uses it, or it is being opened."""
        return bool(self._users) or self.vault is None or self.vault.jobs.running is not None

    @property
    def idle_seconds(self) -> float:
        """The time since the last request, or 0 while one or a job uses it."""
        if self.is_busy:
            self.used_at = time.monotonic()
        return time.monotonic() - self.used_at

    async def close(self) -> None:
        """Close it, and wait for that. If it is still being opened, stop that."""
        self._closing.set()
        if self.vault is None:
            self._task.cancel()
        await asyncio.wait({self._task})

    async def _keep(self) -> None:
        try:
            async with self._open_it() as vault:
                self.vault = vault
                self._opened.set_result(vault)
                await self._closing.wait()
                async with self._looking:
                    await self._on_close(vault)
        except asyncio.CancelledError:
            if not self._opened.done():
                self._opened.set_exception(Busy("SERVER_BUSY", "The server is stopping."))
                self._opened.exception()
            raise
        except Exception as error:
            if self._opened.done():
                raise
            self._opened.set_exception(error)
            self._opened.exception()  # perhaps nobody waits for it any more
        finally:
            self.vault = None
            self._on_end()
