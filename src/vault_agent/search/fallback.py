"""Errors and warnings when semantic search is unavailable."""

from __future__ import annotations

from vault_agent.errors import Unavailable
from vault_agent.model.warning import Warning

OFF = (
    "Embeddings are off. Set embedding.enabled and embedding.model and index again, or ask "
    "without a mode."
)


def unavailable(what: str) -> Unavailable:
    """Return the error of a semantic search that no index job can mend."""
    return Unavailable("EMBEDDING_UNAVAILABLE", what, remedy="")


def missing(what: str, *, indexing: bool) -> Unavailable:
    """Return the error for embeddings that an index job makes; `indexing` where one runs."""
    return Unavailable("EMBEDDING_UNAVAILABLE", what, indexing=indexing)


def fell_back(reason: Unavailable) -> Warning:
    """Return the warning that only lexical search answered, and why."""
    return Warning(reason.code, f"These results come from words alone. {reason.message}")
