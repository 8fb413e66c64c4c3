"""Warnings of names that are in no note, and errors when semantic search is unavailable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rapidfuzz.fuzz import ratio
from rapidfuzz.process import extract

from vault_agent.errors import Unavailable
from vault_agent.model.lexical import PIECE
from vault_agent.model.search import UnknownWord
from vault_agent.model.warning import Warning
from vault_agent.store.index import notes as stored_notes
from vault_agent.text.names import fold
from vault_agent.text.terms import sequence, terms
from vault_agent.vault.paths import folders_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from vault_agent.model.search import Filters, Hit
    from vault_agent.store.current import Snapshot


SUGGESTIONS = 3
_SIMILAR = 65.0
"""Lowest similarity, of 100."""
_MAX_CHARACTERS = 200


def unknown_words(
    query: str, neighbours: Mapping[str, Sequence[str]], hits: Iterable[Hit]
) -> tuple[UnknownWord, ...]:
    """Return which words of a query are in no note, by position, because no reply repeats a query.

    `neighbours` has the terms that are in no note, with the terms that were searched instead. Those
    are stems, so a word of the `hits` with the same stem is returned.
    """
    if not neighbours:
        return ()
    spellings: dict[str, str] = {}
    for hit in hits:
        for start, end in hit.matches:
            word = hit.snippet[start:end]
            for term in sequence(word):
                spellings.setdefault(term, word.lower())
    words: dict[str, UnknownWord] = {}
    for word, position in _words(query):
        parts = {*sequence(word), *terms(word)}
        if word not in words and parts and parts <= neighbours.keys():
            similar = [term for part in sequence(word) for term in neighbours[part]]
            instead = dict.fromkeys(spellings.get(term, term) for term in similar)
            words[word] = UnknownWord(position, tuple(instead)[:SUGGESTIONS])
    return tuple(words.values())


def _words(query: str) -> Iterator[tuple[str, int]]:
    """Yield the words of a query that are searched, each with its position."""
    for piece in PIECE.finditer(query):
        wanted = piece["plain"] or (None if piece["minus"] else piece["phrase"])
        if wanted:
            before = len(query[: piece.start()].split())
            for number, word in enumerate(wanted.split(), before + 1):
                yield word, number


def unknown_everywhere(answers: Sequence[tuple[UnknownWord, ...]]) -> tuple[UnknownWord, ...]:
    """Return the words of a query that are in no note of any vault. `answers` is by vault."""
    first, *others = [{word.position: word.instead for word in answer} for answer in answers]
    positions = [place for place in first if all(place in other for other in others)]
    instead = {
        place: dict.fromkeys(term for answer in (first, *others) for term in answer[place])
        for place in positions
    }
    return tuple(UnknownWord(place, tuple(instead[place])[:SUGGESTIONS]) for place in positions)


async def filter_warnings(snapshot: Snapshot, filters: Filters) -> tuple[Warning, ...]:
    """Return a warning if a filter has a path that does not exist."""
    if not filters.paths:
        return ()
    scope = snapshot.scope
    unknown = await snapshot.threads.run(snapshot.fulltext.unknown_paths, filters)
    if not unknown:
        return ()
    names = await snapshot.read(stored_notes.names)
    inner = [scope.to_caller(path) for path, _ in names]
    folders = await snapshot.threads.run(_nearest, inner, scope.to_caller(unknown[0]))
    what = "No folder or note of the index has this path."
    if folders:
        what = f"{what} Similar folders: {', '.join(folders)}."
    code = "FOLDER_NOT_FOUND"
    return (Warning.of(code, what, {"suggestions": folders}),)


def _nearest(paths: Iterable[str], wanted: str) -> list[str]:
    """Return the folders whose path or name is similar, the most similar first."""
    ordered = sorted({folder for path in paths for folder in folders_of(path)})
    wanted = fold(wanted.strip("/"))[:_MAX_CHARACTERS]
    whole = _scores(wanted, [fold(folder) for folder in ordered])
    names = _scores(wanted, [fold(folder.rpartition("/")[2]) for folder in ordered])
    best = {place: max(whole.get(place, 0), names.get(place, 0)) for place in whole | names}
    places = sorted(best, key=lambda place: (-best[place], ordered[place]))
    return [ordered[place] for place in places[:SUGGESTIONS]]


def _scores(wanted: str, names: Sequence[str]) -> dict[int, float]:
    matches = extract(wanted, names, scorer=ratio, score_cutoff=_SIMILAR, limit=SUGGESTIONS)
    return {place: score for _, score, place in matches}


OFF = "Embeddings are off. `vault-agent enable embedding` turns them on. Or leave out the mode."


def off() -> Unavailable:
    """Return the error for a semantic search while `embedding.enabled` is false."""
    details = {"setting": "embedding.enabled"}
    return Unavailable("EMBEDDING_UNAVAILABLE", OFF, details, remedy="")


def missing(what: str, *, indexing: bool) -> Unavailable:
    """Return the error for embeddings that an index job makes. `indexing`: whether one runs."""
    return Unavailable("EMBEDDING_UNAVAILABLE", what, indexing=indexing)


def fell_back(reason: Unavailable, what: str = "These results are lexical only.") -> Warning:
    """Return the warning that a search was done without embeddings or reranker, with the reason."""
    return Warning(reason.code, *reason.over_http(f"{what} "))
