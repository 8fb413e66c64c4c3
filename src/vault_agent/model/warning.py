"""Warnings: problems that did not stop the work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from vault_agent.errors import for_http

MAX_WARNINGS = 100
"""How many warnings a job keeps and a reply shows. The others are only counted."""


@dataclass(frozen=True, slots=True)
class Warning:  # noqa: A001 - the usual word; the builtin of that name is not used here
    """A problem that did not stop the work."""

    code: str
    message: str
    details: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        code: str,
        what: str,
        details: Mapping[str, Any] | None = None,
        *,
        indexing: bool = False,
    ) -> Warning:
        """Return a warning with the remedy of its code for a caller over HTTP."""
        return cls(code, *for_http(code, what, details or {}, indexing=indexing))
