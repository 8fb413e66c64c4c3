"""Labels of communities: the terms that tell each one from the others."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from vault_agent.text.terms import folded_words

if TYPE_CHECKING:
    from collections.abc import Sequence

_TERMS = 2
_LEAST_CHARACTERS = 2


def labels(members: Sequence[int], texts: Sequence[str]) -> list[str]:
    """Return the label of every community with two notes or more: its two best terms by tf·idf.

    Args:
        members: the community of each note. Communities are numbered by size, the largest first.
        texts: the title and tags of each note.
    """
    sizes = Counter(members)
    count = sum(size > 1 for size in sizes.values())
    words = [_words(text) for text in texts]
    frequencies = Counter(word for each in words for word in each)
    inside: list[Counter[str]] = [Counter() for _ in range(count)]
    for community, each in zip(members, words, strict=True):
        if community < count:
            inside[community].update(each)
    found = []
    for counts in inside:
        weights = {
            word: number * math.log(1 + len(texts) / frequencies[word])
            for word, number in counts.items()
        }
        best = sorted(weights, key=lambda word: (-weights[word], word))[:_TERMS]
        found.append(" ".join(best))
    return found


def _words(text: str) -> set[str]:
    return {
        word
        for word, start, end in folded_words(text)
        if len(word) >= _LEAST_CHARACTERS and not word.isdigit()
        if any(character.isalnum() for character in text[start:end])  # emoji have made-up words
    }
