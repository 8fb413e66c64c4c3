"""What is kept of a session for its journal: what was said in it, lines, sections, a draft.

They are the prompts, what the agent said last in each turn, and its own summaries, all without
secrets; lines of the devlog; and what the agent has written of its own session.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final, NamedTuple

import orjson

from vault_agent.journals.collected import Line
from vault_agent.journals.events import from_json, to_json
from vault_agent.journals.session_rules import digest_of
from vault_agent.model.sessions import PROMPT
from vault_agent.store.sessions.turn import SAID

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vault_agent.model.sessions import SessionEvent
    from vault_agent.store.sessions.store import SessionStore
    from vault_agent.store.sessions.turn import Kind, Turn

MAX_TEXTS: Final = 200
"""Prompts of one session, and messages of its agent. The latest are kept."""
MAX_LINES: Final = 500


class Given(NamedTuple):
    """What an agent has written of its own session. Texts are without secrets."""

    title: str | None
    sections: Mapping[str, str]


async def keep_event(turn: Turn, event: SessionEvent) -> None:
    """Keep an event with its text. The same event again changes nothing."""
    data = to_json(event)
    name = b"%d %b" % (round(event.at * 1000), digest_of(event))
    kind: Kind = "prompt" if event.event == PROMPT else "message"
    await turn.keep(kind, data, at=event.at, name=name, most=MAX_TEXTS)


async def events_of(store: SessionStore, session_id: str) -> list[SessionEvent]:
    """Return the events of a session whose texts are kept, the oldest first."""
    found = map(from_json, await store.texts(session_id, *SAID))
    return [event for event in found if event is not None]


async def keep_line(turn: Turn, line: Line, *, at: float) -> None:
    """Keep a line of the devlog. The same line again changes nothing."""
    data = orjson.dumps(line._asdict())
    await turn.keep("line", data, at=at, name=hashlib.sha256(data).digest(), most=MAX_LINES)


async def lines_of(store: SessionStore, session_id: str) -> tuple[Line, ...]:
    """Return the lines of the devlog of a session, in order."""
    return tuple(Line(**orjson.loads(data)) for data in await store.texts(session_id, "line"))


async def keep_sections(turn: Turn, given: Given, *, at: float) -> None:
    """Keep what an agent has written. It replaces what it wrote before."""
    await turn.keep("sections", orjson.dumps({**given._asdict()}), at=at)


async def sections_of(store: SessionStore, session_id: str) -> Given | None:
    """Return what an agent has written, or None."""
    for data in await store.texts(session_id, "sections"):
        return Given(**orjson.loads(data))
    return None


async def draft_of(store: SessionStore, session_id: str) -> bytes | None:
    """Return the journal that waits for its review, or None."""
    return next(iter(await store.texts(session_id, "draft")), None)
