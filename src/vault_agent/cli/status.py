"""`vault-agent status`, and the state of a server in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import asyncclick as click

from vault_agent import __version__
from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.names import local_vault, root_of, vaults_here
from vault_agent.cli.servers import START, in_home, server_in
from vault_agent.cli.terminal import clean, local_time, say, style, warn
from vault_agent.errors import VaultAgentError, counted
from vault_agent.model.health import Health

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from vault_agent.client.client import Client
    from vault_agent.model.warning import Warning as Notice

_NAMES = len("embeddings  ")


def say_rows(rows: Mapping[str, str]) -> None:
    """Print names with their values."""
    for name, value in rows.items():
        say(f"  {name:<{_NAMES}}{value}")


def index_state(health: Health, warnings: Iterable[Notice]) -> str:
    """Return a description of the index, or why there is none."""
    index = health.index
    if index.available:
        return f"ready: {counted(index.notes, 'note')}, {counted(index.chunks, 'chunk')}"
    if health.running_job is not None:
        unusable = (warning for warning in warnings if warning.code == "INDEX_INCOMPATIBLE")
        return next(
            (clean(warning.message) for warning in unusable), "the first one is being built"
        )
    for first in warnings:
        return f"{clean(first.code)}: {clean(first.message)}"
    return "none yet: vault-agent index"


def embedding_state(health: Health, warnings: Iterable[Notice]) -> str:
    """Return whether semantic search is on and complete."""
    if not health.embeddings.enabled:
        return "off"
    if not health.index.available:
        return "on; created after the first index"
    faults = [warning for warning in warnings if warning.code.startswith("EMBEDDING_")]
    return f"on, but: {clean(faults[0].message)}" if faults else "on; complete"


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
    return "never" if at is None else local_time(at)


def freshness(health: Health) -> str:
    """Return whether the index is known to be older than the notes."""
    watch = health.watch
    if watch is not None and watch.state in ("watching", "polling"):
        return "notes that change are indexed by themselves"
    if health.index.stale:
        return "notes have changed since the last run: vault-agent index"
    return "no change is known since the last run"


@click.command("status", cls=Command)
def command(invocation: Invocation) -> None:
    """Show the server, its vault and its index.

    It also shows whether the index is up to date, and which features are switched on.
    """
    with invocation.client(starts=False) as client:
        reply = client.call("GET /health")
        layers = invocation.layers()
        vault = local_vault(layers, client.vault)
        here = vaults_here(invocation) if not invocation.json else ()
        searched = _searched(client, here)
        health = reply.read(Health)
    if invocation.passed_on(reply):
        return
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
            rows["settings"] = f"older ones are in use: {server.refused}"
    say(f"vault-agent {clean(health.version)} at {style(clean(client.endpoint), 'strong')}")
    say_rows(rows)
    if health.version != __version__:
        say()
        say(f"This command is version {__version__}. To start the same one: {START}")
    warn(warning for warning in reply.warnings if warning.code != "INDEX_STALE")


def _searched(client: Client, vaults: Sequence[str]) -> str:
    """Return the vaults that a search in this project is about, with their notes."""
    named = []
    for client.vault_name in vaults:
        try:
            notes = client.call("GET /health").read(Health).index.notes
        except VaultAgentError as error:
            named.append(f"{clean(client.vault_name)} ({error.what})")
        else:
            named.append(f"{clean(client.vault_name)} ({counted(notes, 'note')})")
    return ", ".join(named)
