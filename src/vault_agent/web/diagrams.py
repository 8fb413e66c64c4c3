"""The frame in which diagrams are drawn: a document of its own, with Mermaid in it.

Mermaid reads what notes hold, is too large to be read by us, and makes HTML of text. So it never
runs in the page: its script is no file that the page could load. The frame is a sandbox without an
origin, and its policy allows nothing but the two scripts, by their hashes, and styles. It gets the
source of a diagram as a message, and answers with a picture, which the page shows as an image.
"""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

NAME = "diagrams.html"
SCRIPTS = ("vendor/mermaid.js", "app/workers/diagrams.js")
"""What runs in the frame, in this order. A script from an address would need an origin."""

_HEAD = (
    b'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Diagrams</title></head>'
    b"<body>"
)
_POLICY = (
    "sandbox allow-scripts; default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'self'"
)


def document(scripts: Sequence[bytes]) -> bytes:
    """Return the document with its scripts, which are UTF-8."""
    inline = (part for script in scripts for part in (b"<script>", script, b"</script>"))
    return b"".join((_HEAD, *inline, b"</body></html>"))


def policy(scripts: Sequence[bytes]) -> str:
    """Return the policy under which these scripts run, and no others."""
    digests = (hashlib.sha256(script).digest() for script in scripts)
    hashes = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    return _POLICY.format(hashes=hashes)
