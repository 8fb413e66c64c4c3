"""Errors for an endpoint that does not work, with what the user can do."""

from __future__ import annotations

from typing import Final

from vault_agent.endpoint.faults import Fault, Kind
from vault_agent.errors import Unavailable

_MESSAGES: Final = {
    Kind.UNREACHABLE: "Nothing answers at embedding.endpoint; start the embedding server there"
    " (Ollama: ollama serve), or correct the address.",
    Kind.BUSY: "The embedding endpoint stays busy; try again later, or lower"
    " embedding.concurrency.",
    Kind.DISCONNECTED: "The embedding endpoint closes the connection without a reply; see its log.",
    Kind.TIMED_OUT: "The embedding endpoint does not answer in time; it may be loading the model:"
    " try again, or raise embedding.timeout_seconds.",
    Kind.SERVER_ERROR: "The embedding endpoint fails with an internal error; see its log.",
    Kind.BAD_REPLY: "The embedding endpoint does not reply with usable vectors; check that"
    " embedding.model is an embedding model and embedding.endpoint an OpenAI-compatible"
    " /v1/embeddings.",
    Kind.REJECTED: "The embedding endpoint rejects a plain request; check that embedding.model is"
    " an embedding model and embedding.endpoint an OpenAI-compatible /v1/embeddings.",
    Kind.TOO_LONG: "The embedding endpoint rejects even the shortest text as too long; check that"
    " embedding.model is an embedding model.",
    Kind.MODEL_MISSING: "The embedding endpoint does not have the model: ollama pull {model}"
    " (other servers: load it there), or correct embedding.model.",
    Kind.ROUTE_MISSING: "The embedding server has nothing at this path; embedding.endpoint usually"
    " ends in /v1/embeddings.",
    Kind.UNAUTHORIZED: "The embedding endpoint requires a key, which vault-agent does not send;"
    " turn the key off there.",
    Kind.REDIRECTED: "The embedding endpoint redirects, which is not followed; set"
    " embedding.endpoint to the final address.",
    Kind.ADDRESS_REFUSED: "The name in embedding.endpoint leads to an address that is not allowed;"
    " nothing was sent.",
}


def unavailable(fault: Fault, model: str) -> Unavailable:
    """Return the error for a fault of the endpoint as a whole."""
    return Unavailable(
        "EMBEDDING_UNAVAILABLE",
        _MESSAGES[fault.kind].format(model=model),
        {"reason": fault.kind.name.lower()},
        remedy="",
    )


def inconsistent() -> Unavailable:
    """Return the error for an endpoint that returns different vectors for one text."""
    return Unavailable(
        "EMBEDDING_UNAVAILABLE",
        "The embedding endpoint gives the same text different vectors alone and among others;"
        " update it, or set embedding.concurrency to 1.",
        {"reason": "inconsistent"},
        remedy="",
    )


def changed() -> Unavailable:
    """Return the error for an endpoint that now serves another model."""
    return Unavailable(
        "EMBEDDING_UNAVAILABLE",
        "The embedding endpoint now serves another model under the same name. Its embeddings do"
        " not fit those of the index.",
        {"reason": "changed"},
    )
