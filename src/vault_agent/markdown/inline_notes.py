"""Footnotes that are written where they are referred to: `^[the text]`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vault_agent.markdown.tree import Node

_BRACKETS = re.compile(r"\ufdd3.|\^?\[|\]", re.DOTALL)
"""U+FDD3 stands before a character that was written with a backslash."""


class _Place(NamedTuple):
    child: int
    start: int  # in its text
    end: int


def lift(children: Sequence[Node], note: Callable[[list[Node]], Node]) -> list[Node] | None:
    """Return the spans with a reference for each footnote in them, or None if there is none.

    `note` takes what is in the brackets and returns the reference. Brackets may be nested, and a
    footnote within another one stays as it is written. Linear.
    """
    found = _outermost(children)
    if not found:
        return None
    out: list[Node] = []
    at, offset = 0, 0

    def until(child: int, end: int) -> list[Node]:
        """Take the spans up to a place."""
        nonlocal at, offset
        taken: list[Node] = []
        while at < child:
            taken.append(_cut(children[at], offset, None))
            at, offset = at + 1, 0
        if end > offset:
            taken.append(_cut(children[at], offset, end))
            offset = end
        return [each for each in taken if each.kind != "text" or each.value]

    for opening, closing in found:
        out += until(opening.child, opening.start)
        offset = opening.end
        out.append(note(until(closing.child, closing.start)))
        offset = closing.end
    return out + until(len(children), 0)


def _outermost(children: Sequence[Node]) -> list[tuple[_Place, _Place]]:
    """Return where footnotes begin and end, those that are in no other."""
    waiting: list[_Place] = []
    found: list[tuple[_Place, _Place]] = []
    for number, child in enumerate(children):
        if child.line:  # a block
            waiting.clear()
        if child.kind != "text":
            continue
        for match in _BRACKETS.finditer(child.value):
            place = _Place(number, match.start(), match.end())
            if match[0] in {"[", "^["}:
                waiting.append(place)
            elif match[0] == "]" and waiting:
                opening = waiting.pop()
                is_note = opening.end - opening.start == len("^[")
                if is_note and (opening.child, opening.end) != place[:2]:  # not empty
                    while found and found[-1][0] > opening:
                        found.pop()
                    found.append((opening, place))
    return found


def _cut(node: Node, start: int, end: int | None) -> Node:
    if node.kind != "text" or (start == 0 and end is None):
        return node
    return type(node)("text", node.line, node.value[start:end])
