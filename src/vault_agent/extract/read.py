"""The text of an attachment by its kind. Workers call it, since any file may be hostile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import orjson

from vault_agent.extract.page import read_page
from vault_agent.extract.parts import MAX_LABEL, Collected, Unreadable
from vault_agent.extract.pdf import read_pdf
from vault_agent.extract.zipped import read_book, read_office

if TYPE_CHECKING:
    from collections.abc import Callable

    from vault_agent.extract.parts import Extracted
    from vault_agent.text.names import AttachmentKind


EXTRACT_VERSION: Final = 2
"""Raise it when an attachment gives another text, so that kept texts are not used."""
MAX_BINARY_BYTES: Final = 256 << 20
"""Limit of a file that is read with a library, such as a PDF."""
MAX_TEXT_BYTES: Final = 16 << 20
"""Limit of an attachment that is text itself."""


def byte_limit(kind: AttachmentKind) -> int:
    """Return the size of the largest file of a kind that is read."""
    return MAX_BINARY_BYTES if kind in {"pdf", "office", "epub"} else MAX_TEXT_BYTES


def extract(kind: AttachmentKind, data: bytes, decode: Callable[[bytes], str]) -> Extracted:
    """Return the text of an attachment. `decode` returns the text of its bytes.

    Raises:
        Unreadable: if there is no text that can be read.
    """
    match kind:
        case "pdf":
            return read_pdf(data)
        case "office":
            return read_office(data)
        case "epub":
            return read_book(data)
        case "canvas":
            return read_canvas(data)
        case "html":
            return read_page(decode(data))
        case _:
            found = Collected()
            found.add(None, decode(data))
            return found.extracted()


def read_canvas(data: bytes) -> Extracted:
    """Return the text of a canvas, one part for each card.

    Raises:
        Unreadable: if it is not a canvas.
    """
    try:
        canvas = orjson.loads(data.removeprefix(b"\xef\xbb\xbf") or b"{}")
    except orjson.JSONDecodeError:
        raise Unreadable("damaged") from None
    if not isinstance(canvas, dict):
        raise Unreadable("damaged")
    found = Collected()
    for node in _objects(canvas.get("nodes")):
        text = "\n".join(_texts(node, ("text", "label", "file", "url")))
        first = text.strip().partition("\n")[0].strip("#*_- \t")[:MAX_LABEL]
        found.add(first or None, text)
        if found.is_full:
            break
    edges = _objects(canvas.get("edges"))
    labels = "\n".join(text for edge in edges for text in _texts(edge, ("label",)))
    found.add(None, labels)
    return found.extracted()


def _objects(value: Any) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _texts(node: dict[str, Any], names: tuple[str, ...]) -> list[str]:
    return [text for name in names if isinstance(text := node.get(name), str) and text]
