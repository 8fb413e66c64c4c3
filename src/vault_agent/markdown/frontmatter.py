"""Frontmatter: where it ends, and its values as written.

We split it off ourselves, because offsets must be exact: python-frontmatter strips the body and
loses text between two thematic breaks. Its handler reads the YAML with our own loader, which

- keeps every scalar as the string in the file (`12:30`, `010` and dates stay as typed),
- reads parser events with an explicit stack and stops at anchors, aliases and deep nesting, so
  that alias bombs and the recursion of the C composer do no harm,
- keeps the values before an error.

Most frontmatter is flat: keys with plain or quoted values, or with lists of them. A regular
expression reads these lines, with the same result in a fifth of the time.
"""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import yaml
from frontmatter.default_handlers import YAMLHandler

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    _Base = yaml.SafeLoader
else:
    _Base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

MAX_BYTES = 64 * 1024
MAX_DEPTH = 32

Value: TypeAlias = "Scalar | list[Value] | dict[str, Value] | None"

_OPENING = re.compile(r"---[ \t]*+(?:\r\n?|\n)")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*+(?:\r\n?|\n|\Z)", re.MULTILINE)
_LONE_CR_CLOSING = re.compile(r"(?<![^\r\n])(?:---|\.\.\.)[ \t]*+(?:\r\n?|\n|\Z)")
_KEY = re.compile(r"^[^\s#\-\[{&*!|>%@`][^\n]*?:(?:\s|\Z)", re.MULTILINE)
_INDICATORS = tuple("[{&*!|>%@`\"'?")  # a block that begins with one is YAML, even without keys
_NULLS = frozenset(("", "~", "null", "Null", "NULL"))
_DATE_KEYS = frozenset(("date", "created", "updated"))
_ISO_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?!\d)")


_FLAT_KINDS = ("plain", "double", "single")
_UNUSUAL = r"\x00-\x1f\x7f-\xa0\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff"
_FLAT_VALUE = (
    rf"(?P<plain>[^\W_](?:[^{_UNUSUAL}:#]|:(?=[^ {_UNUSUAL}])|(?<! )#)*+)"
    rf"|\"(?P<double>[^\"\\{_UNUSUAL}]*+)\"|'(?P<single>[^'{_UNUSUAL}]*+)'"
)
_FLAT_LINE = re.compile(
    r"(?:(?P<key>[^\W\d][\w\-]{0,99}(?: [\w\-]{1,99}){0,4}):|(?P<indent> *+)-)"
    rf"(?: ++(?:{_FLAT_VALUE}|(?P<list>\[(?=[^\n\]]*\] *+(?:\n|\Z)))))?+"
)
_FLAT_ITEM = re.compile(
    rf" *+(?:(?P<plain>[^\W_][\w/.\-]*(?: [\w/.\-]+)*)"
    rf"|\"(?P<double>[^\"\\{_UNUSUAL}]*+)\"|'(?P<single>[^'{_UNUSUAL}]*+)') *+(?P<next>[,\]])"
)
_FLAT_END = re.compile(r" *+(?:\n++|\Z)")


class Scalar(str):
    """A scalar as written, and its place in the file and in the block."""

    __slots__ = ("column", "end", "line", "plain", "start")
    line: int  # 1-based, of the file
    column: int  # 1-based
    start: int  # offset in the block, its quotes included
    end: int
    plain: bool  # without quotes: may be a number, a date or a boolean

    @classmethod
    def at(cls, text: str, line: int, column: int, start: int, end: int, *, plain: bool) -> Scalar:
        """Return a scalar with its place."""
        scalar = cls(text)
        scalar.line, scalar.column = line, column
        scalar.start, scalar.end = start, end
        scalar.plain = plain
        return scalar


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
    if text in _NULLS and not getattr(event, "style", None):
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
    flat = _load_flat(block)
    if flat is not None:
        return flat, _impossible_date(flat)
    return _load_any(block)


def _load_flat(block: str) -> dict[str, Value] | None:
    """Read flat YAML. Return None if some of it is not certain to be flat."""
    values: dict[str, Value] = {}
    items: list[Value] = []
    key: str | None = None  # the key whose list may follow
    indent: str | None = None  # of the items of that list
    at = line_start = len(block) - len(block.lstrip("\n"))
    line = 2 + at
    while at < len(block):
        match = _FLAT_LINE.match(block, at)
        if match is None:
            return None
        at = match.end()
        value: Value = None
        if (kind := match.lastgroup) == "list":
            value = []
            if (at := _load_flat_list(block, at, line, line_start, value)) < 0:
                return None
        elif kind in _FLAT_KINDS:
            value = _flat_scalar(match, line, line_start)
        if (name := match["key"]) is not None:
            key = None
            if (name := name.lower()) in values:
                return None
            if value is None and kind == "key":
                key, indent = name, None
            values[name] = value
        else:
            if key is None or indent not in (None, match["indent"]):
                return None
            if indent is None:
                indent = match["indent"]
                values[key] = items = []
            items.append(value)
        ending = _FLAT_END.match(block, at)
        if ending is None:
            return None
        at = line_start = ending.end()
        line += block.count("\n", ending.start(), at)
    return values or None


def _load_flat_list(block: str, at: int, line: int, line_start: int, items: list[Value]) -> int:
    """Append the items of a list in brackets. Return its end, or -1 if it is not flat."""
    if block[at] == "]":
        return at + 1
    while item := _FLAT_ITEM.match(block, at):
        items.append(_flat_scalar(item, line, line_start))
        at = item.end()
        if item["next"] == "]":
            return at
    return -1


def _flat_scalar(match: re.Match[str], line: int, line_start: int) -> Value:
    kind = "plain" if match["plain"] is not None else "double"
    if kind != "plain" and match["double"] is None:
        kind = "single"
    start, end = match.span(kind)
    text = match[kind]
    if kind == "plain":
        text = text.rstrip(" ")
        end = start + len(text)
        if text in _NULLS:
            return None
    else:
        start, end = start - 1, end + 1
    return Scalar.at(text, line, start - line_start + 1, start, end, plain=kind == "plain")


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
