"""What lexical ranking asks of the full-text index, and the evidence that comes back.

`ranking` makes the questions and weighs the answers; `store` turns the one into the other. Neither
knows the other, both know these values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from vault_agent.model.search import Filters

Terms = tuple[str, ...]

CONTEXT_WEIGHT = 0.5
"""Of the title and headings above a chunk, against its text."""


def rarity(notes: int, found: int) -> float:
    """Return the inverse document frequency of a term in `found` of `notes`, as BM25 has it."""
    return math.log1p(max(notes - found + 0.5, 0.5) / (found + 0.5))


@dataclass(frozen=True, slots=True)
class LexicalQuery:
    """A compiled query: terms of the index, never text that somebody else could parse."""

    weights: dict[str, float] = field(default_factory=dict)
    """How much each term counts; in a search, how often it was written."""
    units: dict[str, float] = field(default_factory=dict)
    """The same for single characters of unspaced scripts, which only notes have as terms."""
    pairs: tuple[tuple[str, str], ...] = ()
    """Terms that were written side by side: standing together counts."""
    compounds: tuple[Terms, ...] = ()
    """Parts of one written word (`snake_case`, `1.2.3`): the whole counts too."""
    phrases: tuple[Terms, ...] = ()
    """What must be there, word by word."""
    excluded: tuple[Terms, ...] = ()
    """What must not be there."""
    name: str = ""
    """The whole query as a name's key."""
    path: str = ""
    """The whole query where it may be a path or the end of one."""
    text: str = ""
    """The query without its operators: what it says, for a search by meaning."""
    filters: Filters = field(default_factory=Filters)
    """What the query's own operators ask for."""
    without: Filters = field(default_factory=Filters)
    """What its operators rule out: a note that matches any part of it."""
    tolerant: bool = True
    """Whether words that are in no note may stand for their neighbours."""

    @property
    def conditions(self) -> bool:
        """Whether there is anything that a note must or must not have."""
        nothing = Filters()
        return bool(
            self.phrases or self.excluded or self.filters != nothing or self.without != nothing
        )


@dataclass(frozen=True, slots=True)
class NoteEvidence:
    """What speaks for a note as a whole."""

    body: float = 0.0  # BM25 of its whole text
    pairs: float = 0.0  # BM25 of words standing together
    names: float = 0.0  # BM25 of its names, where it is among the best by those
    named: bool = False  # one of its names is the query


@dataclass(frozen=True, slots=True)
class ChunkEvidence:
    """What speaks for one chunk."""

    text: float = 0.0  # BM25 of its text and, weighed by CONTEXT_WEIGHT, of what stands above it
    headed: bool = False  # its heading is the query


@dataclass(frozen=True, slots=True)
class Candidates:
    """Everything worth ranking: notes by rowid, chunks by key."""

    notes: dict[int, NoteEvidence] = field(default_factory=dict)
    chunks: dict[int, ChunkEvidence] = field(default_factory=dict)
    information: dict[str, float] = field(default_factory=dict)
    """Weight times inverse document frequency of each term that was looked for."""
    neighbours: dict[str, Terms] = field(default_factory=dict)
    """Words that are in no note, and what was looked for in their place."""
