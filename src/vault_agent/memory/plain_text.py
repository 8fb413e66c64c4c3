"""Text as it is seen: without escape sequences and hidden characters, and cut at whole words."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from vault_agent.text.unescaped import TERMINAL_ESCAPE

_MAX_LINE: Final = 400
_ESCAPE = re.compile(TERMINAL_ESCAPE)
_TEST_SUMMARY = re.compile(
    r"^=+ .*\b\d+ (?:passed|failed|errors?)\b.* =+$|^\d+ (?:passed|failed)(?:, \d+ \w+)* in [\d.]+s"
    r"|^Tests?:\s+.*\b\d+ (?:passed|failed|total)\b|^test result: (?:ok|FAILED)\."
    r"|^Ran \d+ tests? in [\d.]+s|^\s*\d+ (?:passing|failing)\b|^(?:ok|FAIL)\s+\S+\s+[\d.]+s\b"
    r"|^\s*Tests\s+\d+ (?:passed|failed)|^Tests run: \d+, Failures: \d+"
)
_JOINERS = "\u200c\u200d"
_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def plain(text: str) -> str:
    """Return text without escape sequences and without characters that are not seen.

    A joiner inside an emoji or a word of another script stays, because it changes what is seen.
    """
    if text.isascii() and text.isprintable():
        return text
    text = _ESCAPE.sub("", text)
    return "".join(
        each
        for at, each in enumerate(text)
        if each in "\n\t" or not _is_hidden(each) or (each in _JOINERS and _joins(text, at))
    )


def _joins(text: str, at: int) -> bool:
    """Whether a joiner stands between two characters that are seen and not ASCII."""
    beside = text[at - 1 : at] + text[at + 1 : at + 2]
    return len(beside) == 2 and not any(each.isascii() or _is_hidden(each) for each in beside)


def _is_hidden(character: str) -> bool:
    return unicodedata.category(character) in _HIDDEN


def test_summary(output: str) -> str | None:
    """Return the last line that sums up a run of tests, as the usual programs print it, or None."""
    for raw in reversed(output.split("\n")[-400:]):
        line = plain(raw.rstrip("\r").rpartition("\r")[2][:_MAX_LINE]).strip()
        if _TEST_SUMMARY.search(line):
            return line
    return None


def head_of(text: str, most: int) -> str:
    """Return at most so many characters of the start of a text, to the end of a word.

    So no secret is cut in two, and half of it kept.
    """
    if len(text) <= most:
        return text
    kept = text[:most].rstrip()
    border = max(kept.rfind(" "), kept.rfind("\n"))
    return kept[:border] if border > 0 else ""


def tail_of(text: str, most: int) -> str:
    """Return at most so many characters of the end of a text, from the start of a line.

    What stands in `<private>` that was opened before is left out.
    """
    if len(text) <= most:
        return text
    cut = len(text) - most
    start = text.find("\n", cut) + 1 or len(text)
    before = text[:start].lower()
    opened, closed = before.rfind("<private>"), before.rfind("</private>")
    if opened > closed:
        end = text.lower().find("</private>", start)
        start = len(text) if end < 0 else end + len("</private>")
    return text[start:]
