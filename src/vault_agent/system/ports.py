"""Binds the port of a server, or says why that is not possible."""

from __future__ import annotations

import errno
import socket
from urllib.parse import urlsplit

from vault_agent.errors import Misconfigured

BACKLOG = 1024


def require_bindable(host: str, port: int) -> None:
    """Raise the error that `serve` would raise for this address: CONFIG_INVALID or PORT_IN_USE.

    Nothing listens afterwards.
    """
    for bound in bound_sockets(host, port):
        bound.close()


def bound_sockets(host: str, port: int) -> list[socket.socket]:
    """Return a listening socket for each address of `host`, all on one port.

    The port is bound before the vault is opened, so that a port in use fails at once.
    """
    bound: list[socket.socket] = []
    try:
        for family, address in _addresses(host):
            try:
                bound.append(socket.create_server((address, port), family=family, backlog=BACKLOG))
            except OSError as error:
                # `localhost` may name an IPv6 address that this computer has switched off.
                if error.errno == errno.EADDRNOTAVAIL and bound:
                    continue
                raise _not_bound(error, host, port) from None
            bound[-1].setblocking(False)
            port = bound[-1].getsockname()[1]
    except Misconfigured:
        for listener in bound:
            listener.close()
        raise
    return bound


def _addresses(host: str) -> list[tuple[socket.AddressFamily, str]]:
    try:
        resolved = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise Misconfigured(
            "CONFIG_INVALID", "server.host is not an address of this computer. Try 127.0.0.1."
        ) from None
    usable = (socket.AF_INET, socket.AF_INET6)
    addresses = dict.fromkeys(
        (family, str(address[0])) for family, _, _, _, address in resolved if family in usable
    )
    return sorted(addresses, key=lambda pair: pair[0] != socket.AF_INET)


def _not_bound(error: OSError, host: str, port: int) -> Misconfigured:
    if error.errno == errno.EADDRINUSE:
        return Misconfigured(
            "PORT_IN_USE",
            f"Port {port} is in use, perhaps by another vault-agent.",
            {"port": port, "other": port + 1 if port < 65535 else port - 1},
        )
    if error.errno == errno.EACCES:
        return Misconfigured(
            "CONFIG_INVALID", f"The system does not allow port {port}. Choose one above 1023."
        )
    return Misconfigured(
        "CONFIG_INVALID", f"server.host {host} is not an address of this computer. Try 127.0.0.1."
    )


def is_answering(endpoint: str) -> bool:
    """Whether something listens there."""
    parts = urlsplit(endpoint)
    try:
        with socket.create_connection((parts.hostname or "", parts.port or 80), timeout=2):
            return True
    except OSError:
        return False
