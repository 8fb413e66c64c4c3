"""What may be asked: this machine or, if the user allows it, the private network; no cloud model.

A name may resolve to any address, and to another one later. So the name is checked once, when the
configuration is read, and the address is checked for every connection, when its socket is created.
"""

from __future__ import annotations

import socket
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Any

from yarl import URL

from vault_agent.errors import Misconfigured

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


def check_model(section: str, model: str) -> None:
    """Refuse a model that Ollama runs elsewhere.

    Raises:
        Misconfigured: `CONFIG_INVALID`.
    """
    if model.lower().endswith((":cloud", "-cloud")):
        raise Misconfigured(
            "CONFIG_INVALID",
            f"{section}.model names a cloud model, which sends the notes' text away; choose one"
            " that runs on this machine.",
        )
