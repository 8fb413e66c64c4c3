"""A zip archive of XML, as office documents and e-books are, read within limits.

What an archive says of its sizes is not believed: what it unpacks to is counted. XML is read as a
stream by expat, and a declaration of an entity ends it, so that nothing grows or is fetched.
"""

from __future__ import annotations

import zipfile
import zlib
from io import BytesIO
from typing import TYPE_CHECKING, Final
from xml.parsers import expat

from vault_agent.extract.parts import Unreadable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from vault_agent.extract.parts import Collected

MAX_ENTRIES: Final = 20_000
MAX_UNPACKED: Final = 256 << 20
"""Limit of all bytes that are unpacked of one archive."""
_BLOCK: Final = 1 << 16
_METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Those that the formats allow. Others unpack a block to gigabytes at once."""
_OLE: Final = b"\xd0\xcf\x11\xe0"
"""The first bytes of an office document with a password, which is no zip archive."""


class Archive:
    """An open archive. What is read of it goes to `found`, whose limits end the reading."""

    def __init__(self, data: bytes, found: Collected) -> None:
        """Open it.

        Raises:
            Unreadable: if it is encrypted, damaged, or has too many entries.
        """
        if data.startswith(_OLE):
            raise Unreadable("encrypted")
        try:
            self._zip = zipfile.ZipFile(BytesIO(data))
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
            raise Unreadable("damaged") from None
        self.names = tuple(self._zip.namelist())
        if len(self.names) > MAX_ENTRIES:
            raise Unreadable("too many parts")
        self._found = found
        self._left = MAX_UNPACKED

    def blocks(self, name: str) -> Iterator[bytes]:
        """Yield the bytes of an entry until its end or a limit. A missing entry has none.

        Raises:
            Unreadable: if it is encrypted or damaged.
        """
        try:
            info = self._zip.getinfo(name)
        except KeyError:
            return
        if info.flag_bits & 0x1:
            raise Unreadable("encrypted")
        if info.compress_type not in _METHODS:
            raise Unreadable("damaged")
        try:
            with self._zip.open(info) as entry:
                while not self._found.is_full and (block := entry.read(_BLOCK)):
                    self._left -= len(block)
                    if self._left < 0:
                        self._found.cut = "size"
                        return
                    yield block
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError):
            raise Unreadable("damaged") from None

    def text(self, name: str) -> str:
        """Return the text of an entry in UTF-8, as far as the limits allow."""
        return b"".join(self.blocks(name)).decode("utf-8-sig", "replace")

    def xml(
        self,
        name: str,
        *,
        start: Callable[[str, Mapping[str, str]], None] = lambda *_: None,
        end: Callable[[str], None] = lambda _: None,
        text: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Read an entry of XML: call `start` and `end` with local names, and `text`.

        Raises:
            Unreadable: if it is no XML, or declares entities.
        """
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.EntityDeclHandler = _refuse
        parser.StartElementHandler = lambda tag, given: start(
            _local(tag), {_local(key): value for key, value in given.items()}
        )
        parser.EndElementHandler = lambda tag: end(_local(tag))
        parser.CharacterDataHandler = text
        try:
            for block in self.blocks(name):
                parser.Parse(block)
            if name in self.names and not self._found.is_full:
                parser.Parse(b"", True)
        except (expat.ExpatError, LookupError, ValueError):  # the last two: its encoding is unknown
            raise Unreadable("damaged") from None


def _refuse(*_: object) -> None:
    raise Unreadable("damaged")


def _local(name: str) -> str:
    return name.rpartition(" ")[2]
