"""Adds and removes one member of a YAML file, and keeps every other byte.

YAML is read by PyYAML, whose marks say where a member stands. Only mappings in block style are
edited: those that programs write.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import yaml


class NotYaml(ValueError):
    """The text is not YAML, or not in a form that can be edited."""


class _Member(NamedTuple):
    """Where a member of a block mapping stands: its lines, and the margin of its key."""

    start: int  # of the line of the key
    end: int  # of its last line, with the line end
    margin: int
    value: yaml.Node


def loads(text: str) -> Any:
    """Return the value of a YAML text. Raises NotYaml."""
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        raise NotYaml from None


def with_member(text: str, section: str, name: str, value: object) -> str:
    """Return the text with `{section: {name: value}}` added or replaced. Raises NotYaml."""
    end = "\r\n" if "\r\n" in text else "\n"
    root = _members(text, _root(text))
    found = root.get(section)
    if found is None:
        whole = text if not text or text.endswith(("\n", "\r")) else text + end
        return whole + _written({section: {name: value}}, 0, end)
    if not _is_block(found.value):
        if loads(text)[section]:
            raise NotYaml  # in braces
        value_ends = found.value.end_mark.index
        line = text[: found.value.start_mark.index].rstrip(" ") + text[value_ends : found.end]
        line += "" if line.endswith(("\n", "\r")) else end
        return line + _written({name: value}, found.margin + 2, end) + text[found.end :]
    members = _members(text, found.value)
    first = next(iter(members.values()))
    new = _written({name: value}, first.margin, end)
    if name in members:
        return text[: members[name].start] + new + text[members[name].end :]
    return text[: first.start] + new + text[first.start :]


def without_member(text: str, section: str, name: str) -> str:
    """Return the text without `section.name`, and without the section if it was its only member.

    Raises:
        NotYaml: if it cannot be edited.
    """
    found = _members(text, _root(text)).get(section)
    if found is None or not _is_block(found.value):
        return text
    members = _members(text, found.value)
    if name not in members:
        return text
    gone = found if len(members) == 1 else members[name]
    return text[: gone.start] + text[gone.end :]


def _root(text: str) -> yaml.Node | None:
    """Return the document. Raises NotYaml if it is no mapping in block style."""
    loads(text)  # refuses what is YAML by its form alone, such as an unknown tag
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError):
        raise NotYaml from None
    if root is not None and not _is_block(root):
        raise NotYaml
    return root


def _is_block(node: yaml.Node) -> bool:
    return isinstance(node, yaml.MappingNode) and not node.flow_style


def _members(text: str, mapping: yaml.Node | None) -> dict[str, _Member]:
    """Return the members of a mapping in block style by their keys."""
    if not isinstance(mapping, yaml.MappingNode):
        return {}
    found = {}
    for key, value in mapping.value:
        start = text.rfind("\n", 0, key.start_mark.index) + 1
        if text[start : key.start_mark.index].strip():
            raise NotYaml  # behind a dash, a question mark or an anchor
        last = max(_last(key), _last(value))
        line = text.find("\n", last - 1 if text[last - 1 : last] == "\n" else last)
        end = len(text) if line < 0 else line + 1
        found[str(key.value)] = _Member(start, end, key.start_mark.column, value)
    return found


def _last(node: yaml.Node) -> int:
    """Return the end of what a node has. The mark of a mapping is where the next one begins."""
    if isinstance(node, yaml.MappingNode) and not node.flow_style:
        return max(max(_last(key), _last(value)) for key, value in node.value)
    if isinstance(node, yaml.SequenceNode) and not node.flow_style:
        return max(_last(each) for each in node.value)
    return int(node.end_mark.index)


def _written(value: object, margin: int, end: str) -> str:
    text = yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=10_000)
    return "".join(f"{' ' * margin}{line}{end}" for line in text.splitlines())
