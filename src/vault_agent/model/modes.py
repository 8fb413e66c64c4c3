"""How results are found, and why they are results.

Apart from the queries and results, because a command needs only these.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

BUILT_IN: Final = "built-in"
"""The address of the embedding model that needs no other program."""


class Mode(StrEnum):
    """How notes are found."""

    LEXICAL = "lexical"
    EMBEDDING = "embedding"
    HYBRID = "hybrid"


class Reason(StrEnum):
    """Why a result is in the list."""

    LEXICAL_MATCH = "lexical_match"
    EMBEDDING_MATCH = "embedding_match"
    HYBRID_MATCH = "hybrid_match"
    RELATED_LEXICAL = "related_lexical"
    RELATED_EMBEDDING = "related_embedding"
    RELATED_LINK = "related_link"
    RELATED_NEIGHBOURS = "related_neighbours"
    RELATED_HYBRID = "related_hybrid"


class Linked(StrEnum):
    """Whether notes that are linked with the requested note can be related to it."""

    INCLUDE = "include"
    EXCLUDE = "exclude"
    ONLY = "only"
