"""Who calls an operation."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class CallerKind(StrEnum):
    """The kinds of callers."""

    OWNER = "owner"
    AGENT = "agent"
    WEB = "web"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls: the owner of the vault, an agent by its name, or a session of the web page."""

    kind: CallerKind
    name: str = ""

    @property
    def may_do_everything(self) -> bool:
        """Whether no operation is closed to this caller. Only the owner has such rights."""
        return self.kind is CallerKind.OWNER


OWNER = Caller(CallerKind.OWNER)
"""Whoever passes the server's own access check."""
