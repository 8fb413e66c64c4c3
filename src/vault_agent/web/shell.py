"""The page that a browser loads first, and the headers that keep it to itself."""

from __future__ import annotations

import re
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_PLACEHOLDER = re.compile(r"\{\{([a-z]+)\}\}")

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'{nonce}; "
    "img-src 'self' blob:{pictures}; "
    "media-src 'self'; font-src 'self'; connect-src 'self'; worker-src 'self'; frame-src 'self'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types vault-agent"
)
_REFUSED = files(__package__).joinpath("powers.txt").read_text("utf-8").split()
"""The powers of browsers that the page refuses. It keeps clipboard-write and fullscreen.

Only names that browsers know: they complain about others.
"""
_NO_POWERS = tuple(f"{name}=()" for name in _REFUSED)


def page_headers(nonce: str | None = None, *, remote_pictures: bool = False) -> dict[str, str]:
    """Return the headers of the page and its files. Inline styles need the nonce.

    With `remote_pictures`, pictures of other servers may be loaded, by https.
    """
    allowed = f" 'nonce-{nonce}'" if nonce is not None else ""
    pictures = " https:" if remote_pictures else ""
    powers = ("clipboard-write=(self)", "fullscreen=(self)", *_NO_POWERS)
    return _headers(_POLICY.format(nonce=allowed, pictures=pictures), powers)


def frame_headers(policy: str) -> dict[str, str]:
    """Return the headers of a frame that has a policy of its own, and no powers at all."""
    powers = ("clipboard-write=()", "fullscreen=()", *_NO_POWERS)
    return {**_headers(policy, powers), "X-DNS-Prefetch-Control": "off"}


def _headers(policy: str, powers: tuple[str, ...]) -> dict[str, str]:
    return {
        "Content-Security-Policy": policy,
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Permissions-Policy": ", ".join(powers),
        "Referrer-Policy": "no-referrer",
        "Server": "vault-agent",
        "X-Content-Type-Options": "nosniff",
    }


def fill(shell: str, values: Mapping[str, str]) -> bytes:
    """Return the page with its placeholders replaced. An unknown one is a KeyError."""
    return _PLACEHOLDER.sub(lambda match: escape(values[match[1]]), shell).encode()
