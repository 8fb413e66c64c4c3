"""What limits a search besides its words: required and excluded parts, filters, and notes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tantivy import Query

from vault_agent.store.fulltext.clauses import any_of, combined, silent

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from vault_agent.model.lexical import LexicalQuery
    from vault_agent.store.fulltext.clauses import Clauses


class Limits(NamedTuple):
    """The notes that a search leaves out, and the only ones that it may find."""

    without: Collection[int] = ()
    among: Collection[int] | None = None


def conditions(
    clauses: Clauses, query: LexicalQuery, field: str, limits: Limits
) -> tuple[list[Query], list[Query]]:
    """Return a query's clauses that must match and that must not, without words and filters."""
    must = [silent(clauses.phrase(field, phrase)) for phrase in query.phrases]
    must_not = [clauses.phrase(field, phrase) for phrase in query.excluded]
    if limits.without:
        must_not.append(clauses.rowids(limits.without))
    if limits.among is not None:
        must.append(clauses.rowids(limits.among))
    return must, must_not


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
