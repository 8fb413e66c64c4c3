"""Text for models: names made visible, excerpts on one line, fences around note text, size limits.

Note text and names are data from files, which anyone may have written. No name can add a line or
hide one, and no note can close its own fence.
"""

from __future__ import annotations

import json
import re
import secrets
from typing import TYPE_CHECKING

from vault_agent.codes import CODES, Remedy
from vault_agent.text.names import escaped

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping
    from typing import Any

    from vault_agent.mcp.view import View
    from vault_agent.model.warning import Warning

NAME_CHARACTERS = 200
EXCERPT_CHARACTERS = 120
BYTES_A_TOKEN = 3.5
"""Of ASCII, as operations estimate them; other characters have more tokens a byte."""
_NOTICE_BYTES = 40
"""Bytes reserved for a line that says how many do not fit."""

# In text, tab and line ends stay.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")

_FENCE = re.compile(r'\s*<note path="[^"\n]*" lines="[^"\n]*" b=[0-9a-f]{8}>\r?\n')


def title(name: str) -> str:
    """Return a title or heading on one line, at most 200 characters."""
    return cut(escaped(name), NAME_CHARACTERS)


def cut(text: str, characters: int) -> str:
    """Return the text, cut with an ellipsis if it is too long."""
    return text if len(text) <= characters else text[: characters - 1].rstrip() + "…"


def printable(text: str) -> str:
    """Return note text with control characters and lone surrogates as U+FFFD."""
    return _CONTROL.sub("\ufffd", text)


def as_json(value: object) -> str:
    """Return JSON without control characters: they are escaped, so that nothing is lost."""
    text = json.dumps(value, ensure_ascii=False)
    return _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def excerpt(snippet: str, matches: Iterable[tuple[int, int]]) -> str:
    """Return the part of a snippet around its first match: one line, at most 120 characters."""
    line = printable(snippet).replace("\n", " ")
    if len(line) <= EXCERPT_CHARACTERS:
        return line
    first = next(iter(matches), (0, 0))[0]
    start = max(0, min(first - EXCERPT_CHARACTERS // 4, len(line) - EXCERPT_CHARACTERS))
    if start and (border := line.find(" ", start, first)) >= 0:
        start = border + 1
    return cut(line[start:].lstrip(), EXCERPT_CHARACTERS)


def fenced(path: str, lines: str, text: str) -> str:
    """Return note text between two marks with the same random digits, which it does not contain.

    `path` is visible already.
    """
    digits = secrets.token_hex(4)
    while digits in text or digits in path:
        digits = secrets.token_hex(4)
    end = "" if text.endswith("\n") else "\n"
    quoted = path.replace('"', "\\u{22}")
    return f'<note path="{quoted}" lines="{lines}" b={digits}>\n{text}{end}</note {digits}>'


def has_marks(text: str) -> bool:
    """Whether a text is a reply of ours and not only the text of a note."""
    return _FENCE.match(text) is not None


def for_models(code: str, message: str, details: Mapping[str, Any]) -> str:
    """Return the message of an error or a warning for a model, which has tools alone."""
    entry = CODES.get(code)
    if entry is not None and entry.for_tools:
        return entry.for_tools
    what = details.get("what")
    if not isinstance(what, str):
        return message
    tools = entry.remedy.tools if entry and isinstance(entry.remedy, Remedy) else ""
    return f"{what} {tools}".rstrip()


def size(text: str) -> int:
    """Return the bytes of a text as UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def warning_lines(warnings: Iterable[Warning]) -> list[str]:
    """Return the lines at the end of a reply that show its warnings."""
    return [f"! {text}" for text in _warning_texts(warnings)]


def warnings_of(warnings: Iterable[Warning]) -> dict[str, list[str]]:
    """Return the member of a JSON reply that shows warnings; nothing if there are none."""
    texts = _warning_texts(warnings)
    return {"warnings": texts} if texts else {}


def _warning_texts(warnings: Iterable[Warning]) -> list[str]:
    return [
        f"{warning.code}: {for_models(warning.code, warning.message, warning.details)}"
        for warning in warnings
    ]


def fitting(lines: list[str], last: list[str], max_bytes: int) -> str:
    """Return the lines that fit, and the last ones, which always do."""
    kept = count_fitting(lines, last, max_bytes)
    if kept < len(lines):
        last = [f"[{len(lines) - kept} more, for which the reply has no room]", *last]
    return "\n".join([*lines[:kept], *last])


def count_fitting(lines: list[str], last: list[str], max_bytes: int) -> int:
    """Return how many lines fit into a reply that ends with the last ones."""
    left = max_bytes - sum(size(line) + 1 for line in last) - _NOTICE_BYTES
    for count, line in enumerate(lines):
        left -= size(line) + 1
        if left < 0:
            return count
    return len(lines)


async def page(
    view: View, most: int, ask: Callable[[int], Awaitable[tuple[list[str], list[str]]]]
) -> str:
    """Return a page of a list, whose cursor continues after its last line.

    `ask` gets a limit, and returns a head with one line for each entry, and the lines at the end.
    If the lines do not fit, it is asked again for as many as do.
    """
    lines, last = await ask(most)
    kept = count_fitting(lines, last, view.max_bytes)
    if kept < len(lines):
        lines, last = await ask(max(1, kept - 1))
    return fitting(lines, last, view.max_bytes)
