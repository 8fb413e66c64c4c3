"""Names with their invisible characters made visible, so that a name can be copied as it is."""

from __future__ import annotations

import re

# Line breaks, controls, and characters that are invisible or reorder text: bidi marks, zero-width
# characters, variation selectors of tag sequences, and the tag characters themselves.
_INVISIBLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)


def visible(name: str) -> str:
    r"""Return a name with invisible characters as `\u{…}`. The name can still be copied back."""
    return _INVISIBLE.sub(as_code, name)


def hidden(name: str) -> str:
    """Return the name that `visible` made visible."""
    if "\\u{" not in name:
        return name
    return re.sub(r"\\u\{([0-9a-f]{1,6})\}", _character, name)


def as_code(match: re.Match[str]) -> str:
    r"""Return the character that was matched as `\u{…}`."""
    return f"\\u{{{ord(match[0]):x}}}"


def _character(match: re.Match[str]) -> str:
    number = int(match[1], 16)
    return chr(number) if number <= 0x10FFFF else match[0]
