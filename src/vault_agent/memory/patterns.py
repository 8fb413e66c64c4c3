"""What memory knows agents, their programs and their users by. `patterns.toml` has the lists."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from typing import Any, Final

LISTS: Final[dict[str, Any]] = tomllib.loads(
    files(__package__).joinpath("patterns.toml").read_text("utf-8")
)


def any_of(name: str, flags: int = 0) -> re.Pattern[str]:
    """Return the expression for any line of a list."""
    return re.compile("|".join(LISTS[name].strip("\n").split("\n")), flags)
