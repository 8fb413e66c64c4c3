"""Finds tokens by the forms of the table `secrets.txt`.

Each form names literal parts that a text must have before its pattern is tried. So a text without
secrets costs little, and a pattern is compiled when it is first needed.

Standard library only. Each pattern is linear in the length of the text.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator


class Span(NamedTuple):
    """A secret in a text: where it starts and ends, and its kind."""

    start: int
    end: int
    kind: str


_CHARACTERS: Final = {
    "hex": "[0-9A-Fa-f]",
    "an": "[0-9A-Za-z]",
    "url": "[0-9A-Za-z_-]",
    "b64": "[0-9A-Za-z_+/=-]",
    "dot": r"[0-9A-Za-z_+/=.\-]",
}


class _Form(NamedTuple):
    kind: str
    parts: tuple[str, ...]
    pattern: str
    whole: str = ""  # the pattern of a token of full length, that may be wrapped


def _read() -> Iterator[_Form]:
    for line in Path(__file__).with_name("secrets.txt").read_text("utf-8").splitlines():
        columns = line.split("\t")
        if not line or line.startswith("#"):
            continue
        if len(columns) == 3:
            kind, part, pattern = columns
            yield _Form(kind, (part,), pattern)
            continue
        kind, prefixes, characters, least, whole = columns
        one = _CHARACTERS[characters.rstrip("?")]
        parts = tuple(prefixes.split("|"))
        start = rf"(?<![0-9A-Za-z])(?:{'|'.join(map(re.escape, parts))})[ ]?"
        if characters.endswith("?"):
            start += rf"(?=[^0-9\s]{{0,{least}}}[0-9])(?={one}{{{least}}})"
        longest = int(whole)
        yield _Form(
            kind,
            parts,
            f"{start}{one}{{{least},}}",
            f"{start}{one}{{{least},{max(longest, int(least))}}}" if longest else "",
        )


_FORMS: Final = tuple(_read())
_compiled = cache(re.compile)
_VARIABLE: Final = re.compile(
    r"\[redacted|\$[A-Z_][A-Z0-9_]*\W?$|\$[a-z_]+\W?$|\$\{[^}]*\}?$|\$\(|\{\{|%[A-Z_]+%$"
    r"|<[^<>]*>?$|\*{3}|x{4}|\.{3}|\{[\w.]*\}$"
)


def is_variable(value: str) -> bool:
    """Whether a value is filled in later, or is not shown."""
    return _VARIABLE.match(value) is not None


def tokens(text: str) -> list[Span]:
    """Return the tokens of a text that have the form of a vendor, a key, or a command."""
    found = []
    for form in _FORMS:
        if any(part in text for part in form.parts):
            pattern = _compiled(form.pattern)
            group = "it" if "it" in pattern.groupindex else 0
            matches = pattern.finditer(text)
            found += [
                Span(*match.span(group), form.kind)
                for match in matches
                if not is_variable(match[group])
            ]
    return found


def wrapped_tokens(text: str) -> list[Span]:
    """Return the tokens of a known length, and no more than that length."""
    found = []
    for form in _FORMS:
        if form.whole and any(part in text for part in form.parts):
            pattern = _compiled(form.whole)
            found += [Span(*match.span(), form.kind) for match in pattern.finditer(text)]
    return found
