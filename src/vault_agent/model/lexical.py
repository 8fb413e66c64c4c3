"""The syntax of a query, the query as it is sent to the full-text index, and the evidence back.

`search` compiles queries and ranks the evidence. `store` runs the queries. Both use these values,
so that `store` imports nothing of `search`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import NamedTuple

from vault_agent.model.search import Filters

PIECE = re.compile(
    r"""(?<!\S)(?P<minus>-(?!-))?
        (?: (?P<operator>tag|path|file):(?: "(?P<quoted>[^"]+)" | (?P<value>[^\s"]+) )
          | \["(?P<name>[^"\]]+)":\s*(?: "(?P<text>[^"]+)" | (?P<bare>[^\]"]+) )\]
          | "(?P<phrase>[^"]+)" )
        (?!\w)
      | (?<!\S)-(?P<excluded>\w\S*)
      | (?P<plain>\S+)""",
    re.VERBOSE,
)
"""Matches one piece of a query, and never fails: what is no operator is `plain`."""


_OPERATOR = re.compile(r"(?<!\S)(-?(?:tag|path|file)):")
_EXCLUDED = re.compile(r"(?<!\S)-(?=\w)")


def without_operators(text: str) -> str:
    """Return a text as plain words: what looks like an operator in it is none."""
    text = _OPERATOR.sub(r"\1 ", text.replace('"', " "))
    return _EXCLUDED.sub("", text)


Terms = tuple[str, ...]

CONTEXT_WEIGHT = 0.5
"""Weight of the title and headings above a chunk, relative to its text."""


def rarity(notes: int, having: int) -> float:
    """Return the inverse document frequency of a term that `having` of `notes` have, as in BM25."""
    return math.log1p(max(notes - having + 0.5, 0.5) / (having + 0.5))


class Spelling(NamedTuple):
    """A word that may be written as one word or as two, as terms: `backup`, and `back up`."""

    joined: str
    parts: tuple[str, str]
    is_joined: bool  # as the query has it
    has_particle: bool  # the first part is `e`, or the second one builds sentences: `up`


@dataclass(frozen=True, slots=True)
class LexicalQuery:
    """A compiled query: terms of the index, never text in another query syntax."""

    term_weights: dict[str, float] = field(default_factory=dict)
    """In a search, the weight of a term is the number of its occurrences."""
    units: dict[str, float] = field(default_factory=dict)
    """The same for single characters of unspaced scripts. Only notes have them as terms."""
    pairs: tuple[tuple[str, str], ...] = ()
    """Adjacent terms of the query. Notes in which they are adjacent score higher."""
    compounds: tuple[Terms, ...] = ()
    """The parts of compound words (`snake_case`, `1.2.3`). The whole word counts too."""
    spellings: tuple[Spelling, ...] = ()
    """Words of the query that may be written as one word or as two."""
    phrases: tuple[Terms, ...] = ()
    """Required phrases."""
    excluded: tuple[Terms, ...] = ()
    """Excluded words and phrases."""
    name: str = ""
    """The whole query as the key of a name."""
    subject: str = ""
    """What a question asks about, as the key of a name: of `what is a MOC`, that of `MOC`."""
    form: frozenset[str] = frozenset()
    """The terms of a question that are not of its subject."""
    path: str = ""
    """The whole query if it may be a path or the end of one."""
    text: str = ""
    """The query without its operators, for semantic search."""
    filters: Filters = field(default_factory=Filters)
    """The filters of the query's own operators."""
    without: Filters = field(default_factory=Filters)
    """The excluding operators. They exclude a note that matches any part of it."""
    tolerant: bool = True
    """Whether a word that is in no note is replaced by similar words."""

    @property
    def conditions(self) -> bool:
        """Whether the query has required or excluded parts."""
        nothing = Filters()
        return bool(
            self.phrases or self.excluded or self.filters != nothing or self.without != nothing
        )


@dataclass(frozen=True, slots=True)
class Candidates:
    """The candidates for ranking and their evidence: notes by rowid, chunks by key."""

    body: Mapping[int, float] = field(default_factory=dict)
    """BM25 of the whole text of every note that is a candidate."""
    pairs: Mapping[int, float] = field(default_factory=dict)
    """BM25 of adjacent terms, of the notes that have some."""
    names: Mapping[int, float] = field(default_factory=dict)
    """BM25 of the names of notes, for the best by names."""
    named: Set[int] = frozenset()
    """Notes with a name that is the query."""
    text: Mapping[int, float] = field(default_factory=dict)
    """BM25 of every chunk that is a candidate: of its text, plus CONTEXT_WEIGHT times that of its
    title and headings."""
    headed: Set[int] = frozenset()
    """Chunks whose heading is the query."""
    all_words: Set[int] = frozenset()
    """Chunks that have all words of the query, if only few have."""
    all_words_count: int = 0
    """How many chunks have all words of the query, as far as they were counted."""
    term_information: dict[str, float] = field(default_factory=dict)
    """Weight times inverse document frequency of each searched term."""
    searched: int = 0
    """How many notes were searched, for rarity."""
    similar_terms: dict[str, Terms] = field(default_factory=dict)
    """Words that are in no note, and the similar terms searched instead."""
