"""One search of one revision, from a compiled query to its candidates.

A `CandidateSearch` queries a `Shelf` of notes and one of chunks, filtered by their notes.
"""

from __future__ import annotations

from itertools import compress
from typing import TYPE_CHECKING, NamedTuple, cast

from rapidfuzz.distance import OSA
from rapidfuzz.process import extract
from tantivy import FieldType, Index, Order, Query

from vault_agent.model.identifiers import CHUNK_BITS
from vault_agent.model.lexical import CONTEXT_WEIGHT, Candidates, rarity
from vault_agent.store.fulltext.clauses import (
    Clauses,
    NoteLimits,
    any_of,
    combined,
    conditions,
    is_costly,
    scored,
    silent,
    words_or_phrases,
)
from vault_agent.store.fulltext.schema import ANALYZER
from vault_agent.text.terms import is_unit, splitter

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from tantivy import DocAddress, Schema, Searcher

    from vault_agent.model.lexical import LexicalQuery, Terms
    from vault_agent.model.search import Filters
    from vault_agent.system.cancelling import Stopped

MOST_CORRECTED = 8
"""Limit of corrected terms in one query: the longest, which are the most specific."""

_NEIGHBOURS = 3
_SHORTEST = 4  # a shorter term has too many similar ones
_TWO_EDITS_FROM = 8
_FIELD = "body"


class Speller:
    """Corrects the terms of one query."""

    def __init__(self, searcher: Searcher, schema: Schema) -> None:
        self._searcher = searcher
        self._schema = schema
        self._read: dict[str, list[tuple[str, int]]] = {}

    def similar_to(self, term: str) -> dict[str, int]:
        """Return up to three terms with their document frequencies: completions, else near terms.

        A near term shares the first letter and is one edit away (two if the term is long). An
        edit inserts, drops, changes or swaps letters: the optimal string alignment distance. The
        closest come first, then the most frequent.
        """
        begun = self._begun(term[:_SHORTEST])
        if completions := [entry for entry in begun if entry[0].startswith(term)]:
            return dict(completions[:_NEIGHBOURS])
        most = 2 if len(term) >= _TWO_EDITS_FROM else 1
        near_query = Query.fuzzy_term_query(self._schema, _FIELD, term, most)
        if not self._searcher.search(near_query, 1, count=False).hits:
            return {}
        begun = self._begun(term[0])
        matches = extract(
            term, [other for other, _ in begun], scorer=OSA.distance, score_cutoff=most, limit=None
        )
        distances = {other: distance for other, distance, _ in matches}
        near = [begun[place] for _, _, place in matches]
        near.sort(key=lambda entry: (distances[entry[0]], -entry[1], entry[0]))
        return dict(near[:_NEIGHBOURS])

    def _begun(self, prefix: str) -> list[tuple[str, int]]:
        """Return terms that begin with `prefix` and their frequencies, most frequent first."""
        if prefix not in self._read:
            self._read[prefix] = self._searcher.terms_with_prefix(_FIELD, prefix)
        return self._read[prefix]


def worth_correcting(terms: Iterable[str]) -> list[str]:
    """Return the `MOST_CORRECTED` longest of the unknown terms, earlier terms first if equal."""
    long_enough = [term for term in terms if len(term) >= _SHORTEST and not term.isdigit()]
    return sorted(long_enough, key=len, reverse=True)[:MOST_CORRECTED]


NOTES = 60
CHUNKS = 100
NAMES = 30
NAMED = 50
# A pair counts only if one of its words is in at most this share of the notes. Pairs of common
# words take most of the time and gain nothing.
_RARE_SHARE = 0.1
_PAIR_SLOP = 1
CHUNK_FIELDS = (("text", 1.0), ("context", CONTEXT_WEIGHT))
"""The fields of a chunk, and the weight of each."""
OPENINGS = 30
"""Pairs that replace a single character."""
# Chunks with all words of the query: they are counted up to a limit, for queries of few words. If
# all words are common, the limit would be reached, and looking for the chunks would take long.
MOST_WITH_ALL_WORDS = 50
_MOST_WORDS = 12
_COMMON_NOTES = 1_000


FORM_WEIGHT = 0.05
"""The weight of a word of a question's form beside a note that is named like what it asks about."""
SPELLED_WEIGHT = 0.5
"""The weight of each of two words that notes write as one."""
_LEAST_JOINED, _MOST_APART = 3, 2
"""Two words of a query are one word too if so many notes have that, and at most so many times as
many notes have the two. Others are joined in names only, such as `taskDate`."""


class SearchStopped(Exception):
    """A search was stopped, since its caller has disconnected."""


def raise_if_stopped(stopped: Stopped) -> None:
    """Raise `SearchStopped` if the caller has disconnected."""
    if stopped():
        raise SearchStopped


class CandidateSearch:
    """One search. Its statistics and scores are those of the whole index."""

    def __init__(  # noqa: PLR0917 - one caller, and the arguments' types differ
        self,
        notes: Shelf,
        chunks: Shelf,
        query: LexicalQuery,
        passing: Passing | None,
        limits: NoteLimits,
        stopped: Stopped,
    ) -> None:
        self._stopped = stopped
        self._notes = notes
        self._count = notes.searcher.num_docs  # of which the statistics are
        self._chunks = chunks
        self._query = query
        self._note_must, self._note_not = conditions(notes.clauses, query, "body", limits)
        self._chunk_must, self._chunk_not = conditions(chunks.clauses, query, "text", limits)
        self._passing = passing  # None where there are no filters
        if passing is not None:
            self._note_must += passing.must
            self._note_not += passing.must_not
        self._speller = Speller(notes.searcher, notes.schema)
        self._similar_terms: dict[str, tuple[str, ...]] = {}
        self._frequencies: dict[str, int] = {}
        self._apart: dict[Terms, float] = {}
        """Words of the query that some notes write as two, with their weights."""
        self._is_about = False  # the query is a question about what a note is named
        self._alike = self._notes_named()
        self._weights = self._look_up(self._spelled(self._without_form(query.term_weights)))
        self._openings = self._open(self._weights)

    def run(self) -> Candidates:
        """Return the notes and chunks to rank."""
        has_words = self._weights or self._query.phrases
        if not has_words and (self._query.text or self._query.term_weights or not self._note_must):
            return Candidates(similar_terms=self._similar_terms, searched=self._count)
        raise_if_stopped(self._stopped)
        words = {**self._query.units, **self._weights}
        body = self._best_notes("body", words, NOTES)
        # Without terms, a query for them would match everything.
        text = self._text() if self._openings else {}
        raise_if_stopped(self._stopped)
        pairs = self._pairs()
        names = self._best_notes("names", self._openings, NAMES) if self._openings else {}
        named = self._alike
        headed = self._headed()
        all_words = self._with_all_words()
        raise_if_stopped(self._stopped)
        few = set(all_words) if len(all_words) < MOST_WITH_ALL_WORDS else set()
        self._complete(body, text, named | pairs.keys() | names.keys(), headed | few)
        if self._query.excluded and self._weights:
            # An excluded word excludes the whole note, also chunks without the word.
            text = {key: score for key, score in text.items() if key >> CHUNK_BITS in body}
            headed = {key for key in headed if key >> CHUNK_BITS in body}
            few = {key for key in few if key >> CHUNK_BITS in body}
        body = dict.fromkeys(named, 0.0) | body
        return Candidates(
            body=body,
            pairs={rowid: score for rowid, score in pairs.items() if rowid in body},
            names={rowid: score for rowid, score in names.items() if score and rowid in body},
            named=named,
            text=dict.fromkeys(headed | few, 0.0) | text,
            headed=headed,
            all_words=few,
            all_words_count=len(all_words),
            term_information=self._information(),
            searched=self._count,
            similar_terms=self._similar_terms,
        )

    def _spelled(self, weights: Mapping[str, float]) -> dict[str, float]:
        """Add the other spellings of words that notes have: `backup` for `back up`, or two words.

        Of two words of the query, each counts half then. Two adjacent words of a note count as much
        as the one word.
        """
        spelled = dict(weights)
        for joined, parts, is_joined, has_particle in self._query.spellings:
            if (joined in weights) != is_joined or not all(map(self._frequency, parts)):
                continue
            whole = self._frequency(joined)
            if is_joined and whole and not has_particle:
                continue
            if not is_joined and whole < _LEAST_JOINED:
                continue
            apart = self._notes.count(self._notes.clauses.together("body", parts))
            if not apart if is_joined else apart > _MOST_APART * whole:
                continue
            weight = max(weights.get(term, 0.0) for term in (joined, *parts))
            rarities = [rarity(self._count, self._frequency(term)) for term in parts]
            own = rarity(self._count, whole) if whole else sum(rarities)
            self._apart[parts] = weight * own / sum(rarities)
            if is_joined and whole:
                continue
            if is_joined:
                del spelled[joined]
            else:
                spelled[joined] = weight
            for part in parts:
                spelled[part] = SPELLED_WEIGHT * weights.get(part, weight)
        return spelled

    def _look_up(self, weights: Mapping[str, float]) -> dict[str, float]:
        """Replace words that are in no note by similar terms."""
        frequencies = {term: self._frequency(term) for term in weights}
        unknown = [term for term, count in frequencies.items() if not count and not is_unit(term)]
        if self._query.tolerant:
            self._similar_terms = dict.fromkeys(unknown, ())
        corrected: dict[str, dict[str, int]] = {}
        for term in worth_correcting(self._similar_terms):
            raise_if_stopped(self._stopped)
            corrected[term] = self._speller.similar_to(term)
            self._similar_terms[term] = tuple(corrected[term])
        weight_of: dict[str, float] = {}
        for term, weight in weights.items():
            if term in self._similar_terms:
                counts = corrected.get(term, {})
            else:
                counts = {term: frequencies[term]}
            if not is_unit(term):
                counts = {word: count for word, count in counts.items() if count}
            for word, count in counts.items():
                weight_of[word] = weight_of.get(word, 0.0) + weight
                self._frequencies[word] = count
        return weight_of

    def _frequency(self, term: str) -> int:
        """Return in how many of these notes a term is."""
        return self._notes.clauses.frequency(term)

    def _open(self, weights: Mapping[str, float]) -> dict[str, float]:
        """Replace single characters, which no chunk has, by frequent pairs that begin with them."""
        opened: dict[str, float] = {}
        for term, weight in weights.items():
            if is_unit(term):
                pairs = self._chunks.searcher.terms_with_prefix("text", term, None, OPENINGS)
                opened |= dict.fromkeys((pair for pair, _ in pairs), weight)
            else:
                opened[term] = weight
        return opened

    def _information(self) -> dict[str, float]:
        """Return BM25's inverse document frequency of each term, times its weight."""
        return {
            term: weight * rarity(self._count, self._frequencies[term])
            for term, weight in self._weights.items()
        }

    def _best_notes(
        self,
        field: str,
        weights: Mapping[str, float],
        limit: int,
        among: Collection[int] | None = None,
    ) -> dict[int, float]:
        """Return the best notes by the words of a field, of `among` if it is given."""
        clauses = self._notes.clauses
        inside = clauses.rowids(among) if among is not None else None
        words = (
            words_or_phrases(clauses, self._query, weights)
            if field == "body"
            else clauses.words(field, weights)
        )
        words += clauses.weighted_phrases(field, self._apart)
        query = scored(words, self._note_must, self._note_not, inside)
        return self._notes.top(query, limit)

    def _chunks_of(self, among: Collection[int]) -> dict[int, float]:
        """Return the best chunks of some notes."""
        notes = self._chunks.clauses.rowids(among)
        return self._chunks.top(self._text_query(notes), CHUNKS)

    def _text_query(self, among: Query | None = None) -> Query:
        clauses = self._chunks.clauses
        words = [
            word
            for field, share in CHUNK_FIELDS
            for word in clauses.words(
                field, {term: share * weight for term, weight in self._openings.items()}
            )
        ]
        words += clauses.weighted_phrases("text", self._apart)
        return scored(words, self._chunk_must, self._chunk_not, among)

    def _pairs(self) -> dict[int, float]:
        """Return the best notes by pairs of words, each with the gap that its words may have."""
        rare = _RARE_SHARE * self._count
        pairs: list[tuple[Terms, int]] = [
            (pair, _PAIR_SLOP)
            for pair in self._query.pairs
            if min(self._frequencies.get(term, 0) for term in pair) <= rare
            and all(self._frequencies.get(term) for term in pair)
        ]
        pairs += [(parts, 0) for parts in self._query.compounds]
        if not pairs:
            return {}
        words = [self._notes.clauses.phrase("body", parts, slop=gap) for parts, gap in pairs]
        query = combined(must=[any_of(words), *self._note_must], must_not=self._note_not)
        return self._notes.top(query, NOTES)

    def _text(self) -> dict[int, float]:
        """Return the best chunks."""
        if (passing := self._passing) is None:
            return self._chunks.top(self._text_query(), CHUNKS)
        if passing.few is not None:
            return self._chunks_of(passing.few)
        return self._chunks.top_passing(self._text_query(), CHUNKS, passing)

    def _notes_named(self) -> set[int]:
        """Return the notes with a name, path or end of the path equal to the query.

        If there are none, the query may be a question about what a note is named.
        """
        if not self._query.name:
            return set()
        clauses = self._notes.clauses
        names = [clauses.term("name", self._query.name, positions=False)]
        if self._query.path and (path := clauses.path_end(self._query.path)) is not None:
            names.append(path)
        rowids = self._first_of(names)
        if not rowids and self._query.subject:
            rowids = self._first_of([clauses.term("name", self._query.subject, positions=False)])
            self._is_about = bool(rowids)
        return rowids

    def _first_of(self, names: Sequence[Query]) -> set[int]:
        query = combined(must=[any_of(names), *self._note_must], must_not=self._note_not)
        return set(self._notes.first(query, NAMED))

    def _without_form(self, weights: Mapping[str, float]) -> dict[str, float]:
        """Return the weights, with little for the form of a question about a note's name."""
        light = self._query.form if self._is_about else frozenset[str]()
        return {
            term: FORM_WEIGHT * weight if term in light else weight
            for term, weight in weights.items()
        }

    def _headed(self) -> set[int]:
        """Return the chunks whose heading equals the query."""
        if not self._query.name:
            return set()
        name = self._chunks.clauses.term("name", self._query.name, positions=False)
        return self._first_chunks([name], NAMED)

    def _with_all_words(self) -> Collection[int]:
        """Return the chunks that have all words of the query, at most `MOST_WITH_ALL_WORDS`."""
        words = [
            meanings
            for term in self._query.term_weights
            if (meanings := [word for word in self._meant(term) if self._frequencies.get(word)])
        ]
        if not words or len(words) > _MOST_WORDS:
            return set()
        rarest = min(sum(self._frequencies[word] for word in meanings) for meanings in words)
        if rarest > max(_RARE_SHARE * self._count, _COMMON_NOTES):
            return range(MOST_WITH_ALL_WORDS)
        clauses = self._chunks.clauses
        every = [
            any_of([clause for word in meanings for clause in clauses.in_chunk(word)])
            for meanings in words
        ]
        return self._first_chunks(every, MOST_WITH_ALL_WORDS)

    def _first_chunks(self, clauses: Sequence[Query], limit: int) -> set[int]:
        """Return the first chunks that match all clauses and the conditions."""
        query = combined(must=[*clauses, *self._chunk_must], must_not=self._chunk_not)
        if self._passing is None:
            return set(self._chunks.first(query, limit))
        return set(self._chunks.first_passing(query, limit, self._passing))

    def _meant(self, term: str) -> tuple[str, ...]:
        """Return a term, or those that replace it. Chunks have no single characters."""
        if is_unit(term):
            return ()
        return self._similar_terms.get(term) or (term,)

    def _complete(
        self, body: dict[int, float], text: dict[int, float], rowids: set[int], headed: set[int]
    ) -> None:
        """Score notes and chunks that only some queries have found by the others too, in place."""
        if not self._weights:
            return
        scored = {key >> CHUNK_BITS for key in text}
        seen = rowids | scored | {key >> CHUNK_BITS for key in headed}
        if missing := sorted(seen - body.keys()):
            words = {**self._query.units, **self._weights}
            body |= self._best_notes("body", words, len(missing), missing)
        if self._openings and (missing := sorted(body.keys() - scored)):
            text |= self._chunks_of(missing)


_OFTEN_TIED = 31  # more is rare: two searches take twice as long as one for more documents
_TIED_LIMIT = 1_000
_FEW_NOTES = 200  # up to this many passing notes, the engine is asked for their chunks
_WIDER = 4  # factor for the next attempt if too few documents pass
_DECIMALS = 4  # of a score that do not depend on the order of addition
_UNITS = 10.0**_DECIMALS
_LAST_ROW = 2**63 - 1


class RevisionRows(NamedTuple):
    """The rows of a revision: those below `end`, but for `old`. The full text may have others."""

    end: int = _LAST_ROW
    old: frozenset[int] = frozenset()


class Shelf:
    """One of the two indexes; `key` is the fast field that identifies its documents.

    It is as it was when it was opened, and documents of other rows than `rows` are skipped.
    """

    def __init__(self, directory: Path, key: str, rows: RevisionRows, folder: str = "") -> None:
        index = Index.open(str(directory))
        # The engine's own way watches the files from a thread, and loads them again half a second
        # after the opening, when nobody has checked their sizes.
        index.config_reader("Manual")
        index.register_tokenizer(ANALYZER, splitter())
        self.schema = index.schema
        self.searcher: Searcher = index.searcher()
        self.clauses = Clauses(index.schema, self.searcher, folder)
        self._key = key
        self._bits = 0 if key == "rowid" else CHUNK_BITS
        self._rows = rows
        later = Query.range_query(index.schema, "rowid", FieldType.Unsigned, rows.end, _LAST_ROW)
        others = any_of([later, self.clauses.rowids(rows.old)])
        self._skipped = self._count(others)
        self._others = others if self._skipped else None
        self.documents = self.searcher.num_docs - self._skipped
        """How many documents of the revision there are."""

    def top(self, query: Query, limit: int) -> dict[int, float]:
        """Return the best `limit` documents, best first. Ties go by key, also at the cut.

        A score is a sum, and its order depends on the document's segment, which differs between
        runs. So scores tie if they differ by less than `_DECIMALS` decimals show.
        """
        wanted = limit + _OFTEN_TIED
        best = self._best(query, wanted)
        while len(best) == wanted < _TIED_LIMIT and _same(best[limit - 1], best[-1]):
            wanted = min(_WIDER * wanted, _TIED_LIMIT)
            best = self._best(query, wanted)
        return _rank(best, limit)

    def top_passing(self, query: Query, limit: int, passing: Passing) -> dict[int, float]:
        """Return the best `limit` documents whose notes pass, as `top` does.

        It asks for more documents and drops those that do not pass. That is much faster than asking
        the engine for the chunks of thousands of notes.
        """
        wanted = passing.needed_for(limit + 1)
        while True:
            best = self._best(query, wanted)
            passes = passing.filter([key for _, key in best])
            kept = list(compress(best, passes))[:_TIED_LIMIT]
            if len(best) < wanted or len(kept) == _TIED_LIMIT:
                return _rank(kept, limit)
            if len(kept) <= limit:
                wanted *= _WIDER
            elif _same(kept[limit - 1], kept[limit]) and _same(kept[limit], kept[-1]):
                wanted = max(_WIDER * wanted, passing.needed_for(_TIED_LIMIT))
            else:
                return _rank(kept, limit)

    def count(self, query: Query) -> int:
        """Return how many documents a query matches."""
        count = self._count(query)
        if self._others is not None:
            count -= self._count(combined(must=[query, self._others], must_not=[]))
        return count

    def _count(self, query: Query) -> int:
        result = self.searcher.search(query, 1, count=True)
        count: int = result.count or 0  # type: ignore[attr-defined]
        return count

    def _has(self, key: int) -> bool:
        """Whether a document is of the revision's rows."""
        rowid = key >> self._bits
        return rowid < self._rows.end and rowid not in self._rows.old

    def first_passing(self, query: Query, limit: int, passing: Passing) -> list[int]:
        """Return the keys of the first `limit` documents whose notes pass."""
        wanted = passing.needed_for(limit)
        while True:
            keys = self.first(query, wanted)
            kept = list(compress(keys, passing.filter(keys)))[:limit]
            if len(kept) == limit or len(keys) < wanted:
                return kept
            wanted *= _WIDER

    def _best(self, query: Query, limit: int) -> list[tuple[float, int]]:
        """Return (score, key) of the best documents, best first."""
        hits = self.searcher.search(query, limit + self._skipped, count=False).hits
        addresses = [address for _, address in hits]
        # Every document has a key.
        keys = cast("list[int]", self.searcher.fast_field_values(self._key, addresses))
        best = [(score, key) for (score, _), key in zip(hits, keys, strict=True)]
        return [pair for pair in best if self._has(pair[1])][:limit] if self._skipped else best

    def first(self, query: Query, limit: int) -> list[int]:
        """Return the keys of the first `limit` documents by key, without scoring."""
        most = limit + self._skipped
        result = self.searcher.search(
            query, most, count=False, order_by_field=self._key, order=Order.Asc
        )
        keys = [key for key, _ in cast("list[tuple[int, DocAddress]]", result.hits)]
        return list(filter(self._has, keys))[:limit] if self._skipped else keys


def _same(one: tuple[float, int], other: tuple[float, int]) -> bool:
    return bool(abs(one[0] - other[0]) < 10**-_DECIMALS)


def _rank(best: list[tuple[float, int]], limit: int) -> dict[int, float]:
    """Return the best `limit` of some documents, which are in the order of their exact scores."""
    end = limit
    while end < len(best) and _same(best[limit - 1], best[end]):
        end += 1
    # The engine's scores have 24 bits, so these products are exact. It is faster than to round to
    # decimals.
    ranked = [(-round(score * _UNITS), key) for score, key in best[:end]]
    ranked.sort()
    return {key: -units / _UNITS for units, key in ranked[:limit]}


class Passing:
    """The notes that pass some filters, listed once for all queries of a search."""

    def __init__(self, notes: Shelf, filters: Filters, wanted: Filters, unwanted: Filters) -> None:
        """Take the filters of a request, those its query requires and those it excludes."""
        self.must = notes.clauses.filters(filters) + notes.clauses.filters(wanted)
        self.must_not = notes.clauses.excluded(unwanted)
        query = combined(must=[silent(Query.all_query()), *self.must], must_not=self.must_not)
        rowids = notes.first(query, max(notes.documents, 1))
        self._rowids = frozenset(rowids)
        self._notes = notes.documents
        self.few = rowids if len(rowids) <= _FEW_NOTES else None
        if any(map(is_costly, (filters, wanted, unwanted))):
            self.must, self.must_not = [notes.clauses.rowids(rowids)], []

    def needed_for(self, limit: int) -> int:
        """Return how many documents to ask for so that probably `limit` of them pass."""
        return limit + limit * self._notes // max(len(self._rowids), 1)

    def filter(self, keys: Sequence[int]) -> list[bool]:
        """Return for each chunk whether its note passes."""
        return [key >> CHUNK_BITS in self._rowids for key in keys]
