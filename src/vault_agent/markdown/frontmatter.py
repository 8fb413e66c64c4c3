"""Frontmatter: where it ends, and its values as written.

We split it off ourselves, because offsets must be exact: python-frontmatter strips the body and
loses text between two thematic breaks. Every scalar stays the string in the file (`12:30`, `010`
and dates as typed).
"""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from vault_agent.markdown.yaml_values import Scalar, Value, load

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MAX_BYTES = 64 * 1024

_OPENING = re.compile(r"---[ \t]*+(?:\r\n?|\n)")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*+(?:\r\n?|\n|\Z)", re.MULTILINE)
_LONE_CR_CLOSING = re.compile(r"(?<![^\r\n])(?:---|\.\.\.)[ \t]*+(?:\r\n?|\n|\Z)")
_KEY = re.compile(r"^[^\s#\-\[{&*!|>%@`][^\n]*?:(?:\s|\Z)", re.MULTILINE)
_INDICATORS = tuple("[{&*!|>%@`\"'?")  # a block that begins with one is YAML, even without keys
_DATE_KEYS = frozenset(("date", "created", "updated"))
_ISO_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?!\d)")


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """The values before the body.

    `end` is the offset at which the body starts, and `block` is that of the YAML. `problem` is why
    some of the frontmatter could not be read, without any of its content. Keys are lower case,
    because Obsidian compares them so.
    """

    end: int = 0
    values: Mapping[str, Value] = field(default_factory=dict)
    problem: str | None = None
    block: int = 0


class Bounds(NamedTuple):
    """Where the frontmatter of a text is, in characters.

    `end` is where the body starts. The YAML is [`block`, `fence`), and `fence` is where the closing
    fence starts. Without frontmatter, `block` and `fence` are None.
    """

    end: int
    block: int | None = None
    fence: int | None = None


def bounds(text: str) -> Bounds:
    """Return where the frontmatter of a text is. Never raises.

    Frontmatter is a block that opens with `---` on the file's first line (after a byte order mark)
    and closes with `---` or `...`. An unclosed block is body, so that its text can be found. So is
    prose between two thematic breaks.
    """
    fenced = _fenced(text)
    if fenced.block is None:
        return fenced
    block = text[fenced.block : fenced.fence]
    if text[fenced.block - 1] == "\r":  # MULTILINE does not recognise it as the end of a line
        block = block.replace("\r", "\n")
    if block.strip() and _KEY.search(block) is None and not block.lstrip().startswith(_INDICATORS):
        return Bounds(1 if text.startswith("\ufeff") else 0)  # prose
    return fenced


def has_prose_block(text: str) -> bool:
    """Whether a text begins with a block between fences that `bounds` takes for prose.

    It may be comments of YAML only. Other programs take it for frontmatter.
    """
    return _fenced(text).block is not None and bounds(text).block is None


def _fenced(text: str) -> Bounds:
    """Return where the block between fences is with which a text begins."""
    start = 1 if text.startswith("\ufeff") else 0
    opening = _OPENING.match(text, start)
    if opening is None:
        return Bounds(start)
    lone_cr = opening.group().endswith("\r")
    closing = (_LONE_CR_CLOSING if lone_cr else _CLOSING).search(text, opening.end())
    if closing is None:
        return Bounds(start)
    return Bounds(closing.end(), opening.end(), closing.start())


def opens(text: str) -> bool:
    """Whether a text starts like one with frontmatter, even if none follows."""
    return _OPENING.match(text, 1 if text.startswith("\ufeff") else 0) is not None


def read(text: str, place: Bounds | None = None) -> Frontmatter:
    """Split the frontmatter off `text`, as `bounds` finds it, and read it. Never raises."""
    end, start, fence = place or bounds(text)
    if start is None:
        return Frontmatter(end)
    block = text[start:fence]
    if not block.strip():
        return Frontmatter(end)
    if len(block) > MAX_BYTES or len(block.encode("utf-8", "replace")) > MAX_BYTES:
        return Frontmatter(end, problem="larger than 64 KiB")
    values, problem = load(block)
    if not isinstance(values, dict):
        problem = problem or "not a list of keys and values"
        return Frontmatter(end, problem=problem, block=start)
    return Frontmatter(end, values, problem or _impossible_date(values), start)


def _impossible_date(values: Mapping[str, Value]) -> str | None:
    for key in _DATE_KEYS & values.keys():
        value = values[key]
        match = _ISO_DATE.match(value) if isinstance(value, str) else None
        if match:
            try:
                datetime.date(*map(int, match.groups()))
            except ValueError:
                return f"a date that does not exist (line {getattr(value, 'line', 0)})"
    return None


def text_of(values: Mapping[str, Value], key: str) -> str | None:
    """Return a key's value on one line, or None if it is missing, empty or not a scalar."""
    value = values.get(key)
    return (" ".join(value.split()) or None) if isinstance(value, str) else None


def texts_of(value: Value) -> Iterator[Scalar]:
    """Yield the scalars of a value and its nested lists in order, not those of mappings."""
    waiting: list[Value] = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, Scalar):
            yield item
        elif isinstance(item, list):
            waiting.extend(reversed(item))


def named_texts_of(value: Value) -> Iterator[tuple[str, Scalar]]:
    """Yield the scalars of a value in order, each with the keys of the mappings that it is in."""
    waiting: list[tuple[str, Value]] = [("", value)]
    while waiting:
        names, item = waiting.pop()
        if isinstance(item, Scalar):
            yield names, item
        elif isinstance(item, list):
            waiting.extend((names, entry) for entry in reversed(item))
        elif isinstance(item, dict):
            waiting.extend((f"{names}{key}: ", entry) for key, entry in reversed(item.items()))
