"""Sessions of the web page: a ticket that is used once, and the token that it is exchanged for.

Cookies are not used, because they have no ports: any other server on this computer would get ours.
A token is sent as `Authorization: Bearer`, which a page of another site cannot do.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
import time
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import orjson

from vault_agent.errors import Unauthorized
from vault_agent.model.pages import PageSession, Ticket
from vault_agent.system.files import read_optional, replace_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from vault_agent.vaults.secret import Secret

PREFIX = "va1."
TOKEN_SECONDS = 7 * 86_400
TICKET_SECONDS = 60
PRINTED_TICKET_SECONDS = 300
"""A ticket that a person copies lives longer than one that is given to the browser."""
_MAX_ISSUED = 1_000  # tickets that are kept
_REMEMBERED_SECONDS = 3_600  # how long a used ticket is recognised
_TOKEN = re.compile(
    r"va1\.(?P<expiry>[0-9]{1,12})\.(?P<name>[\w-]{22})\.(?P<mac>[\w-]{43})", re.ASCII
)


class _Issued(NamedTuple):
    until: float
    session: str | None  # the name of the session that it made; None while it is unused


class PageSessions:
    """Makes and checks the tickets and tokens of one server.

    A token is `va1.{expiry}.{name}.{mac}`. It is valid over a restart, and void if the API key or
    the secret changes. `name` is the session's, which a renewal keeps.

    Args:
        secret: the secret of the index's folder.
        api_key: the key of the server.
        vault: the identity of the vault that is served.
        ended: the file with the sessions that were ended one by one.
        now: the time in seconds since 1970.
    """

    def __init__(
        self,
        secret: Secret,
        api_key: str,
        *,
        vault: str,
        ended: Path,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._secret = secret
        self._api_key = api_key
        self._purpose = f"session of the web page {vault}"
        self._key = secret.key(self._purpose, api_key.encode())
        self._path = ended
        self._ended = _read(ended)
        self._now = now
        self._issued: dict[bytes, _Issued] = {}  # by the digest of the ticket

    def make_ticket(self, *, printed: bool = False) -> Ticket:
        """Return a new ticket. Only who has the key can ask for one, so there is no limit."""
        now = self._now()
        kept = [
            (digest, issued)
            for digest, issued in self._issued.items()
            if issued.until + _REMEMBERED_SECONDS > now
        ]
        self._issued = dict(kept[-_MAX_ISSUED + 1 :])  # the oldest come first
        seconds = PRINTED_TICKET_SECONDS if printed else TICKET_SECONDS
        text = secrets.token_urlsafe(32)
        self._issued[_digest(text)] = _Issued(now + seconds, None)
        return Ticket(text, seconds)

    def open(self, ticket: str) -> PageSession:
        """Exchange a ticket for a session. A second use ends the session of the first.

        Raises:
            Unauthorized: `SESSION_ENDED`.
        """
        digest = _digest(ticket)
        issued = self._issued.get(digest)
        if issued is None:
            raise _ended("This ticket is not known.")
        if issued.session is not None:
            self._end(issued.session)
            raise _ended("This ticket was used twice, so its session has ended.")
        if issued.until < self._now():
            raise _ended("This ticket is too old.")
        name = secrets.token_urlsafe(16)
        self._issued[digest] = issued._replace(session=name)
        return self._session(name)

    def renew(self, token: str) -> PageSession:
        """Return a token of the same session that is valid for another seven days.

        Raises:
            Unauthorized: `SESSION_ENDED`.
        """
        return self._session(self.check(token))

    def check(self, token: str) -> str:
        """Return the name of a token's session.

        Raises:
            Unauthorized: `SESSION_ENDED`.
        """
        match = _TOKEN.fullmatch(token)
        signed, _, mac = token.rpartition(".")
        if match is None or not hmac.compare_digest(mac.encode(), self._mac(signed).encode()):
            raise _ended("This session is not known.")
        if int(match["expiry"]) < self._now() or match["name"] in self._ended:
            raise _ended("This session has ended.")
        return match["name"]

    def end_all(self) -> None:
        """End every session, and void every ticket and signed address. Raises OSError."""
        self._secret.renew()
        self._key = self._secret.key(self._purpose, self._api_key.encode())
        self._issued.clear()
        self._ended.clear()
        self._path.unlink(missing_ok=True)

    def _session(self, name: str) -> PageSession:
        expiry = int(self._now()) + TOKEN_SECONDS
        signed = f"{PREFIX}{expiry}.{name}"
        return PageSession(f"{signed}.{self._mac(signed)}", expiry)

    def _mac(self, signed: str) -> str:
        mac = hmac.digest(self._key, signed.encode(), hashlib.sha256)
        return base64.urlsafe_b64encode(mac).rstrip(b"=").decode()

    def _end(self, name: str) -> None:
        """End a session, also for the time after a restart."""
        now = self._now()
        self._ended = {session: until for session, until in self._ended.items() if until > now}
        # No token of this session is valid for longer.
        self._ended[name] = int(now) + TOKEN_SECONDS
        with suppress(OSError):  # it has ended in this process in any case
            replace_file(self._path, orjson.dumps(self._ended))


def _read(path: Path) -> dict[str, int]:
    try:
        ended = orjson.loads(read_optional(path))
    except orjson.JSONDecodeError:
        return {}
    if not isinstance(ended, dict):
        return {}
    return {name: until for name, until in ended.items() if isinstance(until, int)}


def _digest(ticket: str) -> bytes:
    """Return the digest of a ticket. Looking up a digest reveals nothing by its time."""
    return hashlib.sha256(ticket.encode("utf-8", "surrogatepass")).digest()


def _ended(what: str) -> Unauthorized:
    return Unauthorized("SESSION_ENDED", what)
