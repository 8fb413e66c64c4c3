"""The web page: tickets and sessions."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from vault_agent.wire.base import Model


class TicketBody(Model):
    """A request for a ticket."""

    printed: bool = Field(
        default=False, description="Whether a person copies its address: it then lives for 300 s."
    )


class TicketData(Model):
    """A ticket for the web page."""

    ticket: str | None = Field(description="None if the server has no key.")
    seconds: int = Field(description="How long it is valid. It can be used once.")


class SessionBody(Model):
    """A request for a session."""

    ticket: Annotated[str, StringConstraints(min_length=1, max_length=200)] | None = Field(
        default=None, description="None renews the session whose token is sent."
    )


class SessionData(Model):
    """A session of the web page."""

    token: str = Field(description="Sent as `Authorization: Bearer`.")
    expires_at: int = Field(description="When it ends, in seconds since 1970.")


class EndedData(Model):
    """That all sessions have ended."""

    ended: Literal[True] = True
