"""The codes of errors and warnings: status, exit code and remedy, as `codes.toml` has them."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Final, NamedTuple


class Remedy(NamedTuple):
    """What to do, where it differs at a terminal, over HTTP and for a model, which has only tools.

    "" for tools: what happened is all that helps a model.
    """

    terminal: str
    http: str
    tools: str = ""


class Code(NamedTuple):
    """The properties of a code. `codes.toml` says what they mean."""

    error: str | None = None
    status: int | None = None
    exit: int | None = None
    remedy: str | Remedy = ""
    indexing: str | Remedy = ""
    for_tools: str = ""


def _code(row: dict[str, Any]) -> Code:
    fields: dict[str, Any] = {
        name: Remedy(**value) if isinstance(value, dict) else value for name, value in row.items()
    }
    return Code(**fields)


_ROWS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
CODES: Final[dict[str, Code]] = {name: _code(row) for name, row in _ROWS.items()}
"""Every code, in the order of the file."""
