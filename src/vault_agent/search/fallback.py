"""What is said where meaning can't be searched: a refusal, or a warning beside lexical results."""

from __future__ import annotations

from vault_agent.errors import Unavailable
from vault_agent.model.warning import Warning

OFF = (
    "Embeddings are off. Turn them on (embedding.enabled, embedding.model) and run vault-agent "
    "index, or ask without a mode."
)


def unavailable(message: str) -> Unavailable:
    """Return the refusal of a search by meaning."""
    return Unavailable("EMBEDDING_UNAVAILABLE", message)


def fell_back(reason: Unavailable) -> Warning:
    """Return the warning that words alone answered, and why."""
    return Warning(reason.code, f"These results come from words alone. {reason.message}")
