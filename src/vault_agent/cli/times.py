"""Times for people: `2 minutes ago` instead of ISO 8601."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from vault_agent.cli.terminal import clean, counted

_UNITS: Final = (("minute", 60), ("hour", 60 * 60), ("day", 24 * 60 * 60))
_MOST_DAYS: Final = 30


def ago(written: str, now: datetime | None = None) -> str:
    """Return how long ago an ISO time was, or its day if that is over 30 days.

    A text that is not a time is returned as it is, cleaned.
    """
    try:
        then = datetime.fromisoformat(written)
    except ValueError:
        return clean(written)
    if then.tzinfo is None:
        then = then.replace(tzinfo=UTC)
    seconds = int(((now or datetime.now(UTC)) - then).total_seconds())
    if seconds < 0:
        return clean(written)  # a clock that was set back
    if seconds < 10:
        return "just now"
    unit, size = "second", 1
    for larger, length in _UNITS:
        if seconds >= length:
            unit, size = larger, length
    if unit == "day" and seconds // size > _MOST_DAYS:
        return then.astimezone().date().isoformat()
    return f"{counted(seconds // size, unit)} ago"
