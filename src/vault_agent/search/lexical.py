"""The notes of a snapshot ranked by the words of a query.

All functions block, and are called in one of the snapshot's threads.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from vault_agent.model.lexical import rarity
from vault_agent.model.search import Coverage, Filters, Match
from vault_agent.search.rank import OwnNames, Ranked, rank, shortlist
from vault_agent.store.current import SnapshotOutdated
from vault_agent.store.index import documents
from vault_agent.store.index import notes as stored_notes
from vault_agent.text.terms import is_unit
from vault_agent.text.words import common_terms

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from vault_agent.model.lexical import Candidates, LexicalQuery
    from vault_agent.store.current import Snapshot
    from vault_agent.store.fulltext.reader import FulltextReader
    from vault_agent.store.index.notes import StoredNote
    from vault_agent.system.cancelling import Stopped


_NOTES_FOR_RARITY = 30
"""Rarity is computed for at least so many notes: fewer do not tell which words are rare."""
_NOTES_FOR_SUBJECT = 3
"""Fewer notes do not tell what the vault is about."""
_SUBJECT_SHARE = 0.78
"""A word that a larger share of the notes has tells what the vault is about."""


class LexicalRanking(NamedTuple):
    """The best results, with their candidates and notes."""

    entries: list[Ranked]
    candidates: Candidates
    notes: Mapping[int, StoredNote]


def rank_by_words(
    snapshot: Snapshot,
    compiled: LexicalQuery,
    filters: Filters,
    stopped: Stopped,
    *,
    limit: int,
    without: Collection[int] = (),
    among: Collection[int] | None = None,
) -> LexicalRanking:
    """Return the best `limit` results of a compiled query, with `among` only of these notes.

    Raises:
        SearchStopped: if `stopped` returned True.
    """
    candidates = snapshot.fulltext.candidates(
        compiled, filters, without=without, among=among, stopped=stopped
    )
    wanted = shortlist(candidates, limit)
    notes = snapshot.query(documents.notes_and_documents, wanted.rowids)
    headings = snapshot.query(stored_notes.headings, wanted.keys)
    if len(notes) < len(wanted.rowids):
        raise SnapshotOutdated
    names = {rowid: OwnNames(note.path, note.title, note.aliases) for rowid, note in notes.items()}
    entries = rank(candidates, names, headings, limit=limit, chosen=wanted)
    return LexicalRanking(entries, candidates, notes)


def term_information(fulltext: FulltextReader, compiled: LexicalQuery) -> dict[str, float]:
    """Return weight times rarity of each term of a query, if any note has the term."""
    frequencies = fulltext.document_frequencies(compiled.term_weights)
    notes = fulltext.note_count
    return {
        term: compiled.term_weights[term] * rarity(notes, count)
        for term, count in frequencies.items()
        if count
    }


def coverage(snapshot: Snapshot, compiled: LexicalQuery, ranking: LexicalRanking) -> Coverage:
    """Return, for each ranked note, the largest part of the query that one chunk of it has.

    A word that is in no note counts as the rarest, also if similar words were searched instead. A
    vault of fewer than 30 notes is treated as one of 30, because few notes do not tell which words
    are rare. A word that more than 78 % of the notes have does not count as content.
    """
    information = ranking.candidates.term_information
    similar_terms, searched = ranking.candidates.similar_terms, ranking.candidates.searched
    notes = max(searched, _NOTES_FOR_RARITY)
    # Rarity is log((notes + 1) / (notes with the word + 0.5)): more notes add the same to all.
    added = math.log((notes + 1) / (searched + 1))
    words = {
        term: information[term] / weight + added
        if term in information and term not in similar_terms
        else rarity(notes, 0)
        for term, weight in compiled.term_weights.items()
        if not is_unit(term)
    }
    usual = math.log((searched + 1) / (_SUBJECT_SHARE * searched + 0.5))
    content = {
        term: 1.0
        for term in words.keys() & information.keys() - similar_terms - common_terms()
        if searched < _NOTES_FOR_SUBJECT or information[term] / compiled.term_weights[term] >= usual
    }
    rowids = {entry.rowid for entry in ranking.entries}
    total = sum(words.values())
    most = snapshot.fulltext.most_in_one_chunk(words, rowids)
    counts = snapshot.fulltext.most_in_one_chunk(content, rowids)
    return Coverage(
        len(words),
        snapshot.fulltext.chunk_count,
        {
            (None, ranking.notes[rowid].id): Match(
                most.get(rowid, 0.0) / total if total else 0.0, round(counts.get(rowid, 0.0))
            )
            for rowid in rowids
        },
    )
