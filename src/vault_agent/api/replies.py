"""Replies as JSON: cut to their size limit, with a bounded part of warnings and jobs."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from vault_agent.errors import counted
from vault_agent.model.search import Hit
from vault_agent.model.values import dump
from vault_agent.model.warning import MAX_WARNINGS, Warning
from vault_agent.text.names import shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from vault_agent.model.jobs import Job
    from vault_agent.model.reply import Envelope

MAX_WARNING_BYTES = 2048
"""The most bytes of JSON in one warning of a reply."""

_MAX_CHARACTERS = 240
"""Length to which each text of a too large warning is cut."""


def shown_warnings(warnings: Iterable[Warning], count: int | None = None) -> tuple[Warning, ...]:
    """Return the first 100 warnings. One more says how many of `count` are left out.

    Each takes at most `MAX_WARNING_BYTES`.
    """
    listed = list(warnings)
    bounded_warnings = [_bounded(warning) for warning in listed[:MAX_WARNINGS]]
    omitted = max(count or 0, len(listed)) - len(bounded_warnings)
    if omitted > 0:
        message = f"Not shown: {counted(omitted, 'more warning')}."
        bounded_warnings.append(Warning("WARNINGS_TRUNCATED", message, {"omitted": omitted}))
    return tuple(bounded_warnings)


def shown_job(job: Job) -> Job:
    """Return a job for replies and events."""
    return replace(
        job,
        warnings=shown_warnings(job.warnings, job.warning_count),
        error=_bounded(job.error) if job.error else None,
    )


def _bounded(warning: Warning) -> Warning:
    """Return a warning or a job's error within `MAX_WARNING_BYTES`."""
    if len(dump(warning)) <= MAX_WARNING_BYTES:
        return warning
    message = shorten(warning.message, _MAX_CHARACTERS)
    details = {
        name: shorten(value, _MAX_CHARACTERS) if isinstance(value, str) else value
        for name, value in warning.details.items()
    }
    while True:
        short = replace(warning, message=message, details=details)
        if len(dump(short)) <= MAX_WARNING_BYTES:
            return short
        lists = {name: value for name, value in details.items() if isinstance(value, list)}
        if not any(lists.values()):
            return Warning(warning.code, warning.code)
        # A count beside a list says how many there are.
        details |= {name: value[: len(value) // 2] for name, value in lists.items()}


REPLY_BYTES = 256 * 1024
"""The most bytes of JSON in a reply of search, related or a list."""

MAX_ENTRIES = 50
MAX_CHARACTERS = 200
_NAMES = ("title", "heading", "heading_path", "metadata")
"""Fields of a result that are shortened if the reply is too large. IDs and paths never are."""

_WARNING_BYTES = 1024
"""Space reserved for the warning about what is left out."""


def bounded(reply: Envelope[Any], listed: str) -> tuple[Envelope[Any], bytes]:
    """Return a reply of at most 256 KiB, and its JSON.

    `listed` names the list in the reply's data that may be cut. If the reply is too large, long
    names in its results are shortened first, then entries that do not fit are left out. A warning
    `REPLY_TRUNCATED` says how many.
    """
    body = dump(reply)
    if len(body) <= REPLY_BYTES:
        return reply, body
    entries: Sequence[Any] = getattr(reply.data, listed)
    empty = replace(reply, data=replace(reply.data, **{listed: ()}))
    room = REPLY_BYTES - len(dump(empty)) - _WARNING_BYTES
    share = room // max(len(entries), 1) - 1  # the comma
    shorter = [_shortened(entry, share) for entry in entries]
    changed = sum(before is not after for before, after in zip(entries, shorter, strict=True))
    kept = _fitting(shorter, room)
    omitted = len(entries) - len(kept)
    what = (
        f"The reply would be larger than {REPLY_BYTES // 1024} KiB."
        f" Entries left out: {omitted}. Entries with shortened names: {changed}."
    )
    details = {"omitted": omitted, "shortened": changed}
    warning = Warning.of("REPLY_TRUNCATED", what, details)
    cut = replace(
        reply,
        data=replace(reply.data, **{listed: tuple(kept)}),
        warnings=(*reply.warnings, warning),
    )
    return cut, dump(cut)


def _fitting(entries: Sequence[Any], room: int) -> list[Any]:
    kept = []
    for entry in entries:
        size = len(dump(entry)) + 1  # the comma
        if size > room:
            continue
        room -= size
        kept.append(entry)
    return kept


def _shortened(entry: Any, share: int) -> Any:
    """Return a result; if it is larger than its share, with long names cut."""
    if not isinstance(entry, Hit) or len(dump(entry)) <= share:
        return entry
    return replace(entry, **{name: _cut(getattr(entry, name)) for name in _NAMES})


def _cut(value: Any) -> Any:
    if isinstance(value, str):
        return shorten(value, MAX_CHARACTERS)
    if isinstance(value, tuple):
        return tuple(_cut(entry) for entry in value[:MAX_ENTRIES])
    if is_dataclass(value) and not isinstance(value, type):
        return replace(
            value, **{entry.name: _cut(getattr(value, entry.name)) for entry in fields(value)}
        )
    return value
