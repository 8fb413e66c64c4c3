"""Edits of a note as byte spans. What is outside the spans is copied, never written anew.

An editor is a pure function from the bytes of a note to splices, in order. No splices mean that
there is nothing to change. Before it returns, it proves its promise on the text after the edit.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, AnyStr, NamedTuple, TypeVar

from vault_agent.errors import Conflict, Failed
from vault_agent.markdown.document import Document
from vault_agent.markdown.frontmatter import has_prose_block
from vault_agent.markdown.lines import equal_lines, insertable
from vault_agent.text.lines import LINE_END, split_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_T = TypeVar("_T")

_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Splice(NamedTuple):
    """Replace the bytes [start, end) of a note by `text`."""

    start: int
    end: int
    text: bytes


class TextChange(NamedTuple):
    """Replace the characters [start, end) of a text by `text`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Text:
    """The text of a note that can be edited, without its byte order mark."""

    note: bytes
    text: str
    origin: int  # the number of bytes before the text

    @cached_property
    def document(self) -> Document:
        """What is in the text."""
        return Document(self.text)

    def line_end(self) -> str | None:
        """Return the most frequent line end, or None if there is none. LF wins a tie."""
        crlf = self.text.count("\r\n")
        counts = {
            "\n": self.text.count("\n") - crlf,
            "\r\n": crlf,
            "\r": self.text.count("\r") - crlf,
        }
        ending = max(counts, key=counts.__getitem__)
        return ending if counts[ending] else None

    def own(self, content: str) -> str:
        """Return text to insert, with the line ends of this note.

        If the note has none, the text's own line ends stay.

        Raises:
            InvalidRequest: `INVALID_REQUEST` if a note cannot contain the text.
        """
        insertable(content)
        ending = self.line_end()
        return content if ending is None else LINE_END.sub(ending, content)

    def edited(self, changes: Iterable[TextChange]) -> Edited:
        """Return the edit that carries out changes of the text, which are in order.

        Changes that change nothing are left out.

        Raises:
            Failed: `EDIT_NOT_PROVEN` if the spliced bytes are not the changed text.
        """
        changes = [
            change for change in changes if self.text[change.start : change.end] != change.text
        ]
        splices = []
        done, byte = 0, self.origin
        for start, end, text in changes:
            if not done <= start <= end <= len(self.text):
                raise not_proven("The spans overlap.")
            first = byte + len(self.text[done:start].encode())
            byte = first + len(self.text[start:end].encode())
            splices.append(Splice(first, byte, text.encode()))
            done = end
        after = self.note[: self.origin] + spliced(self.text, changes).encode()
        if spliced(self.note, splices) != after:
            raise not_proven("The spans of bytes are not those of the text.")
        return Edited(after, tuple(splices))


@dataclass(frozen=True)
class Edited:
    """An edit of a note: the bytes after it, and the splices that make them."""

    note: bytes
    splices: tuple[Splice, ...]

    @cached_property
    def after(self) -> Text:
        """The text after the edit."""
        return editable(self.note)

    def proven(self, read: Callable[[Text], _T], expected: _T, what: str) -> tuple[Splice, ...]:
        """Return the splices, after which `read` finds what is expected in the text.

        Raises:
            Failed: `EDIT_NOT_PROVEN` with `what` would be wrong.
        """
        if read(self.after) != expected:
            raise not_proven(what)
        return self.splices


def not_proven(what: str) -> Failed:
    """Return the error of an edit that cannot prove its promise."""
    return Failed("EDIT_NOT_PROVEN", f"The edit was not written, because it was wrong: {what}")


def no_frontmatter() -> Conflict:
    """Return the error of an edit before what looks like frontmatter and is none."""
    what = "The note starts with --- (line 1), but no frontmatter follows."
    return Conflict("FRONTMATTER_INVALID", what, {"line": 1})


def spliced(content: AnyStr, splices: Iterable[tuple[int, int, AnyStr]]) -> AnyStr:
    """Return the bytes of a note after splices, or a text after changes.

    Raises:
        ValueError: if they are not sorted, overlap, or are not within the content.
    """
    pieces: list[AnyStr] = []
    done = 0
    for start, end, text in splices:
        if not done <= start <= end <= len(content):
            raise ValueError("splices must be sorted and must not overlap")
        pieces += content[done:start], text
        done = end
    pieces.append(content[done:])
    return content[:0].join(pieces)


def editable(note: bytes) -> Text:
    """Return the text of a note that can be edited: UTF-8, with or without byte order mark.

    Raises:
        Conflict: `ENCODING_NOT_WRITABLE` for any other encoding, and for text with NUL.
    """
    if note.startswith(_UTF_16):
        raise Conflict("ENCODING_NOT_WRITABLE", "The note is UTF-16, not UTF-8.")
    origin = len(codecs.BOM_UTF8) if note.startswith(codecs.BOM_UTF8) else 0
    try:
        text = note[origin:].decode()
    except UnicodeDecodeError:
        raise Conflict("ENCODING_NOT_WRITABLE", "The note is not UTF-8.") from None
    if "\0" in text:
        raise Conflict("ENCODING_NOT_WRITABLE", "The note contains NUL characters.")
    return Text(note, text, origin)


def append(note: bytes, content: str, *, blank_line: bool = False) -> tuple[Splice, ...]:
    """Add text at the end of a note. The old bytes are the beginning of the new ones.

    An open last line is closed first. With `blank_line` there is an empty line between the old
    text and the new.

    Raises:
        Conflict: `ENCODING_NOT_WRITABLE`.
        InvalidRequest: `INVALID_REQUEST` if a note cannot contain the text.
    """
    text = editable(note)
    content = text.own(content)
    if not content:
        return ()
    at = len(text.text)
    between = before(text.text, text.line_end() or line_end_of(content), blank_line=blank_line)
    return text.edited([TextChange(at, at, between + content)]).splices


def prepend(note: bytes, content: str, *, blank_line: bool = False) -> tuple[Splice, ...]:
    """Add text at the start of a note, after its frontmatter.

    An open last line of the text is closed if text follows. With `blank_line` there is an empty
    line between the new text and the old.

    Raises:
        Conflict: `ENCODING_NOT_WRITABLE`; `FRONTMATTER_INVALID` if the note begins with a block
            that is no frontmatter here, and elsewhere would be.
        InvalidRequest: `INVALID_REQUEST` if a note cannot contain the text.
    """
    text = editable(note)
    content = text.own(content)
    if not content:
        return ()
    if has_prose_block(text.text):
        raise no_frontmatter()
    at = text.document.body
    ending = text.line_end() or line_end_of(content)
    if at:
        content = before(text.text[:at], ending, blank_line=False) + content
    if at < len(text.text):
        content += before(content, ending, blank_line=blank_line and text.text[at] not in "\r\n")
    return text.edited([TextChange(at, at, content)]).splices


def overwrite(note: bytes, content: str) -> tuple[Splice, ...]:
    """Replace the text of a note. A byte order mark stays.

    Lines that are the same at the start and at the end keep their line ends.

    Raises:
        Conflict: `ENCODING_NOT_WRITABLE`.
        InvalidRequest: `INVALID_REQUEST` if a note cannot contain the text.
    """
    text = editable(note)
    content = text.own(content.lstrip("\ufeff"))
    old, new = split_lines(text.text), split_lines(content)
    old_lines = [LINE_END.sub("\n", line) for line in old]
    new_lines = [LINE_END.sub("\n", line) for line in new]
    first = equal_lines(old_lines, new_lines)
    last = equal_lines(old_lines[first:][::-1], new_lines[first:][::-1])
    start, end = _length(old[:first]), len(text.text) - _length(old[len(old) - last :])
    changed = content[_length(new[:first]) : len(content) - _length(new[len(new) - last :])]
    return text.edited([TextChange(start, end, changed)]).splices


def line_end_of(content: str) -> str:
    """Return the first line end of a text, or LF."""
    match = LINE_END.search(content)
    return match[0] if match else "\n"


def before(text: str, ending: str, *, blank_line: bool) -> str:
    """Return what closes a text before another one is added: nothing, or line ends."""
    if not text:
        return ""
    closed = text.endswith(("\r", "\n"))
    if not blank_line:
        return "" if closed else ending
    if not closed:
        return ending * 2
    last = text[:-2] if text.endswith("\r\n") else text[:-1]
    return "" if not last or last.endswith(("\r", "\n")) else ending


def _length(parts: Iterable[str]) -> int:
    return sum(map(len, parts))
