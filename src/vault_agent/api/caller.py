"""Who calls an operation."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from vault_agent.model.scope import EVERYTHING, Scope


class CallerKind(StrEnum):
    """The kinds of callers."""

    OWNER = "owner"
    AGENT = "agent"
    WEB = "web"


@dataclass(frozen=True, slots=True)
class Caller:
    """The owner of the vault, an agent with a name, or a session of the web page."""

    kind: CallerKind
    name: str = ""
    scope: Scope = EVERYTHING  # what it may see

    @property
    def may_do_everything(self) -> bool:
        """Whether this caller may run every operation: the owner, also on the web page."""
        return self.kind is not CallerKind.AGENT


OWNER = Caller(CallerKind.OWNER)
"""The caller of a request with the server's key, or of any request where none is configured."""

PAGE = Caller(CallerKind.WEB, "web")
"""The caller of a request with the token of a session of the web page."""
