"""Builds clauses of the full-text engine as objects, so that no text is parsed as a query."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from tantivy import FieldType, Occur, Query

from vault_agent.errors import InvalidRequest
from vault_agent.model.lexical import rarity
from vault_agent.store.fulltext.schema import (
    ATTACHMENT_TYPE,
    comparable_path,
    day_number,
    property_key,
    tag_key,
    type_key,
)
from vault_agent.text.names import NOTE_SUFFIXES
from vault_agent.text.terms import part_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from tantivy import Schema, Searcher

    from vault_agent.model.lexical import LexicalQuery
    from vault_agent.model.search import Filters

_GLOB_TOKEN = re.compile(r"\*\*/|\*\*|\*|\?|[^*?]+")
_REGEX_SYNTAX = re.compile(r"[\\^$.|?*+()\[\]{}\-~&#\s]")
MAX_WILDCARDS = 16
MAX_WILDCARDS_IN_ALL = 50
MAX_GLOBS = 10
"""A pattern becomes an automaton that reads every path: half a second at 40,000 notes."""
_FEW_ROWIDS = 1_000
_LESSER = 0.3
"""The weight of the lesser score of a word and of names of which it is a part."""
_FAR_PAST, _FAR_FUTURE = -1_000_000, 4_000_000  # days, outside the range of `datetime.date`


class Clauses:
    """Builds clauses for one of the two indexes."""

    def __init__(self, schema: Schema, searcher: Searcher, folder: str = "") -> None:
        """Take an open index. Places may be written relative to `folder`."""
        self._folder = folder
        self._schema = schema
        self._searcher = searcher

    def term(self, field: str, term: str, *, positions: bool = True) -> Query:
        """Return documents that contain a term, scored by BM25 if the field keeps counts."""
        return Query.term_query(self._schema, field, term, "position" if positions else "basic")

    def words(self, field: str, weights: Mapping[str, float]) -> list[Query]:
        """Return one clause a term, its score multiplied by its weight.

        A name of which the term is a part counts like the term, or less if such names are common.
        """
        return [
            Query.boost_query(self._word_or_part(field, term), weight)
            for term, weight in weights.items()
        ]

    def _word_or_part(self, field: str, term: str) -> Query:
        word, part = self.term(field, term), part_of(term)
        names = self._searcher.doc_freq(field, part)
        if not names:
            return word
        texts, every = self._searcher.doc_freq(field, term), self._searcher.num_docs
        share = min(1.0, rarity(every, texts) / rarity(every, names))
        inside = Query.boost_query(self.term(field, part), share)
        return Query.disjunction_max_query([word, inside], _LESSER)

    def frequency(self, term: str) -> int:
        """Return how many notes have a term, else have it in names, else in repeated lines."""
        places = (("body", term), ("body", part_of(term)), ("repeated", term))
        return next(filter(None, (self._searcher.doc_freq(*place) for place in places)), 0)

    def is_repeated(self, term: str) -> bool:
        """Whether only lines that many notes have contain a term."""
        return not any(self._searcher.doc_freq("body", word) for word in (term, part_of(term)))

    def in_chunk(self, term: str) -> list[Query]:
        """Return clauses for the chunks that have a term in their text, title or headings."""
        fields = (("text", term), ("text", part_of(term)), ("context", term))
        return [self.term(field, word) for field, word in fields]

    def phrase(self, field: str, words: Sequence[str], *, slop: int = 0) -> Query:
        """Return documents that contain the words in this order; one word is a plain term."""
        if len(words) == 1:
            return self.term(field, words[0])
        return Query.phrase_query(self._schema, field, list(words), slop)

    def together(self, field: str, words: Sequence[str]) -> Query:
        """Return documents that contain the words in this order, also as parts of one name."""
        parts = [part_of(word) for word in words]
        return any_of([self.phrase(field, words), self.phrase(field, parts)])

    def weighted_phrases(self, field: str, weights: Mapping[tuple[str, ...], float]) -> list[Query]:
        """Return one clause a phrase, its score multiplied by its weight."""
        return [
            Query.boost_query(self.together(field, words), weight)
            for words, weight in weights.items()
        ]

    def contained(self, field: str, words: Sequence[str]) -> Query:
        """Return documents that contain the words in this order, also in lines of many notes."""
        phrase = self.phrase(field, words)
        return any_of([phrase, self.phrase("repeated", words)]) if field == "body" else phrase

    def rowids(self, rowids: Iterable[int]) -> Query:
        """Return the documents of these notes, without a score.

        A disjunction is five times faster than a term set for a hundred notes, and slower for
        thousands (measured).
        """
        numbers = list(rowids)
        if len(numbers) > _FEW_ROWIDS:
            return silent(Query.term_set_query(self._schema, "rowid", numbers))
        return silent(
            any_of([Query.term_query(self._schema, "rowid", rowid, "basic") for rowid in numbers])
        )

    def filters(self, filters: Filters) -> list[Query]:
        """Return clauses that must all match, without a score. Call `check_patterns` first.

        Raises:
            InvalidRequest: `INVALID_REQUEST` if a path pattern is too complex for the engine.
        """
        clauses = [self._raw("tag", tag_key(tag)) for tag in filters.tags]
        if filters.types:
            clauses.append(any_of([self._raw("type", type_key(kind)) for kind in filters.types]))
        values: dict[str, list[Query]] = {}
        for name, value in filters.conditions:
            values.setdefault(property_key(name, ""), []).append(self._property(name, value))
        clauses += map(any_of, values.values())
        for patterns, clause in self._patterns(filters):
            if patterns:
                clauses.append(any_of([clause(pattern) for pattern in patterns]))
        if filters.about_files:
            clauses.append(any_of([*map(self._about, dict.fromkeys(filters.about_files))]))
        if filters.after is not None or filters.before is not None:
            clauses.append(self._days(filters.after, filters.before))
        return [silent(clause) for clause in clauses]

    def attachments(self) -> Query:
        """Return the attachments whose text is indexed."""
        return self._raw("type", ATTACHMENT_TYPE)

    def of_notes(self, clause: Query) -> Query:
        """Return what a clause does without attachments. The scores stay the same."""
        if not self._searcher.doc_freq("type", ATTACHMENT_TYPE):
            return clause
        return combined(must=[clause], must_not=[self.attachments()])

    def excluded(self, filters: Filters) -> list[Query]:
        """Return clauses of which none may match.

        Raises:
            InvalidRequest: `INVALID_REQUEST` if the path patterns are too complex.
        """
        tags = [self._raw("tag", tag_key(tag)) for tag in filters.tags]
        values = [self._property(name, value) for name, value in filters.conditions]
        names = [
            clause(pattern) for patterns, clause in self._patterns(filters) for pattern in patterns
        ]
        return tags + values + names

    def names_nothing(self, path: str) -> bool:
        """Whether a path without wildcards is neither a folder with notes nor a note."""
        comparable = comparable_path(path)
        if not comparable or is_glob(comparable):
            return False
        return not self._is_known(comparable)

    def _patterns(self, filters: Filters) -> list[tuple[Iterable[str], Callable[[str], Query]]]:
        """Return each kind of patterns of names, without repeats, with its clause."""
        return [
            (dict.fromkeys(filters.paths), self._path),
            (dict.fromkeys(filters.path_parts), self._place),
            (dict.fromkeys(filters.file_patterns), self._file),
        ]

    def path_end(self, path: str) -> Query | None:
        """Return the notes whose path is `path` or ends in it (suffix optional).

        Return None if the path is empty, or longer than the engine accepts.
        """
        comparable = comparable_path(path.removeprefix("./"))
        if not comparable:
            return None
        suffixes = "|".join(map(_literal, NOTE_SUFFIXES))
        with suppress(InvalidRequest):
            return self._matching(f"(.*/)?{_literal(comparable)}({suffixes})?")
        return None

    def _raw(self, field: str, value: str) -> Query:
        return self.term(field, value, positions=False)

    def _days(self, after: str | None, before: str | None) -> Query:
        first, last = day_number(after or ""), day_number(before or "")
        return Query.range_query(
            self._schema,
            "day",
            FieldType.Integer,
            _FAR_PAST if first is None else first,
            _FAR_FUTURE if last is None else last,
        )

    def _property(self, name: str, value: str) -> Query:
        return self._raw("property", property_key(name, value))

    def _about(self, file: str) -> Query:
        """Return the notes whose `files` have a path, a folder of a path, or a file's name."""
        comparable = comparable_path(file.replace("\\", "/").removeprefix("./"))
        if not comparable:
            return Query.empty_query()
        start = _literal(property_key("files", ""))
        return self._matching(f"{start}(.*/)?{_literal(comparable)}(/.*)?", "property")

    def _is_known(self, comparable: str) -> bool:
        """Whether notes are in this folder, or one has this path."""
        places = [("folder", comparable), *(("path", path) for path in _paths_meant(comparable))]
        return any(self._searcher.doc_freq(*place) for place in places)

    def _place(self, pattern: str) -> Query:
        """Return what `_path` does; if there is no such folder or note, paths that contain it.

        The path may be relative to the folder of the index.
        """
        comparable = comparable_path(pattern)
        if is_glob(comparable):
            return self._path(pattern)
        start = f"{self._folder}/" if self._folder else ""
        for place in dict.fromkeys((f"{start}{pattern}", pattern)):
            if self._is_known(comparable_path(place)):
                return self._path(place)
        start = _literal(f"{comparable_path(self._folder)}/") if self._folder else ""
        return self._matching(f"{start}.*{_literal(comparable)}.*")

    def _file(self, pattern: str) -> Query:
        """Return the notes whose file name contains the text, or matches a glob."""
        comparable = comparable_path(pattern)
        inside = (
            _glob_regex(comparable) if is_glob(comparable) else f"[^/]*{_literal(comparable)}[^/]*"
        )
        return self._matching(f"(.*/)?{inside}")

    def _matching(self, regex: str, field: str = "path") -> Query:
        try:
            return Query.regex_query(self._schema, field, regex)
        except ValueError:  # the automaton is over the engine's limit
            raise _too_complex() from None

    def _path(self, pattern: str) -> Query:
        """Return the notes in a folder, a note by its path (suffix optional), or matches of a glob.

        A glob without `/` is matched with the file name in any folder, as in gitignore.
        """
        comparable = comparable_path(pattern)
        if is_glob(comparable):
            anchor = "" if "/" in comparable or pattern.startswith("/") else "(.*/)?"
            return self._matching(anchor + _glob_regex(comparable))
        paths = [self._raw("path", path) for path in _paths_meant(comparable)]
        return any_of([self._raw("folder", comparable), *paths])


def _paths_meant(comparable: str) -> tuple[str, ...]:
    return (comparable, *(comparable + suffix for suffix in NOTE_SUFFIXES))


def is_glob(pattern: str) -> bool:
    """Whether a path pattern has wildcards."""
    return "*" in pattern or "?" in pattern


def any_of(clauses: Sequence[Query]) -> Query:
    """Return documents that match at least one clause."""
    return Query.boolean_query([(Occur.Should, clause) for clause in clauses])


def silent(clause: Query) -> Query:
    """Return a clause that filters, but adds nothing to the score."""
    return valued(clause, 0.0)


def valued(clause: Query, score: float) -> Query:
    """Return a clause that gives every document the same score."""
    return Query.const_score_query(clause, score)


def combined(*, must: Sequence[Query], must_not: Sequence[Query]) -> Query:
    """Return documents that match all of `must` and none of `must_not`."""
    clauses = [(Occur.Must, clause) for clause in must]
    clauses += [(Occur.MustNot, clause) for clause in must_not]
    return Query.boolean_query(clauses)


def check_patterns(*requested: Filters) -> None:
    """Make sure that the path patterns of one request do not cost too much.

    Raises:
        InvalidRequest: where they have too many wildcards.
    """
    counts = [
        sum(token.startswith(("*", "?")) for token in _GLOB_TOKEN.findall(pattern))
        for pattern in {pattern for filters in requested for pattern in _costly_patterns(filters)}
    ]
    is_costly_in_all = len(counts) > MAX_GLOBS or sum(counts) > MAX_WILDCARDS_IN_ALL
    if is_costly_in_all or max(counts, default=0) > MAX_WILDCARDS:
        raise _too_complex()


def is_costly(filters: Filters) -> bool:
    """Whether the filters have patterns that read every path."""
    return bool(_costly_patterns(filters))


def _costly_patterns(filters: Filters) -> list[str]:
    return [*filter(is_glob, filters.paths), *filters.path_parts, *filters.file_patterns]


def _too_complex() -> InvalidRequest:
    return InvalidRequest(
        "INVALID_REQUEST",
        "The path patterns have too many wildcards. Name the folder, and use `*` or `?` less.",
    )


def _glob_regex(pattern: str) -> str:
    """Translate `*` and `?` (within one folder) and `**` (any depth). The rest is literal."""
    translated = {"**/": "(.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return "".join(
        translated.get(token) or _literal(token) for token in _GLOB_TOKEN.findall(pattern)
    )


def _literal(text: str) -> str:
    """Return a regular expression of the engine that matches exactly this text."""
    return _REGEX_SYNTAX.sub(r"\\\g<0>", text)


class NoteLimits(NamedTuple):
    """The notes that a search leaves out, and the only ones that it may find."""

    without: Collection[int] = ()
    among: Collection[int] | None = None


def conditions(
    clauses: Clauses, query: LexicalQuery, field: str, limits: NoteLimits
) -> tuple[list[Query], list[Query]]:
    """Return a query's clauses that must match and that must not, without words and filters."""
    must = [silent(clauses.contained(field, phrase)) for phrase in query.phrases]
    must_not = [clauses.contained(field, phrase) for phrase in query.excluded]
    if limits.without:
        must_not.append(clauses.rowids(limits.without))
    if limits.among is not None:
        must.append(clauses.rowids(limits.among))
    return must, must_not


def words_or_phrases(
    clauses: Clauses, query: LexicalQuery, weights: Mapping[str, float]
) -> list[Query]:
    """Return clauses for the words of notes' texts, scored, and for the query's phrases.

    A phrase may be in a line that many notes have. The words of such a line are scored only if no
    other text has them.
    """
    common = {term: weight for term, weight in weights.items() if clauses.is_repeated(term)}
    phrases = [silent(clauses.phrase("repeated", phrase)) for phrase in query.phrases]
    return clauses.words("body", weights) + clauses.words("repeated", common) + phrases


def scored(
    words: list[Query],
    must: Sequence[Query],
    must_not: Sequence[Query],
    among: Query | None,
) -> Query:
    """Return documents with any of the words that meet the conditions, scored by the words."""
    conditions = [*must, among] if among is not None else list(must)
    if not words:
        return combined(must=[silent(Query.all_query()), *conditions], must_not=must_not)
    if not conditions and not must_not:
        return any_of(words)  # the engine prunes a plain disjunction best
    return combined(must=[any_of(words), *conditions], must_not=must_not)
