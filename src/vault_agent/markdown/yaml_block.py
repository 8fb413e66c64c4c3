"""The top-level keys of a frontmatter block, with the places of what is written.

The places come from the events of the YAML parser, never from constructed values, so that values
which no constructor reads (`{{date}}`) pass through.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import yaml

from vault_agent.errors import Conflict

from .yaml_values import scalar_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .yaml_values import Json

MAX_DEPTH = 100
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

# What YAML 1.1 takes for the end of a line.
BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_BREAKS = "\n\r\x85\u2028\u2029"
_COLON = re.compile(r"[ \t]*:")

Signature: TypeAlias = "tuple[object, ...]"


@dataclass(slots=True)
class Node:
    """A value: its place in the block, and what it contains.

    `end` is the end of its last character. A scalar without characters starts and ends after the
    indicator before it.
    """

    event: Any  # that starts it
    start: int
    end: int
    children: list[Node]  # of a list its items, of a mapping its keys and values in turn

    @property
    def is_list(self) -> bool:
        """Whether it is a list."""
        return isinstance(self.event, yaml.SequenceStartEvent)

    @property
    def is_mapping(self) -> bool:
        """Whether it has keys."""
        return isinstance(self.event, yaml.MappingStartEvent)

    @property
    def in_lines(self) -> bool:
        """Whether it is a list or mapping whose parts are on lines of their own."""
        return (self.is_list or self.is_mapping) and not self.event.flow_style

    @property
    def style(self) -> str | None:
        """Of a scalar: its quotation mark, `|` or `>`; None if it is plain."""
        return getattr(self.event, "style", None) or None

    def nodes(self) -> Iterator[Node]:
        """Yield this node and all in it, in the order they are written."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.children))

    def value(self) -> Json:
        """Return what is written. An alias, and a scalar with a tag of its own, is text."""
        event = self.event
        if self.is_list:
            return [child.value() for child in self.children]
        if self.is_mapping:
            keys, values = self.children[::2], self.children[1::2]
            return {
                _text(key): value.value()
                for key, value in reversed([*zip(keys, values, strict=True)])
            }
        if isinstance(event, yaml.AliasEvent):
            return f"*{event.anchor}"
        return scalar_value(str(event.value), plain=event.implicit[0] and not event.style)

    def signature(self) -> Signature:
        """Return what must stay the same if this is not edited."""
        return tuple(_signature(node.event) for node in self.nodes())


@dataclass(slots=True)
class Entry:
    """A top-level key with its value. `name` is None if the key is no text."""

    name: str | None
    key: Node
    value: Node


@dataclass(slots=True)
class Block:
    """The YAML of a frontmatter, and its keys in order."""

    text: str
    first_line: int  # of the block, in the file
    starts: list[int]  # of its lines
    ends: list[int]  # of those lines that have a line end, without it
    entries: list[Entry]

    def line_start(self, offset: int) -> int:
        """Return where the line of an offset starts."""
        return self.starts[bisect_right(self.starts, offset) - 1]

    def line_end(self, offset: int) -> int:
        """Return where the line of an offset ends, without its line end."""
        index = bisect_right(self.starts, offset) - 1
        return self.ends[index] if index < len(self.ends) else len(self.text)

    def next_line(self, offset: int) -> int:
        """Return where the line after that of an offset starts."""
        index = bisect_right(self.starts, offset)
        return self.starts[index] if index < len(self.starts) else len(self.text)

    def line(self, offset: int) -> int:
        """Return the line of an offset in the file."""
        return self.first_line + line_ends(self.text[:offset])

    def colon(self, entry: Entry) -> int:
        """Return the offset after the colon of an entry.

        Raises:
            Conflict: `FRONTMATTER_INVALID` if the key is not at the start of a line before a colon.
        """
        start = self.line_start(entry.key.start)
        match = _COLON.match(self.text, entry.key.end)
        if match is None or self.text[start : entry.key.start].strip(" "):
            self.refuse("This key is written in a way that cannot be edited", entry.key.start)
        return match.end()

    def content_end(self, node: Node) -> int:
        """Return the end of the last line with characters of a value, or of all its lines.

        Of the empty lines after a block of text those belong to it that it keeps (`|+`).
        """
        *_, last = node.nodes()
        if last.style in ("|", ">"):
            header = self.text[last.start : self.line_end(last.start)]
            if "+" not in header.partition("#")[0]:
                return last.start + len(self.text[last.start : last.end].rstrip(f" \t{_BREAKS}"))
            return last.end
        return node.end

    def refuse(self, what: str, offset: int) -> NoReturn:
        """Refuse to edit what is written at an offset."""
        line = self.line(offset)
        raise Conflict("FRONTMATTER_INVALID", f"{what} (line {line}).", {"line": line})


def line_ends(text: str) -> int:
    """Return the number of line ends of a text."""
    return text.count("\n") + text.count("\r") - text.count("\r\n")


def read_block(text: str, first_line: int) -> Block:
    """Return the keys of the YAML between the fences.

    Raises:
        Conflict: `FRONTMATTER_INVALID` with the line if it is not valid, not a list of keys and
            values on lines of their own, or nested over 100 levels deep.
    """
    breaks = [match.span() for match in BREAK.finditer(text)]
    block = Block(text, first_line, [0, *(end for _, end in breaks)], [at for at, _ in breaks], [])
    try:
        root = _root(block)
    except (yaml.YAMLError, ValueError) as error:  # ValueError: the reader rejects a character
        mark = getattr(error, "problem_mark", None)
        at = int(mark.index) if mark is not None else int(getattr(error, "position", 0))
        raise Conflict(
            "FRONTMATTER_INVALID",
            f"The frontmatter is not valid YAML (line {block.line(at)}).",
            {"line": block.line(at)},
        ) from None
    if root is None:
        return block
    if not root.is_mapping or not root.in_lines:
        block.refuse("The frontmatter has no keys on lines of their own", root.start)
    for key, value in zip(root.children[::2], root.children[1::2], strict=True):
        scalar = isinstance(key.event, yaml.ScalarEvent)
        block.entries.append(Entry(str(key.event.value) if scalar else None, key, value))
    return block


def _root(block: Block) -> Node | None:
    """Return the value of the only document, or None if there is none."""
    root: Node | None = None
    stack: list[Node] = []
    for event in yaml.parse(block.text, Loader=_LOADER):
        if isinstance(event, yaml.CollectionEndEvent):
            node = stack.pop()
            if node.event.flow_style:
                _, node.end = _place(event)
            elif node.children:
                node.end = node.children[-1].end
            continue
        if not isinstance(event, yaml.NodeEvent):
            continue
        start, end = _place(event)
        node = Node(event, start, end, [])
        if stack:
            stack[-1].children.append(node)
        elif root is None:
            root = node
        else:
            block.refuse("The frontmatter has a second document", start)
        if isinstance(event, yaml.CollectionStartEvent):
            if len(stack) > MAX_DEPTH:
                block.refuse("The frontmatter is nested too deeply", start)
            stack.append(node)
    return root


def _place(event: Any) -> tuple[int, int]:
    """Return where an event starts and ends. Of text there is always a place."""
    return event.start_mark.index, event.end_mark.index


def _text(key: Node) -> str:
    return str(getattr(key.event, "value", key.event.anchor or ""))


def _signature(event: Any) -> Signature:
    return (
        type(event).__name__,
        event.anchor,
        getattr(event, "tag", None),
        getattr(event, "implicit", None),
        getattr(event, "value", None),
        getattr(event, "style", None),
        getattr(event, "flow_style", None),
    )


def signatures(entries: Sequence[Entry]) -> list[Signature]:
    """Return what must stay the same of entries that are not edited."""
    return [(*entry.key.signature(), *entry.value.signature()) for entry in entries]
