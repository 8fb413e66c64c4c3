"""`vault-agent status`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import asyncclick as click

from vault_agent import __version__
from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.here import root_of, vaults_here
from vault_agent.cli.local import local_vault
from vault_agent.cli.servers import START, in_home, server_in
from vault_agent.cli.state import (
    embedding_state,
    freshness,
    index_state,
    last_run,
    say_rows,
    watch_state,
)
from vault_agent.cli.terminal import as_typed, clean, counted, say, style, warn
from vault_agent.client import calls
from vault_agent.errors import VaultAgentError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vault_agent.client.client import Client


@click.command("status", cls=Command)
@click.pass_obj
def command(invocation: Invocation) -> None:
    """Show the server, its vault and its index.

    It also shows whether the index is up to date, and which features are switched on.
    """
    with invocation.client() as client:
        reply = client.call(calls.HEALTH)
        layers = invocation.layers()
        vault = local_vault(layers, client.vault)
        here = vaults_here(invocation) if not invocation.json else ()
        searched = _searched(client, here)
    if invocation.passed_on(reply):
        return
    health = reply.data
    root = root_of(invocation.vault) or (vault.root if vault is not None else None)
    rows = {
        "vault": in_home(root) if root is not None else clean(health.vault.name),
        "index": index_state(health, reply.warnings),
        "last run": last_run(health),
    }
    if health.index.available and health.running_job is None:
        rows["freshness"] = freshness(health)
    if health.watch is not None and health.watch.enabled:
        rows["watch"] = watch_state(health, reply.warnings)
    if here:
        rows["in here"] = searched
    rows["embeddings"] = embedding_state(health, reply.warnings)
    on = ", ".join(name.removesuffix(".enabled") for name in health.switched_on)
    rows["features"] = f"{clean(on)} on" if on else "none switched on"
    server = server_in(vault.index_folder) if vault is not None else None
    if server is not None and server.address.endpoint == client.endpoint:
        rows["process"] = str(server.address.pid)
        if server.refused:
            rows["settings"] = f"older ones are in use: {as_typed(server.refused)}"
    say(f"vault-agent {clean(health.version)} at {style(clean(client.endpoint), 'strong')}")
    say_rows(rows)
    if health.version != __version__:
        say()
        say(f"This command is version {__version__}. To start the same one: {START}")
    warn(each for each in reply.warnings if each.code != "INDEX_STALE")


def _searched(client: Client, vaults: Sequence[str]) -> str:
    """Return the vaults that a search in this project is about, with their notes."""
    named = []
    for client.vault_name in vaults:
        try:
            notes = client.call(calls.HEALTH).data.index.notes
        except VaultAgentError as error:
            named.append(f"{clean(client.vault_name)} ({error.what})")
        else:
            named.append(f"{clean(client.vault_name)} ({counted(notes, 'note')})")
    return ", ".join(named)
