"""Small office documents and e-books, made for tests."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
_P = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
_S = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
_O = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"'
    ' xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"'
    ' xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"'
    ' xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"'
)


def archive(entries: Mapping[str, str | bytes]) -> bytes:
    """Return a zip archive of these entries."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in entries.items():
            made.writestr(name, content)
    return data.getvalue()


def word(body: str) -> bytes:
    """Return a document of Word with this body."""
    document = f"<w:document {_W}><w:body>{body}</w:body></w:document>"
    return archive({"[Content_Types].xml": "<Types/>", "word/document.xml": document})


def paragraph(text: str, style: str = "") -> str:
    """Return a paragraph of Word, its text in two runs."""
    styled = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    half = len(text) // 2
    runs = "".join(f"<w:r><w:t>{part}</w:t></w:r>" for part in (text[:half], text[half:]))
    return f"<w:p>{styled}{runs}</w:p>"


def slides(*texts: str) -> bytes:
    """Return a presentation of PowerPoint."""
    entries: dict[str, str | bytes] = {"ppt/presentation.xml": f"<p:presentation {_P}/>"}
    for number, text in enumerate(texts, 1):
        entries[f"ppt/slides/slide{number}.xml"] = (
            f"<p:sld {_P} {_A}><p:sp><p:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p>"
            "</p:txBody></p:sp></p:sld>"
        )
    return archive(entries)


def sheet(name: str, shared: str, inline: str, number: str) -> bytes:
    """Return a workbook of Excel: a sheet of one row with a shared text, a text and a number."""
    return archive(
        {
            "xl/workbook.xml": f'<workbook {_S} {_R}><sheets><sheet name="{name}" sheetId="1"'
            ' r:id="rId7"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": "<Relationships>"
            '<Relationship Id="rId7" Target="worksheets/sheet1.xml"/></Relationships>',
            "xl/sharedStrings.xml": f"<sst {_S}><si><t>no</t></si>"
            f"<si><r><t>{shared}</t></r></si></sst>",
            "xl/worksheets/sheet1.xml": f'<worksheet {_S}><sheetData><row><c t="s"><v>1</v></c>'
            f'<c t="inlineStr"><is><t>{inline}</t></is></c><c><v>{number}</v></c></row>'
            "</sheetData></worksheet>",
        }
    )


def open_document(content: str) -> bytes:
    """Return an OpenDocument file with this content."""
    return archive(
        {"content.xml": f"<office:document-content {_O}>{content}</office:document-content>"}
    )


def book(*chapters: str) -> bytes:
    """Return an e-book of these chapters, which stand in the archive in another order."""
    entries: dict[str, str | bytes] = {
        f"OEBPS/text/c {number}.xhtml": chapter
        for number, chapter in reversed(list(enumerate(chapters, 1)))
    }
    items = "".join(
        f'<item id="c{number}" href="text/c%20{number}.xhtml" media-type="application/xhtml+xml"/>'
        for number in range(len(chapters), 0, -1)
    )
    spine = "".join(f'<itemref idref="c{number}"/>' for number in range(1, len(chapters) + 1))
    return archive(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container><rootfiles><rootfile full-path="OEBPS/p.opf"/>'
            "</rootfiles></container>",
            "OEBPS/p.opf": f"<package><manifest>{items}</manifest><spine>{spine}</spine></package>",
            **entries,
        }
    )
