"""`vault-agent trust`."""

from __future__ import annotations

import asyncclick as click

from vault_agent.cli.asking import DECLINED, agreed
from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.registering import described, entry_of, notes_by_type, shown_name
from vault_agent.cli.terminal import clean, envelope, say, tell, warn
from vault_agent.config.connection import several_vaults
from vault_agent.config.project import find_project
from vault_agent.config.project_file import read_project_file
from vault_agent.config.registry import add_vault, read_registry
from vault_agent.config.trust import trusted_entry
from vault_agent.errors import NotFound


@click.command("trust", cls=Command)
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
async def command(invocation: Invocation, yes: bool) -> int | None:
    """Allow the vault of this project to be indexed.

    Its notes become part of what agents read. Look at them first if others have written them. A
    project that was moved must be allowed again.
    """
    project = find_project()
    if project is None:
        raise NotFound(
            "VAULT_UNKNOWN",
            "This folder is in no project with a vault.",
            remedy="Run `vault-agent init` to make one.",
        )
    warn((*project.warnings, *read_project_file(project.folder).warnings))
    known = trusted_entry(project, read_registry())
    counts = notes_by_type(project.vault)
    if known is None:
        if not invocation.json:
            say(f"{clean(str(project.vault))}")
            say(f"project {shown_name(project)}: {described(counts)}")
        if not agreed("Index these notes and give them to agents?", yes=yes):
            tell("Nothing was changed.")
            return DECLINED
    entry = add_vault(entry_of(project))
    if invocation.json:
        envelope(
            {
                "name": entry.address,
                "path": str(entry.root),
                "types": counts,
                "added": not known,
            }
        )
        return None
    tell(f"{entry.address} is trusted{' already' if known else ''}.")
    if not several_vaults(invocation.layers()):
        tell("Several vaults are off. To serve it: vault-agent enable vaults")
    return None
