"""The text of a PDF, page by page, as PDFium finds it. A picture of text has none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vault_agent.extract.parts import MAX_PAGES, Collected, Unreadable
from vault_agent.text.names import page_label

if TYPE_CHECKING:
    from vault_agent.extract.parts import Extracted

_HYPHEN = re.compile("[\x02\ufffe]\n?")
"""What PDFium writes for a hyphen that only breaks a word at the end of a line."""


def read_pdf(data: bytes) -> Extracted:
    """Return the text of a PDF. A page that is damaged is left out.

    Raises:
        Unreadable: if it is encrypted or damaged.
    """
    # A native library of 8 MB, only for workers that read a PDF.
    import pypdfium2 as pdfium

    try:
        document = pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        raise Unreadable("encrypted" if "password" in str(error).lower() else "damaged") from None
    found = Collected()
    try:
        count = len(document)
        opened = 0
        for index in range(min(count, MAX_PAGES)):
            if found.is_full:
                break
            try:
                page = document[index]
            except pdfium.PdfiumError:
                continue
            opened += 1
            try:
                text = page.get_textpage()
                try:
                    found.add(page_label(index + 1), _plain(text.get_text_range()))
                finally:
                    text.close()
            except pdfium.PdfiumError:
                continue
            finally:
                page.close()
    finally:
        document.close()
    if not opened and found.cut is None:
        raise Unreadable("damaged")  # such as a list of pages that contains itself
    if count > MAX_PAGES and found.cut is None:
        found.cut = "pages"
    return found.extracted()


def _plain(text: str) -> str:
    return _HYPHEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
