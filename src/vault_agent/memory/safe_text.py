"""Makes foreign text safe in a note: from transcripts as plain text, from models as plain Markdown.

No link, tag, field, heading, comment, HTML or frontmatter of a note may come of such text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from vault_agent.memory.plain_text import plain
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
        target, shown = match[1].strip(), (match[2] or "").strip()
        if target and is_known(target.partition("#")[0]):
            return match[0]
        return shown or target

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
