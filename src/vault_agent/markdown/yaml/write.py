"""Writes values of frontmatter. All text that becomes YAML is quoted here.

Text is written plain only if YAML 1.1 and 1.2 read it back as the same text.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import yaml
from yaml.resolver import Resolver

from vault_agent.errors import InvalidRequest
from vault_agent.markdown.yaml.values import scalar_value

if TYPE_CHECKING:
    from vault_agent.markdown.yaml.values import Json

MAX_DEPTH = 32
DOUBLE = '"'

_NOT_FINITE = re.compile(r"(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z")
# The spec of YAML 1.1 has these too, but PyYAML does not.
_OLD_BOOLEANS = frozenset(("y", "Y", "n", "N"))
_STRING = "tag:yaml.org,2002:str"
# Dates are written as Obsidian writes them. Other programs may read them as dates.
_PLAIN_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2})?)?\Z", re.ASCII)

# Written as escapes in double quotes: controls, breaks that only some parsers know, the byte order
# mark and what is no character.
_ESCAPED = re.compile('[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff"\\\\]')
_SHORT = {"\n": r"\n", "\t": r"\t", "\r": r"\r", '"': r"\"", "\\": r"\\"}
_INDICATORS = frozenset("-?:,[]{}#&*!|>'\"%@`=<~. ")
_NEVER_PLAIN = re.compile(r": |:\Z| #| \Z|[^\S ]")
_NOT_PLAIN = re.compile(r": |:\Z| #|\A[\s\-?:,\[\]{}#&*!|>'\"%@`]|\s\Z")
_BRACKETS = re.compile(r"[,\[\]{}]")
_NEVER_IN_FLOW = re.compile(r"[,\[\]{}:#]")


def check_value(value: Json, depth: int = 0) -> None:
    """Check that a value can be written.

    Raises:
        InvalidRequest: `INVALID_REQUEST` if it is nested over 32 levels deep, or has a number that
            is not finite, or text that a note cannot contain.
    """
    if depth > MAX_DEPTH:
        raise InvalidRequest("INVALID_REQUEST", "The value is nested too deeply.")
    if isinstance(value, float) and not -float("inf") < value < float("inf"):
        raise InvalidRequest("INVALID_REQUEST", "A number must be finite.")
    if isinstance(value, int) and abs(value) >= 1 << 256:
        raise InvalidRequest("INVALID_REQUEST", "A number has too many digits.")
    if isinstance(value, str) and ("\0" in value or not _encodes(value)):
        raise InvalidRequest("INVALID_REQUEST", "The text contains NUL or half of a character.")
    for item in value if isinstance(value, list) else ():
        check_value(item, depth + 1)
    for key, item in value.items() if isinstance(value, dict) else ():
        check_value(key, depth + 1)
        check_value(item, depth + 1)


def written(value: Json, *, quote: str | None = None, flow: bool = False) -> str:
    """Return a value as YAML on one line, as in `key: value`. Null is the empty text.

    `quote` is the quotation mark of text, if it must have one. `flow` is whether the value is
    within brackets.
    """
    if value is None:
        return "null" if flow else ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, str):
        return _text(value, quote, flow=flow)
    if isinstance(value, list):
        return f"[{', '.join(written(item, quote=quote, flow=True) for item in value)}]"
    pairs = (
        f"{_text(key, None, flow=True, date=False)}: {written(item, quote=quote, flow=True)}"
        for key, item in value.items()
    )
    return f"{{{', '.join(pairs)}}}"


def written_key(name: str) -> str:
    """Return a new key as YAML.

    Raises:
        InvalidRequest: `INVALID_REQUEST` if it is empty, over 200 characters, or has controls.
    """
    if not 1 <= len(name) <= 200 or _has_controls(name):
        raise InvalidRequest(
            "INVALID_REQUEST", "A key must be one line of 1 to 200 characters without controls."
        )
    return _text(name, None, flow=False, date=False)


def within(text: str, quote: str, *, flow: bool = False) -> str | None:
    """Return text as a part of a scalar in quotation marks, or without if `quote` is empty.

    Return None if it cannot be written there. `flow` is whether a scalar without quotation marks
    may be within brackets.
    """
    if quote == DOUBLE:
        return _ESCAPED.sub(_escape, text)
    if _has_controls(text):
        return None
    if quote:
        return text.replace("'", "''")
    if _NOT_PLAIN.search(text) or (flow and _BRACKETS.search(text)):
        return None
    return text


def _has_controls(text: str) -> bool:
    return _ESCAPED.search(text.replace('"', "").replace("\\", "")) is not None


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _float(value: float) -> str:
    text = repr(value)
    if "e" in text and "." not in text:  # YAML 1.1 wants a point
        text = text.replace("e", ".0e")
    return text


def _text(text: str, quote: str | None, *, flow: bool, date: bool = True) -> str:
    if quote is None and _is_plain(text, flow=flow, date=date):
        return text
    inside = None if quote != "'" else within(text, quote)
    return f'"{within(text, DOUBLE)}"' if inside is None else f"'{inside}'"


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    return _SHORT.get(character) or f"\\u{ord(character):04X}"


def _is_plain(text: str, *, flow: bool, date: bool) -> bool:
    """Whether text without quotes is the same text in YAML 1.1 and 1.2."""
    if not text or text[0] in _INDICATORS or _ESCAPED.search(text) or _NEVER_PLAIN.search(text):
        return False
    if flow and _NEVER_IN_FLOW.search(text):
        return False
    if date and _PLAIN_DATE.match(text):
        return True
    return (
        isinstance(scalar_value(text, plain=True), str)
        and not _NOT_FINITE.match(text)
        and text not in _OLD_BOOLEANS
        and _old_tag(text) == _STRING
    )


@lru_cache(maxsize=1)
def _resolver() -> Any:  # its methods have no types
    return Resolver()


def _old_tag(text: str) -> str:
    """Return the tag that YAML 1.1 gives a plain scalar."""
    return str(_resolver().resolve(yaml.ScalarNode, text, (True, False)))
