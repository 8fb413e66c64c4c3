"""Who calls an operation, and the context in which it runs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from vault_agent.model.scope import EVERYTHING, Scope
from vault_agent.model.writing import Author

if TYPE_CHECKING:
    from vault_agent.app import App
    from vault_agent.model.writing import Right
    from vault_agent.vaults.open_vault import OpenVault


class CallerKind(StrEnum):
    """The kinds of callers."""

    OWNER = "owner"
    UNNAMED_AGENT = "unnamed agent"
    NAMED_AGENT = "named agent"
    WEB = "web"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls: the owner, also by a session of the web page, an unnamed or a named agent.

    An unnamed agent calls `/mcp`, sees what the owner sees, and writes within `rights`. A named
    agent calls `/mcp/NAME`, and sees `scope` alone.
    """

    kind: CallerKind
    name: str = ""  # of a named agent; `web` for the page
    scope: Scope = EVERYTHING  # what it may see
    rights: frozenset[Right] | None = None  # what it may write; None: everything, as the owner may
    client: str = "http"  # the program, as `Author.client`

    @property
    def is_agent(self) -> bool:
        """Whether this is an agent, named or not."""
        return self.kind in (CallerKind.NAMED_AGENT, CallerKind.UNNAMED_AGENT)

    @property
    def is_named_agent(self) -> bool:
        """Whether this is a named agent, which may run only what is `for_named_agents`."""
        return self.kind is CallerKind.NAMED_AGENT

    @property
    def author(self) -> Author:
        """The author of what this caller writes."""
        return Author(
            name=self.name if self.is_named_agent else "",
            client=self.client,
            scope=self.scope,
            rights=self.rights,
        )


OWNER = Caller(CallerKind.OWNER)
"""The caller of a request with the server's key, or of any request where none is configured.

`server/mcp.py` makes the callers of `/mcp` and `/mcp/NAME`, which are agents."""

PAGE = Caller(CallerKind.WEB, "web", client="web")
"""The caller of a request with the token of a session of the web page."""


@dataclass(frozen=True, slots=True)
class CallContext:
    """The server, the vault that an operation is about, and who calls it.

    For a named agent, the vault has only what the agent sees.
    """

    app: App
    vault: OpenVault
    caller: Caller
