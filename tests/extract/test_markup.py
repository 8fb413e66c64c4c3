"""Pages, office documents and e-books: their text in parts, and archives that are hostile."""

from __future__ import annotations

import time
import zipfile
from io import BytesIO

import pytest
from tests.support.archives import archive, book, open_document, paragraph, sheet, slides, word

from vault_agent.extract import markup
from vault_agent.extract.markup import read_book, read_office, read_page
from vault_agent.extract.parts import TextPart, UnreadableAttachment


def test_a_document_of_word_has_a_part_for_each_heading():
    cell = f"<w:tbl><w:tr><w:tc>{paragraph('in a cell')}</w:tc></w:tr></w:tbl>"
    body = (
        paragraph("Before it"),
        paragraph("Plum cake", "Heading1"),
        paragraph("Take six eggs."),
        f"<w:p><w:r><w:t>box: </w:t></w:r>{paragraph('inside')}</w:p>",
        cell,
        "<w:p><w:r><w:delText>deleted</w:delText><w:instrText>PAGE</w:instrText></w:r></w:p>",
        paragraph("Sauce", "berschrift2"),
        paragraph("Custard"),
    )
    assert read_office(word("".join(body))).parts == (
        TextPart(None, "Before it"),
        TextPart("Plum cake", "Plum cake\nTake six eggs.\ninside\nbox:\nin a cell"),
        TextPart("Sauce", "Sauce\nCustard"),
    )


def test_slides_and_sheets_are_parts():
    assert read_office(slides("one", "two")).parts == (
        TextPart("Slide 1", "one"),
        TextPart("Slide 2", "two"),
    )
    assert read_office(sheet("Prices &amp; more", "medlar", "each", "3.5")).parts == (
        TextPart("Prices & more", "medlar\teach\t3.5"),
    )


def test_open_documents_are_read():
    text = (
        '<text:p>in<text:s text:c="2"/>tro</text:p><text:h text:outline-level="2">Cake</text:h>'
        '<text:p>a<text:span>b</text:span><text:tab/>c</text:p><table:table table:name="T1">'
        "<table:table-cell><text:p>cell</text:p></table:table-cell></table:table>"
        "<draw:page><text:p>shown</text:p></draw:page>"
    )
    assert read_office(open_document(text)).parts == (
        TextPart(None, "in  tro"),
        TextPart("Cake", "Cake\nab\tc"),
        TextPart("T1", "cell"),
        TextPart("Slide 1", "shown"),
    )


def test_the_chapters_of_a_book_are_in_their_order():
    made = book("<html><body><p>first words</p></body></html>", "<h1>Two</h1><p>more</p>")
    assert read_book(made).parts == (
        TextPart("Chapter 1", "first words"),
        TextPart("Two", "Two\nmore"),
    )


LAUGHS = '<!DOCTYPE a [<!ENTITY b "ha"><!ENTITY c "&b;&b;&b;">]><a>&c;</a>'
FETCHED = '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>'


@pytest.mark.fault(
    "Attachments",
    "an office document or a book is no archive, is encrypted, or declares entities",
    "it is found by its name only",
)
@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "damaged"),
        (b"PK\x03\x04 rubbish", "damaged"),
        (word(paragraph("x" * 5_000))[:200], "damaged"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "encrypted"),
        (archive({"word/document.xml": "<a><b></a>"}), "damaged"),
        (archive({"word/document.xml": ""}), "damaged"),
        (archive({"word/document.xml": LAUGHS}), "damaged"),
        (archive({"word/document.xml": FETCHED}), "damaged"),
        (archive({"else.txt": "nothing"}), "damaged"),
        (archive({"word/document.xml": '<?xml version="1.0" encoding="klingon"?><a/>'}), "damaged"),
        (archive({"word/document.xml": '<?xml version="1.0" encoding="utf-7"?><a/>'}), "damaged"),
    ],
)
def test_what_cannot_be_read_has_a_reason(data: bytes, reason: str):
    with pytest.raises(UnreadableAttachment) as unreadable:
        read_office(data)
    assert unreadable.value.reason == reason


@pytest.mark.fault(
    "Attachments",
    "a zip archive unpacks to far more than its size",
    "what it unpacks to is counted, and the text before the limit is searched",
)
def test_a_bomb_ends_at_the_limit(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(markup, "MAX_UNPACKED", 1 << 20)
    many = paragraph("medlar") + "<w:p/>" * 1_000_000
    made = read_office(word(many))
    assert made.cut == "size"


def test_too_many_entries_are_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(markup, "MAX_ENTRIES", 3)
    with pytest.raises(UnreadableAttachment, match="too many parts"):
        read_office(archive(dict.fromkeys(("a", "b", "c", "d"), "x")))


def test_an_encrypted_entry_is_known():
    data = bytearray(word(paragraph("x")))
    at = data.find(b"PK\x01\x02", data.find(b"PK\x01\x02") + 4)  # the directory's second entry
    data[at + 8] |= 1
    with pytest.raises(UnreadableAttachment) as unreadable:
        read_office(bytes(data))
    assert unreadable.value.reason == "encrypted"


def test_a_book_without_its_package_is_damaged():
    with pytest.raises(UnreadableAttachment, match="damaged"):
        read_book(archive({"META-INF/container.xml": "<container/>"}))


@pytest.mark.fault(
    "Attachments",
    "a zip archive is compressed by a method that unpacks a block to gigabytes",
    "it is not unpacked",
)
@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_only_the_methods_of_the_formats_are_unpacked(method: int):
    made = BytesIO()
    with zipfile.ZipFile(made, "w", method) as archived:
        archived.writestr("word/document.xml", "<w:p>text</w:p>")
    with pytest.raises(UnreadableAttachment, match="damaged"):
        read_office(made.getvalue())


@pytest.mark.fault(
    "Attachments",
    "each cell of a sheet is the same long text",
    "the sheet ends at the limit of characters",
)
def test_a_text_in_many_cells_ends_at_the_limit(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(markup, "MAX_CHARACTERS", 10_000)
    cells = "0</v></c></row>" + "<row><c t='s'><v>1</v></c></row>" * 50_000 + "<row><c><v>0"
    found = read_office(sheet("Many", "x" * 1_000, "", cells))
    assert found.cut == "characters"
    assert sum(len(part.text) for part in found.parts) <= 10_100


@pytest.mark.parametrize("count", ["²", "9" * 5_000, "-1", ""])
def test_a_number_of_spaces_that_is_none_is_one_space(count: str):
    body = f'<text:p>a<text:s text:c="{count}"/>b</text:p>'
    assert read_office(open_document(body)).parts == (TextPart(None, "a b"),)


def test_a_section_that_html_does_not_know_is_a_comment():
    found = read_page("<p>before<![if IE]>, <![unknown[ x ]]>after</p>")
    assert found.parts == (TextPart(None, "before, after"),)


@pytest.mark.fault(
    "Attachments",
    "a page of HTML begins many comments and ends none",
    "its end is left out, and the text before it is searched",
)
@pytest.mark.parametrize("begin", ["<!--", "<?", "</a", "<a b"])
def test_what_has_no_end_is_not_read_again_and_again(begin: str):
    before = time.process_time()
    found = read_page(f"<p>medlar</p>{begin * 100_000}")
    assert found.parts[0].text.startswith("medlar")
    assert time.process_time() - before < 3
