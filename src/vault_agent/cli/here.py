"""The vaults that a command is about: those named, or those of the current project."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from vault_agent.cli.terminal import complain, warn
from vault_agent.config.connection import several_vaults
from vault_agent.config.registry import DEFAULT, Role, read_registry
from vault_agent.errors import VaultAgentError, explained

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from vault_agent.cli.command import Invocation
    from vault_agent.client.client import Client
    from vault_agent.config.registry import Registered

_PROJECT = "project:"
_UNTRUSTED = "This project has a vault that you have not allowed yet. It is not searched."


def vaults_here(invocation: Invocation) -> tuple[str, ...]:
    """Return the vaults that a search is about if none is named: the project's and the global one.

    Return () outside a project, if its vault is not trusted, and while several vaults are off.
    """
    if invocation.vault is not None or not several_vaults(invocation.layers()):
        return ()
    from vault_agent.config.project import find_project
    from vault_agent.config.trust import trusted_entry

    try:
        project = find_project()
    except VaultAgentError as error:
        complain(error.code, error.message, look="warning")
        return ()
    if project is None:
        return ()
    entries = read_registry()
    entry = trusted_entry(project, entries)
    if entry is None:
        message = explained("VAULT_NOT_TRUSTED", _UNTRUSTED)
        complain("VAULT_NOT_TRUSTED", message, look="warning")
        return ()
    warn(project.warnings)
    others = [each for each in entries if each.role is Role.GLOBAL and each.is_there]
    return tuple(name_of(each, entries) for each in (entry, *others))


def project_here(invocation: Invocation) -> str | None:
    """Return the name of the project whose vault a search here is about, or None."""
    found = (each for each in vaults_here(invocation) if each.startswith(_PROJECT))
    name = next(found, None)
    return name.removeprefix(_PROJECT) if name is not None else None


@asynccontextmanager
async def client_here(invocation: Invocation) -> AsyncIterator[Client]:
    """Yield a client whose calls are about the project's vault inside a trusted project.

    Elsewhere they are about the default vault. `--vault` names another one.
    """
    here = vaults_here(invocation)
    async with invocation.client() as client:
        if here:
            client.vault_name = here[0]
        yield client


def all_vaults() -> tuple[str, ...]:
    """Return the default vault and every registered one."""
    entries = read_registry()
    return (DEFAULT, *(name_of(each, entries) for each in entries))


def name_of(entry: Registered, entries: tuple[Registered, ...]) -> str:
    """Return what requests call a vault: its address, or its identity if others share that."""
    same = [each for each in entries if each.address == entry.address]
    return entry.address if len(same) == 1 else entry.identity


def root_of(name: str | None) -> Path | None:
    """Return the folder of a registered vault, or None if it is not registered."""
    if name is None:
        return None
    return next((each.root for each in read_registry() if each.answers_to(name)), None)
