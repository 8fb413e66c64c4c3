"""The static files of the web page. They are read once, and never change while the server runs.

Their address begins with a hash of all of them, so that a browser may keep them for ever, and the
files can name each other by relative paths, without a build step.
"""

from __future__ import annotations

import gzip
import hashlib
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from vault_agent.web import diagrams

FOLDER = Path(__file__).parent
_PARTS = ("app", "css", "locale", "vendor")
_TYPES = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
}
_COMPRESSION = 9


class Asset(NamedTuple):
    """A static file: its media type, its bytes, and the same compressed by gzip.

    `compressed` is None if that takes too long for the start of a server. `policy` is a
    Content-Security-Policy of its own.
    """

    media_type: str
    body: bytes
    compressed: bytes | None
    policy: str | None = None


class Assets:
    """The static files in a folder, by their path below it."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder

    def get(self, version: str, path: str) -> Asset | None:
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
        """Read and compress everything. This takes some tens of milliseconds."""
        _ = self.version, self.shell

    @cached_property
    def _files(self) -> dict[str, Asset]:
        found = (
            path
            for part in _PARTS
            for path in sorted((self._folder / part).rglob("*"))
            if path.suffix in _TYPES and path.is_file()
        )
        files = {path.relative_to(self._folder).as_posix(): path for path in found}
        scripts = [files.pop(name).read_bytes() for name in diagrams.SCRIPTS]
        frame = Asset("text/html", diagrams.document(scripts), None, diagrams.policy(scripts))
        return {diagrams.NAME: frame} | {name: _asset(path) for name, path in files.items()}


def _asset(path: Path) -> Asset:
    body = path.read_bytes()
    return Asset(_TYPES[path.suffix], body, gzip.compress(body, _COMPRESSION, mtime=0))
