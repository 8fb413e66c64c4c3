"""The text of a canvas of Obsidian: its cards, the names of its groups, and labels of lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from vault_agent.extract.parts import MAX_LABEL, Collected, Unreadable

if TYPE_CHECKING:
    from vault_agent.extract.parts import Extracted


def read_canvas(data: bytes) -> Extracted:
    """Return the text of a canvas, one part for each card.

    Raises:
        Unreadable: if it is not a canvas.
    """
    try:
        canvas = orjson.loads(data.removeprefix(b"\xef\xbb\xbf") or b"{}")
    except orjson.JSONDecodeError:
        raise Unreadable("damaged") from None
    if not isinstance(canvas, dict):
        raise Unreadable("damaged")
    found = Collected()
    for node in _objects(canvas.get("nodes")):
        text = "\n".join(_texts(node, ("text", "label", "file", "url")))
        first = text.strip().partition("\n")[0].strip("#*_- \t")[:MAX_LABEL]
        found.add(first or None, text)
        if found.is_full:
            break
    edges = _objects(canvas.get("edges"))
    labels = "\n".join(text for edge in edges for text in _texts(edge, ("label",)))
    found.add(None, labels)
    return found.extracted()


def _objects(value: Any) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _texts(node: dict[str, Any], names: tuple[str, ...]) -> list[str]:
    return [text for name in names if isinstance(text := node.get(name), str) and text]
