"""Mentions: where a text names a note without a link. Pure."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from vault_agent.text.placeholders import has_placeholder
from vault_agent.text.terms import folded_words

if TYPE_CHECKING:
    from collections.abc import Iterable

Words: TypeAlias = tuple[str, ...]

LEAST_CHARACTERS = 3
LEAST_UNSPACED_CHARACTERS = 2

# What may stand between two words of a name: spaces, hyphens and one line end count as one space.
_SPACE = re.compile(r"[ \t\u00a0\u202f-]*\n?[ \t>\u00a0\u202f-]*")
# The end of a sentence, and quotes, need not be written with a name.
_QUOTES = "\"'“”‘’«»„"
_ENDS = _QUOTES + ".!?…"
_LINE = re.compile(r"[^\n]+")
# A word that is joined with one of these characters is part of a path, an address or another word.
_JOINS_BEFORE = frozenset("/\\@#_=&$-.~:")
_JOINS_AFTER = frozenset("/\\@_=-.:")


class Name(NamedTuple):
    """A name as folded words, and the characters between, before and after them."""

    words: Words
    gaps: tuple[str, ...]
    before: str = ""
    after: str = ""


def name_of(text: str) -> Name | None:
    """Return a name to look for, or None if it is too short, only digits or a placeholder."""
    if has_placeholder(text):  # the title of a template
        return None
    found = list(folded_words(text))
    words = tuple(word for word, _, _ in found)
    least = LEAST_CHARACTERS if text.isascii() else LEAST_UNSPACED_CHARACTERS
    if not any(_is_unspaced(word) for word in words):
        least = LEAST_CHARACTERS
    if len("".join(words)) < least or all(word.isdigit() for word in words):
        return None
    gaps = (text[one[2] : other[1]] for one, other in pairwise(found))
    before, after = text[: found[0][1]].strip(), text[found[-1][2] :].strip()
    return Name(words, tuple(map(_gap, gaps)), before.strip(_QUOTES), after.strip(_ENDS))


class Mentions:
    """Finds the names of one note in texts."""

    def __init__(self, names: Iterable[Name], longer: Iterable[Words]) -> None:
        """Take the names to find, and longer names of other notes that contain one of them."""
        # Longer names first: where two of them overlap, the longer one counts.
        self._names = sorted(set(names), key=lambda name: -len(name.words))
        self._first = {name.words[0] for name in self._names}
        self._longest = max((len(name.words) for name in self._names), default=0)
        self._longer: dict[tuple[int, int], set[Words]] = {}  # by length and offset of the name
        for words in longer:
            for name in self._names:
                for offset in _offsets(name.words, words):
                    self._longer.setdefault((len(words), offset), set()).add(words)

    def find(self, text: str) -> list[tuple[int, int]]:
        """Return the ranges of the names in a text, in order and without overlap.

        A name counts if it stands as whole words, and is not part of a longer name.
        """
        found: list[tuple[int, int]] = []
        for line in _LINE.finditer(text):
            folded = _folded(line[0])
            if not any(word in folded for word in self._first):
                continue  # splitting a line into words takes longer
            done = found[-1][1] if found else 0
            found += self._in_line(text, *line.span(), done)
        return found

    def _in_line(self, text: str, start: int, end: int, done: int) -> list[tuple[int, int]]:
        """Return the ranges that begin in a line, from `done` on. They may end in the next line."""
        if self._longest > 1:
            following = text.find("\n", end + 1)
            window = text[start : following if following >= 0 else None]
        else:
            window = text[start:end]
        words = [(word, start + first, start + last) for word, first, last in folded_words(window)]
        folded = [word for word, _, _ in words]
        found = []
        for index, (word, first, _) in enumerate(words):
            if first >= end:
                break
            if first < done or word not in self._first:
                continue
            for name in self._names:
                if tuple(folded[index : index + len(name.words)]) != name.words:
                    continue
                run = words[index : index + len(name.words)]
                place = first, run[-1][2]
                if self._is_name(text, place, run, name) and not self._is_inside(folded, index):
                    found.append(place)
                    done = place[1]
                    break
        return found

    def _is_name(
        self, text: str, place: tuple[int, int], run: list[tuple[str, int, int]], name: Name
    ) -> bool:
        """Whether a run of words is written as the name is."""
        start, end = place
        gaps = (_gap(text[one[2] : other[1]]) for one, other in pairwise(run))
        return (
            tuple(gaps) == name.gaps
            and text.endswith(name.before, 0, start)
            and text.startswith(name.after, end)
            and not _is_joined(text, start - len(name.before), end + len(name.after), name)
        )

    def _is_inside(self, folded: list[str], index: int) -> bool:
        return any(
            index >= offset and tuple(folded[index - offset : index - offset + length]) in known
            for (length, offset), known in self._longer.items()
        )


def _offsets(name: Words, longer: Words) -> list[int]:
    """Return where a name begins in a longer one."""
    last = len(longer) - len(name)
    if last <= 0:
        return []
    return [at for at in range(last + 1) if longer[at : at + len(name)] == name]


def _folded(text: str) -> str:
    """Return a text in which every folded word is contained."""
    if text.isascii():
        return text.lower()
    return " ".join(word for word, _, _ in folded_words(text))


def _gap(between: str) -> str:
    return " " if between and _SPACE.fullmatch(between) else between.strip()


def _is_unspaced(word: str) -> bool:
    return not word.isascii() and len(word) <= 2 and next(folded_words(word * 2))[0] == word


def _is_joined(text: str, start: int, end: int, name: Name) -> bool:
    """Whether a range is part of a path, an address or a compound word."""
    before, after = text[start - 1 : start], text[end : end + 1]
    if _is_unspaced(name.words[0]) and _is_unspaced(name.words[-1]):
        return before in {"/", "#", "@"} or after in {"/", "@"}
    if before in _JOINS_BEFORE and (before not in ".:-" or _is_word(text[start - 2 : start - 1])):
        return True
    return after in _JOINS_AFTER and (after not in ".:-" or _is_word(text[end + 1 : end + 2]))


def _is_word(character: str) -> bool:
    return character.isalnum() or character in {"_", "/"}
