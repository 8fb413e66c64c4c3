"""Patterns of gitignore, as settings have them."""

from __future__ import annotations

import re
import warnings
from typing import NamedTuple


class IgnorePattern(NamedTuple):
    """A pattern, compiled. `excludes` is false for a `!` before it: it includes again."""

    regex: re.Pattern[str]
    excludes: bool


def ignore_pattern(text: str) -> IgnorePattern | None:
    """Return a pattern that is no comment and not blank, or None if it can never match."""
    from pathspec import GitIgnoreSpec  # commands that need no pattern start faster without it

    try:
        with warnings.catch_warnings():
            # Python's `re` warns about `[[`, which has no special meaning in gitignore.
            warnings.simplefilter("ignore", FutureWarning)
            (compiled,) = GitIgnoreSpec.from_lines([text]).patterns
    except (ValueError, re.error):
        return None
    # pathspec gives no regex for a pattern that can never match, such as `[` or `/`.
    if not isinstance(compiled.regex, re.Pattern) or compiled.include is None:
        return None
    return IgnorePattern(compiled.regex, compiled.include)


def is_pattern(text: str) -> bool:
    """Whether a line is a pattern, and not blank or a comment."""
    return bool(text.strip()) and not text.startswith("#")
