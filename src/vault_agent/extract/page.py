"""The text of an HTML page, in parts by its headings. Nothing of it is run or fetched."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Final

from vault_agent.extract.parts import TextCollector, label_of

if TYPE_CHECKING:
    from vault_agent.extract.parts import Extracted

_HIDDEN: Final = frozenset({"script", "style", "template", "noscript", "svg", "head"})
_HEADINGS: Final = frozenset({"h1", "h2", "h3"})
_LINES: Final = frozenset(
    {
        *("address", "article", "aside", "blockquote", "br", "caption", "dd", "div", "dl"),
        *("dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3"),
        *("h4", "h5", "h6", "header", "hr", "li", "main", "nav", "ol"),
        *("p", "pre", "section", "table", "tr", "ul"),
    }
)
_SPACES: Final = re.compile(r"[^\S\n]+")
_BLANK_LINES: Final = re.compile(r"\s*\n\s*")
_BLOCK: Final = 1 << 16


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
