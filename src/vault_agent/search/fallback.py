"""Errors and warnings when semantic search is unavailable."""

from __future__ import annotations

from vault_agent.errors import Unavailable
from vault_agent.model.warning import Warning

OFF = (
    "Embeddings are off. Set embedding.enabled and embedding.model and index again, or leave out "
    "the mode."
)


def off() -> Unavailable:
    """Return the error for a search by meaning while `embedding.enabled` is false."""
    details = {"setting": "embedding.enabled"}
    return Unavailable("EMBEDDING_UNAVAILABLE", OFF, details, remedy="")


def unavailable(what: str) -> Unavailable:
    """Return the error for a problem that an index job alone cannot fix."""
    return Unavailable("EMBEDDING_UNAVAILABLE", what, remedy="")


def missing(what: str, *, indexing: bool) -> Unavailable:
    """Return the error for embeddings that an index job makes. `indexing`: whether one runs."""
    return Unavailable("EMBEDDING_UNAVAILABLE", what, indexing=indexing)


def fell_back(reason: Unavailable, what: str = "These results are lexical only.") -> Warning:
    """Return the warning about results for which something was missing, with the reason."""
    return Warning(reason.code, *reason.over_http(f"{what} "))
