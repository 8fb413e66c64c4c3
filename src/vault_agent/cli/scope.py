"""The scope of a command: the vault that it speaks of.

Inside a trusted project it is the project's vault, elsewhere the default one. `--vault` names
another. Only `search` and `related` speak of several: inside a project of its vault, the global one
and the default one.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from vault_agent.cli.terminal import clean, complain, warn
from vault_agent.config import rules
from vault_agent.config.connection import several_vaults, vault_root
from vault_agent.config.registry import DEFAULT, Role, read_registry
from vault_agent.errors import Forbidden, VaultAgentError, explained

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from vault_agent.cli.command import Invocation
    from vault_agent.client.client import Client
    from vault_agent.config.registry import Registered

_NOT_ALLOWED = "This project has a vault that you have not allowed yet."
_UNTRUSTED = f"{_NOT_ALLOWED} It is not searched."


def vaults_here(invocation: Invocation, *, only_trusted: bool = False) -> tuple[str, ...]:
    """Return the vaults of a project: its own, the global one, and the default one, in this order.

    Return () outside a project, if its vault is not trusted, if a vault is named, and while several
    vaults are off.

    A registered vault whose folder is missing is named too, so that the server says so: the notes
    of the default vault are no answer to a question about the project.

    Raises:
        Forbidden: `VAULT_NOT_TRUSTED` if it is not trusted, with `only_trusted`.
    """
    if invocation.here is None:
        invocation.here = _vaults_here(invocation, only_trusted=only_trusted)
    return invocation.here


def _vaults_here(invocation: Invocation, *, only_trusted: bool) -> tuple[str, ...]:
    if invocation.vault is not None or not several_vaults(invocation.layers()):
        return ()
    from vault_agent.config.project import find_project
    from vault_agent.config.trust import missing_entry, trusted_entry

    try:
        project = find_project()
    except VaultAgentError as error:
        complain(error.code, error.message, look="warning")
        return ()
    entries = read_registry()
    entry = missing_entry(project, entries)
    if project is None and entry is None:
        return ()
    if entry is None and project is not None:
        entry = trusted_entry(project, entries)
        warn(project.warnings)
    if entry is None and only_trusted:
        raise Forbidden("VAULT_NOT_TRUSTED", _NOT_ALLOWED)
    if entry is None:
        message = explained("VAULT_NOT_TRUSTED", _UNTRUSTED)
        complain("VAULT_NOT_TRUSTED", message, look="warning")
        return ()
    others = [vault for vault in entries if vault.role is Role.GLOBAL and vault.is_there]
    named = {vault.identity: name_of(vault, entries) for vault in (entry, *others)}
    root = vault_root(invocation.layers())
    if root is None or rules.vault_identity(root) not in named:
        named[DEFAULT] = DEFAULT
    return tuple(named.values())


def vault_here(invocation: Invocation) -> str | None:
    """Return the vault that a command is about. None is the server's own."""
    return next(iter(vaults_here(invocation)), invocation.vault)


def others(invocation: Invocation, vaults: Iterable[str | None]) -> tuple[str, ...]:
    """Return the other vaults that a search over all would find notes in."""
    if invocation.vault is not None or not several_vaults(invocation.layers()):
        return ()
    searched = {vault or DEFAULT for vault in vaults}
    return tuple(vault for vault in all_vaults() if vault not in searched)


def listed(vaults: Iterable[str | None]) -> str:
    """Return the names of vaults for a sentence: `project:shop, global and default`."""
    *first, last = (clean(vault or DEFAULT) for vault in vaults)
    return f"{', '.join(first)} and {last}" if first else last


@contextmanager
def client_here(
    invocation: Invocation, *, only_trusted: bool = False, changes_index: bool = False
) -> Iterator[Client]:
    """Yield a client whose calls are about the project's vault inside a trusted project.

    Elsewhere they are about the default vault. `--vault` names another one. It is for changes, and
    for what is of one vault.

    Raises:
        VaultAgentError: as `vaults_here` and `Invocation.client`.
    """
    here = vaults_here(invocation, only_trusted=only_trusted)
    with invocation.client(changes_index=changes_index and not here) as client:
        if here:
            client.vault_name = here[0]
        yield client


def all_vaults() -> tuple[str, ...]:
    """Return the default vault and every registered one."""
    entries = read_registry()
    return (DEFAULT, *(name_of(entry, entries) for entry in entries))


def name_of(entry: Registered, entries: tuple[Registered, ...]) -> str:
    """Return what requests call a vault: its address, or its identity if others share that."""
    same = [other for other in entries if other.address == entry.address]
    return entry.address if len(same) == 1 else entry.identity


def root_of(name: str | None) -> Path | None:
    """Return the folder of a registered vault, or None if it is not registered."""
    if name is None:
        return None
    return next((vault.root for vault in read_registry() if vault.answers_to(name)), None)
