"""Edits of one section or block. No byte outside of it is touched."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from vault_agent.errors import InvalidRequest, NotFound
from vault_agent.markdown.address import PartAddress, find_block, find_section
from vault_agent.markdown.document import Document, section_hash
from vault_agent.markdown.edit import (
    TextChange,
    before,
    editable,
    line_end_of,
    not_proven,
)
from vault_agent.markdown.headings import MAX_LEVEL, without_marks
from vault_agent.text.lines import LINE_END
from vault_agent.text.names import fold

if TYPE_CHECKING:
    from vault_agent.markdown.document import Block, Section
    from vault_agent.markdown.edit import Splice, Text

Action: TypeAlias = Literal[
    "append", "prepend", "replace", "insertBefore", "insertAfter", "renameHeading"
]

_BLANK_LINES = re.compile(r"(?:[ \t]*(?:\r\n|\r|\n))*")
_HEADING = re.compile(
    r"[ ]{0,3}(?:#{1,6}[ \t]+)?(?P<text>.*?)(?:[ \t]+\^[A-Za-z0-9-]+)?(?:[ \t]+#+)?[ \t]*"
    r"(?:[\r\n]+[ \t]*[-=]+[ \t]*)?\Z",
    re.DOTALL,
)
_ATX_START = re.compile(r"[ ]{0,3}#{1,6}(?:[ \t\r\n]|\Z)")
_CLOSING = re.compile(r"(?:^|[ \t])#+\Z")  # the parser drops it
_CREATING = ("append", "prepend", "replace")


@dataclass(frozen=True, slots=True)
class SectionEdit:
    """An edit of a section or block.

    `hash_before` and `hash_after` are the SHA-256 of its bytes, in hex; None where there is none.
    """

    splices: tuple[Splice, ...]
    hash_before: str | None
    hash_after: str | None
    created: bool = False


def edit_section(
    note: bytes,
    address: PartAddress,
    action: Action,
    content: str,
    *,
    create_if_missing: bool = False,
    deep: bool = False,
) -> SectionEdit:
    """Edit a section or block of a note.

    - `append`: after the last line that is not blank, before subsections unless `deep`. In a block
      its ID stays last.
    - `prepend`: right after the heading; before the first line of a block.
    - `replace`: all between the heading and the next one of its level or above. If the content
      starts with the heading, it is not written twice. A block keeps its ID.
    - `insertBefore`, `insertAfter`: before the heading or block; after its subsections.
    - `renameHeading`: `content` is the new text. The level and a block ID stay.

    `create_if_missing` makes the heading at the end of the parent that a path names, else of the
    note; the first three actions only.

    Raises:
        Conflict: `ENCODING_NOT_WRITABLE`, `HEADING_AMBIGUOUS`.
        Failed: `EDIT_NOT_PROVEN`.
        InvalidRequest: `INVALID_REQUEST` for text that a note or heading cannot contain.
        NotFound: `HEADING_NOT_FOUND`, `BLOCK_NOT_FOUND`.
    """
    text = editable(note)
    document = text.document
    own = text.own(content)
    if address.block_id:
        block = find_block(document, address.block_id)
        edited = text.edited(_change_block(text, block, action, own))
        hash_before = section_hash(text.text, block)
        return SectionEdit(edited.splices, hash_before, _block_hash(edited.after, block))
    try:
        section = find_section(document, address)
    except NotFound:
        if not (create_if_missing and address.heading and action in _CREATING):
            raise
        return _create(text, address.heading, own)
    if action == "renameHeading":
        changes = [_rename(text, section, own)]
    else:
        changes = _change_section(text, section, action, own, deep=deep)
    if any(not section.start <= change.start <= change.end <= section.end for change in changes):
        raise not_proven("Another section would change.")
    edited = text.edited(changes)
    after = edited.after
    shift = len(changes[0].text) if action == "insertBefore" and edited.splices else 0
    same = (new for new in after.document.sections if new.start == section.start + shift)
    now = next(same, None)
    if action == "renameHeading":
        _prove_renamed(text, after, section)
    hash_after = section_hash(after.text, now) if now else None
    return SectionEdit(edited.splices, section_hash(text.text, section), hash_after)


def _change_section(
    text: Text, section: Section, action: Action, content: str, *, deep: bool
) -> list[TextChange]:
    if action == "replace":
        return _replace(text, section, content)
    if not content:
        return []
    if action == "append":
        at = _content_end(text.text, section.content, section.end if deep else section.own_end)
    else:
        at = {
            "prepend": section.content,
            "insertBefore": section.start,
            "insertAfter": section.end,
        }[action]
    return [_insert(text, at, content)]


def _content_end(text: str, start: int, end: int) -> int:
    """Return the end of the last line of a range that is not blank, or `start`."""
    last = start + len(text[start:end].rstrip(" \t\r\n"))
    if last == start:
        return start
    match = LINE_END.search(text, last)
    return min(match.end(), end) if match else end


def _close(text: str, at: int, content: str, ending: str) -> str:
    """Return text as whole lines for an offset at the start of a line, or at an open end."""
    if at and text[at - 1] not in "\r\n":
        content = ending + content
    return content + before(content, ending, blank_line=False) if at < len(text) else content


def _insert(text: Text, at: int, content: str, end: int | None = None) -> TextChange:
    """Return the change that puts lines at an offset, in place of those up to `end`.

    An underlined heading that follows would continue a paragraph, so an empty line comes between.
    """
    end = at if end is None else end
    ending = text.line_end() or line_end_of(content)
    lines = _close(text.text, at, content, ending) if end < len(text.text) else content
    if end == len(text.text) and at and text.text[at - 1] not in "\r\n":
        lines = ending + lines
    starts = {section.start for section in text.document.sections}
    if lines and end in starts and not _ATX_START.match(text.text, end):
        lines += before(lines, ending, blank_line=True)
    return TextChange(at, end, lines)


def _replace(text: Text, section: Section, content: str) -> list[TextChange]:
    """Return the change of all between a heading and the end of its section.

    Empty lines at both ends stay, unless the content has its own.
    """
    content = _without_heading(content, section)
    old = text.text[section.content : section.end]
    start, end = section.content, _content_end(text.text, section.content, section.end)
    blank = _BLANK_LINES.match(old)
    if end > start and blank is not None and not content.startswith(("\r", "\n")):
        start += blank.end()
    if content.endswith(("\n\n", "\r\n\r\n", "\r\r")):
        end = section.end
    elif end > start:
        content = _with_line_end(text.text, end, content)
    if not content:
        return [TextChange(start, end, "")]
    return [_insert(text, start, content, end)]


def _with_line_end(text: str, end: int, content: str) -> str:
    """Return text with the line end that the text before `end` has, if it has none itself."""
    if not content or content.endswith(("\r", "\n")) or not text.startswith(("\r", "\n"), end - 1):
        return content
    return content + ("\r\n" if text.startswith("\r\n", end - 2) else text[end - 1])


def _without_heading(content: str, section: Section) -> str:
    """Return a section's new text without the heading, if it starts with it."""
    first = next(iter(Document(content).sections), None)
    if (
        first is not None
        and not content[: first.start].strip()
        and first.level == section.level
        and fold(first.text) == fold(section.text)
    ):
        return content[first.content :]
    return content


def _rename(text: Text, section: Section, name: str) -> TextChange:
    """Return the change of the text of a heading.

    Raises:
        InvalidRequest: `INVALID_REQUEST` if it is no text of a heading.
    """
    name = name.strip(" \t")
    if not name or LINE_END.search(name) or _CLOSING.search(name):
        raise _no_heading_text()
    lines = text.text[section.start : section.content].rstrip("\r\n")
    if not lines.strip(" \t#"):  # `##` alone
        at = section.start + len(lines.rstrip(" \t#")) + section.level
        return TextChange(at, at, f" {name}")
    match = _HEADING.match(lines)
    start, end = match.span("text") if match else (0, 0)
    return TextChange(section.start + start, section.start + end, name)


def _no_heading_text() -> InvalidRequest:
    return InvalidRequest("INVALID_REQUEST", "This is not the text of a heading.")


def _prove_renamed(before: Text, after: Text, section: Section) -> None:
    """Check that only the text of one heading has changed.

    Raises:
        InvalidRequest: `INVALID_REQUEST` if it is no heading of the same kind any more.
    """
    old_ones, new_ones = before.document.sections, after.document.sections
    longer = len(after.text) - len(before.text)
    if len(old_ones) != len(new_ones):
        raise _no_heading_text()
    for old, new in zip(old_ones, new_ones, strict=True):
        renamed = old is section
        if old.level != new.level or (old.text != new.text and not renamed):
            raise _no_heading_text()
        if renamed and new.content - new.start != old.content - old.start + longer:
            raise _no_heading_text()


def _create(text: Text, path: tuple[str, ...], content: str) -> SectionEdit:
    """Make a heading with content, at the end of its parent's section or of the note."""
    document = text.document
    name = without_marks(path[-1])
    ending = text.line_end() or line_end_of(content)
    if len(path) > 1:
        parent = find_section(document, PartAddress(path[:-1]))
        level, at = parent.level + 1, _content_end(text.text, parent.content, parent.end)
    else:
        level, at = _level(document), len(text.text)
    if level > MAX_LEVEL:
        raise InvalidRequest("INVALID_REQUEST", "A heading below one of level 6 is not possible.")
    if LINE_END.search(name) or _CLOSING.search(name):
        raise _no_heading_text()
    heading = f"{'#' * level} {name}"
    between = before(text.text[:at], ending, blank_line=True)
    lines = heading + (f"{ending}{content}" if content else "")
    if at < len(text.text):
        lines += before(lines, ending, blank_line=text.text[at] not in "\r\n")
    edited = text.edited([TextChange(at, at, between + lines)])
    after = edited.after
    start = at + len(between)
    sections = after.document.sections
    made = next((index for index, section in enumerate(sections) if section.start == start), None)
    if (
        made is None
        or sections[made].level != level
        or made not in after.document.headings.find(path)
    ):
        raise _no_heading_text()
    hash_after = section_hash(after.text, sections[made])
    return SectionEdit(edited.splices, None, hash_after, created=True)


def _level(document: Document) -> int:
    """Return the level of a new heading without a parent: that of the others, below a title."""
    levels = [section.level for section in document.sections]
    if not levels or (levels[0] == 1 and levels.count(1) == 1):
        return 2
    return min(levels)


def _change_block(text: Text, block: Block, action: Action, content: str) -> list[TextChange]:
    whole = text.text
    ending = text.line_end() or line_end_of(content)
    if action == "renameHeading":
        raise InvalidRequest("INVALID_REQUEST", "A block is not a heading.")
    if action == "replace":
        return [_replace_block(text, block, content)]
    if not content:
        return []
    if action in ("insertBefore", "insertAfter"):
        at = block.start if action == "insertBefore" else block.end
        return [_beside(whole, at, content, ending, apart=block.kind != "item")]
    if action == "prepend":
        return [TextChange(block.start, block.start, _close(whole, block.start, content, ending))]
    at = block.text_end
    if block.kind == "paragraph":  # the ID stays behind its last line
        return [TextChange(at, at, ending + content.rstrip("\r\n"))]
    return [TextChange(at, at, _close(whole, at, content, ending))]


def _beside(whole: str, at: int, content: str, ending: str, *, apart: bool) -> TextChange:
    """Return the change that puts lines before or after a block.

    Empty lines keep it `apart`, so that it does not become a part of the block with the ID.
    """
    content = _close(whole, at, content, ending)
    if apart and at and whole[:at].strip():
        content = before(whole[:at], ending, blank_line=True) + content.lstrip("\r\n")
    if apart and at < len(whole) and whole[at] not in "\r\n":
        content += before(content, ending, blank_line=True)
    return TextChange(at, at, content)


def _replace_block(text: Text, block: Block, content: str) -> TextChange:
    mark = re.compile(rf"(?<!\S)\^{re.escape(block.id)}[ \t]*$", re.MULTILINE)
    whole = text.text
    end = block.end
    if not content or mark.search(LINE_END.sub("\n", content)):
        pass  # the ID goes with the block, or comes with the content
    elif block.kind == "paragraph":
        return TextChange(block.start, block.text_end, content.rstrip("\r\n"))
    elif block.text_end < block.end:  # the ID has a line of its own
        end = block.text_end
    else:
        first = LINE_END.search(content)
        at = first.start() if first else len(content)
        content = f"{content[:at].rstrip()} ^{block.id}{content[at:]}"
    return TextChange(block.start, end, _with_line_end(whole, end, content))


def _block_hash(after: Text, block: Block) -> str | None:
    same = [new for new in after.document.blocks if new.id == block.id]
    return section_hash(after.text, same[0]) if len(same) == 1 else None
