"""Edits of frontmatter by spans: sets and deletes top-level keys.

Only the bytes of a value, or the lines of a key, are touched. After an edit the block is read
again: all other keys have the same events in the same order, the edited ones have the values that
were asked for, and the body is the same. Otherwise nothing is returned.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vault_agent.errors import Conflict, InvalidRequest
from vault_agent.markdown import frontmatter
from vault_agent.markdown.edit import Change, editable, no_frontmatter, not_proven

from .lists import edited_list
from .read import Block
from .values import same
from .write import check_value, written, written_key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vault_agent.markdown.edit import Splice, Text
    from vault_agent.markdown.frontmatter import Bounds

    from .read import Entry
    from .values import Json

MAX_LINES = 20
"""Lines that an error lists."""
_EMPTY_LINES = re.compile("(?:[ \t]*(?:\r\n|[\n\r]))*")
_TOO_LARGE = "The frontmatter is larger than 64 KiB."


def read_keys(note: bytes) -> dict[str, Json]:
    """Return the frontmatter of a note that can be edited. See `keys_of`.

    Raises:
        Conflict: `ENCODING_NOT_WRITABLE`; `FRONTMATTER_INVALID` with the line.
    """
    return keys_of(editable(note).text)


def keys_of(text: str) -> dict[str, Json]:
    """Return the frontmatter of a text. Of a key that is written twice, the first value counts.

    Raises:
        Conflict: `FRONTMATTER_INVALID` with the line.
    """
    head = Head(text, "\n")
    values: dict[str, Json] = {}
    for entry in head.block.entries:
        if entry.name is not None:
            values.setdefault(entry.name, entry.value.value())
    return values


def set_keys(
    note: bytes, values: Mapping[str, Json], delete: Sequence[str] = ()
) -> tuple[Splice, ...]:
    """Set and delete top-level keys. A note without frontmatter gets one.

    A key is found exactly as written, else without letter case. New keys are added in order, at the
    end. To delete a key that is not there changes nothing.

    Raises:
        Conflict: `ENCODING_NOT_WRITABLE`; `FRONTMATTER_INVALID` with the line if it cannot be
            edited; `FRONTMATTER_KEY_AMBIGUOUS` with the lines if an edited key is there twice.
        Failed: `EDIT_NOT_PROVEN`.
        InvalidRequest: `INVALID_REQUEST` for keys and values that cannot be written, and if the
            frontmatter would be larger than 64 KiB.
    """
    text = editable(note)
    return changed_keys(text, Head(text.text, text.line_end() or "\n"), values, delete)


def changed_keys(
    text: Text, head: Head, values: Mapping[str, Json], delete: Sequence[str] = ()
) -> tuple[Splice, ...]:
    """Set and delete keys of a frontmatter that has been read. See `set_keys`."""
    wanted = [*values, *delete]
    if len({name.lower() for name in wanted}) < len(wanted):
        raise InvalidRequest("INVALID_REQUEST", "A key is given twice.")
    for name, value in values.items():
        written_key(name)
        check_value(value)
    edits = [_Edit(name, head.entry(name), values[name], deleted=False) for name in values]
    edits += [
        _Edit(name, entry, None, deleted=True)
        for name in delete
        if (entry := head.entry(name)) is not None
    ]
    edits = [edit for edit in edits if not edit.is_done]
    if not edits:
        return ()
    # Some lists cannot be edited item by item, and some empty lines cannot stay.
    for minimal in (True, False):
        changes = _changes(head, edits, minimal=minimal)
        if _is_proven(head, edits, changes):
            return text.splices(changes)
    raise not_proven("Other keys would change.")


class Head:
    """The frontmatter of a text.

    Raises:
        Conflict: `FRONTMATTER_INVALID` with the line.
    """

    def __init__(self, text: str, line_end: str) -> None:
        self.text = text
        self.bounds: Bounds = frontmatter.bounds(self.text)
        self.start = self.bounds.block or 0
        self.yaml = "" if self.bounds.block is None else self.text[self.start : self.bounds.fence]
        if len(self.yaml.encode()) > frontmatter.MAX_BYTES:
            raise Conflict("FRONTMATTER_INVALID", _TOO_LARGE, {"line": 1})
        self.block = Block(self.yaml)
        self.line_end = line_end
        opening = self.text[: self.start]
        if self.line_end == "\r" and opening.endswith("\n"):
            self.line_end = "\n"  # the closing fence would not be found after a lone CR

    def refuse_opening(self) -> None:
        """Refuse to put a block before what looks like one."""
        if frontmatter.opens(self.text):
            raise no_frontmatter()

    def entry(self, name: str) -> Entry | None:
        """Return the entry of a key, or None.

        Raises:
            Conflict: `FRONTMATTER_KEY_AMBIGUOUS`.
        """
        entries = self.block.entries
        found = [entry for entry in entries if entry.name == name]
        if not found:
            key = name.lower()
            found = [entry for entry in entries if (entry.name or "").lower() == key]
        if len(found) > 1:
            lines = [self.block.line(entry.key_start) for entry in found[:MAX_LINES]]
            raise Conflict(
                "FRONTMATTER_KEY_AMBIGUOUS",
                f"The frontmatter has this key {len(found)} times.",
                {"lines": lines},
            )
        return found[0] if found else None


@dataclass(frozen=True, slots=True)
class _Edit:
    """What to do with one key."""

    name: str
    entry: Entry | None  # None: it is new
    value: Json
    deleted: bool

    @property
    def is_done(self) -> bool:
        """Whether the key has the value already."""
        return (
            not self.deleted
            and self.entry is not None
            and same(self.entry.value.value(), self.value)
        )


def _changes(head: Head, edits: Sequence[_Edit], *, minimal: bool) -> list[Change]:
    """Return the changes of the text of a note, in order."""
    found: list[Change] = []
    lines = ""
    for edit in edits:
        if edit.entry is None:
            value = written(edit.value)
            indent = head.block.indent()
            lines += f"{indent}{written_key(edit.name)}:{value and ' '}{value}{head.line_end}"
        elif edit.deleted:
            found.append(_deletion(head.block, edit.entry, minimal=minimal))
        else:
            found += _setting(head.block, edit.entry, edit.value, head.line_end, minimal=minimal)
    found = [Change(head.start + each.start, head.start + each.end, each.text) for each in found]
    found.sort()
    if lines and head.bounds.fence is None:
        head.refuse_opening()
        fence = f"---{head.line_end}"
        found = [Change(0, 0, f"{fence}{lines}{fence}")]
    elif lines:
        found.append(Change(head.bounds.fence or 0, head.bounds.fence or 0, lines))
    return found


def _is_proven(head: Head, edits: Sequence[_Edit], changes: Sequence[Change]) -> bool:
    """Whether the text after the changes is what was asked for, and nothing else."""
    pieces: list[str] = []
    done = 0
    for change in changes:
        if change.start < done:
            return False
        pieces += head.text[done : change.start], change.text
        done = change.end
    after = "".join(pieces) + head.text[done:]
    bounds = frontmatter.bounds(after)
    yaml = after[bounds.block : bounds.fence] if bounds.block is not None else ""
    if len(yaml.encode()) > frontmatter.MAX_BYTES:
        raise InvalidRequest("INVALID_REQUEST", "The frontmatter would be larger than 64 KiB.")
    body = head.text[head.bounds.end :] if head.bounds.block is not None else head.text
    entries = None
    if bounds.block is not None and after[bounds.end :] == body:
        with suppress(Conflict):
            entries = Block(yaml).entries
    if entries is None:
        if all(edit.deleted for edit in edits):
            raise Conflict(
                "FRONTMATTER_INVALID",
                "What is left without this key, such as a comment, is no frontmatter.",
                {"line": 1},
            )
        return False
    edited = {id(edit.entry): edit for edit in edits if edit.entry is not None}
    added = [edit for edit in edits if edit.entry is None]
    expected = [
        edited.get(id(entry), entry)
        for entry in head.block.entries
        if not (id(entry) in edited and edited[id(entry)].deleted)
    ]
    expected += added
    return len(entries) == len(expected) and all(map(_is_expected, entries, expected))


def _is_expected(entry: Entry, expected: Entry | _Edit) -> bool:
    if not isinstance(expected, _Edit):
        return entry.signs() == expected.signs()
    if expected.entry is not None:
        named = entry.key_signs() == expected.entry.key_signs()
    else:
        named = entry.name == expected.name
    return named and same(entry.value.value(), expected.value)


# --- where to change the block ------------------------------------------------------------------


def _deletion(block: Block, entry: Entry, *, minimal: bool) -> Change:
    """Return the change that deletes the lines of a key and its value.

    If not `minimal`, the empty lines after them go, too: a text before the key that keeps its empty
    lines (`|+`) would take them.

    Raises:
        Conflict: `FRONTMATTER_INVALID` if they cannot be edited.
    """
    _refuse_anchors(block, entry)
    end = max(block.colon(entry), block.content_end(entry.value))
    start = block.line_start(entry.key_start)
    # What keeps its empty lines ends at the start of a line.
    end = end if block.line_start(end) == end else block.next_line(end)
    empty = None if minimal else _EMPTY_LINES.match(block.text, end)
    return Change(start, empty.end() if empty else end, "")


def _setting(
    block: Block, entry: Entry, value: Json, line_end: str, *, minimal: bool
) -> list[Change]:
    """Return the changes that give a key another value.

    Of a list only the items that differ change if `minimal`; otherwise it is written as a whole.

    Raises:
        Conflict: `FRONTMATTER_INVALID` if the old value cannot be edited.
    """
    node = entry.value
    _refuse_anchors(block, entry)
    colon = block.colon(entry)
    if minimal and node.is_list and isinstance(value, list) and value and node.children:
        changes = edited_list(block, node, value, line_end)
        if changes is not None:
            return changes
    quote = node.style if node.style in ("'", '"') else None
    text = written(value, quote=quote)
    if node.in_lines:
        if node.tag is not None or node.start < block.line_end(colon):
            block.refuse("This value is written in a way that cannot be edited", node.start)
        return [
            *_inserted(block, colon, text),
            Change(block.line_end(colon), block.line_end(block.content_end(node)), ""),
        ]
    if node.start == node.end:
        return _inserted(block, colon, text)
    if node.style in ("|", ">"):
        return _instead_of_lines(block, node.start, block.content_end(node), text)
    return [Change(node.start, node.end, text)]


def _inserted(block: Block, colon: int, text: str) -> list[Change]:
    """Return the change that puts a value behind a colon, before a comment."""
    if not text:
        return []
    rest = block.text[colon : block.line_end(colon)]
    if rest and not rest.strip(" \t"):
        return [Change(colon + 1, colon + 1, text)]
    return [Change(colon, colon, f" {text}")]


def _instead_of_lines(block: Block, start: int, end: int, text: str) -> list[Change]:
    """Return the changes that put a value in place of a block of text, and keep its comment."""
    header_end = block.line_end(start)
    header = block.text[start:header_end]
    end = max(header_end, end)
    if block.line_start(end) == end > header_end:
        end -= len(block.text[header_end:end]) - len(block.text[header_end:end].rstrip("\r\n"))
    indicator = len(header.split("#", 1)[0].rstrip(" \t"))
    return [Change(start, start + indicator, text), Change(header_end, end, "")]


def _refuse_anchors(block: Block, entry: Entry) -> None:
    for node in (entry.key, *entry.value.nodes()):
        if node.has_anchor and not (node is entry.value and node.is_alias):
            block.refuse("This value has an anchor or an alias", node.start)
