"""Compiles regular expressions of callers with RE2, whose time is linear in the text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

MAX_AUTOMATON_BYTES = 8 << 20

_LINES = Path(__file__).with_name("re2.txt").read_text("utf-8").splitlines()[1:]
_KNOWN = dict(line.split("\t") for line in _LINES)
"""What is said instead of RE2's own messages, by their beginnings."""


class UnsupportedPattern(Exception):
    """RE2 does not support a pattern, or is not installed. The message says why."""


def compile_re2(pattern: str, *, ignore_case: bool, one_line: bool) -> Any:
    """Return RE2's object of a pattern, used as one of `re`. `^` and `$` are a line's ends.

    With `one_line` no match contains a line end.

    Raises:
        UnsupportedPattern: if RE2 does not support it, or is not installed.
    """
    try:
        import re2  # type: ignore[import-untyped]  # it has no stubs
    except ImportError:  # there is no wheel for musl
        raise UnsupportedPattern("Regular expressions are not available on this system.") from None
    options = re2.Options()
    options.never_nl = one_line
    options.log_errors = False  # it would print the pattern
    options.max_mem = MAX_AUTOMATON_BYTES
    options.case_sensitive = not ignore_case
    try:
        return re2.compile("(?m)" + pattern, options)
    except re2.error as error:
        raise UnsupportedPattern(_explained(error, pattern)) from None


def _explained(error: Exception, pattern: str) -> str:
    first = error.args[0] if error.args else b""
    message = first.decode("utf-8", "replace") if isinstance(first, bytes) else str(first)
    start = next((start for start in _KNOWN if message.startswith(start)), None)
    if start is None:
        return "RE2 does not support this pattern."
    fragment = message.partition(": ")[2]
    place = pattern.find(fragment) + 1 if fragment else 0
    where = f" (at character {place})" if place else ""
    return f"RE2 does not support this pattern{where}: {_KNOWN[start]}."
