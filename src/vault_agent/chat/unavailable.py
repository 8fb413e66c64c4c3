"""Errors for a chat endpoint that does not work, with what the user can do."""

from __future__ import annotations

from typing import Final

from vault_agent.endpoint.faults import Fault, Kind
from vault_agent.errors import Unavailable

_MESSAGES: Final = {
    Kind.UNREACHABLE: "Nothing answers at chat.endpoint; start the model's server there"
    " (Ollama: ollama serve), or correct the address.",
    Kind.BUSY: "The chat endpoint stays busy; it is asked again later.",
    Kind.DISCONNECTED: "The chat endpoint closes the connection without a reply; see its log.",
    Kind.TIMED_OUT: "The chat endpoint does not answer in time; it may be loading the model, or"
    " raise chat.timeout_seconds.",
    Kind.SERVER_ERROR: "The chat endpoint fails with an internal error; see its log.",
    Kind.BAD_REPLY: "The chat endpoint does not reply as one; check that chat.endpoint is an"
    " OpenAI-compatible /v1/chat/completions.",
    Kind.REJECTED: "The chat endpoint rejects a plain request; check that chat.model is a chat"
    " model and chat.endpoint an OpenAI-compatible /v1/chat/completions.",
    Kind.TOO_LONG: "The chat endpoint rejects the text as too long; lower chat.max_input_chars, or"
    " give the model a larger context.",
    Kind.MODEL_MISSING: "The chat endpoint does not have the model: ollama pull {model} (other"
    " servers: load it there), or correct chat.model.",
    Kind.ROUTE_MISSING: "The server has nothing at this path; chat.endpoint usually ends in"
    " /v1/chat/completions.",
    Kind.UNAUTHORIZED: "The chat endpoint requires a key, which vault-agent does not send; turn the"
    " key off there.",
    Kind.REDIRECTED: "The chat endpoint redirects, which is not followed; set chat.endpoint to the"
    " final address.",
    Kind.ADDRESS_REFUSED: "The name in chat.endpoint leads to an address that is not allowed;"
    " nothing was sent.",
}


def unavailable(fault: Fault, model: str) -> Unavailable:
    """Return the error for a fault of the endpoint."""
    return Unavailable(
        "CHAT_UNAVAILABLE",
        _MESSAGES[fault.kind].format(model=model),
        {"reason": fault.kind.name.lower()},
        remedy="",
    )
