"""Errors for an endpoint that does not work, with what the user can do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from vault_agent.errors import Unavailable
from vault_agent.models.faults import Fault, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

_MESSAGES: Final = {
    Kind.UNREACHABLE: "Nothing answers at {section}.endpoint; start the model's server there"
    " (Ollama: ollama serve), or correct the address.",
    Kind.BUSY: "{name} stays busy; it is asked again later.",
    Kind.DISCONNECTED: "{name} closes the connection without a reply; see its log.",
    Kind.TIMED_OUT: "{name} does not answer in time; it may be loading the model: try again, or"
    " raise {section}.timeout_seconds.",
    Kind.SERVER_ERROR: "{name} fails with an internal error; see its log.",
    Kind.BAD_REPLY: "{name} does not reply as one; check that {section}.model is {kind}, and that"
    " {section}.endpoint ends in {path}.",
    Kind.REJECTED: "{name} rejects a plain request; check that {section}.model is {kind}, and that"
    " {section}.endpoint ends in {path}.",
    Kind.MODEL_MISSING: "{name} does not have the model: ollama pull {model} (other servers: load"
    " it there), or correct {section}.model.",
    Kind.ROUTE_MISSING: "The server has nothing at this path; {section}.endpoint usually ends in"
    " {path}.",
    Kind.UNAUTHORIZED: "{name} requires a key, which vault-agent does not send; turn the key off"
    " there.",
    Kind.REDIRECTED: "{name} redirects, which is not followed; set {section}.endpoint to the final"
    " address.",
    Kind.ADDRESS_REFUSED: "The name in {section}.endpoint leads to an address that is not allowed;"
    " nothing was sent.",
}


class Service(NamedTuple):
    """What is asked at an endpoint: the words of its errors."""

    code: str
    section: str
    """Of its settings."""
    name: str
    kind: str
    """Of its models."""
    path: str
    others: Mapping[Kind, str]
    """The messages that only it has, and those that it has in place of others."""

    def unavailable(self, fault: Fault, model: str) -> Unavailable:
        """Return the error for a fault of the endpoint as a whole."""
        message = self.others.get(fault.kind) or _MESSAGES[fault.kind]
        return Unavailable(
            self.code,
            message.format(model=model, **self._asdict()),
            {"reason": fault.kind.name.lower()},
            remedy="",
        )
