"""Parse one note's text to everything that the index keeps of it."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING, TypeVar

from vault_agent.markdown import links, tags
from vault_agent.markdown.chunk import MAX_CHUNKS, chunk_parts
from vault_agent.markdown.document import BLOCK_ID, Document
from vault_agent.markdown.frontmatter import text_of, texts_of
from vault_agent.markdown.headings import anchor_key, key_of
from vault_agent.markdown.tasks import MAX_TEXT_CHARS
from vault_agent.markdown.yaml_values import Scalar, type_of
from vault_agent.model.note_types import type_of_folder
from vault_agent.model.notes import Anchor, ParsedNote, Property, PropertyType, Task
from vault_agent.model.warning import Warning
from vault_agent.text.names import keys_of, shown_name, stem
from vault_agent.text.placeholders import is_placeholder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from vault_agent.markdown.structure import Structure
    from vault_agent.markdown.yaml_values import Value
    from vault_agent.model.notes import Chunk

MAX_ANCHORS = 10_000
MAX_TASKS = 10_000
MAX_TITLE_CHARS = 500
MAX_ID_CHARACTERS = 200
MAX_ALIASES = 200
MAX_TAGS = 1_000
MAX_TYPES = 20
MAX_TYPE_CHARS = 100
_HTML_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_NOT_TEXT = re.compile("[\0\ud800-\udfff]")

_Item = TypeVar("_Item")


def parse_note(text: str, *, path: str) -> ParsedNote:
    """Parse a decoded file. `path` is vault-relative; its file name is the fallback title.

    Never raises. Invalid frontmatter causes a warning (`FRONTMATTER_PARSE_FAILED`), and the body is
    parsed anyway. Items over a limit are dropped with the warning `NOTE_TRUNCATED`. NUL and lone
    surrogates become U+FFFD, because they cannot be stored or encoded. The time is linear in the
    text's length.
    """
    return parse_document(document_of(text), path=path)


def document_of(text: str) -> Document:
    """Return the document of a decoded file, with only what can be stored. See `parse_note`."""
    return Document(_storable(text))


def parse_document(document: Document, *, path: str) -> ParsedNote:
    """Parse a document from `document_of`, as `parse_note` does."""
    limits = _Limits(path)
    chunks = limits.first(document.chunks, MAX_CHUNKS, "chunks")
    front, body_links = document.front, document.body_links
    values = front.values
    head_links = len(document.links) - len(body_links.links)
    inline = (tag.name for tag in document.tags)
    anchors, lines, body = _anchors(document), document.lines, document.body
    return ParsedNote(
        title=_title(values, document.structure, path),
        aliases=limits.first(_aliases(values), MAX_ALIASES, "aliases"),
        tags=limits.first(
            tags.distinct([*tags.frontmatter_tags(values), *inline]), MAX_TAGS, "tags"
        ),
        date=text_of(values, "date"),
        created=text_of(values, "created"),
        updated=text_of(values, "updated"),
        types=_types(values),
        chunks=chunks,
        links=limits.first(
            document.links, links.MAX_LINKS, "links", head_links + body_links.link_count
        ),
        external_links=limits.first(
            document.web_links, links.MAX_LINKS, "external links", body_links.external_count
        ),
        anchors=limits.first(
            [
                Anchor(level, key, lines.line(body + start))
                for start, level, key in anchors[:MAX_ANCHORS]
            ],
            MAX_ANCHORS,
            "anchors",
            len(anchors),
        ),
        properties=limits.first([*properties(values)], MAX_PROPERTIES, "properties"),
        tasks=limits.first(_tasks(document), MAX_TASKS, "tasks", len(document.tasks)),
        shown_texts=_shown(document, chunks),
        beside=document.shown[1],
        warnings=(*_warnings(front.problem, path), *limits.warnings),
    )


def beside_links(document: Document) -> tuple[object, ...]:
    """Return what stays the same in a note if nothing but the targets of its links changes."""
    values = document.front.values
    inline = (tag.name for tag in document.tags)
    line = document.lines.line
    return (
        _aliases(values),
        tags.distinct([*tags.frontmatter_tags(values), *inline]),
        [(link.url, link.line) for link in document.web_links],
        [(level, line(document.body + start)) for start, level, _ in _anchors(document)],
        [entry.name for entry in properties(values)],
        [(document.text[task.symbol], task.line) for task in document.tasks],
    )


def parse_attachment(parts: Iterable[tuple[str | None, str]], *, path: str) -> ParsedNote:
    """Return what the index keeps of an attachment's text: chunks under its name, nothing else.

    `parts` are its pages or other parts, each with its label and its text. None may be blank.
    """
    texts = ((label and _storable(label), _storable(text)) for label, text in parts)
    return ParsedNote(title=stem(path), chunks=chunk_parts(texts))


def _shown(document: Document, chunks: Sequence[Chunk]) -> tuple[str, ...]:
    """Return what a reader sees of each chunk."""
    body = document.shown[0]
    ends = [*accumulate(len(chunk.text) for chunk in chunks)]
    starts = [0, *ends]
    return tuple(
        [body[start:end].replace(links.MASK, "") for start, end in zip(starts, ends, strict=False)]
    )


def _anchors(document: Document) -> list[tuple[int, int, str]]:
    """Return the headings and blocks that a fragment can name in order: offset, level and key."""
    anchors = [
        (heading.start, heading.level, key)
        for heading in document.structure.headings
        if (key := key_of(document.source, heading))
    ]
    if "^" in document.masked:
        blocks = BLOCK_ID.finditer(document.masked)
        anchors += ((match.start(), 0, anchor_key(match[1])) for match in blocks)
        anchors.sort()
    return anchors


def _tasks(document: Document) -> list[Task]:
    """Return the first tasks in the order they are written."""
    text, body = document.text, document.body
    return [
        Task(
            text[task.symbol],
            text[task.rest : task.end].strip()[:MAX_TEXT_CHARS],
            task.line,
            document.chunk_at(task.box - body),
        )
        for task in document.tasks[:MAX_TASKS]
    ]


class _Limits:
    """Limits the items of a note, with a warning for each limit that it exceeds."""

    def __init__(self, path: str) -> None:
        self._path = path
        self.warnings: list[Warning] = []

    def first(
        self, items: Sequence[_Item], limit: int, part: str, count: int = 0
    ) -> tuple[_Item, ...]:
        """Return at most `limit` items. `count` is their number if more exist than are given."""
        kept = tuple(items[:limit])
        count = max(count, len(items))
        if count > len(kept):
            self.warnings.append(
                Warning(
                    "NOTE_TRUNCATED",
                    f"A note has more {part} than the index keeps: the first {len(kept)} are kept.",
                    {"path": self._path, "part": part, "kept": len(kept), "found": count},
                )
            )
        return kept


def _storable(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return _NOT_TEXT.sub("\ufffd", text)
    return text.replace("\0", "\ufffd")


def _title(values: Mapping[str, Value], structure: Structure, path: str) -> str:
    title = text_of(values, "title") or _first_heading(structure)
    if title is None or is_placeholder(title):
        title = stem(path)
    return title[:MAX_TITLE_CHARS] or stem(path)


def _first_heading(structure: Structure) -> str | None:
    """Return the text of a level-1 heading if only comments stand before it."""
    if not structure.headings or structure.headings[0].level != 1:
        return None
    first = structure.headings[0]
    before = structure.parsed[: first.start]
    for start, end in reversed(structure.comments):
        before = before[:start] + before[end:]
    return None if _HTML_COMMENT.sub("", before).strip() else first.text or None


def with_keys(note: ParsedNote, path: str) -> ParsedNote:
    """Return a note of a vault with types: with its folder's type, and the keys of links to it."""
    types = note.types or (type_of_folder(path),)
    identifier = next((entry.value for entry in note.properties if entry.name == "id"), "")
    own_id = identifier if 0 < len(identifier) <= MAX_ID_CHARACTERS else None
    return replace(note, types=types, keys=keys_of(path, types[0], own_id))


def _aliases(values: Mapping[str, Value]) -> tuple[str, ...]:
    """Return the aliases of a list or a comma-separated string, without duplicates."""
    aliases: dict[str, None] = {}
    for key in ("aliases", "alias"):
        value = values.get(key)
        parts = value.split(",") if isinstance(value, str) else texts_of(value)
        for part in parts:
            alias = " ".join(part.split())[:MAX_TITLE_CHARS]
            if alias:
                aliases.setdefault(alias)
    return tuple(aliases)


def _types(values: Mapping[str, Value]) -> tuple[str, ...]:
    """Return the note's types. A wikilink counts as the name it shows."""
    names = (" ".join(shown_name(text).split()) for text in texts_of(values.get("type")))
    return tuple(dict.fromkeys(text[:MAX_TYPE_CHARS] for text in names if text))[:MAX_TYPES]


def _warnings(problem: str | None, path: str) -> tuple[Warning, ...]:
    if problem is None:
        return ()
    message = f"The frontmatter was not read, or only in part: {problem}. The body is indexed."
    return (Warning("FRONTMATTER_PARSE_FAILED", message, {"path": path, "reason": problem}),)


MAX_PROPERTIES = 1_000
MAX_NAME_CHARS = 200
MAX_VALUE_CHARS = 500


def properties(values: Mapping[str, Value]) -> Iterator[Property]:
    """Yield the values of the frontmatter in the order they are written.

    A list yields one property for each value. A mapping yields one for each key, named
    `outer.inner`.
    """
    waiting = [*values.items()][::-1]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, Scalar):
            text = " ".join(value.split())[:MAX_VALUE_CHARS]
            yield Property(name[:MAX_NAME_CHARS], type_of(text, plain=value.plain), text)
        elif isinstance(value, list):
            waiting.extend((name, item) for item in reversed(value))
        elif isinstance(value, dict):
            waiting.extend(
                (f"{name}.{key.lower()}"[:MAX_NAME_CHARS], item)
                for key, item in reversed(value.items())
            )
        elif value is None:
            yield Property(name[:MAX_NAME_CHARS], PropertyType.EMPTY, "")
