"""Words of a text as they are written: folded, but not stemmed. Some are common in any text."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from functools import cache
from importlib.resources import files
from math import ceil
from typing import Final

from vault_agent.text.terms import terms

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


def tokens_of(text: str) -> int:
    """Return an estimate of a text's tokens, which is above those of common tokenizers."""
    others = len(text) - len(text.encode("ascii", "ignore"))
    return ceil((len(text) - others) / 3.5 + 1.25 * others)


# --- lists of words -------------------------------------------------------------------------------

_LISTS: Final = tomllib.loads(files(__package__).joinpath("words.toml").read_text("utf-8"))
_PHRASES: Final = _LISTS.pop("phrases").split()
_QUESTIONS: Final = _LISTS.pop("questions")
_COMMON: Final = frozenset(fold_words(word) for words in _LISTS.values() for word in words.split())
_PAIRS: Final = frozenset(
    phrase[at : at + 2] for phrase in _PHRASES for at in range(len(phrase) - 1)
)
_UNSPACED_SCRIPT = re.compile(f"[{_UNSPACED}]")
_ANY_WORD = re.compile(r"[^\W_]+")
_HIRAGANA = re.compile("[\u3041-\u309f]+")


def content_words(text: str) -> set[str]:
    """Return the words of a text that may name a subject, folded.

    In scripts without spaces, each pair of characters counts as a word.
    """
    words: set[str] = set()
    text = without_hiragana(text).replace("'", "").replace("’", "")
    for word in _ANY_WORD.findall(fold_words(text)):
        if word.isascii() or not _UNSPACED_SCRIPT.search(word):
            words.add(word)
        else:
            words.update(word[place : place + 2] for place in range(len(word) - 1))
    return {word for word in words if len(word) > 1 and word not in _COMMON and word not in _PAIRS}


def without_hiragana(text: str) -> str:
    """Return a text without the script of Japanese in which endings and particles are written.

    What a text is about stands in kanji, katakana and Latin letters.
    """
    return _HIRAGANA.sub(" ", text)


@cache
def common_terms() -> frozenset[str]:
    """Return the terms of the common words, as texts are searched by."""
    return frozenset(terms(" ".join((*_COMMON, *_PHRASES))))


@cache
def question_form() -> re.Pattern[str]:
    """Return the pattern of a question. Its group `subject` is what the question asks about."""
    forms = "|".join(_QUESTIONS)
    return re.compile(rf"\s*(?:{forms})\s+(?P<subject>\S.*)", re.IGNORECASE | re.DOTALL)


@cache
def function_terms() -> frozenset[str]:
    """Return the terms of the words of English that build sentences, as texts are searched by."""
    return frozenset(terms(_LISTS["function"]))
