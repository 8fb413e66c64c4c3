"""Errors for a reranker that does not work, with what the user can do."""

from __future__ import annotations

from typing import Final

from vault_agent.endpoint.faults import Fault, Kind
from vault_agent.errors import Unavailable

_MESSAGES: Final = {
    Kind.UNREACHABLE: "Nothing answers at rerank.endpoint; start the reranker there, or correct the"
    " address.",
    Kind.BUSY: "The reranker is busy.",
    Kind.DISCONNECTED: "The reranker closes the connection without a reply; see its log.",
    Kind.TIMED_OUT: "The reranker does not answer in time; use a smaller model, or raise"
    " rerank.timeout_seconds.",
    Kind.SERVER_ERROR: "The reranker fails with an internal error; see its log (llama.cpp: start it"
    " with --reranking).",
    Kind.BAD_REPLY: "The server does not reply as a reranker; check that rerank.endpoint is a"
    " /v1/rerank, and rerank.model a reranker.",
    Kind.REJECTED: "The server rejects the request; check that rerank.endpoint is a /v1/rerank, and"
    " rerank.model a reranker.",
    Kind.TOO_LONG: "The reranker rejects even short passages as too long; give it a larger batch"
    " or context (llama.cpp: -ub 2048).",
    Kind.MODEL_MISSING: "The server does not have the model: load it there, or correct"
    " rerank.model.",
    Kind.ROUTE_MISSING: "The server has nothing at this path; rerank.endpoint usually ends in"
    " /v1/rerank, and in /rerank with text-embeddings-inference and Infinity.",
    Kind.UNAUTHORIZED: "The reranker requires a key, which vault-agent does not send; turn the key"
    " off there.",
    Kind.REDIRECTED: "The reranker redirects, which is not followed; set rerank.endpoint to the"
    " final address.",
    Kind.ADDRESS_REFUSED: "The name in rerank.endpoint leads to an address that is not allowed;"
    " nothing was sent.",
}


def unavailable(fault: Fault) -> Unavailable:
    """Return the error for a fault of the reranker."""
    details = {"reason": fault.kind.name.lower()}
    return Unavailable("RERANK_UNAVAILABLE", _MESSAGES[fault.kind], details, remedy="")
