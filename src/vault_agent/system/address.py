"""The port of a server, and what it notes in the folder of its index: its address, and its vault.

`vault.json` holds the folder of the notes. `server.address` has three lines: the server's URL, its
process ID, and its version, with `until-idle` behind it if it ends by itself. It is written when
the server accepts requests and removed when it stops. A server that is killed leaves it behind. So
it counts only while the server's lock is held.

Every command reads the address. So what only writing needs is imported there.
"""

from __future__ import annotations

import errno
import os
import re
import socket
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from vault_agent import __version__
from vault_agent.errors import Misconfigured
from vault_agent.system.files import read_optional, read_state

SERVER_LOCK: Final = "server.lock"
_FILE: Final = "server.address"
_VAULT: Final = "vault.json"
_MOST_BYTES: Final = 1_000
_FORM: Final = re.compile(
    r"(http://[0-9A-Za-z.:\[\]-]{1,253})\n([1-9][0-9]{0,9})\n"
    r"(?:([0-9A-Za-z.+-]{1,50})( until-idle)?\n)?"
)


class ServerAddress(NamedTuple):
    """Where a server listens, its process, its version, and whether it ends when it is idle.

    The version is None if a version of vault-agent noted the address that did not note its own.
    """

    endpoint: str
    pid: int
    version: str | None = None
    until_idle: bool = False


def record_address(folder: Path, endpoint: str | None, *, until_idle: bool = False) -> None:
    """Record that this process serves at `endpoint`, or nowhere any more.

    Clients find the server there, and the error of a second server names it. Nothing happens if
    that cannot be written.
    """
    if endpoint is None:
        forget_address(folder)
        return
    from vault_agent.system.files import replace_file

    with suppress(OSError):
        version = f"{__version__} until-idle" if until_idle else __version__
        data = f"{endpoint}\n{os.getpid()}\n{version}\n".encode("ascii", "replace")
        replace_file(folder / _FILE, data, durable=False)


def recorded_address(folder: Path) -> ServerAddress | None:
    """Return the recorded address, or None if it is missing or invalid. It may be out of date.

    Raises:
        Failed: `INDEX_IO_ERROR` if it is no regular file.
    """
    try:
        noted = _FORM.fullmatch(read_state(folder / _FILE, _MOST_BYTES).decode("ascii"))
    except (OSError, UnicodeDecodeError):
        return None
    if noted is None:
        return None
    return ServerAddress(noted[1], int(noted[2]), noted[3], noted[4] is not None)


def forget_address(folder: Path) -> None:
    """Remove the record, if there is one."""
    with suppress(OSError):
        (folder / _FILE).unlink()


def live_address(folder: Path) -> ServerAddress | None:
    """Return the address of the server that serves this index now, or None.

    Takes the server's lock for a moment to see whether a server holds it.
    """
    address = recorded_address(folder)
    return address if address is not None and is_serving(folder) else None


def record_vault(folder: Path, root: str, uid: str | None = None) -> None:
    """Record whose index this is, with the `uid` of a registered vault, which it keeps if it moves.

    Nothing happens if that cannot be written.
    """
    import json

    from vault_agent.system.files import replace_file

    path = folder / _VAULT
    data = json.dumps({"root": root, "uid": uid}).encode()
    with suppress(OSError):
        if not path.is_file() or path.read_bytes() != data:
            replace_file(path, data, durable=False)


def recorded_vault(folder: Path) -> Path | None:
    """Return the folder of the notes of this index, or None if it was not recorded."""
    root = _recorded(folder, "root")
    return Path(root) if root and "\0" not in root else None


def recorded_uid(folder: Path) -> str | None:
    """Return the `uid` of the registered vault that has this index, or None if it has none."""
    return _recorded(folder, "uid")


def _recorded(folder: Path, name: str) -> str | None:
    import json

    try:
        value = json.loads(read_optional(folder / _VAULT))[name]
    except (ValueError, TypeError, KeyError):
        return None
    return value if isinstance(value, str) else None


def is_serving(folder: Path) -> bool:
    """Whether a server holds the lock of this index. It may still be starting."""
    from vault_agent.system.files import is_locked

    return is_locked(folder / SERVER_LOCK)


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
