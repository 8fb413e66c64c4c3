"""How the record of a journal changes: what follows from what is stored. Pure.

`since` tells the times apart at which a journal was asked for. So what a try has found out never
replaces what was asked for while it ran.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from vault_agent.model.journals import EDITED, Journal

if TYPE_CHECKING:
    from vault_agent.model.sessions import Session


def asked_for(known: Journal | None, session: Session, reason: str | None, now: float) -> Journal:
    """Return a journal that is to be written now. One that a person has changed stays."""
    if known is not None and known.reason == EDITED:
        return replace(known, ended_at=session.ended_at)
    before = known or _new(session)
    return replace(
        before,
        state="pending",
        reason=reason,
        ended_at=session.ended_at,
        since=max(now, math.nextafter(before.since, math.inf)),
        attempts=0,
        next_at=now,
    )


def after_try(stored: Journal | None, tried: Journal) -> Journal:
    """Return what is stored after a try. A journal that was asked for meanwhile stays due.

    It takes over what was written, so that this is not taken for a person's change.
    """
    if stored is None or stored.since == tried.since:
        return tried
    return replace(stored, path=tried.path, hash=tried.hash, hash_next=tried.hash_next)


def in_the_vault(journal: Journal) -> Journal:
    """Return a journal that was written, by whether something is still missing."""
    whole = journal.reason in {None, EDITED}
    return replace(journal, state="complete" if whole else "incomplete")


def _new(session: Session) -> Journal:
    return Journal(
        session_id=session.session_id,
        agent=session.agent,
        vault=session.vault,
        state="pending",
        reason=None,
        title=None,
        path=None,
        hash=None,
        hash_next=None,
        generator=None,
        started_at=session.started_at,
        ended_at=session.ended_at,
        since=0.0,
        attempts=0,
        next_at=None,
    )
