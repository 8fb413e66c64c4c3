"""What happens in a session of an agent, in one form for all agents.

Each agent calls its hooks with one JSON object. `read_event` knows their names and fields; what is
unknown is ignored, because agents add to both. Secrets are removed here, before anything is stored
or sent. Standard library only, since the hook imports this.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from vault_agent.knowledge.redact import redact

if TYPE_CHECKING:
    from collections.abc import Mapping

START: Final = "start"
PROMPT: Final = "prompt"
STOP: Final = "stop"
COMPACT: Final = "compact"
END: Final = "end"

VERSION: Final = 1
MAX_TEXT: Final = 20_000
"""Characters of a prompt, a message or a summary that are kept."""

AGENTS: Final = ("claude-code", "codex", "gemini", "opencode", "generic")

_USUAL = {
    "SessionStart": START,
    "UserPromptSubmit": PROMPT,
    "Stop": STOP,
    "PostCompact": COMPACT,
    "SessionEnd": END,
}
_EVENTS: Final[Mapping[str, Mapping[str, str]]] = {
    "claude-code": _USUAL,
    "codex": _USUAL,
    "gemini": {
        "SessionStart": START,
        "BeforeAgent": PROMPT,
        "AfterAgent": STOP,
        "SessionEnd": END,
    },
    "opencode": {
        "session.created": START,
        "chat.message": PROMPT,
        "session.idle": STOP,
        "session.compacted": COMPACT,
        "session.deleted": END,
    },
    "generic": {each: each for each in (START, PROMPT, STOP, COMPACT, END)},
}
_SESSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z._:-]{0,199}")
_BY_A_PERSON = {None, "user", "sdk"}
"""Sources of prompts that a person wrote. Other prompts are made by the agent itself."""


class SessionEvent(NamedTuple):
    """An event of a session. `event` is start, prompt, stop, compact or end.

    `name` is the agent's own name of the event, and `at` its time in seconds since 1970. `prompt`,
    `last_message` and `summary` are without secrets.
    """

    agent: str
    event: str
    name: str
    session_id: str
    cwd: str
    at: float
    transcript_path: str | None = None
    model: str | None = None
    source: str | None = None
    reason: str | None = None
    title: str | None = None
    prompt: str | None = None
    last_message: str | None = None
    summary: str | None = None


def read_event(
    agent: str, sent: Mapping[str, Any], *, at: float, home: str | None = None
) -> SessionEvent | None:
    """Return the event of a hook's input, or None if it is none that matters."""
    name = _text(sent, "hook_event_name", 100)
    session = _text(sent, "session_id", 200)
    folder = _text(sent, "cwd", 4_000)
    event = _EVENTS.get(agent, {}).get(name or "")
    if event is None or name is None or folder is None:
        return None
    if session is None or not _SESSION.fullmatch(session):
        return None
    source = _text(sent, "source", 100)
    if event == PROMPT and source not in _BY_A_PERSON:
        return None

    def private(*keys: str) -> str | None:
        found = next((value for key in keys if (value := _text(sent, key, MAX_TEXT))), None)
        return None if found is None else redact(found, home=home).text

    return SessionEvent(
        agent=agent,
        event=event,
        name=name,
        session_id=session,
        cwd=folder,
        at=at,
        transcript_path=_text(sent, "transcript_path", 4_000),
        model=_text(sent, "model", 200),
        source=source,
        reason=_text(sent, "reason", 100),
        title=private("session_title"),
        prompt=private("prompt") if event == PROMPT else None,
        last_message=private("last_assistant_message", "prompt_response")
        if event in {STOP, END}
        else None,
        summary=private("compact_summary"),
    )


def to_json(event: SessionEvent) -> bytes:
    """Return an event as the spool and the server take it."""
    fields = {name: value for name, value in event._asdict().items() if value is not None}
    return json.dumps({"version": VERSION, **fields}).encode()


def from_json(data: bytes) -> SessionEvent | None:
    """Return the event that `to_json` wrote, or None if this is none, or of a newer version."""
    try:
        found = json.loads(data)
        version = found.pop("version")
        event = SessionEvent(**found)
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return None
    texts = [value for name, value in event._asdict().items() if name != "at"]
    known = event.agent in AGENTS and event.event in {START, PROMPT, STOP, COMPACT, END}
    if version != VERSION or not known or not _SESSION.fullmatch(str(event.session_id)):
        return None
    if not isinstance(event.at, int | float) or isinstance(event.at, bool):
        return None
    return event if all(text is None or isinstance(text, str) for text in texts) else None


def _text(sent: Mapping[str, Any], key: str, most: int) -> str | None:
    value = sent.get(key)
    return value[:most] if isinstance(value, str) and value else None
