"""Reads the YAML of frontmatter: parser events, with the places of what is written.

The index reads what it can (`load`), and keeps the values before an error. Edits need all of it
(`Block`). Both take the events of the parser, never constructed values: so values which no
constructor reads (`{{date}}`) pass through, and alias bombs do no harm.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeAlias

import yaml
from frontmatter.default_handlers import YAMLHandler

from vault_agent.errors import Conflict
from vault_agent.markdown.lines import line_ends, with_line_ends

from .values import NULLS, Scalar, scalar_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .values import Json, Value

    _Base = yaml.SafeLoader
else:
    _Base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

MAX_DEPTH = 100
FIRST_LINE = 2
"""The line of a file at which its YAML starts. The opening fence is the first one."""

# What YAML 1.1 takes for the end of a line.
_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_BREAKS = "\n\r\x85\u2028\u2029"
_COLON = re.compile(r"[ \t]*:")

SCALAR: Final = 0
ALIAS: Final = 1
LIST: Final = 2
MAPPING: Final = 3
END: Final = 4  # of a list or mapping

Sign: TypeAlias = "tuple[Any, ...]"
"""What an event says: its kind, value or None, style, tag, anchor, and what is implicit.

Of a list or mapping the style is whether it is in brackets. Plain tuples, because a block may have
30,000 events, and the garbage collector need not look at these.
"""
ENDING: Sign = (END, None, None, None, None, None)
"""The end of a list or mapping. There is only this one object."""


@dataclass(slots=True)
class Events:
    """The events of a block, and the offsets at which each of them starts and ends."""

    signs: list[Sign] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    tops: list[int] = field(default_factory=list)  # those that start top-level keys and values
    problem: tuple[str, int | None] | None = None  # why no more were read, and where


@dataclass(slots=True)
class Node:
    """A value: its place in the block, and what it contains.

    `end` is the end of its last character. A scalar without characters starts and ends after the
    indicator before it.
    """

    sign: Sign
    start: int
    end: int
    children: list[Node]  # of a list its items, of a mapping its keys and values in turn

    @property
    def is_list(self) -> bool:
        """Whether it is a list."""
        return bool(self.sign[0] == LIST)

    @property
    def in_lines(self) -> bool:
        """Whether it is a list or mapping whose parts are on lines of their own."""
        return self.sign[0] in (LIST, MAPPING) and not self.sign[2]

    @property
    def is_alias(self) -> bool:
        """Whether it stands for a value elsewhere."""
        return bool(self.sign[0] == ALIAS)

    @property
    def style(self) -> str | None:
        """Of a scalar: its quotation mark, `|` or `>`; None if it is plain."""
        return self.sign[2] or None if self.sign[0] == SCALAR else None

    @property
    def tag(self) -> str | None:
        """The tag that is written before it."""
        return self.sign[3] or None

    @property
    def has_anchor(self) -> bool:
        """Whether it has an anchor, or is an alias."""
        return self.sign[4] is not None

    def nodes(self) -> Iterator[Node]:
        """Yield this node and all in it, in the order they are written."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.children))

    def last(self) -> Node:
        """Return what is written last: this node, or the last one in it if it has no brackets."""
        node = self
        while node.in_lines and node.children:
            node = node.children[-1]
        return node

    def value(self) -> Json:
        """Return what is written. An alias, and a scalar with a tag of its own, is text."""
        kind, value, style, _, anchor, implicit = self.sign
        if kind == LIST:
            return [child.value() for child in self.children]
        if kind == MAPPING:
            keys, values = self.children[::2], self.children[1::2]
            return {
                str(key.sign[1] or ""): each.value()
                for key, each in reversed([*zip(keys, values, strict=True)])
            }
        if kind == ALIAS:
            return f"*{anchor}"
        return scalar_value(value, plain=implicit[0] and not style)


def node_of(events: Events, first: int, after: int) -> Node:
    """Return the value that some events are."""
    stack: list[Node] = []
    for index in range(first, after):
        sign, end = events.signs[index], events.ends[index]
        if sign is ENDING:
            node = stack[-1]
            if node.in_lines:
                end = node.children[-1].end if node.children else node.end
            node.end = end
            if len(stack) > 1:
                stack.pop()
            continue
        node = Node(sign, events.starts[index], end, [])
        if stack:
            stack[-1].children.append(node)
        if not stack or sign[0] in (LIST, MAPPING):
            stack.append(node)
    return stack[0]


_SCALAR_EVENT = yaml.ScalarEvent
_STARTS = {yaml.SequenceStartEvent: LIST, yaml.MappingStartEvent: MAPPING}
_ENDS = frozenset((yaml.SequenceEndEvent, yaml.MappingEndEvent))
_NOT_VALID: Final = "is not valid YAML"
_TOO_DEEP: Final = "is nested too deeply"
_SECOND: Final = "has a second document"


# A line with a key or an item, and a value on it that has no indicator of YAML.
_PLAIN_LINE = re.compile(
    r"(?:([A-Za-z](?:[\w-]| (?=[\w-]))*+):|( *+)-)"
    r"(?: ++([\w/(](?:[ -\"$-9;-~\w]|:(?=\S)|(?<! )#)*+)?+)?+\r?\n"
)
_MOST_PLAIN_KEY = 1_000  # characters; the parser has a limit for keys
_PLAIN = (True, False)
_NOTHING: Sign = (SCALAR, "", "", None, None, _PLAIN)
_MAPPING: Sign = (MAPPING, None, False, None, None, True)
_LIST: Sign = (LIST, None, False, None, None, True)


def _plain_events(text: str) -> Events | None:
    """Return the events of a block of plain lines, as the parser does; None for any other block.

    Nearly all frontmatter is such lines, and this takes a fifth of the parser's time.
    """
    events = Events([_MAPPING], [0], [0])
    signs, starts, ends = events.signs, events.starts, events.ends
    at, size, listed = 0, len(text), -1  # the indent of the list's items; -1 outside a list
    is_open = False  # whether a key has no value yet
    while at < size:
        match = _PLAIN_LINE.match(text, at)
        if match is None:
            return None
        key, indent, value = match.groups()
        if key is None:
            after = match.end(2) + 1
            if listed < 0:
                if not is_open:
                    return None
                listed = len(indent)
                signs[-1], starts[-1], ends[-1] = _LIST, after - 1, after - (listed > 0)
            elif listed != len(indent):
                return None
        else:
            if len(key) > _MOST_PLAIN_KEY:
                return None
            if listed >= 0:
                signs.append(ENDING)
                starts.append(at)
                ends.append(at)
                listed = -1
            events.tops += len(signs), len(signs) + 1
            signs.append((SCALAR, key, "", None, None, _PLAIN))
            starts.append(at)
            ends.append(at + len(key))
            after = at + len(key) + 1
        is_open = not value
        if value:
            after, value = match.start(3), value.rstrip(" ")
            signs.append((SCALAR, value, "", None, None, _PLAIN))
            ends.append(after + len(value))
        else:
            signs.append(_NOTHING)
            ends.append(after)
        starts.append(after)
        at = match.end()
    for _ in range(1 + (listed >= 0)):
        signs.append(ENDING)
        starts.append(size)
        ends.append(size)
    return events if size else None


def events_of(text: str) -> Events:
    """Return the events of a block. If not all of it can be read, they have the problem."""
    return _plain_events(text) or _parsed_events(text)


def _parsed_events(text: str) -> Events:
    try:
        found: Events = YAMLHandler().load(text, Loader=_Loader)
    except (yaml.YAMLError, ValueError):  # the reader rejects half of a character at once
        return Events(problem=(_NOT_VALID, None))
    return found


class _Loader(_Base):
    """A loader that keeps the events of the parser instead of making objects of them."""

    def get_single_data(self) -> Events:
        """Return the events up to the first error."""
        events = Events()
        try:
            self._collect(events)
        except (yaml.YAMLError, ValueError) as error:
            mark = getattr(error, "problem_mark", None)
            # A character that the reader rejects has a position instead: about where it is.
            at = int(mark.index) if mark is not None else getattr(error, "position", None)
            events.problem = _NOT_VALID, at
        return events

    def _collect(self, events: Events) -> None:
        signs, starts, ends, tops = events.signs, events.starts, events.ends, events.tops
        depth = 0
        for event in iter(self.get_event, None):
            kind = event.__class__
            if kind is _SCALAR_EVENT:
                sign = SCALAR, event.value, event.style, event.tag, event.anchor, event.implicit
            elif kind in _STARTS:
                sign = (
                    _STARTS[kind],
                    None,
                    event.flow_style,
                    event.tag,
                    event.anchor,
                    event.implicit,
                )
            elif kind in _ENDS:
                depth -= 1
                sign = ENDING
            elif kind is yaml.AliasEvent:
                sign = ALIAS, None, None, None, event.anchor, None
            elif kind is yaml.DocumentStartEvent and signs:
                events.problem = _SECOND, event.start_mark.index
                return
            else:
                continue
            if depth == 1 and sign is not ENDING:
                tops.append(len(signs))
            if kind in _STARTS:
                depth += 1
                if depth > MAX_DEPTH:
                    events.problem = _TOO_DEEP, event.start_mark.index
                    return
            signs.append(sign)
            starts.append(event.start_mark.index)
            ends.append(event.end_mark.index)


def line_of(text: str, offset: int) -> int:
    """Return the line in the file of an offset of its YAML."""
    return FIRST_LINE + line_ends(text[:offset])


def load(text: str) -> tuple[Value, str | None]:
    """Return the value of a block as written, and why some of it could not be read.

    Of a key that is given twice the first value counts. Top-level keys are lower case, because
    Obsidian compares them so. What is before an error is kept.
    """
    events = events_of(text)
    root: list[Value] = []
    problem = _build(text, events, root)
    if problem is None and events.problem is not None and events.problem[0] != _SECOND:
        what, at = events.problem
        problem = what.removeprefix("is ")
        if what == _NOT_VALID and at is not None:
            problem = f"{problem} (line {line_of(text, at)})"
    return (root[0] if root else None), problem


def _build(text: str, events: Events, root: list[Value]) -> str | None:
    """Append the value of the events to `root`. Return why the rest of them was left out."""
    stack: list[list[Value] | dict[str, Value]] = [root]
    keys: list[str | None] = [None]  # for each of `stack`, the key whose value comes next
    text = with_line_ends(text)
    line, line_start, seen = FIRST_LINE, 0, 0
    duplicate: str | None = None
    for sign, start, end in zip(events.signs, events.starts, events.ends, strict=True):
        kind, written, style, _, anchor, implicit = sign
        if sign is ENDING:
            stack.pop()
            keys.pop()
            continue
        if anchor is not None:
            return "anchors and aliases are not read"
        top, key = stack[-1], keys[-1]
        if key is None and isinstance(top, dict):
            if kind != SCALAR:
                return "a key is not plain text"
            key = keys[-1] = written.lower() if len(stack) == 2 else written
            if key in top:
                duplicate = duplicate or f"a key is given twice (line {line_of(text, start)})"
            continue
        value: Value = [] if kind == LIST else {}
        if kind == SCALAR:
            plain = implicit[0] and not style
            value = None
            if not (plain and written in NULLS):
                if ends := text.count("\n", seen, start):
                    line += ends
                    line_start = text.rfind("\n", seen, start) + 1
                seen = start
                column = start - line_start + 1
                value = Scalar.at(written, line, column, start, end, plain=plain)
        if isinstance(top, list):
            top.append(value)
        else:
            top.setdefault(key or "", value)
            keys[-1] = None
        if isinstance(value, (list, dict)):
            stack.append(value)
            keys.append(None)
    return duplicate


class Entry:
    """A top-level key with its value. `name` is None if the key is no text.

    Its events are [`first`, `after`) of the block, those of the value from `value_at` on.
    """

    __slots__ = ("_events", "_node", "after", "first", "name", "value_at")

    def __init__(self, events: Events, first: int, value_at: int, after: int) -> None:
        self._events = events
        self._node: Node | None = None
        self.first, self.value_at, self.after = first, value_at, after
        kind, value, *_ = events.signs[first]
        self.name: str | None = value if kind == SCALAR else None

    @property
    def key(self) -> Node:
        """The key."""
        return node_of(self._events, self.first, self.value_at)

    @property
    def key_start(self) -> int:
        """Where the key starts."""
        return self._events.starts[self.first]

    @property
    def value(self) -> Node:
        """The value."""
        if self._node is None:
            self._node = node_of(self._events, self.value_at, self.after)
        return self._node

    def signs(self) -> list[Sign]:
        """Return what must stay the same if the entry is not edited."""
        return self._events.signs[self.first : self.after]

    def key_signs(self) -> list[Sign]:
        """Return what must stay the same if only the value is edited."""
        return self._events.signs[self.first : self.value_at]


class Block:
    """The YAML of a frontmatter, and its keys in order."""

    def __init__(self, text: str) -> None:
        """Take the YAML between the fences.

        Raises:
            Conflict: `FRONTMATTER_INVALID` with the line if it is not valid, not a list of keys and
                values on lines of their own, or nested over 100 levels deep.
        """
        self.text = text
        breaks = [match.span() for match in _BREAK.finditer(text)]
        self._starts = [0, *(end for _, end in breaks)]  # of the lines
        self._ends = [start for start, _ in breaks]  # of those that have a line end
        events = events_of(text)
        if events.problem is not None:
            what, at = events.problem
            self.refuse(f"The frontmatter {what}", at or 0)
        if events.signs and (events.signs[0][0] != MAPPING or events.signs[0][2]):
            self.refuse("The frontmatter has no keys on lines of their own", events.starts[0])
        tops = [*events.tops, len(events.signs) - 1]
        self.entries = [
            Entry(events, *place) for place in zip(tops[:-1:2], tops[1::2], tops[2::2], strict=True)
        ]

    def line_start(self, offset: int) -> int:
        """Return where the line of an offset starts."""
        return self._starts[bisect_right(self._starts, offset) - 1]

    def line_end(self, offset: int) -> int:
        """Return where the line of an offset ends, without its line end."""
        index = bisect_right(self._starts, offset) - 1
        return self._ends[index] if index < len(self._ends) else len(self.text)

    def next_line(self, offset: int) -> int:
        """Return where the line after that of an offset starts."""
        index = bisect_right(self._starts, offset)
        return self._starts[index] if index < len(self._starts) else len(self.text)

    def line(self, offset: int) -> int:
        """Return the line of an offset in the file."""
        return line_of(self.text, offset)

    def indent(self) -> str:
        """Return the spaces before the first key."""
        start = self.entries[0].key_start if self.entries else 0
        before = self.text[self.line_start(start) : start]
        return "" if before.strip(" ") else before

    def colon(self, entry: Entry) -> int:
        """Return the offset after the colon of an entry.

        Raises:
            Conflict: `FRONTMATTER_INVALID` if the key is not at the start of a line before a colon.
        """
        key = entry.key
        match = _COLON.match(self.text, key.end)
        if match is None or self.text[self.line_start(key.start) : key.start].strip(" "):
            self.refuse("This key is written in a way that cannot be edited", key.start)
        return match.end()

    def content_end(self, node: Node) -> int:
        """Return the end of the last line with characters of a value.

        Of the empty lines after a block of text those belong to it that it keeps (`|+`).
        """
        last = node.last()
        if last.style in ("|", ">"):
            header = self.text[last.start : self.line_end(last.start)]
            if "+" not in header.partition("#")[0]:
                return last.start + len(self.text[last.start : last.end].rstrip(f" \t{_BREAKS}"))
        return last.end

    def refuse(self, what: str, offset: int) -> NoReturn:
        """Refuse to edit what is written at an offset."""
        line = self.line(offset)
        raise Conflict("FRONTMATTER_INVALID", f"{what} (line {line}).", {"line": line}) from None
