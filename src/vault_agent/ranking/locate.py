"""Where the words of a query stand in a text that the index has seen only as terms.

Going through every word of a chunk would cost more than the search did. So a cheap look comes
first: pairs of an unspaced script are found as they are written, and of plain ASCII text only words
that begin like one of the terms are taken further.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from vault_agent.text import is_pair, is_unit, located_terms

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def locate(text: str, wanted: Mapping[str, float]) -> list[tuple[int, int, str]]:
    """Return (start, end, term) of every place where a wanted term stands, in order.

    A word that holds several of them (parts of a name) counts as the one that weighs most.
    """
    found = [
        (start, start + len(term), term)
        for term in wanted
        if not term.isascii() and (is_pair(term) or is_unit(term))
        for start in _occurrences(text, term)
    ]
    for offset, stretch in _promising(text, wanted):
        for terms, start, end in located_terms(stretch):
            known = [(wanted[term], term) for term in terms if term in wanted]
            if known:
                found.append((offset + start, offset + end, max(known)[1]))
    return sorted(set(found))


def _occurrences(text: str, term: str) -> Iterator[int]:
    position = text.find(term)
    while position >= 0:
        yield position
        position = text.find(term, position + 1)


def _promising(text: str, wanted: Mapping[str, float]) -> list[tuple[int, str]]:
    """Return the stretches that may hold a wanted term beyond those found as written.

    A stem shares all but its last two letters with its words, and only what is not ASCII is folded.
    """
    # Of C++ and C# only the letter stands in the text.
    letters = {
        term: 1 if term.endswith(("plusplus", "sharp")) else min(max(len(term) - 2, 2), 4)
        for term in wanted
    }
    beginnings = frozenset(t[:count] for t, count in letters.items() if t[:count].isascii())
    if text.isascii():
        return [(match.start(), match[0]) for match in _beginning(beginnings).finditer(text)]
    if all(is_pair(term) or is_unit(term) for term in wanted):
        return []
    return [(0, text)]


@lru_cache(maxsize=256)
def _beginning(beginnings: frozenset[str]) -> re.Pattern[str]:
    choices = "|".join(sorted(map(re.escape, beginnings))) or "(?!)"
    inside = "|".join(sorted(re.escape(each.capitalize()) for each in beginnings)) or "(?!)"
    return re.compile(
        rf"(?<![A-Za-z0-9])(?:{choices})[A-Za-z0-9]*[+#]*"
        rf"|(?<=[a-z0-9])(?-i:{inside})[A-Za-z0-9]*",  # a part of a name in camelCase
        re.IGNORECASE,
    )
