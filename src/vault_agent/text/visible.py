"""Names with their invisible characters made visible, so that a name can be copied as it is."""

from __future__ import annotations

import re

CONTROLS = "\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff"
"""For a character class: line breaks, C0 and C1 controls, and lone surrogates."""
MOVING = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f\ufeff\ufff9-\ufffb"
"""For a character class: what reorders or covers other text. Marks and overrides of bidirectional
text (UAX #9), deprecated format controls, the BOM, and annotations."""
HIDDEN = MOVING + "\xad\u180e\u200b\u2060-\u2065\U000e0000-\U000e0fff"
"""For a character class: also what takes no room, down to the tag characters. Joiners stay out:
words and emoji need them."""

_INVISIBLE = f"[{CONTROLS}{HIDDEN}]"


def visible(name: str) -> str:
    r"""Return a name with invisible characters as `\u{…}`. The name can still be copied back."""
    return re.sub(_INVISIBLE, as_code, name)


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
