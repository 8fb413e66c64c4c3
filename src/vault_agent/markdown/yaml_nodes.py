"""The events of a YAML parser as values: what they say, and where they are written."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from .yaml_values import scalar_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .yaml_values import Json

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
ENDING: Sign = (END,)
"""The end of a list or mapping. There is only this one object."""


@dataclass(slots=True)
class Events:
    """The events of a block, and the offsets at which each of them starts and ends."""

    signs: list[Sign] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)


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
