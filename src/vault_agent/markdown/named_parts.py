"""The parts of a note that the fragment of a link names: sections and blocks."""

from __future__ import annotations

import re

from vault_agent.markdown.headings import Headings, KnownHeading, anchor_key
from vault_agent.markdown.sanitise import ID_PREFIX
from vault_agent.markdown.tree import Node, plain

_MAX_ID = 120
_PAGE = re.compile(r"(?:.*&)?(page=[0-9]{1,7})(?:&.*)?")


def heading_id(text: str) -> str:
    """Return the ID of the element of a heading."""
    return f"{ID_PREFIX}h-{'-'.join(anchor_key(text).split())[:_MAX_ID]}"


def block_id(name: str) -> str:
    """Return the ID of the element of a block."""
    return f"{ID_PREFIX}b-{name.lower()[:_MAX_ID]}"


def name_of(heading: Node) -> str:
    """Return the text by which links name a heading: both parts of its links, and its ID."""
    return f"{plain(heading, as_shown=False)} {heading.block or ''}"


def part(root: Node, fragment: str) -> list[Node] | None:
    """Return the blocks of a section, or one block by its ID."""
    if fragment.startswith("^"):
        return _block(root, fragment[1:].lower())
    blocks = root.children
    places = [place for place, block in enumerate(blocks) if block.kind == "heading"]
    nodes = (blocks[place] for place in places)
    headings = [KnownHeading(node.value, anchor_key(name_of(node))) for node in nodes]
    indices = Headings(headings).find(fragment.split("#"), strict=True)
    if not indices:
        return None
    start, level = places[indices[0]], headings[indices[0]].level
    following = (place for place in places if place > start and blocks[place].value <= level)
    return blocks[start : next(following, len(blocks))]


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


def place_in_file(fragment: str | None) -> str:
    """Return the fragment of an address that opens a PDF at a page, "" for any other fragment."""
    match = _PAGE.fullmatch(fragment or "")
    return f"#{match[1]}" if match else ""
