"""Adds and removes one member of a JSON file with comments, and keeps every other byte.

The configuration files of editors have comments and trailing commas, which no JSON library keeps.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

_SPACE = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_SCALAR = re.compile(r"[^\s,\]}/]+")


class NotJson(ValueError):
    """The text is not JSON, even with comments and trailing commas."""


class Member(NamedTuple):
    """Where a member of an object stands in the text."""

    start: int  # of the key
    value: int
    end: int  # of the value


def loads(text: str) -> Any:
    """Return the value of JSON with comments and trailing commas. Raises NotJson."""
    pieces: list[str] = []
    at = 0
    # Strings are copied, so that what looks like a comment in them stays.
    for match in re.finditer(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', text, re.DOTALL):
        pieces += text[at : match.start()], match[0] if match[0][0] == '"' else " "
        at = match.end()
    plain = "".join([*pieces, text[at:]])
    plain = re.sub(r'("(?:[^"\\\n]|\\.)*")|,(\s*[}\]])', lambda each: each[1] or each[2], plain)
    try:
        return json.loads(plain)
    except (ValueError, RecursionError):
        raise NotJson from None


def with_member(text: str, section: str, name: str, value: object) -> str:
    """Return the text with `{section: {name: value}}` added or replaced. Raises NotJson."""
    if not text.strip():
        return json.dumps({section: {name: value}}, indent=2) + "\n"
    root = members_of(text, skip(text, 0))
    found = root.get(section)
    if found is None:
        return _inserted(text, skip(text, 0), root, {section: {name: value}}, depth=1)
    members = members_of(text, found.value)
    if name in members:
        member = members[name]
        return text[: member.value] + _written(value, 2) + text[member.end :]
    return _inserted(text, found.value, members, {name: value}, depth=2)


def without_member(text: str, section: str, name: str) -> str:
    """Return the text without `section.name`. Raises NotJson."""
    found = members_of(text, skip(text, 0)).get(section)
    member = members_of(text, found.value).get(name) if found is not None else None
    if member is None:
        return text
    end = skip(text, member.end)
    if text[end : end + 1] == ",":
        start = member.start
        end += 1
        # The line ends with the member, unless another one follows on it.
        rest = re.compile(r"[ \t]*\n[ \t]*").match(text, end)
        return text[:start] + text[rest.end() if rest else end :]
    before = text[: member.start].rstrip()
    return before.removesuffix(",") + text[member.end :]


def _inserted(
    text: str, brace: int, members: dict[str, Member], new: dict[str, object], *, depth: int
) -> str:
    """Return the text with a new first member of the object whose brace is at `brace`."""
    ((name, value),) = new.items()
    margin = "  " * depth
    comma = "," if members else ""
    member = f"\n{margin}{json.dumps(name)}: {_written(value, depth)}{comma}"
    rest = text[brace + 1 :]
    if not members and not rest.lstrip(" \t").startswith("\n"):
        member += "\n" + "  " * (depth - 1)
    return text[: brace + 1] + member + rest


def _written(value: object, depth: int) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False).replace("\n", "\n" + "  " * depth)


def members_of(text: str, at: int) -> dict[str, Member]:
    """Return the members of the object at `at`. Raises NotJson if there is no object."""
    if text[at : at + 1] != "{":
        raise NotJson
    members: dict[str, Member] = {}
    at = skip(text, at + 1)
    while text[at : at + 1] != "}":
        key = _STRING.match(text, at)
        if key is None:
            raise NotJson
        colon = skip(text, key.end())
        if text[colon : colon + 1] != ":":
            raise NotJson
        value = skip(text, colon + 1)
        end = end_of(text, value)
        members[json.loads(key[0])] = Member(at, value, end)
        at = skip(text, end)
        if text[at : at + 1] == ",":
            at = skip(text, at + 1)
        elif text[at : at + 1] != "}":
            raise NotJson
    return members


def end_of(text: str, at: int) -> int:
    """Return the end of the value at `at`."""
    depth = 0
    while at < len(text):
        if string := _STRING.match(text, at):
            at = string.end()
        elif text[at] in "{[":
            depth += 1
            at += 1
        elif text[at] in "}]":
            depth -= 1
            at += 1
        elif depth and text[at] in ",:":
            at += 1
        elif scalar := _SCALAR.match(text, at):
            at = scalar.end()
        else:
            raise NotJson
        if depth <= 0:
            return at
        at = skip(text, at)
    raise NotJson


def skip(text: str, at: int) -> int:
    """Return the offset of what follows space and comments."""
    match = _SPACE.match(text, at)
    return match.end() if match else at
