"""Makes foreign text safe in a note: from transcripts as plain text, from models as plain Markdown.

No link, tag, field, heading, comment, HTML or frontmatter of a note may come of such text.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

from vault_agent.memory.patterns import any_of
from vault_agent.text.redaction import TERMINAL_ESCAPE
from vault_agent.text.terms import continues

if TYPE_CHECKING:
    from collections.abc import Callable


_SPECIAL = re.compile(r"[\\\[\]<>`*_~|]|%%|\$|==|::|(?<!\S)[#^]|(?<=\s)\^")
_CODE = re.compile(r"(?<!`)`([^`]+)`(?!`)")
# A path or a name of code that would need a backslash otherwise: one with `_` or `::` in it.
_NAME = re.compile(
    r"(?<![\w./:<>*\[\]|`#-])([A-Za-z0-9./:_-]*[A-Za-z0-9](?:_|::)[A-Za-z0-9./:_-]*[A-Za-z0-9](?:\(\))?)"
    r"(?![\w/:<>*\[\]|`])",
    re.ASCII,
)
_AT_START = re.compile(r"^(?:#{1,6}|[-+*>]|\d{1,9}[.)]|---+|===+)(?=\s|$)")
_FENCE = re.compile(r"^\s{0,3}(```+|~~~+)")
_HTML = re.compile(r"<!--.*?-->|</?[A-Za-z][^<>\n]{0,2000}>|<[!?][^<>\n]{0,2000}>")
_OPENS = re.compile(r"<(?=[A-Za-z/!?])")
_EMBED = re.compile(r"!\[\[[^\[\]\n]*\]\]")
_WIKILINK = re.compile(r"\[\[([^\[\]|\n]*)(?:\|([^\[\]\n]*))?\]\]")
_LINK = re.compile(r"!?\[([^\[\]\n]{0,500})\]\([^()\n]{0,2000}\)")
_RULE = re.compile(r"^\s{0,3}(?:-{3,}|\*{3,}|_{3,}|={3,}|\+{3,})\s*$")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+")
_FIELD = re.compile(r"::")
_TASK = re.compile(r"^(\s*[-*+]\s+)\[[^\]\n]\]\s")
_TAG = re.compile(r"(?<![\w&/])#(?=[^\s#])")
_DEFINITION = re.compile(r"^\s{0,3}\[[^\]\n]+\]:")
_BLOCK_ID = re.compile(r"(?<=\s)\^(?=[\w-]+\s*$)")
MAX_TITLE: Final = 120


def one_line(text: str) -> str:
    """Return text as one line, without what is not seen. It is not escaped."""
    return " ".join(plain(text).split())


def escaped(text: str) -> str:
    """Return text as one line of Markdown that shows exactly this text, and is nothing else.

    Code in it stays code, and names of files and of code become code, so that they can be copied.
    """
    parts = _CODE.split(one_line(text))
    line = "".join(code(part) if place % 2 else _named(part) for place, part in enumerate(parts))
    return _AT_START.sub(lambda match: f"\\{match[0]}", line)


def _named(text: str) -> str:
    """Return text without code in it, escaped, with its names as code."""
    parts = _NAME.split(text)
    return "".join(
        code(part) if place % 2 else _SPECIAL.sub(lambda match: f"\\{match[0]}", part)
        for place, part in enumerate(parts)
    )


def code(text: str) -> str:
    """Return text as inline code, such as a path or a command."""
    line = one_line(text)
    longest = max((len(run) for run in re.findall(r"`+", line)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def titled(text: str) -> str:
    """Return text as a title: one line of at most 120 characters, without the marks of links."""
    line = re.sub(r"\[\[|\]\]|^#+\s*|[`<>|^]", "", one_line(text)).strip(" *_")
    if len(line) <= MAX_TITLE:
        return line
    end = MAX_TITLE - 1
    while end > 1 and continues(line, end):
        end -= 1
    return f"{line[:end].rstrip()}…"


def markdown(text: str, is_known: Callable[[str], bool] = lambda _: False) -> str:
    """Return the Markdown of a model without what could reach beyond its section.

    HTML, images, embeds and links go; of a link stays its text. A wikilink stays if `is_known` says
    that its target is a note. Headings become bold lines.
    """
    lines: list[str] = []
    fence: str | None = None
    for raw in plain(text).splitlines():
        line = raw.replace("\t", "    ").rstrip()
        mark = _FENCE.match(line)
        if fence is not None:
            lines.append(line)
            if mark is not None and line.strip().startswith(fence) and not line.strip(" `~"):
                fence = None
            continue
        if mark is not None:
            fence = mark[1]
            lines.append(line)
        elif not _RULE.match(line):
            lines.append(_inline(line, is_known))
    if fence is not None:
        lines.append(fence)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")


def _inline(line: str, is_known: Callable[[str], bool]) -> str:
    def linked(match: re.Match[str]) -> str:
        target, label = match[1].strip(), (match[2] or "").strip()
        if target and is_known(target.partition("#")[0]):
            return match[0]
        return label or target

    heading = _HEADING.match(line)
    if heading is not None:
        text = line[heading.end() :].strip().strip("#* ")
        line = f"**{text}**" if text else ""
    line = _HTML.sub("", line)
    line = _LINK.sub(lambda match: match[1], _WIKILINK.sub(linked, _EMBED.sub("", line)))
    line = _OPENS.sub(r"\\<", line.replace("%%", "").replace("$$", ""))
    line = _BLOCK_ID.sub(r"\\^", _TAG.sub(r"\\#", _FIELD.sub(": ", line)))
    line = _TASK.sub(lambda match: match[1], line)
    return "" if _DEFINITION.match(line) else line


# --- text as it is seen ---------------------------------------------------------------------------


_MAX_LINE: Final = 400
_ESCAPE = re.compile(TERMINAL_ESCAPE)
_TEST_SUMMARY = any_of("test_summaries")
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
        character
        for at, character in enumerate(text)
        if character in "\n\t"
        or not is_hidden(character)
        or (character in _JOINERS and _joins(text, at))
    )


def _joins(text: str, at: int) -> bool:
    """Whether a joiner stands between two characters that are seen and not ASCII."""
    beside = text[at - 1 : at] + text[at + 1 : at + 2]
    return len(beside) == 2 and not any(
        character.isascii() or is_hidden(character) for character in beside
    )


def is_hidden(character: str) -> bool:
    """Whether a character is a control, a format sign or unassigned, so that nobody sees it."""
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
