"""What the clients of a local model have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import anyio

from vault_agent.models.breaker import Breaker
from vault_agent.models.post import Poster

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


class ModelClient:
    """A model behind an endpoint, asked one thing at a time. An asynchronous context manager.

    `recover` asks for something small; it raises `Unavailable` while the endpoint does not work.
    """

    def __init__(
        self,
        section: str,
        url: str,
        *,
        allow_private: bool,
        recover: Callable[[], Awaitable[object]],
    ) -> None:
        """Check the endpoint. Nothing is sent.

        Raises:
            Misconfigured: `CONFIG_INVALID` for an endpoint that would send text away.
        """
        self._poster = Poster(section, url, allow_private=allow_private)
        self._breaker = Breaker(recover)
        self._turn = anyio.Lock()

    async def __aenter__(self) -> Self:
        await self._poster.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._breaker.aclose()
        await self._poster.__aexit__()

    @property
    def is_down(self) -> bool:
        """Whether the endpoint is known not to work now."""
        return self._breaker.open
