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
        """Whether this caller may run every operation. Only the owner may."""
        return self.kind is CallerKind.OWNER


OWNER = Caller(CallerKind.OWNER)
"""The caller of every request that passes the server's access check."""
