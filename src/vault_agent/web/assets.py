"""The static files of the web page. They are read once, and never change while the server runs.

Their address begins with a hash of all of them, so that a browser may keep them for ever, and the
files can name each other by relative paths, without a build step.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

FOLDER = Path(__file__).parent
_PARTS = ("app", "css", "vendor")
_TYPES = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
}
_COMPRESSION = 9


FRAME = "diagrams.html"
"""The frame in which diagrams are drawn: a document of its own, with Mermaid in it."""
SCRIPTS = ("vendor/mermaid.js", "app/workers/diagrams.js")
"""What runs in the frame, in this order. A script from an address would need an origin.

Mermaid reads what notes hold, is too large to be read by us, and makes HTML of text. So it never
runs in the page: its script is no file that the page could load. The frame is a sandbox without an
origin, and its policy allows nothing but the two scripts, by their hashes, and styles. It gets the
source of a diagram as a message, and answers with a picture, which the page shows as an image.
"""

_HEAD = (
    b'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Diagrams</title></head>'
    b"<body>"
)
_POLICY = (
    "sandbox allow-scripts; default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'self'"
)


@dataclass(frozen=True)
class StaticFile:
    """A static file. `policy` is a Content-Security-Policy of its own."""

    media_type: str
    body: bytes
    policy: str | None = None

    @cached_property
    def compressed(self) -> bytes:
        """The bytes, compressed by gzip when they are first asked for."""
        return gzip.compress(self.body, _COMPRESSION, mtime=0)


class Assets:
    """The static files in a folder, by their path below it."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder

    def get(self, version: str, path: str) -> StaticFile | None:
        """Return the file at a path, or None. Only files of the present version are known."""
        return self._files.get(path) if version == self.version else None

    @cached_property
    def version(self) -> str:
        """A hash of the names and contents of all files."""
        every = hashlib.sha256()
        for path, asset in self._files.items():
            every.update(f"{path}\0{len(asset.body)}\0".encode())
            every.update(asset.body)
        return every.hexdigest()[:16]

    @cached_property
    def shell(self) -> str:
        """The page itself, with placeholders for `shell.fill`."""
        return (self._folder / "index.html").read_text("utf-8")

    def load(self) -> None:
        """Read everything, which takes some milliseconds. Compress nothing yet."""
        _ = self.version, self.shell

    @cached_property
    def _files(self) -> dict[str, StaticFile]:
        paths = (
            path
            for part in _PARTS
            for path in sorted((self._folder / part).rglob("*"))
            if path.suffix in _TYPES and path.is_file()
        )
        files = {path.relative_to(self._folder).as_posix(): path for path in paths}
        scripts = [files.pop(name).read_bytes() for name in SCRIPTS]
        frame = StaticFile("text/html", _document(scripts), _policy(scripts))
        return {FRAME: frame} | {
            name: StaticFile(_TYPES[path.suffix], path.read_bytes()) for name, path in files.items()
        }


def _document(scripts: Sequence[bytes]) -> bytes:
    """Return the document with its scripts, which are UTF-8."""
    inline = (part for script in scripts for part in (b"<script>", script, b"</script>"))
    return b"".join((_HEAD, *inline, b"</body></html>"))


def _policy(scripts: Sequence[bytes]) -> str:
    """Return the policy under which these scripts run, and no others."""
    digests = (hashlib.sha256(script).digest() for script in scripts)
    hashes = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    return _POLICY.format(hashes=hashes)
