"""Edits of the lists of frontmatter, item by item. The items that stay keep their bytes."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from vault_agent.markdown.edit import Change

from .values import identity
from .write import written

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .read import Block, Node
    from .values import Json

_MOST_COMPARED = 200
_DASH = re.compile(r"([ \t]*)-([ \t]*)\Z")


def edited_list(
    block: Block, node: Node, values: Sequence[Json], line_end: str
) -> list[Change] | None:
    """Return the changes that give a list other items, or None if it must be written as a whole."""
    steps = _steps([child.value() for child in node.children], values)
    quote = _quote(node)
    if not node.in_lines:
        return _in_brackets(block, node, steps, quote)
    return _in_lines(block, node, steps, quote, line_end)


def _steps(old: Sequence[Json], new: Sequence[Json]) -> list[int | list[Json]]:
    """Return the new list in order: each kept item by its index, each run of new ones as a list."""
    before, after = list(map(identity, old)), list(map(identity, new))
    start = 0
    while start < min(len(old), len(new)) and before[start] == after[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    middle, other = before[start : len(old) - end], after[start : len(new) - end]
    steps: list[int | list[Json]] = [*range(start)]
    done = 0
    if len(middle) <= _MOST_COMPARED and len(other) <= _MOST_COMPARED:
        blocks = SequenceMatcher(None, middle, other, autojunk=False).get_matching_blocks()
    else:
        blocks = []
    for first, second, length in [*blocks, (len(middle), len(other), 0)]:
        if second > done:
            steps.append([*new[start + done : start + second]])
        steps += range(start + first, start + first + length)
        done = second + length
    return [*steps, *range(len(old) - end, len(old))]


def _quote(node: Node) -> str | None:
    """Return the quotation mark of the items, if all have the same one."""
    styles = {child.style for child in node.children}
    style = styles.pop() if len(styles) == 1 else None
    return style if style in ("'", '"') else None


def _in_brackets(
    block: Block, node: Node, steps: Sequence[int | list[Json]], quote: str | None
) -> list[Change]:
    text, items = block.text, node.children
    first, last = items[0].start, items[-1].end
    between = ", "
    if len(items) > 1:
        found = text[items[0].end : items[1].start]
        between = found if found.strip(" ") == "," else between
    parts: list[str] = []
    kept = -2  # the index of the item before, if it was kept
    for step in steps:
        if isinstance(step, int):
            if parts:
                own = text[items[step - 1].end : items[step].start]
                parts.append(own if step == kept + 1 else between)
            parts.append(text[items[step].start : items[step].end])
            kept = step
        else:
            for value in step:
                parts += [between] * bool(parts)
                parts.append(written(value, quote=quote, flow=True))
            kept = -2
    return [_trimmed(text[first:last], "".join(parts), first)]


def _trimmed(old: str, new: str, offset: int) -> Change:
    """Return the change without what is the same at its start and its end."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    return Change(offset + start, offset + len(old) - end, new[start : len(new) - end])


def _in_lines(
    block: Block,
    node: Node,
    steps: Sequence[int | list[Json]],
    quote: str | None,
    line_end: str,
) -> list[Change] | None:
    spans: list[tuple[int, int]] = []  # the lines of each item
    prefix = ""
    for item in node.children:
        start = block.line_start(item.start)
        dash = _DASH.match(block.text[start : item.start])
        if dash is None:
            return None
        prefix = prefix or f"{dash[1]}-{dash[2] or ' '}"
        end = block.content_end(item)
        spans.append((start, end if block.line_start(end) == end else block.next_line(end)))
    kept = {step for step in steps if isinstance(step, int)}
    found = [Change(*span, "") for index, span in enumerate(spans) if index not in kept]
    at = spans[0][0]
    for step in steps:
        if isinstance(step, int):
            at = spans[step][1]
        else:
            items = (written(each, quote=quote) or "null" for each in step)
            lines = (f"{prefix}{item}{line_end}" for item in items)
            found.append(Change(at, at, "".join(lines)))
    return sorted(found)
