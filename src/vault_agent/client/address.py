"""Where a server is, as an exchange with it needs that."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, urlsplit


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server is. `prefix` is the path before every route, without a slash at its end."""

    host: str
    port: int
    tls: bool
    authority: str
    prefix: str

    @classmethod
    def of(cls, endpoint: str) -> Address:
        """Return the address in an http or https URL."""
        parts = urlsplit(endpoint)
        host, tls = parts.hostname or "", parts.scheme == "https"
        name = host if host.isascii() else host.encode("idna").decode("ascii")
        name = f"[{name}]" if ":" in name else name
        return cls(
            host=host,
            port=parts.port or (443 if tls else 80),
            tls=tls,
            authority=name if parts.port is None else f"{name}:{parts.port}",
            prefix=quote(parts.path.rstrip("/"), safe="/%:@!$&'()*+,;=~"),
        )
