"""The text of HTML pages, office documents and e-books. Nothing of them is run or fetched.

A page is read in parts by its headings. Word, PowerPoint, Excel, OpenDocument and EPUB files are
zip archives of XML. What an archive says of its sizes is not believed: what it unpacks to is
counted. XML is read as a stream by expat, and a declaration of an entity ends it, so that nothing
grows or is fetched.
"""

from __future__ import annotations

import posixpath
import re
import tomllib
import zipfile
import zlib
from html.parser import HTMLParser
from importlib.resources import files
from io import BytesIO
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote
from xml.parsers import expat

from vault_agent.extract.parts import MAX_CHARACTERS, TextCollector, UnreadableAttachment, label_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from vault_agent.extract.parts import Extracted

_HTML: Final = tomllib.loads(files(__package__).joinpath("html.toml").read_text("utf-8"))
_HIDDEN, _HEADINGS, _LINES = (
    frozenset(_HTML[name].split()) for name in ("hidden", "headings", "lines")
)
_SPACES: Final = re.compile(r"[^\S\n]+")
_BLANK_LINES: Final = re.compile(r"\s*\n\s*")


def read_page(text: str) -> Extracted:
    """Return the text of a page of HTML, one part for each of its headings of level 1 to 3."""
    reader = _Reader()
    for start in range(0, len(text), _BLOCK):
        if reader.collected.is_full:
            break
        reader.feed(text[start : start + _BLOCK])
    else:
        # What has no end, such as a comment, is read anew from each of its characters.
        if len(reader.rawdata) <= _BLOCK:
            reader.close()
    reader.end_part()
    return reader.collected.extracted()


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.collected = TextCollector()
        self._label: str | None = None
        self._heading: list[str] | None = None  # the text of the heading that is open
        self._pieces: list[str] = []
        self._hidden: list[str] = []

    def parse_marked_section(self, i: int, report: bool = True) -> int:
        # A comment to browsers. The base class takes only those of Word.
        return self.parse_bogus_comment(i, report)

    def handle_starttag(self, tag: str, _attributes: object) -> None:
        if tag in _HIDDEN:
            self._hidden.append(tag)
        elif tag == "body":
            self._hidden.clear()  # a head may have no end
        elif tag in _HEADINGS and not self._hidden:
            self.end_part()
            self._heading = []
        if tag in _LINES:
            self._pieces.append("\n")

    def handle_startendtag(self, tag: str, _attributes: object) -> None:
        if tag in _LINES:
            self._pieces.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if self._hidden and tag == self._hidden[-1]:
            self._hidden.pop()
        elif tag in _HEADINGS and self._heading is not None:
            self._label = label_of("".join(self._heading))
            self._heading = None
        if tag in _LINES:
            self._pieces.append("\n")
        elif tag in ("td", "th"):
            self._pieces.append("\t")

    def handle_data(self, data: str) -> None:
        if self._hidden:
            return
        self._pieces.append(data)
        if self._heading is not None:
            self._heading.append(data)

    def end_part(self) -> None:
        """Add the text since the last heading, that heading included, as a part."""
        text = _BLANK_LINES.sub("\n", _SPACES.sub(" ", "".join(self._pieces))).strip()
        self.collected.add(self._label, text)
        self._pieces.clear()
        self._label = None


MAX_ENTRIES: Final = 20_000
MAX_UNPACKED: Final = 256 << 20
"""Limit of all bytes that are unpacked of one archive."""
_BLOCK: Final = 1 << 16
_METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Those that the formats allow. Others unpack a block to gigabytes at once."""
_OLE: Final = b"\xd0\xcf\x11\xe0"
"""The first bytes of an office document with a password, which is no zip archive."""


class Archive:
    """An open archive. What is read of it goes to `collected`, whose limits end the reading."""

    def __init__(self, data: bytes, collected: TextCollector) -> None:
        """Open it.

        Raises:
            UnreadableAttachment: if it is encrypted, damaged, or has too many entries.
        """
        if data.startswith(_OLE):
            raise UnreadableAttachment("encrypted")
        try:
            self._zip = zipfile.ZipFile(BytesIO(data))
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
            raise UnreadableAttachment("damaged") from None
        self.names = tuple(self._zip.namelist())
        if len(self.names) > MAX_ENTRIES:
            raise UnreadableAttachment("too many parts")
        self._collected = collected
        self._left = MAX_UNPACKED

    def blocks(self, name: str) -> Iterator[bytes]:
        """Yield the bytes of an entry until its end or a limit. A missing entry has none.

        Raises:
            UnreadableAttachment: if it is encrypted or damaged.
        """
        try:
            info = self._zip.getinfo(name)
        except KeyError:
            return
        if info.flag_bits & 0x1:
            raise UnreadableAttachment("encrypted")
        if info.compress_type not in _METHODS:
            raise UnreadableAttachment("damaged")
        try:
            with self._zip.open(info) as entry:
                while not self._collected.is_full and (block := entry.read(_BLOCK)):
                    self._left -= len(block)
                    if self._left < 0:
                        self._collected.cut = "size"
                        return
                    yield block
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError):
            raise UnreadableAttachment("damaged") from None

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
            UnreadableAttachment: if it is no XML, or declares entities.
        """
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.EntityDeclHandler = _refuse
        parser.StartElementHandler = lambda tag, attributes: start(
            _local(tag), {_local(key): value for key, value in attributes.items()}
        )
        parser.EndElementHandler = lambda tag: end(_local(tag))
        parser.CharacterDataHandler = text
        try:
            for block in self.blocks(name):
                parser.Parse(block)
            if name in self.names and not self._collected.is_full:
                parser.Parse(b"", True)
        except (expat.ExpatError, LookupError, ValueError):  # the last two: its encoding is unknown
            raise UnreadableAttachment("damaged") from None


def _refuse(*_: object) -> None:
    raise UnreadableAttachment("damaged")


def _local(name: str) -> str:
    return name.rpartition(" ")[2]


_HEADING: Final = re.compile(r"(?:Heading|heading |berschrift|Titre)\s?[1-3]\Z|Title\Z")
"""The styles of Word whose paragraphs begin a part."""
_SLIDE: Final = re.compile(r"ppt/slides/slide([0-9]{1,6})\.xml")
_LEVELS: Final = ("1", "2", "3")
"""The levels of headings of OpenDocument that begin a part."""
_SIGNS: Final = {"br": "\n", "cr": "\n", "line-break": "\n", "tab": "\t"}
_COUNT: Final = re.compile(r"[0-9]{1,9}")
_MAX_SPACES: Final = 100


def read_office(data: bytes) -> Extracted:
    """Return the text of a document: a part for each heading, slide or sheet.

    Raises:
        UnreadableAttachment: if it is encrypted, damaged, or none of the known documents.
    """
    collected = TextCollector()
    archive = Archive(data, collected)
    names = set(archive.names)
    if "word/document.xml" in names:
        _read_word(archive, collected)
    elif "ppt/presentation.xml" in names:
        _read_slides(archive, collected)
    elif "xl/workbook.xml" in names:
        _read_sheets(archive, collected)
    elif "content.xml" in names:
        lines = _PartLines(collected, in_runs=False)
        lines.read(archive, "content.xml")
        lines.begin(None)
    else:
        raise UnreadableAttachment("damaged")
    return collected.extracted()


class _PartLines:
    """The lines of a document's parts. Paragraphs may lie in others, such as those of a text box.

    In those of Word and PowerPoint only the runs are text.
    """

    def __init__(self, collected: TextCollector, *, in_runs: bool = True) -> None:
        self._collected = collected
        self._in_runs = in_runs
        self._label: str | None = None
        self._lines: list[str] = []
        self._open: list[list[str]] = []  # the pieces of the paragraphs that are open
        self._is_text = not in_runs
        self._is_heading = False
        self._slides = 0

    def read(self, archive: Archive, name: str) -> None:
        """Add the paragraphs of an entry."""
        archive.xml(name, start=self._start, end=self._end, text=self._text)

    def begin(self, label: str | None) -> None:
        """End the part and begin the next one."""
        self._collected.add(self._label, "\n".join(self._lines))
        self._lines.clear()
        self._label = label_of(label or "")

    def _start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag in ("p", "h"):
            self._open.append([])
            self._is_heading = tag == "h" and attributes.get("outline-level", "1") in _LEVELS
        elif tag == "pStyle":
            self._is_heading = _HEADING.search(attributes.get("val", "")) is not None
        elif tag == "t":
            self._is_text = True
        elif tag in _SIGNS:
            self._add(_SIGNS[tag])
        elif self._in_runs:
            return
        elif tag == "page":
            self._slides += 1
            self.begin(f"Slide {self._slides}")
        elif tag == "table" and attributes.get("name"):
            self.begin(attributes["name"])
        elif tag == "s":
            count = attributes.get("c", "1")
            self._add(" " * (min(int(count), _MAX_SPACES) if _COUNT.fullmatch(count) else 1))

    def _end(self, tag: str) -> None:
        if tag == "t":
            self._is_text = not self._in_runs
        elif tag in ("p", "h"):
            if self._is_heading and len(self._open) == 1:
                self.begin("".join(self._open[0]))
            self._is_heading = False
            text = "".join(self._open.pop()).strip() if self._open else ""
            if text:
                self._lines.append(text)

    def _text(self, text: str) -> None:
        if self._is_text:
            self._add(text)

    def _add(self, text: str) -> None:
        """Add to the innermost paragraph. Text outside of paragraphs is no text."""
        if self._open:
            self._open[-1].append(text)


def _read_word(archive: Archive, collected: TextCollector) -> None:
    lines = _PartLines(collected)
    lines.read(archive, "word/document.xml")
    lines.begin("Footnotes")
    lines.read(archive, "word/footnotes.xml")
    lines.begin(None)


def _read_slides(archive: Archive, collected: TextCollector) -> None:
    numbers = sorted(int(match[1]) for name in archive.names if (match := _SLIDE.fullmatch(name)))
    for number in numbers:
        if collected.is_full:
            return
        lines = _PartLines(collected)
        lines.begin(f"Slide {number}")
        lines.read(archive, f"ppt/slides/slide{number}.xml")
        lines.begin(None)


class _Table:
    """The cells of a sheet of Excel, or its list of shared texts."""

    def __init__(self, shared: list[str], collected: TextCollector) -> None:
        self.shared = shared
        self._collected = collected
        self._room = MAX_CHARACTERS  # any number of cells may have the same long text
        self.rows: list[str] = []
        self._cells: list[str] = []
        self._kind = ""
        self._pieces: list[str] = []
        self._takes = False

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Begin an element."""
        if tag == "row":
            self._cells = []
        elif tag in ("c", "si"):
            self._kind, self._pieces = attributes.get("t", ""), []
        elif tag in ("v", "t"):
            self._takes = True
        elif tag == "rPh":  # how the text is spoken
            self._kind = tag

    def end(self, tag: str) -> None:
        """End an element."""
        if tag in ("v", "t"):
            self._takes = False
        elif tag == "si":
            self.shared.append("".join(self._pieces))
        elif tag == "c":
            self._add(self._value("".join(self._pieces)))
        elif tag == "row" and any(self._cells):
            self.rows.append("\t".join(self._cells))
        elif tag == "rPh":
            self._kind = ""

    def text(self, text: str) -> None:
        """Add a text."""
        if self._takes and self._kind != "rPh":
            self._pieces.append(text)

    def _add(self, value: str) -> None:
        self._room -= len(value)
        if self._room >= 0:
            self._cells.append(value)
        else:
            self._collected.cut = "characters"

    def _value(self, text: str) -> str:
        if self._kind != "s":
            return text
        index = int(text) if text.isascii() and text.isdigit() and len(text) < 9 else -1
        return self.shared[index] if 0 <= index < len(self.shared) else ""


def _read_sheets(archive: Archive, collected: TextCollector) -> None:
    sheets: list[tuple[str, str]] = []
    places: dict[str, str] = {}

    def sheet(tag: str, attributes: Mapping[str, str]) -> None:
        if tag == "sheet":
            sheets.append((attributes.get("name", ""), attributes.get("id", "")))

    def place(tag: str, attributes: Mapping[str, str]) -> None:
        if tag == "Relationship":
            places[attributes.get("Id", "")] = attributes.get("Target", "").removeprefix("/xl/")

    archive.xml("xl/workbook.xml", start=sheet)
    archive.xml("xl/_rels/workbook.xml.rels", start=place)
    texts = _Table([], collected)
    archive.xml("xl/sharedStrings.xml", start=texts.start, end=texts.end, text=texts.text)
    for name, identifier in sheets:
        if collected.is_full:
            return
        table = _Table(texts.shared, collected)
        path = f"xl/{places.get(identifier, '')}"
        archive.xml(path, start=table.start, end=table.end, text=table.text)
        collected.add(label_of(name), "\n".join(table.rows))


_CONTAINER = "META-INF/container.xml"


def read_book(data: bytes) -> Extracted:
    """Return the text of a book: a part for each heading of its chapters, in their order.

    Raises:
        UnreadableAttachment: if it is encrypted or damaged.
    """
    collected = TextCollector()
    archive = Archive(data, collected)
    for number, name in enumerate(_chapters(archive), 1):
        if collected.is_full:
            break
        chapter = read_page(archive.text(name))
        for part in chapter.parts:
            collected.add(part.label or f"Chapter {number}", part.text)
        collected.cut = collected.cut or chapter.cut
    return collected.extracted()


def _chapters(archive: Archive) -> list[str]:
    packages: list[str] = []

    def root(tag: str, attributes: Mapping[str, str]) -> None:
        if tag == "rootfile":
            packages.append(attributes.get("full-path", ""))

    archive.xml(_CONTAINER, start=root)
    if not packages or packages[0] not in archive.names:
        raise UnreadableAttachment("damaged")
    files: dict[str, str] = {}
    order: list[str] = []

    def item(tag: str, attributes: Mapping[str, str]) -> None:
        if tag == "item" and "html" in attributes.get("media-type", ""):
            files[attributes.get("id", "")] = unquote(attributes.get("href", ""))
        elif tag == "itemref":
            order.append(attributes.get("idref", ""))

    archive.xml(packages[0], start=item)
    folder = posixpath.dirname(packages[0])
    return [
        posixpath.normpath(posixpath.join(folder, files[identifier]))
        for identifier in order
        if identifier in files
    ]
