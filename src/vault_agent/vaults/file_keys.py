"""Signed addresses of attachments: an image in a page cannot send a key."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import time
from typing import TYPE_CHECKING
from urllib.parse import quote

from vault_agent.errors import Unauthorized

if TYPE_CHECKING:
    from collections.abc import Callable

    from vault_agent.vaults.secret import Secret

DAY_SECONDS = 86_400
_KEY = re.compile(r"([0-9]{1,12})\.([A-Za-z0-9_-]{43})")


class FileKeys:
    """Makes and checks the code in the address of an attachment.

    A code belongs to one path of one vault. It is valid until the end of the next day (UTC), so
    that the same page has the same addresses for a day.
    """

    def __init__(
        self,
        secret: Secret,
        vault: str,
        prefix: Callable[[], str] = str,
        *,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Take the secret, the vault's identity, and what the paths of its routes begin with."""
        self._secret = secret
        self._vault = vault
        self._prefix = prefix
        self._now = now

    @property
    def day(self) -> int:
        """The number of the day, at whose end the addresses change."""
        return int(self._now()) // DAY_SECONDS

    def address(self, path: str) -> str:
        """Return the address of the attachment at a vault-relative path."""
        expiry = (self.day + 2) * DAY_SECONDS
        place = f"{self._prefix()}/ui/files/{quote(path, safe='/')}"
        return f"{place}?k={expiry}.{self._mac(path, expiry)}"

    def check(self, path: str, key: str) -> None:
        """Raise UNAUTHORIZED unless `key` is the code of this path, and is still valid."""
        match = _KEY.fullmatch(key)
        expected = self._mac(path, int(match[1])) if match else ""
        if (
            match is None
            or not hmac.compare_digest(match[2], expected)
            or int(match[1]) < self._now()
        ):
            raise Unauthorized(
                "UNAUTHORIZED",
                "The address of this file is not valid, or not any more.",
                remedy="Load its note again.",
            )

    def _mac(self, path: str, expiry: int) -> str:
        key = self._secret.key(f"files of the web page {self._vault}")
        signed = f"{expiry}\n{path}".encode("utf-8", "surrogatepass")
        mac = hmac.digest(key, signed, hashlib.sha256)
        return base64.urlsafe_b64encode(mac).rstrip(b"=").decode()
