"""Frontmatter: where it ends, and its values as written.

We split it off ourselves, because offsets must be exact: python-frontmatter strips the body and
loses text between two thematic breaks. Its handler reads the YAML with our own loader, which

- keeps every scalar as the string in the file (`12:30`, `010` and dates stay as typed),
- reads parser events with an explicit stack and stops at anchors, aliases and deep nesting, so
  that alias bombs and the recursion of the C composer do no harm,
- keeps the values before an error.

Most frontmatter is flat, and `flat_yaml` reads it without the YAML parser.
"""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import yaml
from frontmatter.default_handlers import YAMLHandler

from .flat_yaml import load_flat
from .scalars import NULLS, Scalar, Value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    _Base = yaml.SafeLoader
else:
    _Base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

MAX_BYTES = 64 * 1024
MAX_DEPTH = 32

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


class _RefusedError(Exception):
    """The rest of the YAML is not read, although it may be valid."""


class _AsWritten(_Base):
    """A loader that builds strings, lists and dicts from parser events, without recursion."""

    def get_single_data(self) -> tuple[Value, str | None]:
        """Return the first document's value, and the problem if there is one."""
        root: list[Value] = []
        problem = None
        try:
            self._build(root)
        except _RefusedError as error:
            problem = str(error)
        except (yaml.YAMLError, ValueError) as error:
            mark = getattr(error, "problem_mark", None)
            # The opening fence is the file's first line.
            problem = "not valid YAML" + (f" (line {mark.line + 2})" if mark else "")
        return (root[0] if root else None), problem

    def _build(self, root: list[Value]) -> None:
        """Append the document's value to `root`. After an error it holds what was read before."""
        stack: list[list[Value] | dict[str, Value]] = [root]
        keys: list[str | None] = [None]  # for each of `stack`, the key whose value comes next
        duplicate: str | None = None
        while self.check_event():
            event = self.get_event()  # type: ignore[no-untyped-call]
            if isinstance(event, yaml.DocumentEndEvent):
                break
            if isinstance(event, yaml.CollectionEndEvent):
                stack.pop()
                keys.pop()
                continue
            if not isinstance(event, yaml.NodeEvent):
                continue
            if event.anchor is not None:
                raise _RefusedError("anchors and aliases are not read")
            top = stack[-1]
            if isinstance(top, dict) and keys[-1] is None:
                key = _key_of(event, top_level=len(stack) == 2)
                keys[-1] = key
                if key in top:
                    duplicate = duplicate or f"a key is given twice (line {_line(event)})"
                continue
            value = _value_of(event)
            if isinstance(top, list):
                top.append(value)
            else:
                top.setdefault(keys[-1] or "", value)
                keys[-1] = None
            if isinstance(value, (list, dict)):
                if len(stack) > MAX_DEPTH:
                    raise _RefusedError("nested too deeply")
                stack.append(value)
                keys.append(None)
        if duplicate:
            raise _RefusedError(duplicate)


def _key_of(event: yaml.NodeEvent, *, top_level: bool) -> str:
    if not isinstance(event, yaml.ScalarEvent):
        raise _RefusedError("a key is not plain text")
    key = str(event.value)
    return key.lower() if top_level else key


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 2


def _value_of(event: Any) -> Value:
    if isinstance(event, yaml.SequenceStartEvent):
        return []
    if isinstance(event, yaml.MappingStartEvent):
        return {}
    text = str(getattr(event, "value", ""))
    if text in NULLS and not getattr(event, "style", None):
        return None
    mark = event.start_mark
    return Scalar.at(
        text,
        int(mark.line) + 2,
        int(mark.column) + 1,
        int(mark.index),
        int(event.end_mark.index),
        plain=not getattr(event, "style", None),
    )


def read(text: str) -> Frontmatter:
    """Split the frontmatter off `text` and read it. Never raises.

    Frontmatter is a block that opens with `---` on the file's first line (after a byte order mark)
    and closes with `---` or `...`. An unclosed block is body, so that its text can be found. So is
    prose between two thematic breaks.
    """
    start = 1 if text.startswith("\ufeff") else 0
    opening = _OPENING.match(text, start)
    if opening is None:
        return Frontmatter(start)
    # MULTILINE does not recognise a lone CR as the end of a line.
    pattern = _LONE_CR_CLOSING if opening.group().endswith("\r") else _CLOSING
    closing = pattern.search(text, opening.end())
    if closing is None:
        return Frontmatter(start)
    block = text[opening.end() : closing.start()]
    if not block.strip():
        return Frontmatter(closing.end())
    if _KEY.search(block) is None and not block.lstrip().startswith(_INDICATORS):
        return Frontmatter(start)  # prose
    if len(block) > MAX_BYTES or len(block.encode("utf-8", "replace")) > MAX_BYTES:
        return Frontmatter(closing.end(), problem="larger than 64 KiB")
    values, problem = load(block)
    return Frontmatter(closing.end(), values, problem, opening.end())


def load(block: str) -> tuple[dict[str, Value], str | None]:
    """Read the YAML of one block, of at most `MAX_BYTES`. Return its values and the problem."""
    flat = load_flat(block)
    if flat is not None:
        return flat, _impossible_date(flat)
    return _load_any(block)


def _load_any(block: str) -> tuple[dict[str, Value], str | None]:
    try:
        value, problem = YAMLHandler().load(block, Loader=_AsWritten)
    except (yaml.YAMLError, ValueError):  # the reader rejects control characters at once
        return {}, "not valid YAML"
    if isinstance(value, dict):
        return value, problem or _impossible_date(value)
    return {}, problem or "not a list of keys and values"


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


def texts_of(value: Value, *, nested: bool = False) -> Iterator[Scalar]:
    """Yield the scalars of a value and its nested lists in order; of mappings only if `nested`."""
    waiting: list[Value] = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, Scalar):
            yield item
        elif isinstance(item, list):
            waiting.extend(reversed(item))
        elif nested and isinstance(item, dict):
            waiting.extend(reversed(item.values()))
