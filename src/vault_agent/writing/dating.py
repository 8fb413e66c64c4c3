"""Keeps `updated` in the frontmatter of notes that have it, where notes have types.

Memory and lists order notes by it. Only a date that is there is changed, and only if the edit
itself leaves it as it was.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from vault_agent.errors import VaultAgentError
from vault_agent.markdown.edit import overwrite, spliced
from vault_agent.markdown.yaml.edit import read_keys, set_keys
from vault_agent.writing.transaction import Planned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vault_agent.markdown.edit import Splice
    from vault_agent.writing.transaction import Plan

_UPDATED: Final = "updated"
_DAY: Final = len("2026-01-01")


def dating(plan: Plan, now: datetime, *, whole: bool = False) -> Plan:
    """Return a plan that also sets `updated` to a time, if the note has it and is changed.

    With `whole`, the plan gives the note the text that somebody had before it: an earlier time in
    it is not a wish.
    """

    def dated(note: bytes) -> Planned:
        made = plan(note)
        planned = made if isinstance(made, Planned) else Planned(made)
        return replace(planned, splices=_dated(note, planned.splices, now, whole=whole))

    return dated


def _dated(
    note: bytes, splices: Sequence[Splice], now: datetime, *, whole: bool
) -> Sequence[Splice]:
    after = spliced(note, splices)
    if after == note:
        return splices
    try:
        value = read_keys(note).get(_UPDATED)
        planned = read_keys(after).get(_UPDATED)
        if not isinstance(value, str) or not value:
            return splices
        if planned != value and not (whole and _is_before(planned, value)):
            return splices
        utc = now.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        wanted = {_UPDATED: utc[:_DAY] if len(value) == _DAY else utc}
        together = sorted(
            (*splices, *set_keys(note, wanted)), key=lambda each: (each.start, each.end)
        )
        apart = all(first.end < second.start for first, second in pairwise(together))
        if apart and planned == value:
            return together
        return overwrite(note, spliced(after, set_keys(after, wanted)).decode())
    except (VaultAgentError, UnicodeDecodeError):
        return splices  # its frontmatter cannot be edited


def _is_before(one: object, other: str) -> bool:
    """Whether a property is an earlier time than another one."""
    try:
        return isinstance(one, str) and _time(one) < _time(other)
    except ValueError:
        return False


def _time(text: str) -> datetime:
    time = datetime.fromisoformat(text)
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)
