"""The full-text schema of notes and chunks, and the normal form of filter values.

There are two tantivy indexes, so that the statistics of notes and chunks stay separate:

notes   one document a note: `body` (its whole text, its names and tags; in
        unspaced scripts single characters too), `repeated` (lines that many
        notes have: only phrases are looked for in it), `names` (title, aliases,
        file name), `name` (each of those whole, for exact matches)
chunks  one document a chunk: `text`, `context` (title and heading path), `name` (its heading whole)

Notes also have the fields of filters: `path`, `folder` (every folder above), `tag` (with its parent
tags), `type`, `property`, `day`. Chunks do not repeat them, since a note with many tags and many
chunks would take the product of both. A chunk passes a filter if its note does.
"""

from __future__ import annotations

import datetime
import re
from functools import lru_cache
from itertools import accumulate, chain, takewhile
from typing import TYPE_CHECKING, NamedTuple

from tantivy import SchemaBuilder

from vault_agent.text.names import fold, is_note, shown_name, stem
from vault_agent.text.terms import fold_text, index_terms, name_terms, splitter, units

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from tantivy import Schema

    from vault_agent.model.notes import FileEntry, ParsedNote

ANALYZER = "terms"
ATTACHMENT_TYPE = "\x1fattachment"
"""The type of attachments. No note has it and no filter names it, because types are stripped."""
_MAX_ANCESTOR = 4_096
_MAX_PROPERTY = 200
"""Characters of a property's value. A longer one is text, and no filter asks for it."""
_ISO_DATE = re.compile(r"\s*(\d{4})-(\d{1,2})-(\d{1,2})(?!\d)")
# 2022-07-09, 2022_07_09, 20220709, and identifiers that begin so: 202207091230
_NAMED_DATE = re.compile(
    r"(?<!\d)(?P<year>(?:19|20)\d\d)(?P<between>[-._]?)(?P<month>\d\d)(?P=between)(?P<day>\d\d)"
    r"(?:\d{4}|\d{6})?(?!\d)"
)
_DAY_NS = 24 * 60 * 60 * 10**9


def notes_schema() -> Schema:
    """Return the schema of the index of notes."""
    builder = SchemaBuilder()
    builder.add_unsigned_field("rowid", indexed=True, fast=True)
    for field in ("body", "names", "repeated"):
        builder.add_text_field(field, tokenizer_name=ANALYZER, index_option="position")
    for field in ("name", "path", "folder", "tag", "type", "property"):
        builder.add_text_field(field, tokenizer_name="raw", index_option="basic")
    builder.add_integer_field("day", indexed=True, fast=True)
    return builder.build()


def chunks_schema() -> Schema:
    """Return the schema of the index of chunks; `rowid` is the rowid of the note."""
    builder = SchemaBuilder()
    builder.add_unsigned_field("key", fast=True)
    builder.add_unsigned_field("rowid", indexed=True)
    for field in ("text", "context"):
        builder.add_text_field(field, tokenizer_name=ANALYZER, index_option="position")
    builder.add_text_field("name", tokenizer_name="raw", index_option="basic")
    return builder.build()


class FulltextNote(NamedTuple):
    """One note ready for the engine: terms and normalised filter values, as plain data.

    Each text is the terms of a field, separated by spaces.
    """

    names: str
    beside: str
    """What is only in `body`: tags, names that a reader does not see, and single characters of
    unspaced scripts."""
    repeated: str
    name: list[str]
    path: str
    folder: list[str]
    tag: list[str]
    type: list[str]
    property: list[str]
    day: int | None
    chunks: list[tuple[str, str, str]]
    """For each chunk: text, context, and `name_key` of its own heading."""


def to_fulltext(
    path: str,
    note: ParsedNote,
    repeated: Collection[str] = frozenset(),
    saved_on: int | None = None,
) -> FulltextNote:
    """Prepare a parsed note for the full text. The workers call this.

    `repeated` are lines that many notes have, such as footers and the labels of a template.
    `saved_on` is the `file_day` of its file.
    """
    names = list(dict.fromkeys((note.title, *note.aliases, stem(path))))
    comparable = comparable_path(path)
    tags = [f"#{tag}" for tag in note.tags]
    beside = [fold_text(value) for value in (*note.searched, *note.beside)]
    visible: Sequence[str] = note.shown_texts or [chunk.text for chunk in note.chunks]
    common: list[str] = []
    if repeated:
        visible = [_without_repeated(text, repeated, common) for text in visible]
    texts = [fold_text(text) for text in visible]
    types = list(dict.fromkeys(map(type_key, note.types)))
    day, _ = dated(path, note.date, note.created, note.updated)
    folded = (
        *(fold_text(name) for name in (*names, *tags) if not name.isascii()),
        *beside,
        *texts,
    )
    single = " ".join(chain.from_iterable(map(units, folded)))
    return FulltextNote(
        names=name_terms(*names),
        beside=" ".join((name_terms(*tags), *map(index_terms, (*beside, single)))),
        repeated=index_terms(fold_text("\n".join(common))),
        name=list(dict.fromkeys(filter(None, map(name_key, names)))),
        path=comparable,
        folder=_ancestors(comparable.rpartition("/")[0]),
        tag=list(dict.fromkeys(chain.from_iterable(map(_tag_keys, note.tags)))),
        type=types if is_note(path) else [ATTACHMENT_TYPE],
        property=list(
            dict.fromkeys(
                property_key(entry.name, entry.value)
                for entry in note.properties
                if len(entry.value) <= _MAX_PROPERTY
            )
        ),
        day=saved_on if day is None else day,
        chunks=[
            (
                index_terms(text),
                name_terms(note.title, *chunk.heading_path),
                name_key(chunk.heading) if chunk.heading else "",
            )
            for chunk, text in zip(note.chunks, texts, strict=True)
        ],
    )


def _without_repeated(text: str, repeated: Collection[str], common: list[str]) -> str:
    """Return a text without its repeated lines, which are added to `common`."""
    kept: list[str] = []
    for line in text.split("\n"):
        (common if line.strip() in repeated else kept).append(line)
    return "\n".join(kept)


@lru_cache(maxsize=1 << 13)
def name_key(name: str) -> str:
    """Return a key that equal names share: their terms in order."""
    return " ".join(splitter().analyze(name_terms(name)))


def comparable_path(path: str) -> str:
    """Return a vault-relative path in the form in which paths are compared, without surrogates."""
    return _comparable(path).strip("/")


def tag_key(tag: str) -> str:
    """Return a tag, with or without its `#`, in the form in which tags are compared."""
    return _comparable(tag).strip().lstrip("#").strip("/")


@lru_cache(maxsize=1 << 12)
def _tag_keys(tag: str) -> list[str]:
    return _ancestors(tag_key(tag))


def type_key(name: str) -> str:
    """Return a type in the form in which types are compared. A wikilink gives its note's name."""
    return tag_key(shown_name(name))


@lru_cache(maxsize=1 << 13)
def property_key(name: str, value: str) -> str:
    """Return a property and its value in the form in which they are compared.

    White space and letter case do not matter, and a wikilink is its note's name.
    """
    return _comparable(f"{name.strip()}\x1f{' '.join(shown_name(value).split())}")


def _comparable(text: str) -> str:
    # The engine accepts only UTF-8, which has no lone surrogates.
    return fold(text.encode("utf-8", "replace").decode("utf-8"))


def _ancestors(path: str) -> list[str]:
    """Return `a`, `a/b`, `a/b/c` for `a/b/c`, as far as they have at most 4,096 characters.

    Without the limit, one very deep folder would take memory quadratic in its depth.
    """
    names = filter(None, path.split("/"))
    ancestors = accumulate(names, lambda above, name: f"{above}/{name}")
    return [*takewhile(lambda ancestor: len(ancestor) <= _MAX_ANCESTOR, ancestors)]


def day_number(text: str) -> int | None:
    """Return the day of an ISO date (with or without time) as days since 1970-01-01, or None."""
    match = _ISO_DATE.match(text)
    if match is None:
        return None
    try:
        day = datetime.date(*map(int, match.groups()))
    except ValueError:
        return None
    return (day - datetime.date(1970, 1, 1)).days


def dated(path: str, *dates: str | None) -> tuple[int | None, str]:
    """Return the day that filters use, and what has it: "frontmatter", "name" or "file".

    Without a date in the frontmatter or in the file's name, the day is None: `file_day` has it.
    """
    day = first_day(*dates)
    if day is not None:
        return day, "frontmatter"
    for match in _NAMED_DATE.finditer(path.rpartition("/")[2]):
        day = day_number("-".join(match.group("year", "month", "day")))
        if day is not None:
            return day, "name"
    return None, "file"


def file_day(entry: FileEntry) -> int:
    """Return the day of a file's time, as days since 1970-01-01 in UTC."""
    return entry.mtime_ns // _DAY_NS


def first_day(*dates: str | None) -> int | None:
    """Return `day_number` of the first valid date, or None."""
    days = (day_number(date) for date in dates if date)
    return next((day for day in days if day is not None), None)
