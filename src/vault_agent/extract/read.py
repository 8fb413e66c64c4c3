"""The text of an attachment by its kind. Workers call it, since any file may be hostile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from vault_agent.extract.book import read_book
from vault_agent.extract.canvas import read_canvas
from vault_agent.extract.office import read_office
from vault_agent.extract.page import read_page
from vault_agent.extract.parts import Collected
from vault_agent.extract.pdf import read_pdf

if TYPE_CHECKING:
    from collections.abc import Callable

    from vault_agent.extract.parts import Extracted
    from vault_agent.text.attachments import AttachmentKind

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
