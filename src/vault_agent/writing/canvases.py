"""Rewrite the paths and links of canvases when files move or a heading gets another text.

Bases are only named.

A canvas is JSON. Only the bytes of a path or of a link's target change, and the result is proven:
it is parsed again, and is the same but for these strings.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import orjson

from vault_agent.errors import Conflict
from vault_agent.markdown.edit import Splice, spliced
from vault_agent.markdown.json_strings import decoded, encoded, strings
from vault_agent.markdown.parse import parse_note
from vault_agent.text.names import is_note
from vault_agent.vault.read import read_bytes
from vault_agent.vault.skipped import Skipped
from vault_agent.writing.relinking import not_expressible, note_links, rewritten

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from vault_agent.markdown.heading_links import RenamedHeading
    from vault_agent.markdown.json_strings import JsonString
    from vault_agent.store.index.relinking import LinkReader
    from vault_agent.vault.root import VaultRoot
    from vault_agent.writing.affected import Known

MAX_CANVASES = 1_000
"""Canvases that are read for one move, and bases. Others are named as if they needed a change."""
_MAX_BYTES = 4 << 20
_PATHS = frozenset({"file", "background"})
"""The keys of a node whose value is a path of the vault."""
_KEYS = _PATHS | {"subpath", "text"}


@dataclass(frozen=True, slots=True)
class CanvasEdit:
    """A canvas with paths or links that would lead elsewhere, and the edit that mends them."""

    path: str
    content: bytes
    splices: tuple[Splice, ...] = ()
    """Empty if no edit is possible."""


class Cards(Protocol):
    """What becomes of the cards of a canvas. `path` is that of the canvas before the change."""

    def value(self, node: Mapping[str, object], key: str, value: str) -> str:
        """Return what becomes of a value other than `text`."""

    def text(self, path: str, text: str) -> tuple[Splice, ...]:
        """Return the splices of a card's text, which has the links of a note at that path."""


class MovedCards:
    """Cards lead to files where they are after a change of paths."""

    def __init__(self, known: Known) -> None:
        self._known = known

    def value(self, _: Mapping[str, object], key: str, value: str) -> str:
        """Return where a file is."""
        return self._known.change.moved.get(value, value) if key in _PATHS else value

    def text(self, path: str, text: str) -> tuple[Splice, ...]:
        """Return the splices of links that would lead elsewhere."""
        note = text.encode()
        parsed = note_links(note, path)
        if not parsed.links:
            return ()
        names = self._known.read_for({path: parsed.links})
        return rewritten(note, path, names, parsed).splices


class RenamedCards:
    """Cards name the headings of the note at a path by the texts that they have now."""

    def __init__(self, path: str, renamed: RenamedHeading, known: Known) -> None:
        self._path = path
        self._renamed = renamed
        self._known = known

    def value(self, node: Mapping[str, object], key: str, value: str) -> str:
        """Return the part of the note that a card shows: it is written like that of a link."""
        if key != "subpath" or node.get("file") != self._path:
            return value
        link = f"[[a{value}]]"
        links = parse_note(link, path=self._path).links
        after = spliced(link.encode(), self._renamed.splices(link.encode(), links)).decode()
        return after.removeprefix("[[a").removesuffix("]]")

    def text(self, path: str, text: str) -> tuple[Splice, ...]:
        """Return the splices of links to the heading."""
        links = parse_note(text, path=path).links
        if not any(link.fragment for link in links):
            return ()
        names = self._known.read_for({path: links})
        there = [link for link in links if names.before(path, link).path == self._path]
        return self._renamed.splices(text.encode(), there)


def rewritten_canvases(root: VaultRoot, reader: LinkReader, cards: Cards) -> list[CanvasEdit]:
    """Return the canvases with a card or a link that would lead elsewhere, or that are not read."""
    paths = reader.attachments_ending(".canvas")
    edits = []
    for path in paths[:MAX_CANVASES]:
        content = _read(root, path)
        if content is None:
            edits.append(CanvasEdit(path, b""))
            continue
        try:
            splices = rewritten_canvas(content, path, cards)
        except Conflict:
            edits.append(CanvasEdit(path, content))
        else:
            if splices:
                edits.append(CanvasEdit(path, content, splices))
    return edits + [CanvasEdit(path, b"") for path in paths[MAX_CANVASES:]]


def rewritten_canvas(content: bytes, path: str, cards: Cards) -> tuple[Splice, ...]:
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
        _, number, key = string.place
        value = decoded(content, string) if key in _KEYS else None
        if value is None:
            continue
        if key == "text":
            edits = cards.text(path, value.text)
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
            after = cards.value(before["nodes"][number], str(key), value.text)
            made = [Splice(string.start, string.end, encoded(after, ascii_only=ascii_only))]
        if after != value.text:
            splices += made
            texts[string] = after
    if splices:
        _prove(path, before, spliced(content, splices), texts)
    return tuple(splices)


def _prove(path: str, before: object, content: bytes, texts: Mapping[JsonString, str]) -> None:
    for string, text in texts.items():
        inner = before
        for step in string.place[:-1]:
            inner = inner[step]  # type: ignore[index]
        inner[string.place[-1]] = text  # type: ignore[index]
    if orjson.loads(content) != before:  # such as a key that is there twice
        raise not_expressible(path, 1)


def bases_with_names(root: VaultRoot, reader: LinkReader, moved: Iterable[str]) -> list[str]:
    """Return the bases that name a file or folder of these by its path, or that are not read."""
    names = sorted({each for path in moved for each in (path, _without_suffix(path))})
    named = re.compile("|".join(rf"[\"'\[]{re.escape(name)}[\"'\]#|/]" for name in names))
    bases = reader.attachments_ending(".base")
    found = []
    for path in bases[:MAX_CANVASES]:
        content = _read(root, path)
        if content is None or named.search(content.decode("utf-8", "replace")):
            found.append(path)
    return found + bases[MAX_CANVASES:]


def _read(root: VaultRoot, path: str) -> bytes | None:
    """Return the bytes of a file, none if it is gone, or None if it cannot be read whole."""
    try:
        content = read_bytes(root, path, _MAX_BYTES)
    except Skipped as error:
        return b"" if error.warning.code == "FILE_VANISHED" else None
    return content.data if content.complete else None


def _without_suffix(path: str) -> str:
    return path[: path.rindex(".")] if is_note(path) else path
