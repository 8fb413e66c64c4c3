"""The syntax of a query: operators, excluded words, phrases and plain words."""

from __future__ import annotations

import re

PIECE = re.compile(
    r"""(?<!\S)(?P<minus>-(?!-))?
        (?: (?P<operator>tag|path|file):(?: "(?P<quoted>[^"]+)" | (?P<value>[^\s"]+) )
          | \["(?P<name>[^"\]]+)":\s*(?: "(?P<text>[^"]+)" | (?P<bare>[^\]"]+) )\]
          | "(?P<phrase>[^"]+)" )
        (?!\w)
      | (?<!\S)-(?P<excluded>\w\S*)
      | (?P<plain>\S+)""",
    re.VERBOSE,
)
"""Matches one piece of a query, and never fails: what is no operator is `plain`."""


_OPERATOR = re.compile(r"(?<!\S)(-?(?:tag|path|file)):")
_EXCLUDED = re.compile(r"(?<!\S)-(?=\w)")


def without_operators(text: str) -> str:
    """Return a text as plain words: what looks like an operator in it is none."""
    text = _OPERATOR.sub(r"\1 ", text.replace('"', " "))
    return _EXCLUDED.sub("", text)
