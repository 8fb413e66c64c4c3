"""Find the canvases and bases that name files which move. They are no notes, and never changed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import orjson

from vault_agent.markdown.parse import parse_note
from vault_agent.text.names import is_note
from vault_agent.vault.read import read_bytes
from vault_agent.vault.skipped import Skipped
from vault_agent.writing.relinking import changes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from vault_agent.store.index.relinking import LinkReader
    from vault_agent.vault.root import VaultRoot
    from vault_agent.writing.affected import Known

MAX_CANVASES = 1_000
"""Canvases that are read for one move, and bases."""
_MAX_BYTES = 4 << 20


def canvases_with_links(root: VaultRoot, reader: LinkReader, known: Known) -> list[str]:
    """Return the paths of the canvases with a card or a link that would lead elsewhere."""
    paths = reader.attachments_ending(".canvas")[:MAX_CANVASES]
    return [path for path in paths if _is_affected(root, path, known)]


def bases_with_names(root: VaultRoot, reader: LinkReader, moved: Iterable[str]) -> list[str]:
    """Return the paths of the bases that name a file or folder of these, by its path."""
    names = sorted({each for path in moved for each in (path, _without_suffix(path))})
    named = re.compile("|".join(rf"[\"'\[]{re.escape(name)}[\"'\]#|/]" for name in names))
    bases = reader.attachments_ending(".base")[:MAX_CANVASES]
    return [path for path in bases if named.search(_text(root, path))]


def _text(root: VaultRoot, path: str) -> str:
    try:
        return read_bytes(root, path, _MAX_BYTES).data.decode("utf-8", "replace")
    except Skipped:
        return ""


def _without_suffix(path: str) -> str:
    return path[: path.rindex(".")] if is_note(path) else path


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
