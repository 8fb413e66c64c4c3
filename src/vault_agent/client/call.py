"""How an operation of the server is called. `calls.py` has one row for each."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import quote

from vault_agent.model.camel import camel

if TYPE_CHECKING:
    from collections.abc import Mapping

Data = TypeVar("Data")

_PARTS = re.compile(r"\{(\w+)\}")
_WITH_SLASHES = "path"
"""The part of a path that is itself one: the server checks whether it leaves the vault."""


class Call(Generic[Data]):
    """A call over HTTP.

    Args:
        method: GET, POST or DELETE.
        path: a template with the names of fields.
        replies: the classes that the reply's data can have, as `module.Name` of `model`.
        has_body: whether the fields are sent as JSON, and not in the query string.
    """

    __slots__ = ("has_body", "method", "path", "replies")

    def __init__(
        self, method: str, path: str, replies: tuple[str, ...] = (), *, has_body: bool = False
    ) -> None:
        self.method = method
        self.path = path
        self.replies = replies
        self.has_body = has_body

    def addressed(self, fields: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """Return the path with its fields, and the other fields by their names in JSON.

        Fields that are None, False or empty are left out.
        """
        named = {
            camel(name): value
            for name, value in fields.items()
            if not (value is None or value is False or value in ((), [], {}))
        }
        path = _PARTS.sub(lambda part: _quoted(part[1], named), self.path)
        in_path = _PARTS.findall(self.path)
        return path, {name: value for name, value in named.items() if name not in in_path}


def _quoted(name: str, named: Mapping[str, Any]) -> str:
    return quote(str(named[name]), safe="/" if name == _WITH_SLASHES else "")
