"""One note's text to everything that the index keeps of it."""

from __future__ import annotations

import re
from operator import itemgetter
from typing import TYPE_CHECKING

from vault_agent.model.notes import ParsedNote
from vault_agent.model.warning import Warning
from vault_agent.text.names import stem

from . import frontmatter, links, tags
from .chunk import chunk_body
from .frontmatter import text_of, texts_of
from .structure import scan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vault_agent.model.notes import Link

    from .frontmatter import Value
    from .structure import Structure

MAX_TITLE_CHARS = 500
_LONE_CR = re.compile(r"\r(?!\n)")
_NOT_TEXT = re.compile("[\0\ud800-\udfff]")


def parse_note(text: str, *, path: str) -> ParsedNote:
    """Parse a decoded file; `path` is vault-relative and gives the title of last resort.

    Never raises, whatever the text. Frontmatter that cannot be read is a warning
    (`FRONTMATTER_PARSE_FAILED`), and the body is parsed all the same. NUL and lone surrogates,
    which no database or encoder takes, become U+FFFD. Time is linear in the text's length.
    """
    text = _storable(text)
    front = frontmatter.read(text)
    body = text[front.end :]
    first_line = 1 + _line_ends(text[: front.end])
    source = body
    if "\r" in body and body.count("\r") != body.count("\r\n"):
        source = _LONE_CR.sub("\n", body)
    structure = scan(source)
    note_links, inline_tags = _links_and_tags(source, structure, first_line)
    values = front.values
    return ParsedNote(
        title=_title(values, structure, path),
        aliases=_aliases(values),
        tags=tags.distinct([*tags.frontmatter_tags(values), *inline_tags]),
        date=_cut(text_of(values, "date")),
        created=_cut(text_of(values, "created")),
        updated=_cut(text_of(values, "updated")),
        type=_cut(text_of(values, "type")),
        headings=tuple(heading.text for heading in structure.headings if heading.text),
        chunks=chunk_body(body, source, structure, first_line),
        links=(*links.frontmatter_links(values), *note_links),
        warnings=_warnings(front.problem, path),
    )


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


def _aliases(values: Mapping[str, Value]) -> tuple[str, ...]:
    """Return the aliases: a list, or one string with commas; each spelling once."""
    found: dict[str, None] = {}
    for key in ("aliases", "alias"):
        value = values.get(key)
        parts = value.split(",") if isinstance(value, str) else texts_of(value)
        for part in parts:
            alias = " ".join(part.split())[:MAX_TITLE_CHARS]
            if alias:
                found.setdefault(alias)
    return tuple(found)


def _cut(text: str | None) -> str | None:
    return text[:MAX_TITLE_CHARS] if text else None


def _warnings(problem: str | None, path: str) -> tuple[Warning, ...]:
    if problem is None:
        return ()
    message = f"The frontmatter was not read, or only in part: {problem}. The body is indexed."
    return (Warning("FRONTMATTER_PARSE_FAILED", message, {"path": path, "reason": problem}),)


def _links_and_tags(
    source: str, structure: Structure, first_line: int
) -> tuple[list[Link], list[str]]:
    """Return the body's links in document order, and its inline tags."""
    text = links.mask(source, structure.opaque)
    found, spans = links.wikilinks(source, text, first_line)
    if structure.links:
        found += links.markdown_links(source, structure.links, spans, first_line)
        found.sort(key=itemgetter(0))
    if "#" not in text:
        return [link for _, link in found], []
    # A "#" within a wikilink or a destination begins a fragment.
    spans += ((link.tail, link.end) for link in structure.links)
    return [link for _, link in found], tags.inline_tags(links.mask(text, sorted(spans)))
