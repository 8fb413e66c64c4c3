"""Edits of frontmatter by spans: sets and deletes top-level keys.

Only the bytes of a value, or the lines of a key, are touched. After an edit the block is read
again: all other keys have the same values in the same order, the edited ones have the values that
were asked for, and the body is the same. Otherwise nothing is returned.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import yaml

from vault_agent.errors import Conflict, InvalidRequest
from vault_agent.markdown import frontmatter
from vault_agent.markdown.edit import TextChange, editable, no_frontmatter, not_proven
from vault_agent.markdown.yaml_values import (
    Reader,
    UnreadableYaml,
    check_value,
    compose,
    identity,
    json_of,
    line_of,
    same,
    written,
    written_key,
)
from vault_agent.text.lines import LINE_END

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vault_agent.markdown.edit import Splice, Text
    from vault_agent.markdown.yaml_values import Json

MAX_LINES = 20
"""Lines that an error lists."""
_COLON = re.compile("[ \t]*:")
_DASH = re.compile("([ \t]*-)([ \t]*)")
_QUOTES = ("'", '"')
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
    values: dict[str, Json] = {}
    for entry in Head(text, "\n").entries:
        if entry.name is not None:
            values.setdefault(entry.name, entry.json)
    return values


def set_keys(
    note: bytes, values: Mapping[str, Json], delete: Sequence[str] = ()
) -> tuple[Splice, ...]:
    """Set and delete top-level keys. A note without frontmatter gets one.

    A key is found exactly as written, else without letter case. New keys are added in order, at the
    end. To delete a key that is not there changes nothing.

    Raises:
        Conflict: `ENCODING_NOT_WRITABLE`; `FRONTMATTER_INVALID` with the line if it cannot be
            edited; `FRONTMATTER_INVALID` with the lines if an edited key is there twice.
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
    names = [*values, *delete]
    if len({name.lower() for name in names}) < len(names):
        raise InvalidRequest("INVALID_REQUEST", "A key is given twice.")
    for name, value in values.items():
        written_key(name)
        check_value(value)
    changes: list[TextChange] = []
    new_lines = ""
    new_values: dict[str | None, Json] = {}
    added: list[tuple[str | None, Json]] = []
    for name, value in values.items():
        entry = head.entry(name)
        if entry is None:
            new_lines += head.new_line(name, value)
            added.append((name, value))
        elif not same(entry.json, value):
            changes += _setting(head, entry, value)
            new_values[entry.name] = value
    deleted = [entry for name in delete if (entry := head.entry(name)) is not None]
    changes += [_deletion(head, entry) for entry in deleted]
    if not changes and not new_lines:
        return ()
    edited = text.edited([*sorted(changes), *_addition(head, new_lines)])
    after = edited.after.text
    bounds = frontmatter.bounds(after)
    if len(after[bounds.block or 0 : bounds.fence or 0].encode()) > frontmatter.MAX_BYTES:
        raise InvalidRequest("INVALID_REQUEST", "The frontmatter would be larger than 64 KiB.")
    if bounds.block is None and deleted:
        what = "What is left without this key, such as a comment, is no frontmatter."
        raise Conflict("FRONTMATTER_INVALID", what, {"line": 1})
    expected = [
        (entry.name, new_values.get(entry.name, entry.json))
        for entry in head.entries
        if entry not in deleted
    ]
    body = head.text[head.bounds.end :] if head.bounds.block is not None else head.text
    if after[bounds.end :] != body or not _has_values(after, [*expected, *added]):
        raise not_proven("Other keys would change.")
    return edited.splices


def _has_values(text: str, expected: Sequence[tuple[str | None, Json]]) -> bool:
    """Whether the frontmatter of a text has these keys and values, in this order."""
    try:
        entries = Head(text, "\n").entries
    except Conflict:
        return False
    return len(entries) == len(expected) and all(
        entry.name == name and same(entry.json, value)
        for entry, (name, value) in zip(entries, expected, strict=True)
    )


class Entry(NamedTuple):
    """A top-level key with its value. `name` is None if the key is no text."""

    name: str | None
    key: yaml.Node
    value: yaml.Node
    json: Json


class Head:
    """The frontmatter of a text.

    Raises:
        Conflict: `FRONTMATTER_INVALID` with the line if it is over 64 KiB, or cannot be read, or
            has no keys on lines of their own.
    """

    def __init__(self, text: str, line_end: str) -> None:
        self.text = text
        self.bounds = frontmatter.bounds(text)
        self.start = self.bounds.block or 0
        self.yaml = "" if self.bounds.block is None else text[self.start : self.bounds.fence]
        if len(self.yaml.encode()) > frontmatter.MAX_BYTES:
            raise Conflict("FRONTMATTER_INVALID", _TOO_LARGE, {"line": 1})
        self.line_end = line_end
        if line_end == "\r" and text[: self.start].endswith("\n"):
            self.line_end = "\n"  # the closing fence would not be found after a lone CR
        try:
            root = compose(self.yaml)
        except UnreadableYaml as error:
            self.refuse(f"The frontmatter cannot be read: {error.problem}", error.offset or 0)
        if root is not None and (not isinstance(root, yaml.MappingNode) or root.flow_style):
            self.refuse("The frontmatter has no keys on lines of their own", root.start_mark.index)
        reader = Reader()
        self.entries = [
            Entry(
                key.value if isinstance(key, yaml.ScalarNode) else None,
                key,
                value,
                json_of(reader.value(value)),
            )
            for key, value in (root.value if root is not None else ())
        ]

    def entry(self, name: str) -> Entry | None:
        """Return the entry of a key, or None.

        Raises:
            Conflict: `FRONTMATTER_INVALID`.
        """
        entries = [entry for entry in self.entries if entry.name == name]
        if not entries:
            key = name.lower()
            entries = [entry for entry in self.entries if (entry.name or "").lower() == key]
        if len(entries) > 1:
            starts = [entry.key.start_mark.index for entry in entries[:MAX_LINES]]
            raise Conflict(
                "FRONTMATTER_INVALID",
                f"The frontmatter has this key {len(entries)} times.",
                {"lines": [line_of(self.yaml, start) for start in starts]},
            )
        return entries[0] if entries else None

    def change(self, start: int, end: int, text: str) -> TextChange:
        """Return the change of the text by which characters of the YAML are replaced."""
        return TextChange(self.start + start, self.start + end, text)

    def colon(self, entry: Entry) -> int:
        """Return the offset after the colon of an entry.

        Raises:
            Conflict: `FRONTMATTER_INVALID` if the key is not at the start of a line before a colon.
        """
        start = entry.key.start_mark
        match = _COLON.match(self.yaml, entry.key.end_mark.index)
        if match is None or self.yaml[start.index - start.column : start.index].strip(" "):
            self.refuse("This key is written in a way that cannot be edited", start.index)
        return match.end()

    def new_line(self, name: str, value: Json) -> str:
        """Return the line of a new key, with the indentation of the first one."""
        text = written(value)
        start = self.entries[0].key.start_mark if self.entries else None
        indent = self.yaml[start.index - start.column : start.index] if start else ""
        indent = "" if indent.strip(" ") else indent
        return f"{indent}{written_key(name)}:{text and ' '}{text}{self.line_end}"

    def next_line(self, offset: int) -> int:
        """Return where the line after an offset starts."""
        match = LINE_END.search(self.yaml, offset)
        return match.end() if match else len(self.yaml)

    def content_end(self, node: yaml.Node) -> int:
        """Return the end of the last characters of a value."""
        while _is_block(node) and node.value:
            node = node.value[-1] if isinstance(node, yaml.SequenceNode) else node.value[-1][1]
        start, end = node.start_mark.index, node.end_mark.index
        return start + len(self.yaml[start:end].rstrip())

    def refuse(self, what: str, offset: int) -> NoReturn:
        """Refuse to edit what is written at an offset."""
        line = line_of(self.yaml, offset)
        raise Conflict("FRONTMATTER_INVALID", f"{what} (line {line}).", {"line": line}) from None


def _is_block(node: yaml.Node) -> bool:
    """Whether a value is a list or mapping whose parts are on lines of their own."""
    return isinstance(node, yaml.CollectionNode) and not node.flow_style


def _addition(head: Head, lines: str) -> list[TextChange]:
    """Return the change that adds lines to the block, or a block to a note without one."""
    if not lines:
        return []
    if head.bounds.fence is not None:
        return [TextChange(head.bounds.fence, head.bounds.fence, lines)]
    if frontmatter.opens(head.text):
        raise no_frontmatter()
    fence = f"---{head.line_end}"
    return [TextChange(0, 0, f"{fence}{lines}{fence}")]


def _deletion(head: Head, entry: Entry) -> TextChange:
    """Return the change that deletes the lines of a key and its value.

    Raises:
        Conflict: `FRONTMATTER_INVALID` if they cannot be edited.
    """
    start = entry.key.start_mark
    end = head.next_line(max(head.colon(entry), head.content_end(entry.value)))
    return head.change(start.index - start.column, end, "")


def _setting(head: Head, entry: Entry, value: Json) -> list[TextChange]:
    """Return the changes that give a key another value.

    Raises:
        Conflict: `FRONTMATTER_INVALID` if the old value cannot be edited.
    """
    node, colon = entry.value, head.colon(entry)
    start, end = node.start_mark.index, node.end_mark.index
    old = entry.json
    if isinstance(old, list) and isinstance(value, list) and old and value and not node.tag:
        return [_list_change(head, node, old, value)]
    text = written(value, quote=_quote_of([node]))
    is_text_block = isinstance(node, yaml.ScalarNode) and node.style in ("|", ">")
    if start < end and not _is_block(node) and not is_text_block:
        return [head.change(start, end, text)]
    # The value comes behind the colon, before the comment that may be there.
    after = colon if not _is_block(node) else max(colon, len(head.yaml[:start].rstrip()))
    return [
        head.change(colon, colon, f"{text and ' '}{text}"),
        head.change(after, max(after, head.content_end(node)), ""),
    ]


def _quote_of(nodes: Sequence[yaml.Node]) -> str | None:
    """Return the quotation mark that all of some values have, or None."""
    styles = {node.style if isinstance(node, yaml.ScalarNode) else None for node in nodes}
    style = styles.pop() if len(styles) == 1 else None
    return style if style in _QUOTES else None


def _list_change(head: Head, node: yaml.Node, old: list[Json], new: list[Json]) -> TextChange:
    """Return the change that gives a list other items, in its own style.

    An item that stays keeps its text; in lines also the comments before it and behind it.
    """
    items: list[yaml.Node] = node.value
    quote = _quote_of(items)
    in_lines = _is_block(node)
    if not in_lines:
        start, end = items[0].start_mark.index, items[-1].end_mark.index
        if same(new[: len(old)], old):
            added = (written(value, quote=quote, flow=True) for value in new[len(old) :])
            return head.change(end, end, "".join(f", {item}" for item in added))
        spans = [(item.start_mark.index, item.end_mark.index) for item in items]
        prefix, line_end = "", ""
    else:
        start = node.start_mark.index - node.start_mark.column
        ends = [head.next_line(head.content_end(item)) for item in items]
        spans, end = list(zip([start, *ends], ends, strict=False)), ends[-1]
        dash = _DASH.match(head.yaml, start)
        prefix, line_end = f"{dash[1]}{dash[2] or ' '}" if dash else "- ", head.line_end
    texts: dict[object, list[str]] = {}
    for value, span in zip(old, spans, strict=True):
        texts.setdefault(identity(value), []).append(head.yaml[slice(*span)])
    pieces = []
    for value in new:
        kept = texts.get(identity(value))
        item = written(value, quote=quote, flow=not in_lines) or "null"
        pieces.append(kept.pop(0) if kept else f"{prefix}{item}{line_end}")
    return head.change(start, end, ("" if in_lines else ", ").join(pieces))
