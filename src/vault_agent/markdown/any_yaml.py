"""Reads any YAML of frontmatter.

The handler of python-frontmatter reads it with a loader of our own, which

- keeps every scalar as the string in the file,
- reads parser events with an explicit stack and stops at anchors, aliases and deep nesting, so
  that alias bombs and the recursion of the C composer do no harm,
- keeps the values before an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml
from frontmatter.default_handlers import YAMLHandler

from .scalars import NULLS, Scalar, Value

if TYPE_CHECKING:
    _Base = yaml.SafeLoader
else:
    _Base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

MAX_DEPTH = 32


def load_any(block: str) -> tuple[Value, str | None]:
    """Return the value of a block, and the problem if there is one."""
    try:
        found: tuple[Value, str | None] = YAMLHandler().load(block, Loader=_AsWritten)
    except (yaml.YAMLError, ValueError):  # the reader rejects control characters at once
        return {}, "not valid YAML"
    return found


class _RefusedError(Exception):
    """The rest of the YAML is not read, although it may be valid."""


class _AsWritten(_Base):
    """A loader that builds strings, lists and dicts from parser events, without recursion."""

    def get_single_data(self) -> tuple[Value, str | None]:
        """Return the first document's value, and the problem if there is one."""
        root: list[Value] = []
        problem = None
        try:
            self._build(root)
        except _RefusedError as error:
            problem = str(error)
        except (yaml.YAMLError, ValueError) as error:
            mark = getattr(error, "problem_mark", None)
            # The opening fence is the file's first line.
            problem = "not valid YAML" + (f" (line {mark.line + 2})" if mark else "")
        return (root[0] if root else None), problem

    def _build(self, root: list[Value]) -> None:
        """Append the document's value to `root`. After an error it holds what was read before."""
        stack: list[list[Value] | dict[str, Value]] = [root]
        keys: list[str | None] = [None]  # for each of `stack`, the key whose value comes next
        duplicate: str | None = None
        while self.check_event():
            event = self.get_event()  # type: ignore[no-untyped-call]
            if isinstance(event, yaml.DocumentEndEvent):
                break
            if isinstance(event, yaml.CollectionEndEvent):
                stack.pop()
                keys.pop()
                continue
            if not isinstance(event, yaml.NodeEvent):
                continue
            if event.anchor is not None:
                raise _RefusedError("anchors and aliases are not read")
            top = stack[-1]
            if isinstance(top, dict) and keys[-1] is None:
                key = _key_of(event, top_level=len(stack) == 2)
                keys[-1] = key
                if key in top:
                    duplicate = duplicate or f"a key is given twice (line {_line(event)})"
                continue
            value = _value_of(event)
            if isinstance(top, list):
                top.append(value)
            else:
                top.setdefault(keys[-1] or "", value)
                keys[-1] = None
            if isinstance(value, (list, dict)):
                if len(stack) > MAX_DEPTH:
                    raise _RefusedError("nested too deeply")
                stack.append(value)
                keys.append(None)
        if duplicate:
            raise _RefusedError(duplicate)


def _key_of(event: yaml.NodeEvent, *, top_level: bool) -> str:
    if not isinstance(event, yaml.ScalarEvent):
        raise _RefusedError("a key is not plain text")
    key = str(event.value)
    return key.lower() if top_level else key


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 2


def _value_of(event: Any) -> Value:
    if isinstance(event, yaml.SequenceStartEvent):
        return []
    if isinstance(event, yaml.MappingStartEvent):
        return {}
    text = str(getattr(event, "value", ""))
    if text in NULLS and not getattr(event, "style", None):
        return None
    mark = event.start_mark
    return Scalar.at(
        text,
        int(mark.line) + 2,
        int(mark.column) + 1,
        int(mark.index),
        int(event.end_mark.index),
        plain=not getattr(event, "style", None),
    )
