"""What an event means for its session. Nothing is read or written here."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from vault_agent.model.sessions import END, IDLE, PROMPT, START, STOP, Session

if TYPE_CHECKING:
    from vault_agent.model.sessions import SessionEvent

SAME_SECONDS: Final = 3.0
"""Equal events that are no further apart are one: an agent may call several hooks for it."""


_TOGETHER_SECONDS = 2.0
"""Hooks of one moment run at once, so that an end may be told before what led to it."""


def after(session: Session | None, event: SessionEvent) -> Session:
    """Return a session after an event. Events may come late, and in another order.

    A start, a prompt, and any event after an end by idleness reopen it: what an agent tells after
    its own end belongs to that end.
    """
    if session is None:
        session = _new(event)
    reopens = event.event in {START, PROMPT} or (session.end_reason == IDLE and event.event == STOP)
    ended, reason = session.ended_at, session.end_reason
    if ended is not None and reopens and event.at > ended:
        ended, reason = None, None
    if event.event == END and event.at >= session.last_event_at - _TOGETHER_SECONDS:
        ended, reason = event.at, event.reason or "other"
    return replace(
        session,
        started_at=min(session.started_at, event.at),
        last_event_at=max(session.last_event_at, event.at),
        ended_at=ended,
        end_reason=reason,
        state="open" if ended is None else "ended",
        prompts=session.prompts + (event.event == PROMPT),
        model=event.model or session.model,
        transcript_path=event.transcript_path or session.transcript_path,
        title=event.title or session.title,
        start_commit=event.commit
        if event.commit and (session.start_commit is None or event.at < session.started_at)
        else session.start_commit,
    )


def after_idleness(session: Session, last: float) -> Session:
    """Return a session that ended without an event. `last` is when it was last seen at work."""
    at = max(session.last_event_at, last)
    return replace(session, ended_at=at, end_reason=IDLE, state="ended")


def not_later(session: Session, now: float) -> Session:
    """Return a session without times in the future, as they are after the clock was set back."""
    if session.last_event_at <= now:
        return session
    return replace(
        session,
        started_at=min(session.started_at, now),
        last_event_at=now,
        ended_at=None if session.ended_at is None else min(session.ended_at, now),
    )


def digest_of(event: SessionEvent) -> bytes:
    """Return a hash of what makes an event the same as another, without its time."""
    same = [event.session_id, event.event, event.source, event.reason]
    same += [event.prompt, event.last_message, event.summary]
    return hashlib.sha256(json.dumps(same).encode()).digest()


def has_text(event: SessionEvent) -> bool:
    """Whether an event holds a text that a journal may need."""
    return any((event.prompt, event.last_message, event.summary))


def _new(event: SessionEvent) -> Session:
    return Session(
        session_id=event.session_id,
        agent=event.agent,
        vault=event.vault,
        started_at=event.at,
        last_event_at=event.at,
        ended_at=None,
        state="open",
        prompts=0,
        model=None,
        transcript_path=None,
        cwd=event.cwd,
        title=None,
        start_commit=None,
        end_reason=None,
    )
