"""Access checks of the Host, Origin, Sec-Fetch-Site and Authorization headers.

Any web page that the user visits can send requests to this computer. With DNS rebinding, the Host
header contains the name of the page's site. Otherwise the browser names the site in Origin.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from functools import lru_cache
from ipaddress import ip_address
from typing import TYPE_CHECKING

from vault_agent.api.caller import OWNER, PAGE
from vault_agent.config.rules import is_loopback
from vault_agent.errors import Forbidden, Unauthorized
from vault_agent.web.page_sessions import PREFIX

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pydantic import SecretStr

    from vault_agent.api.caller import Caller
    from vault_agent.config.agents import AgentSettings
    from vault_agent.web.page_sessions import PageSessions

_AUTHORITY = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::([0-9]{1,5}))?")
_BEARER = re.compile(r"bearer +([A-Za-z0-9\-._~+/]+=*)", re.IGNORECASE)


class Access:
    """The access rules of one server.

    `host` is the address that the server binds. `origins` are the web origins that may call it,
    empty if CORS is off. `names` are more names of this server. `agents` are the named agents of
    the settings, with the hashes of their keys.
    """

    def __init__(
        self,
        *,
        host: str,
        api_key: SecretStr | None,
        origins: Iterable[str],
        names: Iterable[str] = (),
        agents: Mapping[str, AgentSettings] | None = None,
    ) -> None:
        self._names = frozenset(map(_name, names))
        self._agents = agents if agents is not None else {}
        self._host = _name(host)
        self._origins = frozenset(origins)
        self._digest = _digest(api_key.get_secret_value()) if api_key else None

    @property
    def cross_origin(self) -> bool:
        """Whether any other origin may call."""
        return bool(self._origins)

    def check_host(self, authority: str, local_address: str | None) -> None:
        """Raise HOST_NOT_ALLOWED unless the Host header names this server.

        Allowed are the loopback names, the configured host, the address at which the request
        arrived, and the names in `server.allowed_hosts`, exactly. The port is not compared: a
        tunnel or a container may map it, and a web page gains nothing by changing it.
        """
        match = _AUTHORITY.fullmatch(authority)
        if match and int(match[2] or 80) in range(1, 65536):
            name = _name(match[1].strip("[]"))
            if is_loopback(name):
                return
            ours = {self._host, _name(local_address or "")} - _NO_ADDRESS
            if name in ours | self._names:
                return
        raise Forbidden(
            "HOST_NOT_ALLOWED",
            "The Host header names another server.",
        )

    def check_origin(self, origin: str | None, authority: str) -> str | None:
        """Return the request's origin if it is foreign and allowed, or None if it is not foreign.

        Raises ORIGIN_NOT_ALLOWED. Whole origins are compared: no prefixes, no patterns, no `null`.
        """
        if origin is None or origin == f"http://{authority.lower()}":
            return None
        if origin in self._origins:
            return origin
        raise _origin_not_allowed()

    def check_site(self, sites: list[str], *, opened: bool = False) -> None:
        """Raise ORIGIN_NOT_ALLOWED if the browser reports a page of another site.

        Images, scripts and links of a page send no Origin, but browsers send Sec-Fetch-Site
        (Fetch Metadata, W3C). A page cannot change it. `none` means that the user typed the
        address. `opened` says that the request is for our web page, in a tab of its own: any page
        may link to it.
        """
        if not opened and any(site not in ("same-origin", "none") for site in sites):
            raise _origin_not_allowed()

    def check_key(self, authorization: list[str], sessions: PageSessions | None = None) -> Caller:
        """Return `PAGE` for a token of the page's `sessions`, or `OWNER` for the server's key.

        Raises:
            Unauthorized: `UNAUTHORIZED`; `SESSION_ENDED` for a token that is valid no longer.
        """
        token = bearer(authorization)
        if sessions is not None and token is not None and token.startswith(PREFIX):
            sessions.check(token)
            return PAGE
        self.check_token(token)
        return OWNER

    def check_token(self, token: str | None, agent: str | None = None) -> None:
        """Raise UNAUTHORIZED unless a token is the server's key or, for `agent`, that agent's.

        It is None if `bearer` finds none. Without `server.api_key` all requests pass.

        The error is always the same. Digests are compared, so the time reveals nothing about the
        key, and any text can be compared.
        """
        if self._digest is None:
            return
        digest_sent = b"" if token is None else _digest(token)
        keys = [self._digest]
        if agent is not None:
            # An unknown agent and one without a key take the same time as one with a key.
            settings = self._agents.get(agent)
            digest = settings.key_sha256 if settings is not None else None
            keys.append(bytes.fromhex(digest) if digest is not None else self._digest)
        if not any([hmac.compare_digest(digest_sent, key) for key in keys]):  # noqa: C419 - all of them
            raise Unauthorized("UNAUTHORIZED", "This server needs its API key.")


def bearer(authorization: list[str]) -> str | None:
    """Return the key or token of the only Authorization header, or None."""
    if len(authorization) != 1:
        return None
    match = _BEARER.fullmatch(authorization[0].strip(" \t"))
    return match[1] if match else None


_NO_ADDRESS = {"", "0.0.0.0", "::"}  # noqa: S104 - refused here, not bound
"""Values of `server.host` that are not an address: empty, or for all addresses."""


def _origin_not_allowed() -> Forbidden:
    return Forbidden(
        "ORIGIN_NOT_ALLOWED",
        "Web pages of this origin may not call the server.",
    )


@lru_cache(maxsize=64)
def _name(host: str) -> str:
    try:
        return str(ip_address(host.partition("%")[0]))
    except ValueError:
        return host.lower().removesuffix(".")


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).digest()
