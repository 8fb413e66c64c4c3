"""Locate the terms of a query in a text.

Analyzing every word of a chunk would take longer than the search. So a cheap search comes first.
Pairs of an unspaced script are found as written, in either script of kana. Of the ASCII words, only
those that begin like one of the terms are analyzed.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from vault_agent.text.terms import fold_kana, is_pair, is_unit, located_terms, word_terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


def locate(text: str, wanted: Mapping[str, float]) -> list[tuple[int, int, str]]:
    """Return (start, end, term) of every occurrence of a wanted term, in order.

    A word with several of them (parts of a name) counts as the one with the greatest weight.
    """
    unspaced = [term for term in wanted if not term.isascii() and (is_pair(term) or is_unit(term))]
    folded = fold_kana(text) if unspaced else text
    found = [
        (start, start + len(term), term)
        for term in unspaced
        for start in _occurrences(folded, term)
    ]
    for offset, stretch in _promising(text, wanted):
        if stretch.isalnum() and stretch.isascii():  # nearly always: it is one word
            parts: Iterable[tuple[tuple[str, ...], int, int]] = (
                (word_terms(stretch), 0, len(stretch)),
            )
        else:
            parts = located_terms(stretch)
        for terms, start, end in parts:
            known = [(wanted[term], term) for term in terms if term in wanted]
            if known:
                found.append((offset + start, offset + end, max(known)[1]))
    return sorted(set(found))


def _occurrences(text: str, term: str) -> Iterator[int]:
    position = text.find(term)
    while position >= 0:
        yield position
        position = text.find(term, position + 1)


def _promising(text: str, wanted: Mapping[str, float]) -> Iterator[tuple[int, str]]:
    """Yield (offset, words) that may contain a wanted term, apart from those found as written.

    A stem shares all but its last two letters with its words. Only non-ASCII words are folded.
    """
    if not text.isascii():
        if all(is_pair(term) or is_unit(term) for term in wanted):
            return
        for match in _FOLDED_WORD.finditer(text):
            yield match.start(), match[0]
    yield from _begun(text, _beginnings(tuple(wanted)))


@lru_cache(maxsize=64)
def _beginnings(terms: tuple[str, ...]) -> dict[str, str]:
    """Return the ASCII beginnings of these terms' words, each with its form in camelCase.

    Cached, because all snippets of a search need the same.
    """
    # The terms of C++ and C# share only the letter with the text.
    letters = {
        term: 1 if term.endswith(("plusplus", "sharp")) else min(max(len(term) - 2, 2), 4)
        for term in terms
    }
    begun = {term[:count] for term, count in letters.items()}
    return {beginning: beginning.capitalize() for beginning in begun if beginning.isascii()}


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
# A word with a non-ASCII character, which folding may have changed.
_FOLDED_WORD = re.compile(r"[A-Za-z0-9_]*[^\x00-\x7f](?:[^\x00-\x7f]|[A-Za-z0-9_])*")
