"""The web page: tickets and sessions."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from vault_agent.wire.base import Model


class TicketBody(Model):
    """A request for a ticket."""

    printed: bool = Field(
        default=False, description="Whether a person copies its address: it then lives for 300 s."
    )


class SessionBody(Model):
    """A request for a session."""

    ticket: Annotated[str, StringConstraints(min_length=1, max_length=200)] | None = Field(
        default=None, description="None renews the session whose token is sent."
    )
