"""Where to change the YAML of a frontmatter block to set or delete one of its keys."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .edit import Change
from .yaml_lists import edited_list
from .yaml_values import written

if TYPE_CHECKING:
    from .yaml_block import Block, Entry
    from .yaml_values import Json


_EMPTY_LINES = re.compile("(?:[ \t]*(?:\r\n|[\n\r]))*")


def deletion(block: Block, entry: Entry, *, minimal: bool) -> Change:
    """Return the change that deletes the lines of a key and its value.

    If not `minimal`, the empty lines after them go, too: a text before the key that keeps its empty
    lines (`|+`) would take them.

    Raises:
        Conflict: `FRONTMATTER_INVALID` if they cannot be edited.
    """
    _refuse_anchors(block, entry)
    end = max(block.colon(entry), block.content_end(entry.value))
    start = block.line_start(entry.key_start)
    # What keeps its empty lines ends at the start of a line.
    end = end if block.line_start(end) == end else block.next_line(end)
    empty = None if minimal else _EMPTY_LINES.match(block.text, end)
    return Change(start, empty.end() if empty else end, "")


def setting(
    block: Block, entry: Entry, value: Json, line_end: str, *, minimal: bool
) -> list[Change]:
    """Return the changes that give a key another value.

    Of a list only the items that differ change if `minimal`; otherwise it is written as a whole.

    Raises:
        Conflict: `FRONTMATTER_INVALID` if the old value cannot be edited.
    """
    node = entry.value
    _refuse_anchors(block, entry)
    colon = block.colon(entry)
    if minimal and node.is_list and isinstance(value, list) and value and node.children:
        changes = edited_list(block, node, value, line_end)
        if changes is not None:
            return changes
    quote = node.style if node.style in ("'", '"') else None
    text = written(value, quote=quote)
    if node.in_lines:
        if node.tag is not None or node.start < block.line_end(colon):
            block.refuse("This value is written in a way that cannot be edited", node.start)
        return [
            *_inserted(block, colon, text),
            Change(block.line_end(colon), block.line_end(block.content_end(node)), ""),
        ]
    if node.start == node.end:
        return _inserted(block, colon, text)
    if node.style in ("|", ">"):
        return _instead_of_lines(block, node.start, block.content_end(node), text)
    return [Change(node.start, node.end, text)]


def _inserted(block: Block, colon: int, text: str) -> list[Change]:
    """Return the change that puts a value behind a colon, before a comment."""
    if not text:
        return []
    rest = block.text[colon : block.line_end(colon)]
    if rest and not rest.strip(" \t"):
        return [Change(colon + 1, colon + 1, text)]
    return [Change(colon, colon, f" {text}")]


def _instead_of_lines(block: Block, start: int, end: int, text: str) -> list[Change]:
    """Return the changes that put a value in place of a block of text, and keep its comment."""
    header_end = block.line_end(start)
    header = block.text[start:header_end]
    end = max(header_end, end)
    if block.line_start(end) == end > header_end:
        end -= len(block.text[header_end:end]) - len(block.text[header_end:end].rstrip("\r\n"))
    indicator = len(header.split("#", 1)[0].rstrip(" \t"))
    return [Change(start, start + indicator, text), Change(header_end, end, "")]


def _refuse_anchors(block: Block, entry: Entry) -> None:
    for node in (entry.key, *entry.value.nodes()):
        if node.has_anchor and not (node is entry.value and node.is_alias):
            block.refuse("This value has an anchor or an alias", node.start)
