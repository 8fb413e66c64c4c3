"""Rank notes by their evidence: one score for each note, its best chunk, and the reasons.

A note's score is the sum of the evidence for the whole note and for its best chunk. Both stay on
the scale of BM25:

    body + 0.5 · best chunk + 0.3 · pairs + 0.35 · (1 - 1/n) · bm25 of names
         + ceiling · (0.6 · name³ + 0.8 · heading¹² + 2 where a name is exactly the query
                      + 0.2/n where the chunk has all words of the query)

`n` is the number of chunks that have all words of the query. If there are few such chunks, the
query means them. If there are many, the BM25 of the note's names decides.
`name` and `heading` are the similarities of the best name and of the chunk's heading to the query:
Dice's coefficient over terms, weighted by their inverse document frequency. The powers leave all
but near matches to BM25. `ceiling` is the maximum of BM25. Every weight was measured; see
docs/explanation/ranking.md.

Hybrid search combines lexical and semantic scores with a weight that depends on their agreement.
BM25 and cosines have different scales. So both are normalised, then added with weights that sum to
one (S. Bruch, S. Gai, A. Ingber, "An analysis of fusion functions for hybrid retrieval", TOIS
2023). Reciprocal rank fusion, the usual choice, ignores the distances between scores. With it,
meaningless vectors can override clear lexical results.

    fused = ((1 - w) · lexical + w · embedding) / most

- lexical: the score relative to the best score. If even the best note matches little of the query,
  all are reduced by a square, so that a chance match of a common word counts little.
- most: the highest value of the sum. It is 1 unless the lexical scores are reduced.
- embedding: the cosine, scaled from that of an average chunk (0) to that of the nearest (1).
- w: at most 0.75. It is the product of three shares:
  - agreement: how near the best lexical results are to the query. They are far if the model does
    not know the language, or if the query is a rare word or number.
  - prominence: how far the nearest vector stands out from all others.
  - need: smaller if the lexical evidence is clear, as for titles, headings and names.
  The poorer the lexical evidence, the higher is the least w, up to 0.4.

This rule was compared with others on six collections. See docs/explanation/ranking.md.

Last, the owner's weights of folders and ages raise and lower the results.
"""

from __future__ import annotations

import math
from datetime import date
from functools import lru_cache
from heapq import nlargest
from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from vault_agent.model.identifiers import CHUNK_BITS
from vault_agent.model.lexical import CONTEXT_WEIGHT, rarity
from vault_agent.text.names import stem
from vault_agent.text.terms import terms

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vault_agent.model.lexical import Candidates, LexicalQuery
    from vault_agent.model.search import Weights


CHUNK_WEIGHT = 0.5
PAIR_WEIGHT = 0.3
NAMES_WEIGHT = 0.35
BEST_NAME_WEIGHT, BEST_NAME_POWER = 0.6, 3
HEADING_WEIGHT, HEADING_POWER = 0.8, 12
ALL_WORDS_WEIGHT = 0.2
EXACT_WEIGHT = 2.0
SHORTLIST_LEAST = 40
SHORTLIST_SPARE = 20

_BM25_MOST = 2.2  # k1 + 1: the maximum of a term's score, in inverse document frequencies


class OwnNames(NamedTuple):
    """The names of a note. The path also orders ties."""

    path: str
    title: str
    aliases: tuple[str, ...]


class Ranked(NamedTuple):
    """A result. `key` is the key of its chunk, None if no chunk matches."""

    rowid: int
    key: int | None
    score: float  # 0 to 1
    votes: dict[str, float]
    """The contribution of each part, before the sum is mapped to 0..1."""
    weights: Mapping[str, float] = {}
    """The factors of its folder and its age, if the owner has chosen such weights."""
    reranked: Mapping[str, float] = {}
    """The reranker's relevance, and the place before reranking, if the result was reranked."""
    is_named: bool = False
    """Whether a name of the note is the query."""


_Votes = tuple[float, ...]
_NO_VOTES = (0.0, 0.0, 0.0, 0.0)
_VOTES = ("body", "chunk", "pairs", "whole", "names", "name", "heading", "exactName")
"""Their names in replies. `whole`: one of few chunks that have all words of the query."""


class _Scored(NamedTuple):
    order: tuple[float, str]  # the total, negative and rounded, then the path
    total: float
    key: int | None
    rowid: int
    votes: _Votes  # in the order of `_VOTES`


class Shortlist(NamedTuple):
    """The notes whose names `rank` needs, and the chunks whose headings it needs."""

    rowids: list[int]
    keys: list[int]
    chunks: Mapping[int, int]
    """The best chunk of every candidate that has one."""
    texts: Mapping[int, _Votes]
    """The votes of every candidate's text and its best chunk."""


def shortlist(candidates: Candidates, limit: int) -> Shortlist:
    """Return the candidates that can be among the results: by text, by name or by heading.

    A note whose text has a low score can be a result only by its name or a heading.
    """
    weigher = _Weigher(candidates)
    chunks = _best_chunks(candidates)
    texts = {
        rowid: weigher.text(rowid, chunks.get(rowid))
        for rowid in candidates.body.keys() | chunks.keys()
    }
    totals = sorted([(-sum(votes), rowid) for rowid, votes in texts.items()])
    order = [rowid for _, rowid in totals]
    chosen = set(order[: max(limit + SHORTLIST_SPARE, SHORTLIST_LEAST)])
    chosen |= candidates.names.keys() | candidates.named
    chosen |= {rowid for rowid, key in chunks.items() if key in candidates.headed}
    rowids = [rowid for rowid in order if rowid in chosen]
    keys = [chunks[rowid] for rowid in rowids if rowid in chunks]
    return Shortlist(rowids, keys, chunks, texts)


def rank(
    candidates: Candidates,
    names: Mapping[int, OwnNames],
    headings: Mapping[int, str | None],
    *,
    limit: int,
    chosen: Shortlist | None = None,
) -> list[Ranked]:
    """Return at most `limit` results, one a note, best first. Ties are ordered by path.

    `names` and `headings` are those of the notes and chunks in `shortlist`. Notes without `names`
    are left out. `chosen` is the shortlist, if the caller has it.
    """
    weigher = _Weigher(candidates)
    chosen = chosen or shortlist(candidates, limit)
    scored: list[_Scored] = []
    for rowid, own_names in names.items():
        key = chosen.chunks.get(rowid)
        heading = headings.get(key) if key is not None else None
        votes = weigher.names(rowid, own_names, heading)
        votes = chosen.texts.get(rowid, _NO_VOTES) + votes
        total = sum(votes)
        scored.append(_Scored((-round(total, 5), own_names.path), total, key, rowid, votes))
    scored.sort(key=itemgetter(0))
    ranked = []
    for _, total, key, rowid, votes in scored[:limit]:
        by_name = {name: round(vote, 4) for name, vote in zip(_VOTES, votes, strict=False) if vote}
        score = _bounded(total, weigher.ceiling)
        ranked.append(Ranked(rowid, key, score, by_name, is_named="exactName" in by_name))
    return ranked


def attainable(compiled: LexicalQuery, candidates: Candidates) -> float:
    """Return the maximal score of the query, including its words that are in no note.

    Such words carry the most information: results with only the common words of a query are poor.
    """
    information = candidates.term_information
    present = sum(information.values())
    absent = sum(
        weight * rarity(candidates.searched, 0)
        for term, weight in compiled.term_weights.items()
        if term not in information
    )
    return _Weigher(candidates).ceiling * (1 + absent / present) if present else 1.0


class _Weigher:
    """Turns one note's evidence into votes, for one query."""

    def __init__(self, candidates: Candidates) -> None:
        self._candidates = candidates
        self._information = candidates.term_information
        self._terms = frozenset(candidates.term_information)
        self._total = sum(candidates.term_information.values())
        # A word of a name that is not in the query has the average weight of the query's words.
        self._average = self._total / len(self._information) if self._information else 1.0
        # 1 if at most one chunk has all words of the query, and near 0 if very many have.
        self._few = 1 / max(1, candidates.all_words_count)
        # The maximal sum of the votes, without those of names.
        self.ceiling = _BM25_MOST * (1 + CONTEXT_WEIGHT) * self._total or 1.0

    def text(self, rowid: int, key: int | None = None) -> _Votes:
        """Return the votes of a note's text and of one of its chunks."""
        evidence = self._candidates
        return (
            evidence.body.get(rowid, 0.0),
            CHUNK_WEIGHT * evidence.text[key] if key is not None else 0.0,
            PAIR_WEIGHT * evidence.pairs.get(rowid, 0.0),
            self.ceiling * ALL_WORDS_WEIGHT * self._few if key in evidence.all_words else 0.0,
        )

    def names(self, rowid: int, own_names: OwnNames, heading: str | None) -> _Votes:
        """Return the votes of a note's names and of the heading of its best chunk."""
        by_names = self._candidates.names.get(rowid, 0.0)
        name = max(map(self._nearness, _terms_of_all(own_names))) if by_names else 0.0
        under = self._nearness(_terms_of(heading)) if heading else 0.0
        return (
            NAMES_WEIGHT * (1 - self._few) * by_names,
            self.ceiling * BEST_NAME_WEIGHT * name**BEST_NAME_POWER,
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
def _terms_of_all(own_names: OwnNames) -> frozenset[frozenset[str]]:
    """Return the terms of each name of a note. Cached for the same reason."""
    names = {own_names.title, stem(own_names.path), *own_names.aliases}
    return frozenset([frozenset(terms(name)) for name in names])


def _best_chunks(candidates: Candidates) -> dict[int, int]:
    """Return each note's best chunk."""
    best: dict[int, int] = {}
    order = [(key not in candidates.headed, -text, key) for key, text in candidates.text.items()]
    for _, _, key in sorted(order):
        best.setdefault(key >> CHUNK_BITS, key)
    return best


def _bounded(total: float, ceiling: float) -> float:
    """Map a score to 0..1. The result rises strictly and is comparable between queries."""
    return round(1 - math.exp(-2 * total / ceiling), 6)


LEAST_OF_OLD = 0.5
"""The weight of a very old note, so that a good old match stays before a poor new one."""


def weigh(entry: Ranked, weights: Weights, path: str, updated: str, today: date) -> Ranked:
    """Return a result with its score after the weights, and with the weights.

    The weights multiply the sum of evidence from which the score from 0 to 1 is made. `updated` is
    ISO 8601, or "".
    """
    parts = {}
    if weights.folders:
        parts["folder"] = _of_folder(weights.folders, path)
    if weights.half_life:
        parts["recency"] = _of_age(weights.half_life, updated, today)
    product = 1.0
    for part in parts.values():
        product *= part
    score = round(1 - (1 - entry.score) ** product, 6)
    return entry._replace(score=score, weights={name: round(w, 4) for name, w in parts.items()})


def _of_folder(folders: Mapping[str, float], path: str) -> float:
    folder = path
    while folder:  # from the innermost to the vault, which is ""
        folder = folder.rpartition("/")[0]
        if folder in folders:
            return folders[folder]
    return 1.0


def _of_age(half_life: float, updated: str, today: date) -> float:
    try:
        days = (today - date.fromisoformat(updated[:10])).days
    except ValueError:
        return LEAST_OF_OLD
    return LEAST_OF_OLD + (1 - LEAST_OF_OLD) * math.exp2(-max(days, 0) / half_life)


Key = TypeVar("Key")

EMBEDDING_WEIGHT: Final = 0.75
LEAST_EMBEDDING_WEIGHT: Final = 0.4
"""The weight of the vectors is at least this, if the best lexical score is near 0."""
CONVINCING_SHARE: Final = 0.2
"""Lexical evidence counts in full if the best score is at least this share of the maximum."""
CLEAR_SHARE: Final = 0.8
"""Above this share of the maximum, lexical evidence lowers the weight of the vectors."""
NOISE: Final = 0.7
CLEAR: Final = 1.1
"""Vectors begin to count at a prominence of `NOISE`, and count in full from `CLEAR` on."""
_JUDGES: Final = 5
"""Number of top lexical results used to judge the vectors."""


class Fused(NamedTuple):
    """A score, 0 to 1, and the contribution of each side."""

    score: float
    lexical: float
    embedding: float


def fuse(
    lexical: Mapping[Key, float],
    cosines: Mapping[Key, float],
    *,
    ceiling: float,
    background: float,
    prominence: float,
) -> dict[Key, Fused]:
    """Return the fused score of every candidate of either side.

    `lexical` has positive scores, and `ceiling` is the maximum for the query. `cosines` should
    contain the lexical candidates too, if they have a vector. A missing one counts as agreeing with
    the lexical score, so that notes without vectors are not ranked lower. `background` is the
    cosine of an average chunk. `prominence` says how far the nearest vector stands out.
    """
    words = _normalised(lexical, 0.0)
    meaning = _normalised(cosines, background)
    best = max(lexical.values(), default=0.0)
    share = best / ceiling if ceiling > 0 else 0.0
    conviction = min(1.0, share / CONVINCING_SHARE) ** 2
    weight = 0.0
    if meaning:
        clear = min(1.0, max(0.0, (prominence - NOISE) / (CLEAR - NOISE)))
        need = 1 / (1 + 2 * max(0.0, share - CLEAR_SHARE))
        weight = max(
            EMBEDDING_WEIGHT * _agreement(words, meaning) * clear * need,
            LEAST_EMBEDDING_WEIGHT * (1 - conviction),
        )
    most = (1 - weight) * conviction + weight
    fused = {}
    for key in {**words, **meaning}:
        word = conviction * words.get(key, 0.0)
        by_words = (1 - weight) * word / most
        by_meaning = weight * meaning.get(key, word) / most
        fused[key] = Fused(by_words + by_meaning, by_words, by_meaning)
    return fused


def _normalised(scores: Mapping[Key, float], least: float) -> dict[Key, float]:
    """Scale scores so that `least` becomes 0 and the best becomes 1. Lower ones become 0."""
    if not scores:
        return {}
    span = max(scores.values()) - least
    if span <= 0:
        return dict.fromkeys(scores, 0.0)
    return {key: max(0.0, (score - least) / span) for key, score in scores.items()}


def _agreement(words: Mapping[Key, float], meaning: Mapping[Key, float]) -> float:
    """Return how near the best lexical results are: 1 as the nearest chunk, 0 as an average one.

    It is a mean, weighted by their lexical scores.
    """
    rated = [(word, meaning[key]) for key, word in words.items() if key in meaning]
    judges = nlargest(_JUDGES, rated)
    total = sum(word for word, _ in judges)
    return sum(word * near for word, near in judges) / total if total else 1.0
