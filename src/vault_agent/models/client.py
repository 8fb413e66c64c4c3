"""Asks one model behind an endpoint, and stops asking for a while after a failure.

The pause is a circuit breaker (M. Nygard, "Release It!"). A caller's request is never the attempt
that ends it. A background task sends something small instead, with a timeout that is long enough to
load the model.

Only this machine may be asked or, if the user allows it, the private network; and no cloud model. A
name may resolve to any address, and to another one later. So the name is checked once, when the
configuration is read, and the address is checked for every connection, when its socket is created.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections import OrderedDict
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar
from weakref import WeakValueDictionary

import aiohttp
import anyio
import orjson
from yarl import URL

from vault_agent.errors import Misconfigured, Unavailable, error_of
from vault_agent.models.faults import EndpointFault, Kind, ModelService, fault_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable, Mapping

_Reply = TypeVar("_Reply")

_ERROR_BYTES: Final = 1 << 16
_REPLY_BYTES: Final = 1 << 20
_REPLIES_KEPT: Final = 256
_FIRST_WAIT: Final = 0.5
_LONGEST_WAIT: Final = 30.0


class ModelClient:
    """One model behind an endpoint. An asynchronous context manager.

    No redirect is followed, no proxy is used, no cookie is kept.
    """

    def __init__(
        self,
        service: ModelService,
        url: str,
        model: str,
        *,
        allow_private: bool,
        key: str | None = None,
    ) -> None:
        """Check the endpoint and the model. Nothing is sent. `key` is that of our own endpoint.

        Raises:
            Misconfigured: `CONFIG_INVALID` for an endpoint or model that would send text away.
        """
        self.model = model.strip()
        if self.model.lower().endswith((":cloud", "-cloud")):
            raise Misconfigured(
                "CONFIG_INVALID",
                f"{service.section}.model names a cloud model, which sends the notes' text away;"
                " choose one that runs on this machine.",
            )
        self._service = service
        self._policy = AddressPolicy(allow_private=allow_private, section=service.section)
        self._url = self._policy.endpoint(url)
        self._headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        self._session: aiohttp.ClientSession | None = None
        self._replies: OrderedDict[Hashable, Any] = OrderedDict()
        self._turns: WeakValueDictionary[Hashable, anyio.Lock] = WeakValueDictionary()
        self._error: Unavailable | None = None
        self._recovery: asyncio.Task[None] | None = None

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
            headers={
                "Accept-Encoding": "identity",
                "Content-Type": "application/json",
                **self._headers,
            },
            auto_decompress=False,
            trust_env=False,
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._recovery is not None:
            self._recovery.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._recovery
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def ask(
        self,
        body: Mapping[str, Any],
        parse: Callable[[bytes], _Reply],
        *,
        timeout: float,  # noqa: ASYNC109 - passed to the socket, and reported as a fault
        extra_bytes: int = 0,
    ) -> _Reply:
        """Send one request, and return what `parse` makes of the body of the reply.

        `timeout` is in seconds, for the request and its reply. A reply may have 1 MiB and
        `extra_bytes`.

        Raises:
            EndpointFault: for any failure, or by `parse`.
        """
        if self._session is None:
            raise EndpointFault(Kind.UNREACHABLE)
        try:
            async with self._session.post(
                self._url,
                data=orjson.dumps(body),
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(total=timeout),
            ) as response:
                if response.status != 200:
                    raise fault_of(
                        response.status,
                        await response.content.read(_ERROR_BYTES),
                        response.headers.get("Retry-After"),
                    )
                reply = await _read(response, _REPLY_BYTES + extra_bytes)
        except TimeoutError:
            raise EndpointFault(Kind.TIMED_OUT) from None
        except aiohttp.ClientConnectorError as error:
            refused = isinstance(error.os_error, AddressRefused)
            raise EndpointFault(Kind.ADDRESS_REFUSED if refused else Kind.UNREACHABLE) from None
        except (aiohttp.ClientError, OSError):
            raise EndpointFault(Kind.DISCONNECTED) from None
        return parse(reply)

    async def answer(self, key: Hashable, request: Callable[[], Awaitable[_Reply]]) -> _Reply:
        """Return what `request` returns. Calls with one key, at once or soon again, send it once.

        After a fault of the endpoint, later calls raise at once, until a request in the background
        succeeds.

        Raises:
            Unavailable: the message says what to do.
        """
        turn = self._turns.setdefault(key, anyio.Lock())
        async with turn:
            if key in self._replies:
                self._replies.move_to_end(key)
                reply: _Reply = self._replies[key]
                return reply
            self.check()
            try:
                reply = await request()
            except EndpointFault as fault:
                error = self.unavailable(fault)
                if fault.kind not in self._service.of_one_request:
                    self._error = error
                    self._recover_after(_FIRST_WAIT)
                raise error from None
            self._replies[key] = reply
            if len(self._replies) > _REPLIES_KEPT:
                self._replies.popitem(last=False)
            return reply

    def unavailable(self, fault: EndpointFault) -> Unavailable:
        """Return the error for a fault of the endpoint as a whole."""
        return self._service.unavailable(fault, self.model, str(self._url.origin()))

    def check(self) -> None:
        """Raise `Unavailable` if the endpoint is known not to work now."""
        if self._error is not None:
            raise error_of(self._error.code, self._error.message, self._error.details)

    def warm_up(self) -> None:
        """Test the endpoint in the background, which also loads the model."""
        self._recover_after(0.0)

    async def recover(self) -> None:
        """Send something small, with a timeout that is long enough to load the model.

        Raises:
            EndpointFault: while the endpoint does not work.
        """
        raise NotImplementedError

    def _recover_after(self, wait: float) -> None:
        if self._recovery is None or self._recovery.done():
            self._recovery = asyncio.create_task(self._recover(wait), name="endpoint-recovery")

    async def _recover(self, wait: float) -> None:
        while True:
            await asyncio.sleep(wait)
            wait = min(max(wait * 2, _FIRST_WAIT), _LONGEST_WAIT)
            try:
                await self.recover()
            except EndpointFault as fault:
                self._error = self.unavailable(fault)
            else:
                self._error = None
                return


async def _read(response: aiohttp.ClientResponse, limit: int) -> bytes:
    """Return the whole reply. Past `limit` bytes, close the connection and raise a fault."""
    parts: list[bytes] = []
    size = 0
    async for part in response.content.iter_any():
        size += len(part)
        if size > limit:
            response.close()
            raise EndpointFault(Kind.BAD_REPLY)
        parts.append(part)
    return b"".join(parts)


def utf8(text: str) -> str:
    """Return the text without lone surrogates, which JSON cannot carry."""
    return text.encode("utf-8", "replace").decode()


# RFC 1918 and RFC 4193. Not `is_private`, which includes link-local addresses: cloud metadata
# services use them.
_PRIVATE = (
    IPv4Network("10.0.0.0/8"),
    IPv4Network("172.16.0.0/12"),
    IPv4Network("192.168.0.0/16"),
    IPv6Network("fc00::/7"),
)
_PRIVATE_SUFFIXES = (".internal", ".local", ".home.arpa")
# The usual address of each section, for messages.
_USUAL = {
    "embedding": URL("http://127.0.0.1:11434/v1/embeddings"),
    "rerank": URL("http://127.0.0.1:8080/v1/rerank"),
}


class AddressRefused(OSError):
    """The endpoint's name resolved to an address that is not allowed. Nothing was sent."""


class AddressPolicy:
    """Allows loopback and, with `allow_private`, private and unique-local addresses.

    `section` is the one of the settings that has the endpoint, for messages.
    """

    def __init__(self, *, allow_private: bool = False, section: str = "embedding") -> None:
        self._allow_private = allow_private
        self._section = section

    def endpoint(self, text: str) -> URL:
        """Return the configured endpoint as a URL.

        Raises:
            Misconfigured: `CONFIG_INVALID`; the message says what is wrong.
        """
        try:
            url = URL(text)
            host = url.host
        except ValueError:
            url, host = URL(), None
        if url.scheme not in ("http", "https") or not host:
            raise self._invalid(f"must be a URL such as {_USUAL[self._section]}")
        if url.user is not None or url.password is not None:
            raise self._invalid("must not hold a user name or password")
        if url.path in ("", "/"):
            raise self._invalid(f"must name the whole path, usually {_USUAL[self._section].path}")
        if not self._allows_host(host):
            raise self._invalid(
                "must be on this machine (127.0.0.1, ::1, localhost)"
                + (
                    " or in the private network"
                    if self._allow_private
                    else "; for the private network set embedding.allow_private_network_endpoint"
                )
            )
        return url.with_fragment(None)

    def _allows_host(self, host: str) -> bool:
        host = host.lower().rstrip(".")
        try:
            ip_address(host)
        except ValueError:
            if host == "localhost" or host.endswith(".localhost"):
                return True
            return self._allow_private and ("." not in host or host.endswith(_PRIVATE_SUFFIXES))
        return self.allows(host)

    def allows(self, address: str) -> bool:
        """Whether a connection may be made to this numeric address."""
        try:
            ip = ip_address(address.partition("%")[0])
        except ValueError:
            return False
        if isinstance(ip, IPv6Address) and ip.ipv4_mapped is not None:
            ip = ip.ipv4_mapped
        if ip.is_loopback:
            return True
        return self._allow_private and any(
            ip in network for network in _PRIVATE if network.version == ip.version
        )

    def socket(self, address_info: tuple[Any, Any, int, str, tuple[Any, ...]]) -> socket.socket:
        """Create the socket for one connection: the `socket_factory` of aiohttp's connector."""
        family, kind, protocol, _, address = address_info
        if not self.allows(str(address[0])):
            raise AddressRefused("the endpoint's name has an address that is not allowed")
        return socket.socket(family=family, type=kind, proto=protocol)

    def _invalid(self, what: str) -> Misconfigured:
        return Misconfigured("CONFIG_INVALID", f"{self._section}.endpoint {what}.")
