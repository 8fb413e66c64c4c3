"""What a reply shows of warnings and jobs: a bounded part, however long their texts are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from vault_agent.model.values import dump
from vault_agent.model.warning import MAX_WARNINGS, Warning

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from vault_agent.model.jobs import Job

MAX_WARNING_BYTES = 2048
"""The most bytes of JSON in one warning of a reply."""

_MAX_CHARACTERS = 240
"""Length to which each text of a too large warning is cut."""


def shown_warnings(warnings: Iterable[Warning], count: int | None = None) -> tuple[Warning, ...]:
    """Return the first 100 warnings. One more says how many of `count` are left out.

    Each takes at most `MAX_WARNING_BYTES`.
    """
    listed = list(warnings)
    shown = [_bounded(warning) for warning in listed[:MAX_WARNINGS]]
    omitted = max(count or 0, len(listed)) - len(shown)
    if omitted > 0:
        message = f"{omitted} more warnings are not shown."
        shown.append(Warning("WARNINGS_TRUNCATED", message, {"omitted": omitted}))
    return tuple(shown)


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
    message, details = _cut(warning.message), _cut_all(warning.details)
    while True:
        short = replace(warning, message=message, details=details)
        if len(dump(short)) <= MAX_WARNING_BYTES:
            return short
        if not any(isinstance(value, list) and value for value in details.values()):
            return Warning(warning.code, warning.code)
        details = _halved(details)  # a count beside a list says how many there are


def _cut_all(details: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _cut(value) if isinstance(value, str) else value for name, value in details.items()
    }


def _halved(details: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value[: len(value) // 2] if isinstance(value, list) else value
        for name, value in details.items()
    }


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_CHARACTERS else text[: _MAX_CHARACTERS - 1] + "…"
