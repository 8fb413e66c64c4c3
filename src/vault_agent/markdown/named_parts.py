"""The parts of a note that the fragment of a link names: sections and blocks."""

from __future__ import annotations

from .anchors import anchor_key
from .sanitise import ID_PREFIX
from .tree import Node, plain

_MAX_ID = 120


def heading_id(text: str) -> str:
    """Return the ID of the element of a heading."""
    return f"{ID_PREFIX}h-{'-'.join(anchor_key(text).split())[:_MAX_ID]}"


def block_id(name: str) -> str:
    """Return the ID of the element of a block."""
    return f"{ID_PREFIX}b-{name.lower()[:_MAX_ID]}"


def part(root: Node, fragment: str) -> list[Node] | None:
    """Return the blocks of a section, or one block by its ID."""
    if fragment.startswith("^"):
        return _block(root, fragment[1:].lower())
    blocks = root.children
    place, level = -1, 0
    for name in filter(None, map(anchor_key, fragment.split("#"))):
        for index in range(place + 1, len(blocks)):
            each = blocks[index]
            if each.kind != "heading":
                continue
            if level and each.value <= level:
                return None  # the section around it has ended
            if anchor_key(plain(each)) == name:
                place, level = index, each.value
                break
        else:
            return None
    if place < 0:
        return None
    end = place + 1
    while end < len(blocks) and not (blocks[end].kind == "heading" and blocks[end].value <= level):
        end += 1
    return blocks[place:end]


def _block(root: Node, name: str) -> list[Node] | None:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.block is not None and node.block.lower() == name:
            if node.kind == "item":
                return [Node("list", node.line, None, [node])]
            return [node]
        waiting.extend(reversed(node.children))
    return None


def anchor(fragment: str) -> str:
    """Return the ID of the element that a fragment means."""
    last = fragment.rpartition("#")[2].strip()
    return block_id(last[1:]) if last.startswith("^") else heading_id(last)
