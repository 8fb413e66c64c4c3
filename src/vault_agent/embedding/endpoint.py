"""One POST to the embedding endpoint, which returns unit vectors or raises `Fault`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Self

import aiohttp
import orjson

from vault_agent.embedding.address import AddressPolicy, AddressRefused
from vault_agent.embedding.replies import Fault, Kind, fault_of, vectors_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vault_agent.embedding.embedder import Vectors

# 4,096 dimensions of 25 characters are 100 KB a text; the rest is for additional fields.
_REPLY_BYTES: Final = 1 << 20
_REPLY_BYTES_PER_TEXT: Final = 1 << 17
_ERROR_BYTES: Final = 1 << 16


class Endpoint:
    """The configured endpoint, asked for one model. An asynchronous context manager."""

    def __init__(self, url: str, model: str, *, allow_private: bool = False) -> None:
        """Check the URL.

        Raises:
            Misconfigured: `CONFIG_INVALID` if the URL is invalid or its address is not allowed.
        """
        self._policy = AddressPolicy(allow_private=allow_private)
        self._url = self._policy.endpoint(url)
        self._model = model
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                resolver=aiohttp.ThreadedResolver(),
                use_dns_cache=False,
                socket_factory=self._policy.socket,
                keepalive_timeout=30,
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            # A compressed reply could have any size, and a local server need not compress.
            headers={"Accept-Encoding": "identity", "Content-Type": "application/json"},
            auto_decompress=False,
            trust_env=False,
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

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
        if self._session is None:
            raise Fault(Kind.UNREACHABLE)
        body = orjson.dumps({"model": self._model, "input": [_utf8(text) for text in texts]})
        try:
            async with self._session.post(
                self._url,
                data=body,
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(total=timeout),
            ) as response:
                if response.status != 200:
                    raise fault_of(
                        response.status,
                        await response.content.read(_ERROR_BYTES),
                        response.headers.get("Retry-After"),
                    )
                return await _read(response, _REPLY_BYTES + len(texts) * _REPLY_BYTES_PER_TEXT)
        except TimeoutError:
            raise Fault(Kind.TIMED_OUT) from None
        except aiohttp.ClientConnectorError as error:
            refused = isinstance(error.os_error, AddressRefused)
            raise Fault(Kind.ADDRESS_REFUSED if refused else Kind.UNREACHABLE) from None
        except (aiohttp.ClientError, OSError):
            raise Fault(Kind.DISCONNECTED) from None


async def _read(response: aiohttp.ClientResponse, limit: int) -> bytes:
    """Return the whole reply. Past `limit` bytes, close the connection and raise `Fault`."""
    parts: list[bytes] = []
    size = 0
    async for part in response.content.iter_any():
        size += len(part)
        if size > limit:
            response.close()
            raise Fault(Kind.BAD_REPLY)
        parts.append(part)
    return b"".join(parts)


def _utf8(text: str) -> str:
    """Return the text without lone surrogates, which JSON cannot carry."""
    return text.encode("utf-8", "replace").decode()
