"""Find the canvases that name files which move. They are JSON, and are never changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from vault_agent.markdown.parse import parse_note
from vault_agent.vault.read import read_bytes
from vault_agent.vault.skipped import Skipped
from vault_agent.writing.relinking import changes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vault_agent.store.index.relinking import LinkReader
    from vault_agent.vault.root import VaultRoot
    from vault_agent.writing.affected import Known

MAX_CANVASES = 1_000
"""Canvases that are read for one move."""
_MAX_BYTES = 4 << 20


def canvases_with_links(root: VaultRoot, reader: LinkReader, known: Known) -> list[str]:
    """Return the paths of the canvases with a card or a link that would lead elsewhere."""
    paths = reader.attachments_ending(".canvas")[:MAX_CANVASES]
    return [path for path in paths if _is_affected(root, path, known)]


def _is_affected(root: VaultRoot, path: str, known: Known) -> bool:
    try:
        content = read_bytes(root, path, _MAX_BYTES)
        canvas = orjson.loads(content.data)
    except (Skipped, orjson.JSONDecodeError):
        return False
    for node in _nodes(canvas):
        file, text = node.get("file"), node.get("text")
        if isinstance(file, str) and file in known.change.moved:
            return True
        if isinstance(text, str):
            links = parse_note(text, path=path).links
            if any(changes(path, links, known.read_for({path: links}))):
                return True
    return False


def _nodes(canvas: object) -> Iterator[dict[str, object]]:
    nodes = canvas.get("nodes") if isinstance(canvas, dict) else None
    for node in nodes if isinstance(nodes, list) else ():
        if isinstance(node, dict):
            yield node
