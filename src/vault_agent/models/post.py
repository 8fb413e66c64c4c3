"""One POST to a local model's endpoint: the body of the reply, or a `Fault` of a known kind."""

from __future__ import annotations

from typing import Final, Self

import aiohttp

from vault_agent.models.address import AddressPolicy, AddressRefused
from vault_agent.models.faults import Fault, Kind, fault_of

_ERROR_BYTES: Final = 1 << 16


class Poster:
    """Sends JSON to one address, if it is allowed. An asynchronous context manager.

    No redirect is followed, no proxy is used, no cookie is kept, and no key is sent.
    """

    def __init__(self, section: str, url: str, *, allow_private: bool = False) -> None:
        """Check the URL. `section` is the one of the settings that has it.

        Raises:
            Misconfigured: `CONFIG_INVALID` if the URL is invalid or its address is not allowed.
        """
        self._policy = AddressPolicy(allow_private=allow_private, section=section)
        self._url = self._policy.endpoint(url)
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

    async def send(
        self,
        body: bytes,
        *,
        timeout: float,  # noqa: ASYNC109 - passed to the socket, and reported as a fault
        most: int,
    ) -> bytes:
        """Return the body of the reply, of at most `most` bytes.

        `timeout` is in seconds, for the request and its reply.

        Raises:
            Fault: for any failure.
        """
        if self._session is None:
            raise Fault(Kind.UNREACHABLE)
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
                return await _read(response, most)
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


def utf8(text: str) -> str:
    """Return the text without lone surrogates, which JSON cannot carry."""
    return text.encode("utf-8", "replace").decode()
