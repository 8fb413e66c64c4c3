"""Adds and removes items of arrays in a JSON file with comments, and keeps every other byte."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from vault_agent.cli.jsonc import NotJson, end_of, members_of, skip, with_member, without_member

if TYPE_CHECKING:
    from collections.abc import Sequence

_INDENT = re.compile(r"^([ \t]+)\S", re.MULTILINE)


class _Span(NamedTuple):
    start: int
    end: int


def with_item(text: str, section: str, name: str, item: object) -> str:
    """Return the text with `item` at the end of the array `section.name`. Raises NotJson."""
    array = _array(text, section, name)
    if array is None:
        return with_member(text, section, name, [item])
    items = _items(text, array)
    margin = _margin(text, items[-1].start) if items else "    " + "  "
    written = json.dumps(item, indent=_indent(text), ensure_ascii=False)
    written = written.replace("\n", f"\n{margin}")
    if items:
        at = items[-1].end
        return f"{text[:at]},\n{margin}{written}{text[at:]}"
    return f"{text[: array + 1]}\n{margin}{written}\n    {text[skip(text, array + 1) :]}"


def without_item(text: str, section: str, name: str, path: Sequence[str | int]) -> str:
    """Return the text without one item below the array `section.name`. Raises NotJson.

    `path` leads to it: a number for an item of an array, a name for a member of an object. Arrays
    and the section go when they become empty, but not an object in an array.
    """
    array = _array(text, section, name)
    if array is None:
        return text
    at = array
    for step in path[:-1]:
        at = (
            members_of(text, at)[step].value if isinstance(step, str) else _items(text, at)[step][0]
        )
    items = _items(text, at)
    place = path[-1]
    assert isinstance(place, int)  # noqa: S101 - what goes is an item
    if len(items) == 1 and at == array:
        left = without_member(text, section, name)
        root = skip(left, 0)
        found = members_of(left, root).get(section)
        is_empty = found is not None and not members_of(left, found.value)
        return _without_section(left, section) if is_empty else left
    if place + 1 < len(items):
        return text[: items[place].start] + text[items[place + 1].start :]
    before = items[place - 1].end if place else at + 1
    return text[:before] + text[items[place].end :]


def _without_section(text: str, section: str) -> str:
    """Return the text without an empty member of the root."""
    root = skip(text, 0)
    members = members_of(text, root)
    member = members[section]
    others = [each for name, each in members.items() if name != section]
    after = [each for each in others if each.start > member.start]
    if after:
        return text[: member.start] + text[min(each.start for each in after) :]
    before = max((each.end for each in others), default=root + 1)
    end = end_of(text, root)
    tail = text[member.end : end - 1]
    return text[:before] + (tail if others else tail.strip(" \t\n")) + text[end - 1 :]


def _array(text: str, section: str, name: str) -> int | None:
    """Return where the array `section.name` begins, or None if it is missing."""
    if not text.strip():
        return None
    found = members_of(text, skip(text, 0)).get(section)
    member = members_of(text, found.value).get(name) if found is not None else None
    if member is None:
        return None
    if text[member.value] != "[":
        raise NotJson
    return member.value


def _items(text: str, at: int) -> list[_Span]:
    """Return the items of the array at `at`."""
    if text[at : at + 1] != "[":
        raise NotJson
    found: list[_Span] = []
    at = skip(text, at + 1)
    while text[at : at + 1] != "]":
        end = end_of(text, at)
        found.append(_Span(at, end))
        at = skip(text, end)
        if text[at : at + 1] == ",":
            at = skip(text, at + 1)
        elif text[at : at + 1] != "]":
            raise NotJson
    return found


def _margin(text: str, at: int) -> str:
    """Return the space before an item on its line."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line if not line.strip() else " " * (len(line) - len(line.lstrip()) + 2)


def _indent(text: str) -> Any:
    """Return the indentation of a file: that of its first indented line."""
    found = _INDENT.search(text)
    return found[1] if found else 2
