"""Errors for an endpoint that does not work, with what the user can do."""

from __future__ import annotations

from typing import Final

from vault_agent.errors import Unavailable
from vault_agent.models.faults import Kind
from vault_agent.models.unavailable import Service

EMBEDDING: Final = Service(
    "EMBEDDING_UNAVAILABLE",
    section="embedding",
    name="The embedding endpoint",
    kind="an embedding model",
    path="/v1/embeddings",
    others={
        Kind.BUSY: "{name} stays busy; try again later, or lower {section}.concurrency.",
        Kind.TOO_LONG: "{name} rejects even the shortest text as too long; check that"
        " {section}.model is {kind}.",
    },
)


def changed() -> Unavailable:
    """Return the error for an endpoint that now serves another model."""
    return Unavailable(
        EMBEDDING.code,
        "The embedding endpoint now serves another model under the same name. Its embeddings do"
        " not fit those of the index.",
        {"reason": "changed"},
    )
