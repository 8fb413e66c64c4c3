"""Parse one note's text to everything that the index keeps of it."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from vault_agent.model.note_types import type_of_folder
from vault_agent.model.notes import ParsedNote
from vault_agent.model.warning import Warning
from vault_agent.text.names import keys_of, shown_name, stem

from . import frontmatter, links, tags
from .anchors import MAX_ANCHORS, anchors
from .chunk import MAX_CHUNKS, chunk_body
from .frontmatter import text_of, texts_of
from .places import Places
from .properties import MAX_PROPERTIES, properties
from .structure import scan, with_line_ends
from .tasks import MAX_TASKS, tasks

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .scalars import Value
    from .structure import Structure

MAX_TITLE_CHARS = 500
MAX_ID_CHARACTERS = 200
MAX_ALIASES = 200
MAX_TAGS = 1_000
MAX_TYPES = 20
MAX_TYPE_CHARS = 100
_CODES = {
    "links": "LINKS_TRUNCATED",
    "external links": "LINKS_TRUNCATED",
    "tags": "TAGS_TRUNCATED",
}
_NOT_TEXT = re.compile("[\0\ud800-\udfff]")

_Item = TypeVar("_Item")


def parse_note(text: str, *, path: str, origin: int | None = 0) -> ParsedNote:
    """Parse a decoded file. `path` is vault-relative; its file name is the fallback title.

    `origin` is the number of bytes before the text in the file (a byte order mark). It is None if
    the file is not UTF-8. Then no place has a range of bytes.

    Never raises. Invalid frontmatter causes a warning (`FRONTMATTER_PARSE_FAILED`), and the body is
    parsed anyway. Items over a limit are dropped with a warning (`LINKS_TRUNCATED`,
    `TAGS_TRUNCATED`, `NOTE_TRUNCATED`). NUL and lone surrogates become U+FFFD, because they cannot
    be stored or encoded. The time is linear in the text's length.
    """
    stored = _storable(text)
    if stored is not text:
        text, origin = stored, None
    front = frontmatter.read(text)
    head, body = text[: front.end], text[front.end :]
    first_line = 1 + _line_ends(head)
    source = with_line_ends(body)
    structure = scan(source)
    limits = _Limits(path)
    chunks = limits.first(chunk_body(body, source, structure, first_line), MAX_CHUNKS, "chunks")
    places = Places(source, None if origin is None else origin + len(head.encode()), chunks)
    masked = links.mask(source, structure.opaque)
    found = links.body_links(source, masked, structure, first_line)
    head_links = list(links.frontmatter_links(front, Places(head, origin), head))
    found_anchors, anchor_count = anchors(source, masked, structure, first_line)
    link_count = len(head_links) + found.link_count
    values = front.values
    inline = _inline_tags(masked, structure, found.ranges)
    return ParsedNote(
        title=_title(values, structure, path),
        aliases=limits.first(_aliases(values), MAX_ALIASES, "aliases"),
        tags=limits.first(
            tags.distinct([*tags.frontmatter_tags(values), *inline]), MAX_TAGS, "tags"
        ),
        date=_cut(text_of(values, "date")),
        created=_cut(text_of(values, "created")),
        updated=_cut(text_of(values, "updated")),
        types=_types(values),
        chunks=chunks,
        links=limits.first(
            [*head_links, *(links.placed(link, places) for link in found.links)],
            links.MAX_LINKS,
            "links",
            link_count,
        ),
        external_links=limits.first(
            [links.placed_external(link, places) for link in found.external],
            links.MAX_LINKS,
            "external links",
            found.external_count,
        ),
        anchors=limits.first(found_anchors, MAX_ANCHORS, "anchors", anchor_count),
        properties=limits.first(properties(values), MAX_PROPERTIES, "properties"),
        tasks=limits.first(tasks(source, masked, places, first_line), MAX_TASKS, "tasks"),
        warnings=(*_warnings(front.problem, path), *limits.warnings),
    )


class _Limits:
    """Limits the items of a note, with a warning for each limit that it exceeds."""

    def __init__(self, path: str) -> None:
        self._path = path
        self.warnings: list[Warning] = []

    def first(
        self, items: Iterable[_Item], limit: int, part: str, found: int = 0
    ) -> tuple[_Item, ...]:
        """Return at most `limit` items. `found` is their number if more exist than are given."""
        if isinstance(items, (list, tuple)) and max(len(items), found) <= limit:
            return tuple(items)
        remaining = iter(items)
        kept = tuple(islice(remaining, limit))
        if len(kept) == limit:
            found = max(found, len(kept) + sum(1 for _ in remaining))
        if found > len(kept):
            self.warnings.append(
                Warning(
                    _CODES.get(part, "NOTE_TRUNCATED"),
                    f"A note has more {part} than the index keeps: the first {len(kept)} are kept.",
                    {"path": self._path, "part": part, "kept": len(kept), "found": found},
                )
            )
        return kept


def _storable(text: str) -> str:
    if text.isascii():
        return text.replace("\0", "\ufffd") if "\0" in text else text
    try:
        text.encode()
    except UnicodeEncodeError:
        return _NOT_TEXT.sub("\ufffd", text)
    return text.replace("\0", "\ufffd") if "\0" in text else text


def _line_ends(text: str) -> int:
    return text.count("\n") + text.count("\r") - text.count("\r\n")


def _title(values: Mapping[str, Value], structure: Structure, path: str) -> str:
    title = text_of(values, "title")
    if title is None:
        firsts = (heading.text for heading in structure.headings if heading.level == 1)
        title = next(filter(None, firsts), None)
    return title[:MAX_TITLE_CHARS] if title else stem(path)


def with_keys(note: ParsedNote, path: str) -> ParsedNote:
    """Return a note of a vault with types: with its folder's type, and the keys of links to it."""
    types = note.types or (type_of_folder(path),)
    identifier = next((each.value for each in note.properties if each.name == "id"), "")
    known = identifier if 0 < len(identifier) <= MAX_ID_CHARACTERS else None
    return replace(note, types=types, keys=keys_of(path, types[0], known))


def _aliases(values: Mapping[str, Value]) -> tuple[str, ...]:
    """Return the aliases of a list or a comma-separated string, without duplicates."""
    found: dict[str, None] = {}
    for key in ("aliases", "alias"):
        value = values.get(key)
        parts = value.split(",") if isinstance(value, str) else texts_of(value)
        for part in parts:
            alias = " ".join(part.split())[:MAX_TITLE_CHARS]
            if alias:
                found.setdefault(alias)
    return tuple(found)


def _types(values: Mapping[str, Value]) -> tuple[str, ...]:
    """Return the note's types. A wikilink counts as the name it shows."""
    found = (" ".join(shown_name(text).split()) for text in texts_of(values.get("type")))
    return tuple(dict.fromkeys(text[:MAX_TYPE_CHARS] for text in found if text))[:MAX_TYPES]


def _cut(text: str | None) -> str | None:
    return text[:MAX_TITLE_CHARS] if text else None


def _warnings(problem: str | None, path: str) -> tuple[Warning, ...]:
    if problem is None:
        return ()
    message = f"The frontmatter was not read, or only in part: {problem}. The body is indexed."
    return (Warning("FRONTMATTER_PARSE_FAILED", message, {"path": path, "reason": problem}),)


def _inline_tags(masked: str, structure: Structure, ranges: list[tuple[int, int]]) -> Iterable[str]:
    """Return the body's inline tags. `ranges` are those of its wikilinks."""
    if not tags.may_have_tags(masked):
        return ()
    # A "#" in a wikilink or a destination starts a fragment.
    ranges = [*ranges, *((link.tail, link.end) for link in structure.links)]
    return tags.inline_tags(links.mask(masked, sorted(ranges)))
