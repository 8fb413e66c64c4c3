"""The top-level keys of a frontmatter block, with the places of what is written.

The places come from the events of the YAML parser, never from constructed values, so that values
which no constructor reads (`{{date}}`) pass through.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Any, NoReturn

import yaml

from vault_agent.errors import Conflict

from .lines import line_ends
from .yaml_nodes import ALIAS, ENDING, LIST, MAPPING, SCALAR, Events, node_of

if TYPE_CHECKING:
    from .yaml_nodes import Node, Sign

MAX_DEPTH = 100
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

# What YAML 1.1 takes for the end of a line.
_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_BREAKS = "\n\r\x85\u2028\u2029"
_COLON = re.compile(r"[ \t]*:")


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

    def __init__(self, text: str, first_line: int) -> None:
        """Take the YAML between the fences, and the line of the file at which it starts.

        Raises:
            Conflict: `FRONTMATTER_INVALID` with the line if it is not valid, not a list of keys and
                values on lines of their own, or nested over 100 levels deep.
        """
        self.text = text
        self._first_line = first_line
        breaks = [match.span() for match in _BREAK.finditer(text)]
        self._starts = [0, *(end for _, end in breaks)]  # of the lines
        self._ends = [start for start, _ in breaks]  # of those that have a line end
        events = Events()
        try:
            tops = self._read(events)
        except (yaml.YAMLError, ValueError) as error:  # ValueError: a character is rejected
            mark = getattr(error, "problem_mark", None)
            at = int(mark.index) if mark is not None else int(getattr(error, "position", 0))
            self.refuse("The frontmatter is not valid YAML", at)
        if events.signs and (events.signs[0][0] != MAPPING or events.signs[0][2]):
            self.refuse("The frontmatter has no keys on lines of their own", events.starts[0])
        tops.append(len(events.signs) - 1)
        self.entries = [
            Entry(events, *place) for place in zip(tops[:-1:2], tops[1::2], tops[2::2], strict=True)
        ]

    def _read(self, events: Events) -> list[int]:
        """Collect the events. Return the indices of those that start top-level keys and values."""
        tops: list[int] = []
        signs, starts, ends = events.signs, events.starts, events.ends
        depth = 0
        loader = _LOADER(self.text)
        try:
            while loader.check_event():
                event = loader.get_event()
                kind = event.__class__
                start = event.start_mark.index
                if kind is yaml.ScalarEvent:
                    if depth == 1:
                        tops.append(len(signs))
                    sign = SCALAR, event.value, event.style, event.tag, event.anchor, event.implicit
                elif kind is yaml.SequenceStartEvent or kind is yaml.MappingStartEvent:
                    if depth == 1:
                        tops.append(len(signs))
                    depth += 1
                    if depth > MAX_DEPTH:
                        self.refuse("The frontmatter is nested too deeply", start)
                    of = LIST if kind is yaml.SequenceStartEvent else MAPPING
                    sign = of, None, event.flow_style, event.tag, event.anchor, event.implicit
                elif kind is yaml.SequenceEndEvent or kind is yaml.MappingEndEvent:
                    depth -= 1
                    sign = ENDING
                elif kind is yaml.AliasEvent:
                    if depth == 1:
                        tops.append(len(signs))
                    sign = ALIAS, None, None, None, event.anchor, None
                elif kind is yaml.DocumentStartEvent and signs:
                    self.refuse("The frontmatter has a second document", start)
                else:
                    continue
                signs.append(sign)
                starts.append(start)
                ends.append(event.end_mark.index)
        finally:
            loader.dispose()
        return tops

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
        return self._first_line + line_ends(self.text[:offset])

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
