"""Related: notes and chunks similar to a note or chunk, by terms, vectors and links."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from vault_agent.errors import InvalidRequest, Unavailable
from vault_agent.model.identifiers import CHUNK_BITS
from vault_agent.model.lexical import LexicalQuery
from vault_agent.model.modes import Linked, Mode, Reason
from vault_agent.model.search import Answer, Filters
from vault_agent.search import lexical
from vault_agent.search.hits import hits_of, with_notes
from vault_agent.search.rank import Ranked
from vault_agent.search.resolve import named_chunk, named_note
from vault_agent.search.warnings import fell_back, off
from vault_agent.store.fulltext.candidates import raise_if_stopped
from vault_agent.store.index import links
from vault_agent.store.index import notes as stored_notes
from vault_agent.text.terms import is_unit, terms
from vault_agent.text.words import common_terms

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from vault_agent.model.search import Hit, RelatedQuery
    from vault_agent.model.vectors import VectorSpace
    from vault_agent.model.warning import Warning
    from vault_agent.search.semantic import Floats, NearestNotes
    from vault_agent.store.current import Snapshot
    from vault_agent.store.database import Connection
    from vault_agent.store.fulltext.reader import FulltextReader
    from vault_agent.store.index.notes import StoredChunk, StoredNote
    from vault_agent.system.cancelling import Stopped


MAX_CHARACTERS = 100_000
"""So much of a note's text is used."""
QUERY_TERMS = 32
WHOLE_TERMS = 256
NAME_COUNT = 2
"""Added to the count of a term for each occurrence in the title, aliases and tags."""
COMMON_SHARE = 0.3
"""A term in a larger share of the notes is too common to characterise one of them."""
LINK_WEIGHT = 0.3
"""Limit of the link score as the number of links grows."""
TEXT_WEIGHT, NEIGHBOUR_WEIGHT, SIMILAR_WEIGHT, FOLDER_WEIGHT = 0.6, 0.2, 0.3, 0.2
"""Measured with links that were taken out of real vaults, see docs/explanation/ranking.md."""
CLEAR_NEIGHBOURS = 0.7
"""Shared neighbours count in full from this score: one neighbour with 3 links, or two with 16."""
SIMILAR_NOTES = 10
"""The links of so many notes count: those with the most similar text."""
CLEAR_SIMILAR = 1.0
"""The links of similar notes count in full from this score: three notes with 19 links each."""


class Voices(NamedTuple):
    """The evidence for related notes, by rowid. Each voice has its own scale; 0 is no evidence."""

    text: Mapping[int, float]
    """By terms, by vectors, or by both."""
    neighbours: Mapping[int, float]
    similar: Mapping[int, float]
    """By links with notes of a similar text."""
    folder: Mapping[int, float]
    links: Mapping[int, int]
    """The number of direct links."""


class RelatedScore(NamedTuple):
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
            if not (is_unit(term) or term.isdigit())  # a number characterises no note
        }
    )


def related_query(
    counts: Mapping[str, int], frequencies: Mapping[str, int], note_count: int
) -> LexicalQuery:
    """Return a query of the most informative terms: tf·idf, both on a logarithmic scale.

    Terms that are in no other note are left out, because they find nothing. Terms that are in too
    many notes are left out too, except in a small vault.
    """
    scored = _specific(counts, frequencies, note_count)[:QUERY_TERMS]
    # BM25 multiplies by the idf itself.
    weights = {term: 1 + math.log(counts[term]) for term, _ in scored}
    return LexicalQuery(term_weights=weights, tolerant=False)


def whole_note(
    counts: Mapping[str, int], frequencies: Mapping[str, int], note_count: int
) -> dict[str, float]:
    """Return the weights of a note's terms for a comparison with other whole notes: tf·idf."""
    return dict(_specific(counts, frequencies, note_count)[:WHOLE_TERMS])


def _specific(
    counts: Mapping[str, int], frequencies: Mapping[str, int], note_count: int
) -> list[tuple[str, float]]:
    """Return the terms that are in another note, but not in too many notes, by tf·idf."""
    most = max(COMMON_SHARE * note_count, 10)
    scored = (
        (term, (1 + math.log(count)) * math.log1p(note_count / frequency))
        for term, count in counts.items()
        if 1 < (frequency := frequencies.get(term, 0)) <= most
    )
    return sorted(scored, key=lambda term: (-term[1], term[0]))


def shared_neighbours(circles: Mapping[int, Collection[int]]) -> dict[int, float]:
    """Score notes by the neighbours that they share with a note. The note itself is scored too.

    A shared neighbour counts 1/ln(1 + its degree), because a note that links to everything says
    little (L. Adamic, E. Adar, "Friends and neighbors on the Web", 2003). `circles` has, for each
    neighbour of the note, the neighbours of that neighbour.
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
    """Score notes by their links with notes whose text is similar.

    A similar note counts the score of its text (`text`, 0 to 1) divided by ln(1 + its degree).
    `circles` has the neighbours of each similar note.
    """
    scores: dict[int, float] = {}
    for similar, others in circles.items():
        for rowid in others:
            scores[rowid] = scores.get(rowid, 0.0) + text[similar] / math.log1p(len(others))
    return scores


def folder_nearness(path: str, other: str) -> float:
    """Return the number of folders that two paths share, divided by those of the longer path."""
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


def fuse(voices: Voices) -> dict[int, RelatedScore]:
    """Combine the voices of all candidates.

    All voices but direct links are scaled to 0..1 and added with their weights. The weight of a
    voice without evidence goes to the others. Direct links are joined by a noisy-or: they are
    enough alone, and never lower a score.
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
        fused[rowid] = RelatedScore(round(score, 6), text, near, similar, folder, linked)
    return fused


def _distinctive(nearness: Mapping[int, float]) -> dict[int, float]:
    """Multiply each nearness by the share of notes that are less near.

    That a candidate is in the same folder says nothing if nearly all candidates are.
    """
    order = sorted(nearness.values())
    return {
        rowid: near * bisect_left(order, near) / len(order)
        for rowid, near in nearness.items()
        if near
    }


def scaled(voice: Mapping[int, float], least: float = 0.0) -> dict[int, float]:
    """Divide all scores by the highest one, or by `least` if that is higher. Below 0 becomes 0."""
    if max(voice.values(), default=0.0) <= 0:
        return {}
    most = max(least, *voice.values())
    return {rowid: max(0.0, score / most) for rowid, score in voice.items()}


_POOL = 100
"""The most candidates by terms, and the most by shared neighbours."""
_BY_TEXT = {
    Mode.LEXICAL: Reason.RELATED_LEXICAL,
    Mode.EMBEDDING: Reason.RELATED_EMBEDDING,
    Mode.HYBRID: Reason.RELATED_HYBRID,
}
_Number = TypeVar("_Number", int, float)
_NO_ROW = 0
"""Row numbers begin at 1."""
_ID = re.compile(r"([0-9a-f]{32})(?::(0|[1-9][0-9]{0,6}))?")


class Subject(NamedTuple):
    """The requested note or chunk."""

    note: StoredNote
    chunks: list[StoredChunk]  # whose text represents it
    keys: list[int]  # of the chunks whose vectors represent it
    links: dict[int, int]  # number of links, by rowid of the other note
    vector: Floats | None = None
    space: VectorSpace | None = None  # of the vector
    problem: Unavailable | None = None  # why it has no vector

    def elsewhere(self) -> Subject:
        """Return the subject for another vault: without a row and links, which it has only here."""
        return self._replace(note=self.note._replace(rowid=_NO_ROW), links={})


async def related(
    snapshot: Snapshot,
    query: RelatedQuery,
    subject: Subject | None = None,
    *,
    embeddings: bool = False,
    warnings: tuple[Warning, ...] = (),
    indexing: bool = False,
) -> Answer:
    """Return results that are similar to a note or chunk, without the note itself.

    Without a mode, use vectors if embeddings are on, and terms if not. Links count in every mode.
    The vectors are those of the index, so the endpoint is not called.

    `subject`: the note or chunk, if it is of another vault. `embeddings`: whether embeddings are
    on. `indexing`: whether a job is running. It selects the remedy when embeddings are missing.

    Raises:
        InvalidRequest: `INVALID_ID`.
        NotFound: `NOTE_NOT_FOUND`, `CHUNK_NOT_FOUND`.
        Unavailable: `EMBEDDING_UNAVAILABLE` if the mode is `embedding` and semantic search is
            unavailable.
        IndexUnavailable: `INDEX_INCOMPATIBLE` if the index is damaged.
    """
    mode = query.mode or (Mode.EMBEDDING if embeddings else Mode.LEXICAL)
    if subject is None:
        subject = await subject_of(snapshot, query, embeddings=embeddings, indexing=indexing)
    if mode is not Mode.LEXICAL:
        try:
            _check_comparable(snapshot, subject, embeddings=embeddings, indexing=indexing)
        except Unavailable as reason:
            if query.mode is Mode.EMBEDDING:
                raise
            mode, warnings = Mode.LEXICAL, (*warnings, fell_back(reason))
        else:
            from vault_agent.search.semantic import share_warnings

            warnings = (*warnings, *share_warnings(snapshot, indexing=indexing))
    hits = await snapshot.threads.stoppable(
        lambda stopped: _Search(snapshot, query, subject, mode, stopped).hits()
    )
    return Answer(query.mode, mode, query.limit, hits, warnings)


class _Text(NamedTuple):
    """Notes with similar terms or vectors, by rowid."""

    scores: dict[int, float]
    votes: dict[str, dict[int, float]]  # the scores by terms and by vectors, 0 to 1
    chunks: dict[int, int]  # key of the most similar chunk
    notes: Mapping[int, StoredNote]
    term_information: Mapping[str, float]


async def subject_of(
    snapshot: Snapshot, query: RelatedQuery, *, embeddings: bool, indexing: bool = False
) -> Subject:
    """Return the requested note or chunk with the chunks that represent it, its links and vector.

    Raises:
        InvalidRequest: `INVALID_ID`.
        NotFound: `NOTE_NOT_FOUND`, `CHUNK_NOT_FOUND`.
    """
    match = _ID.fullmatch(query.id)
    if match is None:
        raise InvalidRequest(
            "INVALID_ID",
            "A note ID is 32 lowercase hexadecimal digits; a chunk ID adds a colon and an index.",
        )
    subject = await snapshot.read(_represented, match[1], match[2])
    if not embeddings or query.mode is Mode.LEXICAL:
        return subject
    from vault_agent.search.semantic import of_chunks, usable_matrix  # imports numpy

    try:
        matrix = usable_matrix(snapshot, indexing=indexing)
        vector = await snapshot.threads.run(of_chunks, matrix, subject.keys, indexing=indexing)
    except Unavailable as problem:
        return subject._replace(problem=problem)
    return subject._replace(vector=vector, space=matrix.space)


def _represented(connection: Connection, note_id: str, index: str | None) -> Subject:
    note = named_note(connection, note_id, attachments=True)
    if index is not None:
        chunks = [named_chunk(connection, note, int(index))]
        keys = [chunk.key for chunk in chunks]
    else:
        first = note.rowid << CHUNK_BITS
        keys = [first | place for place in range(note.chunk_count)]
        # MAX_CHARACTERS at 2,000 per chunk, times two because some chunks are short.
        chunks = sorted(stored_notes.chunks(connection, keys[: MAX_CHARACTERS // 1_000]).values())
    return Subject(note, chunks, keys, links.neighbours(connection, note))


def _check_comparable(
    snapshot: Snapshot, subject: Subject, *, embeddings: bool, indexing: bool
) -> None:
    """Raise Unavailable unless the subject's vector can be compared with those of the snapshot."""
    if not embeddings:
        raise off()
    if subject.problem is not None:
        raise subject.problem
    from vault_agent.search.semantic import usable_matrix

    usable_matrix(snapshot, subject.space, indexing=indexing)


class _Search:
    """One request, carried out in one thread. Nothing here waits for the event loop."""

    def __init__(
        self,
        snapshot: Snapshot,
        query: RelatedQuery,
        subject: Subject,
        mode: Mode,
        stopped: Stopped,
    ) -> None:
        self._snapshot = snapshot
        self._query = query
        self._subject = subject
        self._mode = mode
        self._stopped = stopped
        links = self._passing(subject.links)
        self._links = links if query.linked is not Linked.EXCLUDE else {}
        self._without = {subject.note.rowid}
        if query.linked is Linked.EXCLUDE:
            self._without |= subject.links.keys()
        self._among = links if query.linked is Linked.ONLY else None  # None: all

    def hits(self) -> tuple[Hit, ...]:
        if self._among is not None and not self._among:
            return ()
        shared = self._shared()
        raise_if_stopped(self._stopped)
        text = self._text(shared)
        raise_if_stopped(self._stopped)
        similar = self._linked_with_similar(text.scores)
        notes = with_notes(
            self._snapshot, text.notes, {*text.scores, *shared, *similar, *self._links}
        )
        path = self._subject.note.path
        folders = {rowid: folder_nearness(path, note.path) for rowid, note in notes.items()}
        fused = fuse(Voices(text.scores, shared, similar, folders, self._links))
        order = sorted(
            (rowid for rowid in fused if rowid in notes),
            key=lambda rowid: (-fused[rowid].score, notes[rowid].path),
        )[: self._query.limit]
        return hits_of(
            self._snapshot,
            [_place(rowid, text, fused[rowid]) for rowid in order],
            notes,
            _telling(text.term_information),
            reasons=[_reason(self._mode, fused[rowid]) for rowid in order],
            explain=self._query.explain,
        )

    def _passing(self, numbers: dict[int, _Number]) -> dict[int, _Number]:
        """Return the notes that pass the filters."""
        if self._query.filters == Filters() or not numbers:
            return numbers
        passing = self._snapshot.fulltext.admitted(self._query.filters, numbers)
        return {rowid: number for rowid, number in numbers.items() if rowid in passing}

    def _shared(self) -> dict[int, float]:
        """Return the notes with the best scores of `shared_neighbours`."""
        counts = self._subject.links
        by_links = sorted(counts, key=lambda rowid: (-counts[rowid], rowid))
        return self._best(shared_neighbours(self._snapshot.query(links.circles, by_links)))

    def _linked_with_similar(self, text: Mapping[int, float]) -> dict[int, float]:
        """Return the notes with the best scores of `linked_with_similar`."""
        similar = sorted(text, key=lambda rowid: (-text[rowid], rowid))[:SIMILAR_NOTES]
        circles = self._snapshot.query(links.circles, similar)
        return self._best(linked_with_similar(text, circles))

    def _best(self, scores: Mapping[int, float]) -> dict[int, float]:
        """Return the notes with the best scores, of those that may be results."""
        scores = {
            rowid: score
            for rowid, score in scores.items()
            if rowid not in self._without and (self._among is None or rowid in self._among)
        }
        best = sorted(scores, key=lambda rowid: (-scores[rowid], rowid))[:_POOL]
        return self._passing({rowid: scores[rowid] for rowid in best})

    def _text(self, shared: Collection[int]) -> _Text:
        """Score notes by terms, by vectors or by both. `shared` are notes to score as well."""
        by_meaning_only = self._mode is Mode.EMBEDDING
        words = _Text({}, {}, {}, {}, {}) if by_meaning_only else self._words(shared)
        vector = self._subject.vector
        if self._mode is Mode.LEXICAL or vector is None:
            return words
        raise_if_stopped(self._stopped)
        nearby = self._near(vector, {*words.scores, *shared})
        meaning = scaled(
            {rowid: cosine - nearby.background for rowid, cosine in nearby.cosines.items()}
        )
        return words._replace(
            scores=meaning if by_meaning_only else convex(words.scores, meaning),
            votes={**words.votes, "meaning": meaning},
            chunks={**words.chunks, **nearby.chunks},
        )

    def _words(self, shared: Collection[int]) -> _Text:
        fulltext = self._snapshot.fulltext
        compiled, whole = _compile(fulltext, self._subject)
        ranking = lexical.rank_by_words(
            self._snapshot,
            compiled,
            self._query.filters,
            self._stopped,
            limit=_POOL,
            without=self._without,
            among=self._among,
        )
        best: dict[int, Ranked] = {}
        for entry in ranking.entries:
            best.setdefault(entry.rowid, entry)
        alike = fulltext.similarities(whole, {*best, *shared})
        scores = convex({rowid: entry.score for rowid, entry in best.items()}, alike)
        chunks = {rowid: entry.key for rowid, entry in best.items() if entry.key is not None}
        return _Text(
            scores, {"words": scores}, chunks, ranking.notes, ranking.candidates.term_information
        )

    def _near(self, vector: Floats, include: Collection[int]) -> NearestNotes:
        from vault_agent.search.semantic import near, usable_matrix

        admitted: Collection[int] | None = self._among
        if admitted is None and self._query.filters != Filters():
            admitted = self._snapshot.fulltext.admitted(self._query.filters)
        return near(
            usable_matrix(self._snapshot),
            vector,
            admitted=admitted,
            without=self._without,
            include=include,
        )


def _compile(fulltext: FulltextReader, subject: Subject) -> tuple[LexicalQuery, dict[str, float]]:
    """Return a query of the most specific terms, and the weights of all terms."""
    names = "\n".join((subject.note.title, *subject.note.aliases, *subject.note.metadata.tags))
    counts = count_terms("\n".join(chunk.text for chunk in subject.chunks), names)
    # A note of another vault counts as one more note of this one.
    more = int(subject.note.rowid == _NO_ROW)
    counted = fulltext.document_frequencies(counts)
    frequencies = {term: frequency + more for term, frequency in counted.items()}
    notes = fulltext.note_count + more
    return related_query(counts, frequencies, notes), whole_note(counts, frequencies, notes)


def _telling(information: Mapping[str, float]) -> Mapping[str, float]:
    """Return the terms to mark in excerpts: words such as "own" or "whole" are no reason."""
    common = common_terms()
    telling = {term: value for term, value in information.items() if term not in common}
    return telling or information


def _place(rowid: int, text: _Text, fused: RelatedScore) -> Ranked:
    votes = {name: scores.get(rowid, 0.0) for name, scores in text.votes.items()}
    votes |= {"neighbours": fused.neighbours, "similar": fused.similar}
    votes |= {"folder": fused.folder, "links": fused.links}
    return Ranked(
        rowid,
        text.chunks.get(rowid),
        fused.score,
        {vote: round(value, 4) for vote, value in votes.items() if value},
    )


def _reason(mode: Mode, fused: RelatedScore) -> Reason:
    """Return the reason of the voice that adds most. The folder is never the reason."""
    by_neighbours = fused.neighbours + fused.similar
    if fused.links > max(fused.text, by_neighbours):
        return Reason.RELATED_LINK
    if by_neighbours > fused.text:
        return Reason.RELATED_NEIGHBOURS
    return _BY_TEXT[mode]
