"""Whole words of a text as they are written: folded, but not stemmed."""

from __future__ import annotations

import re
import unicodedata

# Scripts without spaces between words: a word begins and ends anywhere.
_UNSPACED = "\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff"
_WORD = rf"[^\W{_UNSPACED}]"
"""A character of a word that has borders."""
_MARKS = re.compile("[\u0300-\u036f\u00ad\u200b-\u200f\u2060\ufe00-\ufe0f\ufeff]+")
_PUNCTUATION = " \t\r\n.,;:!?\"'()[]{}<>«»“”‘’…、。・「」『』（）！？"


def fold_words(text: str) -> str:
    """Return text without differences of case, width and accents."""
    if text.isascii():
        return text.lower()
    plain = _MARKS.sub("", unicodedata.normalize("NFKD", text).casefold())
    return unicodedata.normalize("NFC", plain)


def whole_word(literal: str) -> re.Pattern[str] | None:
    """Return a pattern that finds a word or phrase as a whole in folded text.

    In scripts without spaces, its characters must be adjacent, and it has no borders. Returns None
    if the literal has only punctuation.
    """
    words = fold_words(literal).strip(_PUNCTUATION).split()
    if not words:
        return None
    first = rf"(?<!{_WORD})" if re.match(_WORD, words[0]) else ""
    last = rf"(?!{_WORD})" if re.match(_WORD, words[-1][-1]) else ""
    return re.compile(first + r"\s+".join(map(re.escape, words)) + last)
