"""Sessions of this project that agents have left on this disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_agent.config.connection import hook_settings
from vault_agent.config.project import find_project
from vault_agent.config.registry import read_registry
from vault_agent.config.trust import trusted_entry
from vault_agent.errors import Failed, Forbidden, NotFound

if TYPE_CHECKING:
    from pathlib import Path

    from vault_agent.cli.command import Invocation


def count_here(project: Path) -> int:
    """Return how many sessions of a project are on this disk."""
    from vault_agent.memory.past_sessions import past_sessions

    return len(past_sessions(project))


def import_here(invocation: Invocation, limit: int) -> tuple[list[str], int]:
    """Take over the latest sessions of this project. Return the new ones, and how many there are.

    Raises:
        NotFound: `VAULT_UNKNOWN` outside a project with a vault.
        Forbidden: `VAULT_NOT_TRUSTED`.
        Failed: `OUTPUT_FAILED`.
    """
    from vault_agent.memory.past_sessions import past_sessions, take_over_sessions

    project = find_project()
    if project is None:
        raise NotFound(
            "VAULT_UNKNOWN",
            "This folder is in no project with a vault.",
            remedy="Run `vault-agent init` to make one.",
        )
    entry = trusted_entry(project, read_registry())
    if entry is None:
        raise Forbidden("VAULT_NOT_TRUSTED", "This project has a vault that you have not allowed.")
    found = past_sessions(project.folder)
    data = hook_settings(invocation.layers()).folder
    try:
        made = take_over_sessions(data, entry.identity, project.folder, found[:limit])
    except OSError as error:
        raise Failed("OUTPUT_FAILED", f"A file cannot be written: {error.strerror}.") from None
    return made, len(found)
