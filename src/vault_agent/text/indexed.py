"""The terms that the full-text index stores, computed once for all fields.

The engine's own analysis of a field takes three times as long as the rest of its work, and a note's
text is in two fields. So the terms are computed here, where each word is analysed once and then
looked up. The engine splits the result at spaces, with `splitter`.

The terms and their positions are those of `terms.analyzer` over `terms.prepare`.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from .terms import MAX_TERM_BYTES, analyzer, camel_parts, fold_text, split_versions

if TYPE_CHECKING:
    from tantivy import TextAnalyzer

_PLACEHOLDER_BYTES = 255
_PLACEHOLDER = "x" * _PLACEHOLDER_BYTES
"""Stands for a run that is too long to be a word. `splitter` removes it and keeps its position."""

_MAX_WORDS = 1 << 17
_MAX_WORD_BYTES = 200  # longer words hardly occur again

# Marks in the terms of a word. Neither can be in a text, because both separate words.
_PARTS = "\0"  # precedes each part of a camelCase name
_VERSION = "\1"  # after `v` and digits: if `.` and a digit follow, it is a version number

_SEPARATED = bytes(
    byte if byte >= 0x80 or chr(byte).isalnum() else ord(" ") for byte in range(0x100)
)
_WITH_PARTS = re.compile(f"{_PARTS}([^ ]*)")
_ENDS_IN_VERSION = re.compile(r"[vV]\d+\Z")


def index_terms(folded: str) -> str:
    """Return the terms of a text that `terms.fold_text` has returned, separated by spaces.

    The parts of its camelCase names come last.
    """
    return _finished(_marked(folded))


def name_terms(*names: str) -> str:
    """Return the terms of some names, each on a line of its own. Names occur again: cached."""
    return _finished(" ".join(map(_marked_name, names)))


@lru_cache(maxsize=1 << 13)
def _marked_name(name: str) -> str:
    return _marked(fold_text(name))


def _marked(folded: str) -> str:
    """Return the terms of a text with marks where names have parts."""
    found = _looked_up(folded)
    if _VERSION in found:
        found = _looked_up(split_versions(folded)).replace(_VERSION, "")
    return found


def _looked_up(text: str) -> str:
    words = text.encode().translate(_SEPARATED).split()
    return b" ".join(map(_WORDS.__getitem__, words)).decode()


def _finished(marked: str) -> str:
    """Move the parts of names to the end, each once."""
    if _PARTS not in marked:
        return marked
    pieces = _WITH_PARTS.split(marked)  # terms and parts in turn
    parts = dict.fromkeys(_PARTS.join(dict.fromkeys(pieces[1::2])).split(_PARTS))
    return " ".join(("".join(pieces[::2]), *map(_part_terms, parts)))


class _Words(dict[bytes, bytes]):
    """The terms and marks of words in UTF-8. A word has no ASCII character but letters and digits.

    The native splitter ends a term at each ASCII character that is neither, so it finds the same
    terms in a word alone as in its text.
    """

    def __missing__(self, word: bytes) -> bytes:
        text = word.decode()
        if len(word) < MAX_TERM_BYTES and word.isalpha() and word.islower():
            [found] = analyzer().analyze(text)  # plain letters: the most frequent case
        else:
            found = " ".join(_terms(text))
            if _ENDS_IN_VERSION.search(text):
                found += _VERSION
            if not word.islower():
                found = "".join((found, *(f"{_PARTS}{part}" for part in camel_parts(text))))
        encoded = found.encode()
        if len(word) <= _MAX_WORD_BYTES:
            if len(self) >= _MAX_WORDS:
                self.clear()
            self[word] = encoded
        return encoded


_WORDS = _Words()


def _terms(text: str) -> list[str]:
    if 4 * len(text) < MAX_TERM_BYTES or len(text.encode()) < MAX_TERM_BYTES:
        return analyzer().analyze(text)
    return [
        term
        for run in _runs().analyze(text)
        for term in (
            analyzer().analyze(run) if len(run.encode()) < MAX_TERM_BYTES else (_PLACEHOLDER,)
        )
    ]


@lru_cache(maxsize=1 << 12)
def _part_terms(part: str) -> str:
    return " ".join(analyzer().analyze(part))


@cache
def _runs() -> TextAnalyzer:
    from tantivy import TextAnalyzerBuilder, Tokenizer

    return TextAnalyzerBuilder(Tokenizer.simple()).build()


@cache
def splitter() -> TextAnalyzer:
    """Return the native pipeline that splits the result of `index_terms` into terms."""
    from tantivy import Filter, TextAnalyzerBuilder, Tokenizer

    return (
        TextAnalyzerBuilder(Tokenizer.whitespace())
        .filter(Filter.remove_long(_PLACEHOLDER_BYTES))
        .build()
    )
