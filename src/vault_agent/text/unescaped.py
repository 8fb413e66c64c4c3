"""A text as a reader would see it: without escapes, hidden characters and the breaks of lines.

A view knows for each of its places where that stands in the text. Standard library only.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final

from vault_agent.text.visible import HIDDEN

TERMINAL_ESCAPE: Final = (
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[PX^_][^\x1b]*(?:\x1b\\)?"
    r"|\x1b[ -/]*[0-~]|\x9b[0-?]*[ -/]*[@-~]"
)
"""A pattern of what a terminal does not show: colours, titles, the targets of links."""

_HIDDEN: Final = f"\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f\u200c\u200d{HIDDEN}"
_QUOTES: Final = "“”„«»"
_WRITTEN_ESCAPE: Final = r"\\{1,15}(?:u001[bB]|x1[bB]|033|e)\[[0-?]{0,20}[A-Za-z]"
_ESCAPED: Final = re.compile(
    rf"(?P<gone>{TERMINAL_ESCAPE}|{_WRITTEN_ESCAPE}|[{_HIDDEN}]+|\r(?=\n))"
    rf"|\\{{1,15}}(?:u[0-9A-Fa-f]{{4}}|x[0-9A-Fa-f]{{2}}|[\"'/nrtbf`_*~|<>\[\]$#=:^.+-])|[{_QUOTES}]"
    r"|%(?:25){0,3}[0-9A-Fa-f]{2}|&(?:quot|apos|amp|lt|gt|#\d{2,4}|#[xX][0-9A-Fa-f]{2,4});"
)
_HIDDEN_ONE: Final = re.compile(f"[{_HIDDEN}]")
_CONTROL: Final = {"n": "\n", "r": "\r", "t": "\t", "b": " ", "f": " "}
_ENTITY: Final = {"quot": '"', "apos": "'", "amp": "&", "lt": "<", "gt": ">"}
# A line ends inside a run of characters of a token, and the next one begins with a digit near by.
_WRAPPED: Final = re.compile(
    r"(?<=[\w+/=.-]{6})[ \t]{0,4}\\?\r?\n[ \t>|*#+]{0,16}(?=[\w+/=.-]{6})(?=[\w+/=.-]{0,120}[0-9])"
)


class View:
    """A changed text whose places are known in the text that it was made of."""

    def __init__(self, source: str, pattern: re.Pattern[str]) -> None:
        parts: list[str] = []
        self._starts: list[int] = []  # of pieces in the view
        self._pieces: list[tuple[int, int]] = []  # in the source: start, width if replaced
        at = done = 0
        for match in pattern.finditer(source):
            shown = "" if match.lastgroup == "gone" else _shown(match[0])
            if match.start() > done:
                self._starts.append(at)
                self._pieces.append((done, 0))
                parts.append(source[done : match.start()])
                at += match.start() - done
            self._starts.append(at)
            self._pieces.append((match.start(), match.end() - match.start()))
            parts.append(shown)
            at += len(shown)
            done = match.end()
        self._starts.append(at)
        self._pieces.append((done, 0))
        parts.append(source[done:])
        self.text = "".join(parts)
        self.is_same = len(self._starts) == 1

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where a part of the view stands in the source."""
        first, _ = self._piece(start)
        last, width = self._piece(end - 1)
        return first, last + (width or 1)

    def _piece(self, at: int) -> tuple[int, int]:
        place = bisect_right(self._starts, at) - 1
        start, width = self._pieces[place]
        return (start, width) if width else (start + at - self._starts[place], 0)


def unescaped(text: str) -> View:
    """Return a text without escapes and hidden characters, and with plain quotes.

    The escapes are those of JSON, addresses, HTML, Markdown and terminals.
    """
    return View(text, _ESCAPED)


def joined(text: str) -> View:
    """Return a text whose long words are whole again where a line was wrapped."""
    return View(text, _WRAPPED)


def _shown(escape: str) -> str:
    if escape[0] == "%":
        found = chr(int(escape[-2:], 16))
    elif escape[0] == "&":
        name = escape[1:-1]
        if name in _ENTITY:
            found = _ENTITY[name]
        else:
            found = chr(int(name, 0) if name[1] in "xX" else int(name[1:]))
    elif escape[0] == "\\":
        name = escape.lstrip("\\")
        if name.endswith("\n"):
            return ""
        found = chr(int(name[1:], 16)) if name[0] in "ux" else _CONTROL.get(name, name)
    elif escape in _QUOTES:
        found = '"'
    else:
        return ""  # the break of a line
    return "" if _HIDDEN_ONE.match(found) else found
