"""The values of agents' sessions: what happens in one, and what is known about it.

Standard library only, since the hook of agents imports this.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from vault_agent.model.warning import Warning

START: Final = "start"
PROMPT: Final = "prompt"
STOP: Final = "stop"
COMPACT: Final = "compact"
END: Final = "end"
EVENTS: Final = (START, PROMPT, STOP, COMPACT, END)
SESSION_ID: Final = r"[0-9A-Za-z][0-9A-Za-z._:-]{0,199}"
"""The form of an agent's own ID of a session."""


class SessionEvent(NamedTuple):
    """An event of a session. `event` is start, prompt, stop, compact or end.

    `name` is the agent's own name of the event, and `at` its time in seconds since 1970. `vault` is
    the identity of the project's vault. `commit` is the commit that was checked out, if the project
    is in git.
    """

    agent: str
    event: str
    name: str
    session_id: str
    cwd: str
    at: float
    vault: str
    transcript_path: str | None = None
    model: str | None = None
    source: str | None = None
    reason: str | None = None
    title: str | None = None
    prompt: str | None = None
    last_message: str | None = None
    commit: str | None = None


class Delivered(NamedTuple):
    """What an event brings to the agent, and to its user, or null for nothing."""

    text: str | None = None
    message: str | None = None


async def _nothing(is_delivered: bool) -> None:
    """Note nothing."""


class Offer(NamedTuple):
    """What an event brings, and what notes whether the agent was given it: only then it has it.

    `settle` is called once. Until then the session gets nothing else.
    """

    brought: Delivered = Delivered()
    settle: Callable[[bool], Awaitable[None]] = _nothing
    warnings: tuple[Warning, ...] = ()  # for the user
