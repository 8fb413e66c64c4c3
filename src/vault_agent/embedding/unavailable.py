"""What to tell the user, when the endpoint as a whole is of no use."""

from __future__ import annotations

from typing import Final

from vault_agent.embedding.replies import Fault, Kind
from vault_agent.errors import Unavailable

_MESSAGES: Final = {
    Kind.UNREACHABLE: "nothing answers at embedding.endpoint; start the embedding server there"
    " (Ollama: ollama serve), or correct the address",
    Kind.BUSY: "the embedding endpoint stays busy; try again later, or lower embedding.concurrency",
    Kind.DISCONNECTED: "the embedding endpoint closes the connection without a reply; see its own"
    " log",
    Kind.TIMED_OUT: "the embedding endpoint does not answer in time; it may be loading the model:"
    " try again, or raise embedding.timeout_seconds",
    Kind.SERVER_ERROR: "the embedding endpoint fails with an error of its own; see its own log",
    Kind.BAD_REPLY: "the embedding endpoint does not reply with usable vectors; check that"
    " embedding.model is an embedding model and embedding.endpoint an OpenAI-compatible"
    " /v1/embeddings",
    Kind.REJECTED: "the embedding endpoint refuses a plain request; check that embedding.model is"
    " an embedding model and embedding.endpoint an OpenAI-compatible /v1/embeddings",
    Kind.TOO_LONG: "the embedding endpoint calls the shortest text too long; check that"
    " embedding.model is an embedding model",
    Kind.MODEL_MISSING: "the embedding endpoint does not have the model: ollama pull {model}"
    " (other servers: load it there), or correct embedding.model",
    Kind.ROUTE_MISSING: "the embedding server has nothing at this path; embedding.endpoint usually"
    " ends in /v1/embeddings",
    Kind.UNAUTHORIZED: "the embedding endpoint asks for a key; vault-agent sends none: turn it off"
    " there",
    Kind.REDIRECTED: "the embedding endpoint redirects elsewhere, which is not followed; set"
    " embedding.endpoint to the final address",
    Kind.ADDRESS_REFUSED: "the name in embedding.endpoint leads to an address that is not allowed;"
    " nothing was sent",
}


def unavailable(fault: Fault, model: str) -> Unavailable:
    """Return the error for a fault that concerns the endpoint as a whole."""
    return Unavailable(
        "EMBEDDING_UNAVAILABLE",
        _MESSAGES[fault.kind].format(model=model),
        {"reason": fault.kind.name.lower()},
    )


def inconsistent() -> Unavailable:
    """Return the error for an endpoint that gives one text different vectors."""
    return Unavailable(
        "EMBEDDING_UNAVAILABLE",
        "the embedding endpoint gives the same text different vectors alone and among others;"
        " update it, or set embedding.concurrency to 1",
        {"reason": "inconsistent"},
    )


def changed() -> Unavailable:
    """Return the error for an endpoint that has begun to serve another model."""
    return Unavailable(
        "EMBEDDING_UNAVAILABLE",
        "the embedding endpoint now serves another model under the same name; run index again",
        {"reason": "changed"},
    )
