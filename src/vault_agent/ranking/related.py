"""Queries for related notes, and scores that combine text, links and folders."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from vault_agent.model.lexical import LexicalQuery
from vault_agent.text.terms import is_unit, terms

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

MAX_CHARACTERS = 100_000
"""Only this much of a note's text is used."""
QUERY_TERMS = 32
WHOLE_TERMS = 256
NAME_COUNT = 2
"""Added to the count of a term for each occurrence in the title, aliases and tags."""
COMMON_SHARE = 0.3
"""A term in a larger share of the notes is too common to characterise one of them."""
LINK_WEIGHT = 0.3
"""Limit of the link score as the number of links grows."""
TEXT_WEIGHT, NEIGHBOUR_WEIGHT, SIMILAR_WEIGHT, FOLDER_WEIGHT = 0.6, 0.2, 0.3, 0.2
"""Measured by links that were taken out of real vaults, see docs/explanation/ranking.md."""
CLEAR_NEIGHBOURS = 0.7
"""Shared neighbours count in full from this score: one with 3 links, or two with 16."""
SIMILAR_NOTES = 10
"""Number of notes with the most similar text whose links count."""
CLEAR_SIMILAR = 1.0
"""The links of similar notes count in full from this score: three notes with 19 links each."""


class Voices(NamedTuple):
    """The evidence for related notes, by rowid. Each has its own scale; 0 is no evidence."""

    text: Mapping[int, float]
    """By words, by meaning or by both."""
    neighbours: Mapping[int, float]
    similar: Mapping[int, float]
    """By links with notes of a similar text."""
    folder: Mapping[int, float]
    links: Mapping[int, int]
    """The number of direct links."""


class Fused(NamedTuple):
    """A note's score, and what each voice adds to it."""

    score: float
    text: float
    neighbours: float
    similar: float
    folder: float
    links: float


def count_terms(text: str, names: str) -> Counter[str]:
    """Count the terms that may characterise a text. `names` is its title, aliases and tags."""
    counts = Counter(terms(text[:MAX_CHARACTERS]))
    for term in terms(names):
        counts[term] += NAME_COUNT
    return Counter(
        {
            term: count
            for term, count in counts.items()
            if not (is_unit(term) or term.isdigit())  # numbers characterise nothing
        }
    )


def related_query(
    counts: Mapping[str, int], frequencies: Mapping[str, int], note_count: int
) -> LexicalQuery:
    """Return a query of the most informative terms: tf·idf, both on a logarithmic scale.

    Terms that are in no other note are left out, because they find nothing. So are terms that are
    in too many notes, except in a small vault.
    """
    scored = _specific(counts, frequencies, note_count)[:QUERY_TERMS]
    # BM25 multiplies by the idf itself.
    weights = {term: 1 + math.log(counts[term]) for term, _ in scored}
    return LexicalQuery(weights=weights, tolerant=False)


def whole_note(
    counts: Mapping[str, int], frequencies: Mapping[str, int], note_count: int
) -> dict[str, float]:
    """Return the weights of a note's terms for a comparison with other whole notes: tf·idf."""
    return dict(_specific(counts, frequencies, note_count)[:WHOLE_TERMS])


def _specific(
    counts: Mapping[str, int], frequencies: Mapping[str, int], note_count: int
) -> list[tuple[str, float]]:
    """Return the terms that are in some other note and not in too many, by tf·idf."""
    most = max(COMMON_SHARE * note_count, 10)
    scored = (
        (term, (1 + math.log(count)) * math.log1p(note_count / frequency))
        for term, count in counts.items()
        if 1 < (frequency := frequencies.get(term, 0)) <= most
    )
    return sorted(scored, key=lambda each: (-each[1], each[0]))


def shared_neighbours(circles: Mapping[int, Collection[int]]) -> dict[int, float]:
    """Score notes by the neighbours that they share with a note, itself included.

    A shared neighbour counts 1/ln(1 + its degree): an index of everything says little (L. Adamic,
    E. Adar, "Friends and neighbors on the Web", 2003). `circles` has the neighbours of each
    of its neighbours.
    """
    scores: dict[int, float] = {}
    for others in circles.values():
        if len(others) > 1:
            weight = 1 / math.log1p(len(others))
            for rowid in others:
                scores[rowid] = scores.get(rowid, 0.0) + weight
    return scores


def linked_with_similar(
    text: Mapping[int, float], circles: Mapping[int, Collection[int]]
) -> dict[int, float]:
    """Score notes by the notes of a similar text that they are linked with.

    A similar note counts its text's score, 0 to 1, by 1/ln(1 + its degree). `circles` has the
    neighbours of each similar note.
    """
    scores: dict[int, float] = {}
    for similar, others in circles.items():
        for rowid in others:
            scores[rowid] = scores.get(rowid, 0.0) + text[similar] / math.log1p(len(others))
    return scores


def folder_nearness(path: str, other: str) -> float:
    """Return the folders that two paths begin with, as a share of the longer path's folders."""
    folders, others = path.split("/")[:-1], other.split("/")[:-1]
    shared = 0
    for one, two in zip(folders, others, strict=False):
        if one != two:
            break
        shared += 1
    return shared / max(len(folders), len(others), 1)


def convex(words: Mapping[int, float], meaning: Mapping[int, float]) -> dict[int, float]:
    """Return the mean of two scores, each scaled to 0..1. A missing score is 0."""
    by_words, by_meaning = scaled(words), scaled(meaning)
    return {
        rowid: (by_words.get(rowid, 0.0) + by_meaning.get(rowid, 0.0)) / 2
        for rowid in {**by_words, **by_meaning}
    }


def fuse(voices: Voices) -> dict[int, Fused]:
    """Combine the voices of all candidates.

    All but direct links are scaled to 0..1 and added with their weights. A silent voice
    leaves its weight to the others. Direct links are joined by a noisy-or: they are enough alone,
    and never lower a score.
    """
    weighted = [
        (TEXT_WEIGHT, scaled(voices.text)),
        (NEIGHBOUR_WEIGHT, scaled(voices.neighbours, CLEAR_NEIGHBOURS)),
        (SIMILAR_WEIGHT, scaled(voices.similar, CLEAR_SIMILAR)),
        (FOLDER_WEIGHT, _distinctive(voices.folder)),
    ]
    total = sum(weight for weight, voice in weighted if voice) or 1.0
    fused = {}
    for rowid in sorted({*voices.text, *voices.neighbours, *voices.similar, *voices.links}):
        text, near, similar, folder = (
            weight * voice.get(rowid, 0.0) / total for weight, voice in weighted
        )
        linked = LINK_WEIGHT * (1 - 0.5 ** voices.links.get(rowid, 0))
        score = 1 - (1 - text - near - similar - folder) * (1 - linked)
        fused[rowid] = Fused(round(score, 6), text, near, similar, folder, linked)
    return fused


def _distinctive(nearness: Mapping[int, float]) -> dict[int, float]:
    """Multiply each nearness by the share of notes that are less near.

    To be in the same folder says nothing if nearly all candidates are.
    """
    order = sorted(nearness.values())
    return {
        rowid: near * bisect_left(order, near) / len(order)
        for rowid, near in nearness.items()
        if near
    }


def scaled(voice: Mapping[int, float], least: float = 0.0) -> dict[int, float]:
    """Divide by the highest score, or by `least` if that is higher. Scores below 0 become 0."""
    if max(voice.values(), default=0.0) <= 0:
        return {}
    most = max(least, *voice.values())
    return {rowid: max(0.0, score / most) for rowid, score in voice.items()}
