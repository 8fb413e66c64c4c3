"""The text of an attachment by its kind. Workers call it, since any file may be hostile."""

from __future__ import annotations

import re
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

import orjson

from vault_agent.extract.markup import read_book, read_office, read_page
from vault_agent.extract.parts import MAX_LABEL, MAX_PAGES, TextCollector, UnreadableAttachment
from vault_agent.text.names import page_label

if TYPE_CHECKING:
    from collections.abc import Callable

    from vault_agent.extract.parts import Extracted
    from vault_agent.text.names import AttachmentKind


def extract(kind: AttachmentKind, data: bytes, decode: Callable[[bytes], str]) -> Extracted:
    """Return the text of an attachment. `decode` returns the text of its bytes.

    Raises:
        UnreadableAttachment: if there is no text that can be read.
    """
    readers = {"pdf": read_pdf, "office": read_office, "epub": read_book, "canvas": read_canvas}
    if kind in readers:
        return readers[kind](data)
    if kind == "html":
        return read_page(decode(data))
    collected = TextCollector()
    collected.add(None, decode(data))
    return collected.extracted()


def read_canvas(data: bytes) -> Extracted:
    """Return the text of a canvas, one part for each card.

    Raises:
        UnreadableAttachment: if it is not a canvas.
    """
    try:
        canvas = orjson.loads(data.removeprefix(b"\xef\xbb\xbf") or b"{}")
    except orjson.JSONDecodeError:
        raise UnreadableAttachment("damaged") from None
    if not isinstance(canvas, dict):
        raise UnreadableAttachment("damaged")
    collected = TextCollector()
    for node in _objects(canvas.get("nodes")):
        text = "\n".join(_texts(node, ("text", "label", "file", "url")))
        first = text.strip().partition("\n")[0].strip("#*_- \t")[:MAX_LABEL]
        collected.add(first or None, text)
        if collected.is_full:
            break
    edges = _objects(canvas.get("edges"))
    labels = "\n".join(text for edge in edges for text in _texts(edge, ("label",)))
    collected.add(None, labels)
    return collected.extracted()


def _objects(value: Any) -> list[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _texts(node: dict[str, Any], names: tuple[str, ...]) -> list[str]:
    return [text for name in names if isinstance(text := node.get(name), str) and text]


_HYPHEN = re.compile("[\x02\ufffe]\n?")
"""What PDFium writes for a hyphen that only breaks a word at the end of a line."""


def read_pdf(data: bytes) -> Extracted:
    """Return the text of a PDF, page by page, as PDFium finds it. A picture of text has none.

    A page that is damaged is left out.

    Raises:
        UnreadableAttachment: if it is encrypted or damaged.
    """
    # A native library of 8 MB, only for workers that read a PDF.
    import pypdfium2 as pdfium

    try:
        document = pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        is_encrypted = "password" in str(error).lower()
        raise UnreadableAttachment("encrypted" if is_encrypted else "damaged") from None
    collected = TextCollector()
    opened = 0
    with closing(document):
        count = len(document)
        for index in range(min(count, MAX_PAGES)):
            if collected.is_full:
                break
            with suppress(pdfium.PdfiumError), closing(document[index]) as page:
                opened += 1
                with closing(page.get_textpage()) as text:
                    lines = text.get_text_range().replace("\r\n", "\n").replace("\r", "\n")
                    collected.add(page_label(index + 1), _HYPHEN.sub("", lines))
    if not opened and collected.cut is None:
        raise UnreadableAttachment("damaged")  # such as a list of pages that contains itself
    if count > MAX_PAGES and collected.cut is None:
        collected.cut = "pages"
    return collected.extracted()
