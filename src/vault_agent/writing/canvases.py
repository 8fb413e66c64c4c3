"""Rewrite the paths in canvases when files move.

Links in text cards stay as they are, and so do bases: a reply names these canvases and bases.

A canvas is JSON. Only the bytes of a path change, and the result is proven: it is parsed again, and
must be the same except for the paths of its cards.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from vault_agent.markdown.edit import Splice, spliced
from vault_agent.markdown.parse import parse_note
from vault_agent.markdown.relink import without_suffix
from vault_agent.model.notes import Link, LinkKind
from vault_agent.store.index.links import LinkFrom
from vault_agent.vault.read import Skipped, read_bytes
from vault_agent.writing.relinking import NamedFiles, PathChange, find_stale_links

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from vault_agent.store.index.links import LinkReader
    from vault_agent.vault.root import VaultRoot

MAX_CANVASES = 1_000
"""The most canvases, and the most bases, that are read for one move. The others are named as if
they needed a change."""
_MAX_BYTES = 4 << 20
_PATH_KEYS = ("file", "background")
"""The keys of a card whose value is a path of the vault."""
_PATH = re.compile(rb'[{,]\s*"(?:file|background)"\s*:\s*"((?:[^"\\]|\\.)*)"', re.DOTALL)


@dataclass(frozen=True, slots=True)
class CanvasEdit:
    """A canvas with paths or links that would lead elsewhere, and an edit of the paths."""

    path: str
    content: bytes
    splices: tuple[Splice, ...] = ()
    is_complete: bool = False
    """Whether nothing in the canvas leads elsewhere after the edit."""


def rewrite_canvases(root: VaultRoot, reader: LinkReader, files: NamedFiles) -> list[CanvasEdit]:
    """Return the canvases with a card or a link that would lead elsewhere, or that are not read."""
    edits = []
    for path, content in _contents(root, reader, ".canvas"):
        if content is None:
            edits.append(CanvasEdit(path, b""))
            continue
        splices = rewrite_canvas(content, files.change.moved)
        is_stale = splices is None or _has_stale_text(content, path, files)
        if splices or is_stale:
            edits.append(CanvasEdit(path, content, splices or (), is_complete=not is_stale))
    return edits


def rewrite_canvas(content: bytes, moved: Mapping[str, str]) -> tuple[Splice, ...] | None:
    """Return the splices after which the cards of a canvas show the files at their new paths.

    Return None if that cannot be proven, and no splices for a text that is not JSON.
    """
    ascii_only = content.isascii() and b"\\u" in content
    splices = []
    for match in _PATH.finditer(content):
        path = json.loads(b'"%b"' % match[1], strict=False)
        if path in moved:
            to = json.dumps(moved[path], ensure_ascii=ascii_only)[1:-1]
            splices.append(Splice(*match.span(1), to.encode()))
    try:
        expected = orjson.loads(content)
        after = orjson.loads(spliced(content, splices))
    except orjson.JSONDecodeError:
        return ()
    for card in _cards(expected):
        for key in _PATH_KEYS:
            if isinstance(card.get(key), str):
                card[key] = moved.get(card[key], card[key])
    return tuple(splices) if after == expected else None


def links_to_parts(
    root: VaultRoot, reader: LinkReader, path: str
) -> tuple[list[LinkFrom], list[str]]:
    """Return the cards and links of canvases that lead to a part of the note at a path.

    Return also the paths of canvases that were not read.
    """
    files = NamedFiles(reader, PathChange())
    links_to_part: list[LinkFrom] = []
    unread: list[str] = []
    for canvas, content in _contents(root, reader, ".canvas"):
        if content is None:
            unread.append(canvas)
            continue
        for card in _cards_of(content):
            part = card.get("subpath")
            if card.get("file") == path and isinstance(part, str):
                link = Link(LinkKind.WIKILINK, path, part.removeprefix("#"))
                links_to_part.append(LinkFrom(canvas, link))
        links = [link for link in _links(content, canvas) if link.fragment]
        targets = files.read_for({canvas: links})
        links_to_part += [
            LinkFrom(canvas, link) for link in links if targets.before(canvas, link).path == path
        ]
    return links_to_part, sorted(unread)


def _has_stale_text(content: bytes, path: str, files: NamedFiles) -> bool:
    """Whether a link in a text card would lead elsewhere."""
    links = _links(content, path)
    targets = files.read_for({path: links})
    return any(find_stale_links(path, links, targets))


def _links(content: bytes, path: str) -> list[Link]:
    """Return the links of the text cards of a canvas."""
    texts = [card.get("text") for card in _cards_of(content)]
    return [
        link
        for text in texts
        if isinstance(text, str)
        for link in parse_note(text, path=path).links
    ]


def _cards_of(content: bytes) -> list[dict[str, Any]]:
    try:
        return _cards(orjson.loads(content))
    except orjson.JSONDecodeError:
        return []


def _cards(canvas: Any) -> list[dict[str, Any]]:
    """Return the nodes of a canvas, or none if the JSON has another form."""
    nodes = canvas.get("nodes") if isinstance(canvas, dict) else None
    return [node for node in nodes if isinstance(node, dict)] if isinstance(nodes, list) else []


def bases_with_names(root: VaultRoot, reader: LinkReader, moved: Iterable[str]) -> list[str]:
    """Return the bases that have the path of a moved file or folder, or that are not read."""
    names = sorted({name for path in moved for name in (path, without_suffix(path))})
    named = re.compile("|".join(rf"[\"'\[]{re.escape(name)}[\"'\]#|/]" for name in names))
    return [
        path
        for path, content in _contents(root, reader, ".base")
        if content is None or named.search(content.decode("utf-8", "replace"))
    ]


def _contents(
    root: VaultRoot, reader: LinkReader, suffix: str
) -> Iterator[tuple[str, bytes | None]]:
    """Yield the files of the index with a suffix, each with its bytes, or None if not read."""
    for number, path in enumerate(reader.attachments_ending(suffix)):
        yield path, _read(root, path) if number < MAX_CANVASES else None


def _read(root: VaultRoot, path: str) -> bytes | None:
    """Return the bytes of a file, b"" if it is gone, or None if it cannot be read whole."""
    try:
        content = read_bytes(root, path, _MAX_BYTES)
    except Skipped as error:
        return b"" if error.warning.code == "FILE_VANISHED" else None
    return content.data if content.complete else None
