"""A random secret in the folder of an index, from which keys are derived."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from contextlib import suppress
from typing import TYPE_CHECKING

from vault_agent.system.files import read_state, replace_file

if TYPE_CHECKING:
    from pathlib import Path

SECRET_BYTES = 32


class Secret:
    """A secret in a file that only the file's owner can read. It is made at its first use.

    A new secret has other keys, so codes that were made with the old keys are no longer valid.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._value: bytes | None = None

    @property
    def value(self) -> bytes:
        """The secret.

        Raises:
            Failed: `INDEX_IO_ERROR` if it is no regular file.
            OSError: if it cannot be read or written.
        """
        if self._value is None:
            stored = b""
            with suppress(FileNotFoundError):
                stored = read_state(self._path, SECRET_BYTES + 1)
            if len(stored) != SECRET_BYTES:
                return self.renew()
            self._value = stored
        return self._value

    def renew(self) -> bytes:
        """Replace the secret by a new one, and return that. Raises OSError."""
        made = secrets.token_bytes(SECRET_BYTES)
        replace_file(self._path, made)
        self._value = made
        return made

    def key(self, purpose: str, material: bytes = b"") -> bytes:
        """Return a key of 32 bytes for one purpose, from the secret and other key material."""
        return hkdf(material or self.value, salt=self.value, info=purpose.encode())


def hkdf(material: bytes, *, salt: bytes, info: bytes) -> bytes:
    """Return 32 bytes that are derived from key material (HKDF with SHA-256, RFC 5869)."""
    extracted = hmac.digest(salt, material, hashlib.sha256)
    return hmac.digest(extracted, info + b"\x01", hashlib.sha256)
