"""Rank notes by their evidence: one score for each note, its best chunk, and the reasons.

A note's score is the sum of the evidence for the whole note and for its best chunk. Both stay on
the scale of BM25:

    body + 0.5 · best chunk + 0.3 · pairs + 0.35 · (1 - 1/n) · names
         + ceiling · (0.6 · name³ + 0.8 · heading¹² + 2 where a name is exactly the query
                      + 0.2/n where the chunk has all words of the query)

`n` is the number of chunks that have all words of the query. If there are few, they are meant. If
there are many, the words are in many notes, and `names` decides: BM25 of the note's names.
`name` and `heading` are the similarities of the best name and of the chunk's heading to the query:
Dice's coefficient over terms, weighted by their inverse document frequency. The powers leave all
but near matches to BM25. `ceiling` is the maximum of BM25. Every weight was measured; see
docs/explanation/ranking.md.
"""

from __future__ import annotations

import math
from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from vault_agent.model.identifiers import CHUNK_BITS
from vault_agent.model.lexical import CONTEXT_WEIGHT, rarity
from vault_agent.text.names import stem
from vault_agent.text.terms import terms

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vault_agent.model.lexical import Candidates, LexicalQuery


CHUNK_WEIGHT = 0.5
PAIR_WEIGHT = 0.3
NAMES_WEIGHT = 0.35
NAME_WEIGHT, NAME_POWER = 0.6, 3
HEADING_WEIGHT, HEADING_POWER = 0.8, 12
WHOLE_WEIGHT = 0.2
EXACT_WEIGHT = 2.0
SHORTLIST_LEAST = 40
SHORTLIST_SPARE = 20
SECOND_CHUNK_SHARE = 0.5
"""A note's second chunk is a separate result, with this share of its text's score."""

_BM25_MOST = 2.2  # k1 + 1: the maximum of a term's score, in inverse document frequencies


class Names(NamedTuple):
    """The names of a note. The path also orders ties."""

    path: str
    title: str
    aliases: tuple[str, ...]


class Ranked(NamedTuple):
    """A result in the list. `key` is None if no chunk matches."""

    rowid: int
    key: int | None
    score: float  # 0 to 1
    votes: dict[str, float]
    """The contribution of each part, before the sum is mapped to 0..1."""
    weights: Mapping[str, float] = {}
    """What its folder and its age multiply the sum with, if the owner has chosen that."""
    reranked: Mapping[str, float] = {}
    """Its relevance, and its place before, if a reranker has given it another one."""
    fit: int = 0
    """2 if a name of the note is the query, 1 if the chunk has all words of the query, else 0."""


_Votes = tuple[float, ...]
_NO_VOTES = (0.0, 0.0, 0.0, 0.0)
_VOTES = ("body", "chunk", "pairs", "whole", "names", "name", "heading", "exactName")


class _Scored(NamedTuple):
    order: tuple[float, str, int]  # the total, negative and rounded, then the path, then the chunk
    total: float
    key: int | None
    rowid: int
    votes: _Votes  # in the order of `_VOTES`


class Shortlist(NamedTuple):
    """The notes whose names `rank` needs, and the chunks whose headings it needs."""

    rowids: list[int]
    keys: list[int]
    chunks: Mapping[int, list[int]]
    """The two best chunks of every candidate, best first."""
    texts: Mapping[int, _Votes]
    """The votes of every candidate's text and its best chunk."""


def shortlist(candidates: Candidates, limit: int) -> Shortlist:
    """Return the candidates that can be among the results: by text, by name or by heading.

    A note with a low score of its text can be among them only by a name or a heading.
    """
    weigh = _Weigher(candidates)
    chunks = _best_chunks(candidates)
    texts = {
        rowid: weigh.text(rowid, *chunks.get(rowid, ())[:1])
        for rowid in candidates.body.keys() | chunks.keys()
    }
    totals = sorted([(-sum(votes), rowid) for rowid, votes in texts.items()])
    order = [rowid for _, rowid in totals]
    chosen = set(order[: max(limit + SHORTLIST_SPARE, SHORTLIST_LEAST)])
    chosen |= candidates.names.keys() | candidates.named
    chosen |= {rowid for rowid, keys in chunks.items() if keys[0] in candidates.headed}
    rowids = [rowid for rowid in order if rowid in chosen]
    keys = [chunks[rowid][0] for rowid in rowids if rowid in chunks]
    return Shortlist(rowids, keys, chunks, texts)


def rank(
    candidates: Candidates,
    names: Mapping[int, Names],
    headings: Mapping[int, str | None],
    *,
    limit: int,
    chosen: Shortlist | None = None,
) -> list[Ranked]:
    """Return at most `limit` results, best first. Ties are ordered by path, then chunk.

    `names` and `headings` are those of the notes and chunks in `shortlist`. Notes without `names`
    are left out. `chosen` is the shortlist, if the caller has it.
    """
    weigh = _Weigher(candidates)
    chosen = chosen or shortlist(candidates, limit)
    scored: list[_Scored] = []
    for rowid, own_names in names.items():
        keys = chosen.chunks.get(rowid, ())
        first = keys[0] if keys else None
        heading = headings.get(first) if first is not None else None
        if len(keys) > 1:
            less = tuple([SECOND_CHUNK_SHARE * vote for vote in weigh.text(rowid, keys[1])])
            scored.append(_scored(less, own_names.path, keys[1], rowid))
        votes = weigh.names(rowid, own_names, heading)
        votes = chosen.texts.get(rowid, _NO_VOTES) + votes
        scored.append(_scored(votes, own_names.path, first, rowid))
    scored.sort(key=itemgetter(0))
    return [_ranked(each, weigh.ceiling) for each in scored[:limit]]


def _scored(votes: _Votes, path: str, key: int | None, rowid: int) -> _Scored:
    total = sum(votes)
    return _Scored((-round(total, 5), path, key or 0), total, key, rowid, votes)


def _ranked(each: _Scored, ceiling: float) -> Ranked:
    votes = _named(each.votes)
    fit = 2 if "exactName" in votes else int("whole" in votes)
    return Ranked(each.rowid, each.key, _bounded(each.total, ceiling), votes, fit=fit)


def attainable(compiled: LexicalQuery, candidates: Candidates) -> float:
    """Return the maximal score of the query, including its words that are in no note.

    These carry the most information. If only the common words of a question are found, its results
    are poor.
    """
    information = candidates.information
    known = sum(information.values())
    absent = sum(
        weight * rarity(candidates.searched, 0)
        for term, weight in compiled.weights.items()
        if term not in information
    )
    return _Weigher(candidates).ceiling * (1 + absent / known) if known else 1.0


class _Weigher:
    """Turns one note's evidence into votes, for one query."""

    def __init__(self, candidates: Candidates) -> None:
        self._candidates = candidates
        self._information = candidates.information
        self._terms = frozenset(candidates.information)
        self._total = sum(candidates.information.values())
        # A word of a name that is not in the query has the average weight of the query's words.
        self._average = self._total / len(self._information) if self._information else 1.0
        # 1 if at most one chunk has all words of the query, and 0 if very many have.
        self._few = 1 / max(1, candidates.whole_count)
        # The maximal sum of the votes, without those of names.
        self.ceiling = _BM25_MOST * (1 + CONTEXT_WEIGHT) * self._total or 1.0

    def text(self, rowid: int, key: int | None = None) -> _Votes:
        """Return the votes of a note's text and of one of its chunks."""
        evidence = self._candidates
        return (
            evidence.body.get(rowid, 0.0),
            CHUNK_WEIGHT * evidence.text[key] if key is not None else 0.0,
            PAIR_WEIGHT * evidence.pairs.get(rowid, 0.0),
            self.ceiling * WHOLE_WEIGHT * self._few if key in evidence.whole else 0.0,
        )

    def names(self, rowid: int, own_names: Names, heading: str | None) -> _Votes:
        """Return the votes of a note's names and of the heading of its best chunk."""
        by_names = self._candidates.names.get(rowid, 0.0)
        name = max(map(self._nearness, _terms_of_all(own_names))) if by_names else 0.0
        under = self._nearness(_terms_of(heading)) if heading else 0.0
        return (
            NAMES_WEIGHT * (1 - self._few) * by_names,
            self.ceiling * NAME_WEIGHT * name**NAME_POWER,
            self.ceiling * HEADING_WEIGHT * under**HEADING_POWER,
            self.ceiling * EXACT_WEIGHT if rowid in self._candidates.named else 0.0,
        )

    def _nearness(self, name_terms: frozenset[str]) -> float:
        """Return Dice's coefficient of a name's terms and the query, weighted by information."""
        common = name_terms & self._terms
        if not common:
            return 0.0
        shared = sum(self._information[term] for term in common)
        other = shared + self._average * (len(name_terms) - len(common))
        return 2 * shared / (self._total + other)


@lru_cache(maxsize=1 << 13)
def _terms_of(heading: str) -> frozenset[str]:
    """Return the terms of a heading. Cached, because the same notes are often candidates."""
    return frozenset(terms(heading))


@lru_cache(maxsize=1 << 13)
def _terms_of_all(own_names: Names) -> frozenset[frozenset[str]]:
    """Return the terms of each name of a note. Cached for the same reason."""
    names = {own_names.title, stem(own_names.path), *own_names.aliases}
    return frozenset([frozenset(terms(name)) for name in names])


def _best_chunks(candidates: Candidates) -> dict[int, list[int]]:
    """Return each note's two best chunks, best first."""
    by_note: dict[int, list[int]] = {}
    order = [(key not in candidates.headed, -text, key) for key, text in candidates.text.items()]
    for _, _, key in sorted(order):
        keys = by_note.setdefault(key >> CHUNK_BITS, [])
        if len(keys) < 2:
            keys.append(key)
    return by_note


def _bounded(total: float, ceiling: float) -> float:
    """Map a score to 0..1. The result rises strictly and is comparable between queries."""
    return round(1 - math.exp(-2 * total / ceiling), 6)


def _named(votes: _Votes) -> dict[str, float]:
    return {name: round(vote, 4) for name, vote in zip(_VOTES, votes, strict=False) if vote}
