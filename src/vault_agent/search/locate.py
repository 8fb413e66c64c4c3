"""Locate the terms of a query in a text.

Analyzing every word of a chunk would take longer than the search. So a cheap search comes first.
Pairs of an unspaced script are found as written, in either script of kana. Of the ASCII words, only
those that begin like one of the terms are analyzed.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from vault_agent.text.terms import fold_kana, is_pair, is_unit, located_terms, word_terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


def locate(text: str, wanted: Mapping[str, float]) -> list[tuple[int, int, str]]:
    """Return (start, end, term) of every occurrence of a wanted term, in order.

    A word with several of them (parts of a name) counts as the one with the greatest weight.
    """
    sought = _sought(tuple(wanted))
    found: list[tuple[int, int, str]] = []
    if sought.unspaced:
        folded = fold_kana(text)
        for term in sought.unspaced:
            found += ((at, at + len(term), term) for at in _occurrences(folded, term))
    for offset, stretch in _promising(text, sought):
        if stretch.isalnum() and stretch.isascii():  # nearly always: it is one word
            parts: Iterable[tuple[tuple[str, ...], int, int]] = (
                (word_terms(stretch), 0, len(stretch)),
            )
        else:
            parts = located_terms(stretch)
        for terms, start, end in parts:
            known = [term for term in terms if term in wanted]
            if known:
                term = (
                    known[0] if len(known) == 1 else max((wanted[each], each) for each in known)[1]
                )
                found.append((offset + start, offset + end, term))
    return sorted(set(found))


def _occurrences(text: str, term: str) -> Iterator[int]:
    position = text.find(term)
    while position >= 0:
        yield position
        position = text.find(term, position + 1)


class _Sought(NamedTuple):
    """What a text is searched for: terms as written, and the beginnings of the words of others."""

    unspaced: tuple[str, ...]
    beginnings: dict[str, str]  # in ASCII, each with its form in camelCase
    words: bool  # whether there are other terms than those as written


@lru_cache(maxsize=64)
def _sought(terms: tuple[str, ...]) -> _Sought:
    """Return what to search a text for. Cached, because all snippets of a search need the same.

    A stem shares all but its last two letters with its words.
    """
    unspaced = tuple(
        term for term in terms if not term.isascii() and (is_pair(term) or is_unit(term))
    )
    # The terms of C++ and C# share only the letter with the text.
    letters = {
        term: 1 if term.endswith(("plusplus", "sharp")) else min(max(len(term) - 2, 2), 4)
        for term in terms
    }
    begun = {term[:count] for term, count in letters.items()}
    beginnings = {each: each.capitalize() for each in begun if each.isascii()}
    return _Sought(unspaced, beginnings, len(unspaced) < len(terms))


def _promising(text: str, sought: _Sought) -> list[tuple[int, str]]:
    """Return (offset, words) that may contain a wanted term, apart from those found as written.

    Only non-ASCII words are folded.
    """
    if text.isascii():
        return _begun(text, sought.beginnings)
    if not sought.words:
        return []
    folded = [(match.start(), match[0]) for match in _FOLDED_WORD.finditer(text)]
    return folded + _begun(text, sought.beginnings)


def _begun(text: str, beginnings: Mapping[str, str]) -> list[tuple[int, str]]:
    """Return the ASCII words, and parts of camelCase names, with one of these beginnings.

    It uses plain searches: a regular expression for each query would take longer to compile.
    """
    lowered = text.lower()
    if len(lowered) != len(text):  # `İ` becomes two characters, which would shift offsets
        lowered = "".join(each.lower() if each.isascii() else each for each in text)
    starts = []
    for beginning, part in beginnings.items():
        start = lowered.find(beginning)
        while start >= 0:
            before = text[start - 1] if start else " "
            if not before.isalnum() or (not before.isupper() and text.startswith(part, start)):
                starts.append(start)
            start = lowered.find(beginning, start + 1)
    words, end = [], 0
    for start in sorted(starts):
        match = _REST.match(text, start)
        if start >= end and match:
            words.append((start, match[0]))
            end = match.end()
    return words


_REST = re.compile(r"[A-Za-z0-9]*[+#]*")
# A word with a non-ASCII character, which folding may have changed. The lookbehind lets the engine
# try each ASCII word once, and not from each of its letters.
_FOLDED_WORD = re.compile(
    r"(?<![A-Za-z0-9_])[A-Za-z0-9_]*+[^\x00-\x7f](?:[^\x00-\x7f]|[A-Za-z0-9_])*"
)
