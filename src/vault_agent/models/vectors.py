"""One POST to the embedding endpoint, which returns unit vectors or raises `Fault`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Self

import orjson

from vault_agent.models.embedding_replies import vectors_of
from vault_agent.models.post import Poster, utf8

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vault_agent.models.outcomes import Vectors

# 4,096 dimensions of 25 characters are 100 KB a text; the rest is for additional fields.
_REPLY_BYTES: Final = 1 << 20
_REPLY_BYTES_PER_TEXT: Final = 1 << 17


class Endpoint:
    """The configured endpoint, asked for one model. An asynchronous context manager."""

    def __init__(self, url: str, model: str, *, allow_private: bool = False) -> None:
        """Check the URL.

        Raises:
            Misconfigured: `CONFIG_INVALID` if the URL is invalid or its address is not allowed.
        """
        self._poster = Poster("embedding", url, allow_private=allow_private)
        self._model = model

    async def __aenter__(self) -> Self:
        await self._poster.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._poster.__aexit__()

    async def post(
        self,
        texts: Sequence[str],
        *,
        timeout: float,  # noqa: ASYNC109 - passed to the socket, and reported as a fault
        dimension: int | None = None,
    ) -> Vectors:
        """Return the unit vectors of `texts`, shape (len(texts), dimension).

        `timeout` is in seconds, for the request and its reply.

        Raises:
            Fault: for any failure.
        """
        return vectors_of(await self.send(texts, timeout=timeout), len(texts), dimension)

    async def send(
        self,
        texts: Sequence[str],
        *,
        timeout: float,  # noqa: ASYNC109 - as above
    ) -> bytes:
        """Return the body of the reply, for `vectors_of`.

        Raises:
            Fault: for any failure.
        """
        body = orjson.dumps({"model": self._model, "input": [utf8(text) for text in texts]})
        most = _REPLY_BYTES + len(texts) * _REPLY_BYTES_PER_TEXT
        return await self._poster.send(body, timeout=timeout, most=most)
