"""Compile a user's text to a query. Any text is valid.

The operators are `"a phrase"`, `-word`, `tag:name`, `path:folder`, `path:"a folder"`, `file:name`
and `["property":value]`, all also with a minus. Everything else is plain words, even unknown
operators and unclosed quotes. In a whole sentence, a phrase in quotes is not required, because it
may be a quotation.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from string import punctuation
from typing import NamedTuple

from vault_agent.model.lexical import PIECE, LexicalQuery, Spelling, Terms
from vault_agent.model.search import Filters
from vault_agent.text.names import is_note
from vault_agent.text.terms import is_unit, prepare, sequence, terms, units, word_terms
from vault_agent.text.words import function_terms, question_form

MAX_COMPOUND = 8
"""A longer run of parts is a sentence in an unspaced script, or a URL: its pairs are searched."""
MAX_TERMS = 128
"""Limit of the distinct terms of a query."""
SENTENCE_WORDS = 8
"""A query with more words than this outside quotes is a sentence."""
FEW_WORDS = 4
"""In a query of more words, words such as `the` have half the weight of others."""
FUNCTION_WEIGHT = 0.5
PART_WEIGHT = 0.5
MAX_SPELLED_WORDS = 8
"""Other spellings are searched only for a query of at most so many words."""
MAX_SPLIT_LETTERS, MIN_PART_LETTERS = 12, 2
_LETTERS = re.compile(r"[^\W\d_]+")
_SIGNS = f" {punctuation}"
"""A query of these alone is one without words: somebody types `tag:a -`, or `*`."""


class _Operators(NamedTuple):
    """The values of the operators of a query."""

    tag: list[str]
    path: list[str]
    file: list[str]
    property: list[tuple[str, str]]

    def filters(self) -> Filters:
        return Filters(
            tags=tuple(self.tag),
            path_parts=tuple(self.path),
            file_patterns=tuple(self.file),
            properties=tuple(self.property),
        )


def literals(text: str) -> list[str]:
    """Return the words and quoted phrases of a query, without operators and excluded words."""
    pieces = PIECE.finditer(text)
    wanted = (piece["plain"] or (None if piece["minus"] else piece["phrase"]) for piece in pieces)
    return [text for text in wanted if text]


def compile_query(text: str) -> LexicalQuery:
    """Compile a user's text. It never fails. A query without terms (`"`, `*`) finds nothing."""
    plain: list[str] = []
    quoted: list[str] = []
    excluded: list[Terms] = []
    wanted, unwanted = _Operators([], [], [], []), _Operators([], [], [], [])
    for piece in PIECE.finditer(text):
        value = piece["quoted"] or piece["value"]
        operators = unwanted if piece["minus"] else wanted
        if piece["operator"]:
            getattr(operators, piece["operator"]).append(value)
        elif piece["name"]:
            operators.property.append((piece["name"], (piece["text"] or piece["bare"]).strip()))
        elif piece["excluded"] or (piece["phrase"] and piece["minus"]):
            excluded.append(tuple(sequence(piece["excluded"] or piece["phrase"])))
        elif piece["phrase"]:
            quoted.append(piece["phrase"])
            plain.append(piece["phrase"])
        else:
            plain.append(piece["plain"])
    prose = len(plain) - len(quoted) > SENTENCE_WORDS
    words = " ".join(plain)
    in_place = [sequence(word) for word in plain]
    subject = terms(subject_of(words))
    return LexicalQuery(
        term_weights=_weights(plain, in_place),
        units=_units(words),
        pairs=_pairs(words),
        compounds=_compounds(in_place),
        spellings=_spellings(words),
        phrases=()
        if prose
        else tuple(filter(None, (tuple(sequence(phrase)) for phrase in quoted))),
        excluded=tuple(filter(None, excluded)),
        name=" ".join(terms(words)),
        subject=" ".join(subject),
        form=frozenset(terms(words)).difference(subject) if subject else frozenset(),
        path=words if "/" in words or is_note(words) else "",
        text=words if words.strip(_SIGNS) else "",
        filters=wanted.filters(),
        without=unwanted.filters(),
    )


def subject_of(question: str) -> str:
    """Return the subject of a question, or "" if the text does not have the form of a question."""
    form = question_form().match(question)
    return form["subject"].strip(" \t?!.") if form else ""


def _weights(plain: list[str], in_place: list[list[str]]) -> dict[str, float]:
    """Count the terms. A repeated term counts twice (measured: 6 points on long questions).

    The parts of a name such as `getUserName` count half: the name itself is what is meant.

    Words such as `the` say nothing about the subject. In a vault of short notes, they may be rarer
    than a word of the subject. So in a long query they count half, and only once.
    """
    counts = Counter[str]()
    for word, adjacent in zip(plain, in_place, strict=True):
        counts.update(adjacent)
        # Add the parts of a name, but no single units of a run in an unspaced script.
        if (whole := terms(word)) != adjacent:
            parts = Counter(whole) - Counter(adjacent)
            counts.update({term: PART_WEIGHT * parts[term] for term in parts if not is_unit(term)})
    light = function_terms() if len(plain) > FEW_WORDS else frozenset[str]()
    return {
        term: FUNCTION_WEIGHT if term in light else float(count)
        for term, count in counts.most_common(MAX_TERMS)
    }


def _units(words: str) -> dict[str, float]:
    if words.isascii():
        return {}
    counts = Counter(units(prepare(words)))
    return {unit: float(count) for unit, count in counts.most_common(MAX_TERMS)}


def _pairs(words: str) -> tuple[tuple[str, str], ...]:
    row = sequence(words)[: 4 * MAX_TERMS]
    pairs = dict.fromkeys(pair for pair in pairwise(row) if pair[0] != pair[1])
    return tuple(pairs)[:MAX_TERMS]


def _spellings(words: str) -> tuple[Spelling, ...]:
    """Return other spellings of the words of a short query, such as `back-up` for `backup`.

    Words between spaces or hyphens are joined, and words of few letters are split. The first of two
    words must not be one such as `to`: `to day` is not `today`.
    """
    letters = [*_LETTERS.finditer(words)]
    if len(letters) > MAX_SPELLED_WORDS:
        return ()
    spellings: dict[Spelling, None] = {}
    for one, other in pairwise(letters):
        if words[one.end() : other.start()] in {" ", "-"}:
            spellings |= _spelling(one[0], other[0], is_joined=False)
    for word in (match[0] for match in letters):
        if len(word) <= MAX_SPLIT_LETTERS and word.isascii():
            for place in range(1, len(word) - 1):
                spellings |= _spelling(word[:place], word[place:], is_joined=True)
    return tuple(spellings)


def _spelling(one: str, other: str, *, is_joined: bool) -> dict[Spelling, None]:
    """Return a spelling, or {} if a part is not a word that can be joined."""
    is_electronic = one in "eE"  # `e-mail`
    if not is_electronic and min(len(one), len(other)) < MIN_PART_LETTERS:
        return {}
    joined, first, second = (word_terms(word.lower()) for word in (one + other, one, other))
    if not len(joined) == len(first) == len(second) == 1 or first[0] in function_terms():
        return {}
    has_particle = is_electronic or second[0] in function_terms()
    return {Spelling(joined[0], (first[0], second[0]), is_joined, has_particle): None}


def _compounds(in_place: list[list[str]]) -> tuple[Terms, ...]:
    compounds = [tuple(parts) for parts in in_place if 2 < len(parts) <= MAX_COMPOUND]
    return tuple(dict.fromkeys(compounds))
