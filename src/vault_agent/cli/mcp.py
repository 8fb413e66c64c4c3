"""`vault-agent mcp`."""

from __future__ import annotations

import asyncclick as click

from vault_agent.cli.clients import CLIENTS, client_name, complete_client
from vault_agent.cli.command import Group, Invocation
from vault_agent.cli.relay import Options, relay
from vault_agent.cli.terminal import clean, counted, envelope, say, tell
from vault_agent.client import calls
from vault_agent.errors import VaultAgentError


@click.group("mcp", cls=Group, invoke_without_command=True)
@click.option("--agent", metavar="NAME", help="Act as this agent of the config file.")
@click.option("--vault-root", metavar="PATH", help="The folder of notes.")
@click.option("--no-start", is_flag=True, help="Do not start a server if none runs.")
@click.pass_context
async def command(
    context: click.Context, agent: str | None, vault_root: str | None, *, no_start: bool
) -> None:
    """Let an agent search and read the vault (MCP over stdio).

    Agents start this command themselves. It starts a server if none runs, and many agents share it.
    """
    if context.invoked_subcommand is not None:
        return
    given: Invocation = context.obj
    config = None if given.config is None else str(given.config)
    relay(Options(config, given.endpoint, given.api_key, vault_root, agent, no_start=no_start))


@command.command("install")
@click.argument("client", required=False, callback=client_name, shell_complete=complete_client)
@click.option("--agent", metavar="NAME", help="Install it as this agent of the config file.")
@click.option("--print", "only_print", is_flag=True, help="Print what would be done.")
@click.option("--uninstall", "remove", is_flag=True, help="Remove it from the client.")
@click.option("--force", is_flag=True, help="Replace an entry that exists.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask: turn on mcp.enabled if it is off.")
@click.pass_obj
async def install(
    invocation: Invocation,
    client: str | None,
    *,
    agent: str | None,
    only_print: bool,
    remove: bool,
    force: bool,
    yes: bool,
) -> None:
    """Tell a client, such as claude-code, of this server. Without a name, list the clients."""
    from vault_agent.cli import entries
    from vault_agent.cli.connecting import add_entry, allow_agents, entry_command
    from vault_agent.cli.features import FEATURES, tell_applied

    if client is None:
        _list_clients(invocation)
        return
    chosen = CLIENTS[client]
    ours = entry_command(invocation, agent)
    applied = None
    if remove:
        done = entries.uninstall(chosen, ours)
    elif only_print:
        done = entries.snippet(chosen, ours)
    else:
        done = add_entry(client, ours, force=force)
    if invocation.json:
        if not (remove or only_print):
            applied = await allow_agents(invocation, yes=yes)
        envelope({"client": client, "done": done, "switchedOn": applied is not None})
        return
    say(clean(done, lines=True))
    if remove:
        return
    if not only_print and (applied := await allow_agents(invocation, yes=yes)) is not None:
        say(FEATURES["mcp"].now)
        tell_applied(applied)
    else:
        await tell_if_off(invocation)


async def tell_if_off(invocation: Invocation) -> None:
    """Say that the running server refuses agents. If none runs, the relay starts one."""
    try:
        async with invocation.client() as client:
            health = (await client.call(calls.HEALTH)).data
    except VaultAgentError:
        return
    if "mcp.enabled" not in health.switched_on:
        tell("The running server has MCP switched off. To switch it on:")
        tell("  vault-agent enable mcp")


def _list_clients(invocation: Invocation) -> None:
    if invocation.json:
        rows = [
            {"name": name, "title": client.title, "found": client.is_here}
            for name, client in CLIENTS.items()
        ]
        envelope({"clients": rows})
        return
    for name, client in CLIENTS.items():
        say(f"{name:<16}{client.title}{'' if client.is_here else '  (not found here)'}")


@command.command("check")
@click.option("--agent", metavar="NAME", help="Check as this agent of the config file.")
@click.pass_obj
async def check(invocation: Invocation, agent: str | None) -> None:
    """Start it as a client does, and show what the client gets."""
    from vault_agent.cli import connecting

    found = connecting.check(invocation, agent)
    if invocation.json:
        envelope(
            {
                "initializeMs": found.milliseconds,
                "revision": found.revision,
                "tools": found.tools,
                "tokens": found.tokens,
                "searchFailed": found.search_failed,
            }
        )
        return
    say(f"The handshake took {found.milliseconds} ms (revision {clean(found.revision)}).")
    say(f"{counted(len(found.tools), 'tool')}, about {found.tokens} tokens:")
    for tool in found.tools:
        say(f"  {clean(tool)}")
    if found.found is not None:
        say("A search for `note`:")
        for line in found.found["content"][0]["text"].splitlines():
            say(f"  {clean(line)}")
