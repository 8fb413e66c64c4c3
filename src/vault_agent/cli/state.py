"""The state of a server in words: its index, its freshness and its embeddings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_agent.cli.terminal import clean, counted, say
from vault_agent.cli.times import ago
from vault_agent.cli.wrap import fitted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from vault_agent.model.health import Health
    from vault_agent.model.warning import Warning as Notice

_NAMES = len("embeddings  ")


def say_rows(rows: Mapping[str, str]) -> None:
    """Print names with their values. Long values are wrapped at a terminal."""
    margin = 2 + _NAMES
    for name, value in rows.items():
        first, *others = fitted(value, margin=margin)
        say(f"  {name:<{_NAMES}}{first}")
        for line in others:
            say(" " * margin + line)


def index_state(health: Health, warnings: Iterable[Notice]) -> str:
    """Return a description of the index, or why there is none."""
    index = health.index
    if index.available:
        return f"ready: {counted(index.notes, 'note')}, {counted(index.chunks, 'chunk')}"
    if health.running_job is not None:
        return "the first one is being built"
    for first in warnings:
        return f"{clean(first.code)}: {clean(first.message)}"
    return "none yet: vault-agent index"


def embedding_state(health: Health, warnings: Iterable[Notice]) -> str:
    """Return whether semantic search is on and complete."""
    if not health.embeddings.enabled:
        return "off"
    if not health.index.available:
        return "on; created after the first index"
    known = [warning for warning in warnings if warning.code.startswith("EMBEDDING_")]
    return f"on, but: {clean(known[0].message)}" if known else "on; complete"


def watch_state(health: Health, warnings: Iterable[Notice]) -> str:
    """Return how changes of notes are noticed."""
    watch = health.watch
    if watch is None or not watch.enabled:
        return "off"
    if (hindrance := watch_hindrance(health, warnings)) is not None:
        return f"on, but: {clean(hindrance.message)}"
    return {"starting": "on; starting", "polling": "on, by scans"}.get(watch.state, "on, by events")


def watch_hindrance(health: Health, warnings: Iterable[Notice]) -> Notice | None:
    """Return the warning that says why changes are not noticed as they should be."""
    if health.watch is None or not health.watch.enabled:
        return None
    for warning in warnings:
        if warning.code.startswith("WATCH_") or warning.code == "VAULT_NOT_FOUND":
            return warning
    return None


def last_run(health: Health) -> str:
    """Return when the notes were read last."""
    if health.running_job is not None:
        return f"running: vault-agent jobs follow {clean(health.running_job)}"
    at = health.index.indexed_at
    return "never" if at is None else ago(at)


def freshness(health: Health) -> str:
    """Return whether the index is known to be older than the notes."""
    watch = health.watch
    if watch is not None and watch.state in ("watching", "polling"):
        return "notes that change are indexed by themselves"
    if health.index.stale:
        return "notes have changed since the last run: vault-agent index"
    return "no change is known since the last run"
