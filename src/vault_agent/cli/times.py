"""Times for people: `2 minutes ago` instead of ISO 8601, and days as they are typed."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import asyncclick as click

from vault_agent.cli.terminal import clean, counted

_UNITS: Final = (("minute", 60), ("hour", 60 * 60), ("day", 24 * 60 * 60))
_MOST_DAYS: Final = 30


DAYS: Final = "YYYY-MM-DD, today, tomorrow, or a number of days such as +7"


class _Day(click.ParamType[str]):
    """A day. Words and numbers of days become a date; the server checks all else."""

    name = "date"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return a date as ISO 8601, or what was typed."""
        del param, ctx
        text = str(value).strip().lower()
        days = _WORDS.get(text)
        if days is None and re.fullmatch(r"[+-]\d{1,4}d?", text):
            days = int(text.removesuffix("d"))
        if days is None:
            return str(value)
        return (datetime.now().astimezone().date() + timedelta(days)).isoformat()


_WORDS: Final = {"yesterday": -1, "today": 0, "tomorrow": 1}
DAY: Final = _Day()


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
