"""Evidence to order: one score a note, its best chunk to show, and why.

A note's score adds what speaks for it as a whole and for its best chunk, each on BM25's own scale,
so that both keep their meaning:

    body + 0.5 · best chunk + 0.4 · pairs
         + ceiling · (0.4 · name⁴ + 0.2 · heading⁴ + 1 where a name is exactly the query)

`name` and `heading` are how near the best name and the chunk's heading come to the query, as a
share of information (Dice's coefficient over terms weighed by their inverse document frequency).
The fourth power leaves all but near-exact matches to BM25. `ceiling` is what BM25 could at most
give. Every weight was measured; see docs/explanation/ranking.md.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from vault_agent.model.identifiers import CHUNK_BITS
from vault_agent.model.lexical import CONTEXT_WEIGHT, NoteEvidence, rarity
from vault_agent.text.names import stem
from vault_agent.text.terms import terms

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vault_agent.model.lexical import Candidates, LexicalQuery


CHUNK_WEIGHT = 0.5
PAIR_WEIGHT = 0.4
NAME_WEIGHT = 0.4
HEADING_WEIGHT = 0.2
EXACT_WEIGHT = 1.0
NEARNESS_POWER = 4
SHORTLIST_LEAST = 40
SHORTLIST_SPARE = 20
SECOND_CHUNK_SHARE = 0.5
"""A note's next chunk stands on its own only where half its text's score beats others' whole."""

_BM25_MOST = 2.2  # k1 + 1: what a term can at most count, in inverse document frequencies


class Names(NamedTuple):
    """What a note is called: its path orders ties."""

    path: str
    title: str
    aliases: tuple[str, ...]


class Ranked(NamedTuple):
    """A place in the list; `key` is None where no chunk speaks for the note."""

    rowid: int
    key: int | None
    score: float  # 0 to 1
    votes: dict[str, float]
    """What each part of the score contributed; they add up to the score's logarithmic share."""


class _Scored(NamedTuple):
    total: float
    path: str
    key: int | None
    rowid: int
    votes: dict[str, float]


class Shortlist(NamedTuple):
    """What `rank` needs to know more of: notes by rowid, and the keys of their best chunks."""

    rowids: list[int]
    keys: list[int]


def shortlist(candidates: Candidates, limit: int) -> Shortlist:
    """Return the candidates that can still come first: by text, by name or by heading.

    What a name or a heading adds is bounded, so a note far down by its text needs one of them.
    """
    weigh = _Weigher(candidates)
    chunks = _best_chunks(candidates)
    best = {
        rowid: keys[0] if (keys := chunks.get(rowid)) else None
        for rowid in candidates.notes.keys() | chunks.keys()
    }
    totals = {
        rowid: sum(weigh.text(candidates.notes.get(rowid, NoteEvidence()), key).values())
        for rowid, key in best.items()
    }
    order = sorted(best, key=lambda rowid: (-totals[rowid], rowid))
    chosen = set(order[: max(limit + SHORTLIST_SPARE, SHORTLIST_LEAST)])
    chosen |= {rowid for rowid, note in candidates.notes.items() if note.names or note.named}
    chosen |= {rowid for rowid, key in best.items() if key and candidates.chunks[key].headed}
    rowids = [rowid for rowid in order if rowid in chosen]
    return Shortlist(rowids, [key for rowid in rowids if (key := best[rowid]) is not None])


def rank(
    candidates: Candidates,
    names: Mapping[int, Names],
    headings: Mapping[int, str | None],
    *,
    limit: int,
) -> list[Ranked]:
    """Return at most `limit` places, best first; ties by path, then chunk.

    `names` and `headings` are of the notes and chunks in `shortlist`; notes that `names` lacks are
    left out.
    """
    weigh = _Weigher(candidates)
    chunks = _best_chunks(candidates)
    scored: list[_Scored] = []
    for rowid, called in names.items():
        note = candidates.notes.get(rowid, NoteEvidence())
        keys = chunks.get(rowid, ())
        first = keys[0] if keys else None
        heading = headings.get(first) if first is not None else None
        votes = weigh.text(note, first)
        if len(keys) > 1:
            second = weigh.text(note, keys[1])
            less = {vote: SECOND_CHUNK_SHARE * value for vote, value in second.items()}
            scored.append(_Scored(sum(less.values()), called.path, keys[1], rowid, less))
        votes |= weigh.names(note, called if note.names else None, heading)
        scored.append(_Scored(sum(votes.values()), called.path, first, rowid, votes))
    scored.sort(key=lambda each: (-round(each.total, 5), each.path, each.key or 0))
    return [
        Ranked(each.rowid, each.key, _bounded(each.total, weigh.ceiling), _rounded(each.votes))
        for each in scored[:limit]
    ]


def attainable(compiled: LexicalQuery, candidates: Candidates, notes: int) -> float:
    """Return the most that the query could score, words that are in no note included.

    Those tell the most: where only the common words of a question are found, little is found.
    """
    information = candidates.information
    known = sum(information.values())
    absent = sum(
        weight * rarity(notes, 0)
        for term, weight in compiled.weights.items()
        if term not in information
    )
    return _Weigher(candidates).ceiling * (1 + absent / known) if known else 1.0


class _Weigher:
    """Knows the query; turns one note's evidence into votes."""

    def __init__(self, candidates: Candidates) -> None:
        self._candidates = candidates
        self._information = candidates.information
        self._total = sum(candidates.information.values())
        # A word of a name that the query lacks weighs as much as the query's words do on average.
        self._average = self._total / len(self._information) if self._information else 1.0
        # What votes could at most add up to, names aside.
        self.ceiling = _BM25_MOST * (1 + CONTEXT_WEIGHT) * self._total or 1.0

    def text(self, note: NoteEvidence, key: int | None) -> dict[str, float]:
        """Return what a note's text and one of its chunks say."""
        chunk = self._candidates.chunks.get(key) if key is not None else None
        return _present(
            {
                "body": note.body,
                "chunk": CHUNK_WEIGHT * chunk.text if chunk else 0.0,
                "pairs": PAIR_WEIGHT * note.pairs,
            }
        )

    def names(
        self, note: NoteEvidence, called: Names | None, heading: str | None
    ) -> dict[str, float]:
        """Return what a note's names and the heading of its best chunk say."""
        name = max(map(self._nearness, _all_names(called))) if called else 0.0
        under = self._nearness(heading) if heading else 0.0
        return _present(
            {
                "name": self.ceiling * NAME_WEIGHT * name**NEARNESS_POWER,
                "heading": self.ceiling * HEADING_WEIGHT * under**NEARNESS_POWER,
                "exactName": self.ceiling * EXACT_WEIGHT if note.named else 0.0,
            }
        )

    def _nearness(self, name: str) -> float:
        """Return Dice's coefficient of a name and the query, over information."""
        found = _name_terms(name)
        common = found & self._information.keys()
        if not common:
            return 0.0
        shared = sum(self._information[term] for term in common)
        other = shared + self._average * (len(found) - len(common))
        return 2 * shared / (self._total + other)


@lru_cache(maxsize=1 << 13)
def _name_terms(name: str) -> frozenset[str]:
    """Return the terms of a name; remembered, for the same notes are candidates again and again."""
    return frozenset(terms(name))


def _best_chunks(candidates: Candidates) -> dict[int, list[int]]:
    """Return each note's two best chunks, best first."""
    by_note: dict[int, list[int]] = {}
    order = sorted(
        candidates.chunks.items(), key=lambda item: (-item[1].headed, -item[1].text, item[0])
    )
    for key, _ in order:
        keys = by_note.setdefault(key >> CHUNK_BITS, [])
        if len(keys) < 2:
            keys.append(key)
    return by_note


def _all_names(called: Names) -> list[str]:
    return list(dict.fromkeys((called.title, stem(called.path), *called.aliases)))


def _bounded(total: float, ceiling: float) -> float:
    """Map a score to 0..1: strictly rising, and comparable between queries."""
    return round(1 - math.exp(-2 * total / ceiling), 6)


def _present(votes: Mapping[str, float]) -> dict[str, float]:
    return {vote: value for vote, value in votes.items() if value}


def _rounded(votes: Mapping[str, float]) -> dict[str, float]:
    return {vote: round(value, 4) for vote, value in votes.items()}
