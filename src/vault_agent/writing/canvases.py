"""Rewrite the paths and links of canvases when files move. Bases are only named.

A canvas is JSON. Only the bytes of a path or of a link's target change, and the result is proven:
it is parsed again, and is the same but for these strings.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import orjson

from vault_agent.errors import Conflict
from vault_agent.markdown.edit import Splice, spliced
from vault_agent.markdown.json_strings import decoded, encoded, strings
from vault_agent.markdown.parse import parse_note
from vault_agent.text.names import is_note
from vault_agent.vault.read import read_bytes
from vault_agent.vault.skipped import Skipped
from vault_agent.writing.relinking import not_expressible, rewritten

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from vault_agent.markdown.json_strings import JsonString
    from vault_agent.store.index.relinking import LinkReader
    from vault_agent.vault.root import VaultRoot
    from vault_agent.writing.affected import Known

MAX_CANVASES = 1_000
"""Canvases that are read for one move, and bases."""
_MAX_BYTES = 4 << 20
_PATHS = frozenset({"file", "background"})
"""The keys of a node whose value is a path of the vault."""


@dataclass(frozen=True, slots=True)
class CanvasEdit:
    """A canvas with paths or links that would lead elsewhere, and the edit that mends them."""

    path: str
    content: bytes
    splices: tuple[Splice, ...] = ()
    """Empty if no edit is possible."""


def canvases_with_links(root: VaultRoot, reader: LinkReader, known: Known) -> list[CanvasEdit]:
    """Return the canvases with a card or a link that would lead elsewhere."""
    found = []
    for path in reader.attachments_ending(".canvas")[:MAX_CANVASES]:
        try:
            content = read_bytes(root, path, _MAX_BYTES)
        except Skipped:
            continue
        if not content.complete:
            continue
        try:
            splices = rewritten_canvas(content.data, path, known)
        except Conflict:
            found.append(CanvasEdit(path, content.data))
        else:
            if splices:
                found.append(CanvasEdit(path, content.data, splices))
    return found


def rewritten_canvas(content: bytes, path: str, known: Known) -> tuple[Splice, ...]:
    """Return the splices after which a canvas leads where it did. `path` is that before the change.

    What is not JSON has none.

    Raises:
        Conflict: `LINK_NOT_EXPRESSIBLE` if it cannot be written so.
    """
    try:
        before = orjson.loads(content)
    except orjson.JSONDecodeError:
        return ()
    splices: list[Splice] = []
    texts: dict[JsonString, str] = {}
    ascii_only = content.isascii() and b"\\u" in content
    for string in strings(content):
        if len(string.place) != 3 or string.place[0] != "nodes":
            continue
        key = string.place[2]
        if key not in _PATHS and key != "text":
            continue
        value = decoded(content, string)
        if value is None:
            continue
        if key == "text":
            edits = _rewritten_text(value.text, path, known)
            made = [
                Splice(
                    value.starts[each.start],
                    value.starts[each.end],
                    encoded(each.text.decode(), ascii_only=ascii_only),
                )
                for each in edits
            ]
            after = spliced(value.text.encode(), edits).decode()
        else:
            after = known.change.moved.get(value.text, value.text)
            made = [Splice(string.start, string.end, encoded(after, ascii_only=ascii_only))]
        if after != value.text:
            splices += made
            texts[string] = after
    if splices:
        _prove(path, before, spliced(content, splices), texts)
    return tuple(splices)


def _rewritten_text(text: str, path: str, known: Known) -> tuple[Splice, ...]:
    """Return the splices of a card's text, which has the links of a note at the canvas's place."""
    parsed = parse_note(text, path=path)
    if not parsed.links:
        return ()
    names = known.read_for({path: parsed.links})
    return rewritten(text.encode(), path, names, parsed).splices


def _prove(path: str, before: object, content: bytes, texts: Mapping[JsonString, str]) -> None:
    for string, text in texts.items():
        inner = before
        for step in string.place[:-1]:
            inner = inner[step]  # type: ignore[index]
        inner[string.place[-1]] = text  # type: ignore[index]
    if orjson.loads(content) != before:  # such as a key that is there twice
        raise not_expressible(path, 1)


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
