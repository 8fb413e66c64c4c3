"""The text of an e-book in the EPUB format, chapter by chapter."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING
from urllib.parse import unquote

from vault_agent.extract.archive import Archive
from vault_agent.extract.page import read_page
from vault_agent.extract.parts import Collected, Unreadable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vault_agent.extract.parts import Extracted

_CONTAINER = "META-INF/container.xml"


def read_book(data: bytes) -> Extracted:
    """Return the text of a book: a part for each heading of its chapters, in their order.

    Raises:
        Unreadable: if it is encrypted or damaged.
    """
    found = Collected()
    archive = Archive(data, found)
    for number, name in enumerate(_chapters(archive), 1):
        if found.is_full:
            break
        chapter = read_page(archive.text(name))
        for part in chapter.parts:
            found.add(part.label or f"Chapter {number}", part.text)
        found.cut = found.cut or chapter.cut
    return found.extracted()


def _chapters(archive: Archive) -> list[str]:
    packages: list[str] = []

    def root(tag: str, given: Mapping[str, str]) -> None:
        if tag == "rootfile":
            packages.append(given.get("full-path", ""))

    archive.xml(_CONTAINER, start=root)
    if not packages or packages[0] not in archive.names:
        raise Unreadable("damaged")
    files: dict[str, str] = {}
    order: list[str] = []

    def item(tag: str, given: Mapping[str, str]) -> None:
        if tag == "item" and "html" in given.get("media-type", ""):
            files[given.get("id", "")] = unquote(given.get("href", ""))
        elif tag == "itemref":
            order.append(given.get("idref", ""))

    archive.xml(packages[0], start=item)
    folder = posixpath.dirname(packages[0])
    return [
        posixpath.normpath(posixpath.join(folder, files[each])) for each in order if each in files
    ]
