"""`vault-agent agent`: connects the programs that agents run in."""

from __future__ import annotations

import asyncclick as click

from vault_agent.cli import exits
from vault_agent.cli.clients import CLIENTS, client_name, complete_client
from vault_agent.cli.command import Command, Group, Invocation
from vault_agent.cli.terminal import clean, counted, envelope, say, tell


@click.group("agent", cls=Group)
def command() -> None:
    """Connect Claude Code, Cursor and others to your notes."""


@command.command("connect", cls=Command)
@click.argument("name", required=False, callback=client_name, shell_complete=complete_client)
@click.option("--url", metavar="URL", help="The server, if it runs on another computer.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask: turn on mcp.enabled if it is off.")
@click.option("--force", is_flag=True, help="Replace an entry that exists.")
@click.option("--no-hooks", is_flag=True, help="Leave out the hooks for memory.")
@click.pass_obj
async def connect(
    invocation: Invocation,
    name: str | None,
    *,
    url: str | None,
    yes: bool,
    force: bool,
    no_hooks: bool,
) -> int:
    """Connect an agent, such as claude-code, and check it.

    Adds the entry of vault-agent to its settings, and its hooks if memory is on. If agents may not
    use MCP yet, it asks once and turns that on. A server on another computer needs its key:
    `vault-agent config set server.api_key -` keeps it here.

    \b
    vault-agent agent connect claude-code
    vault-agent agent connect cursor --url http://nas.example:1065
    """  # noqa: D301 - \\b tells the parser to keep these lines
    from vault_agent.cli import connecting
    from vault_agent.cli.features import FEATURES, tell_applied

    if name is None:
        raise click.UsageError(_which())
    if url is not None:
        invocation.endpoint = url
    done, code = connecting.connect(invocation, name, force=force, hooks=not no_hooks)
    if not invocation.json:
        for line in done:
            say(clean(line))
    if code != exits.SUCCESS:
        if invocation.json:
            envelope({"agent": name, "done": done, "switchedOn": False, "tools": None})
        return code
    # The settings of a server elsewhere are not known here.
    applied = None if url is not None else await connecting.allow_agents(invocation, yes=yes)
    off = url is None and connecting.mcp_is_off(invocation)
    if applied is not None and not invocation.json:
        say(FEATURES["mcp"].now)
        tell_applied(applied._replace(endpoint=applied.endpoint or ""))
    found = None if off else connecting.check(invocation)
    if invocation.json:
        tools = None if found is None else found.tools
        envelope({"agent": name, "done": done, "switchedOn": applied is not None, "tools": tools})
    elif found is None:
        tell("Agents may not use MCP yet. To let them: vault-agent enable mcp")
    else:
        say(f"Checked: it gets {counted(len(found.tools), 'tool')}, and its first search works.")
        say(f"To undo: vault-agent agent disconnect {name}")
    return code


def _which() -> str:
    """Return that an agent must be named: one of those that are here, or of all."""
    here = [name for name, client in CLIENTS.items() if client.is_here]
    among = f"here are {', '.join(here)}" if here else f"choose from {', '.join(CLIENTS)}"
    return f"name an agent: {among}"


@command.command("disconnect", cls=Command)
@click.argument("name", callback=client_name, shell_complete=complete_client)
@click.pass_obj
async def disconnect(invocation: Invocation, name: str) -> None:
    """Take our entry and hooks out of an agent's settings."""
    from vault_agent.cli.connecting import take_out

    done = take_out(invocation, name)
    if invocation.json:
        envelope({"agent": name, "done": done})
        return
    for line in done:
        say(clean(line))
    if not done:
        tell("It has neither an entry nor hooks of ours.")


@command.command("list", cls=Command)
@click.pass_obj
async def list_(invocation: Invocation) -> None:
    """Show the agents, and which of them are connected."""
    from vault_agent.cli.connecting import known_agents

    rows = known_agents(invocation)
    if invocation.json:
        envelope({"agents": [row._asdict() for row in rows]})
        return
    for row in rows:
        state = {"installed": "connected", "other": "has an entry with another command"}.get(
            row.entry, "unreadable settings" if row.entry == "unreadable" else "not connected"
        )
        if not row.found and state == "not connected":
            state = "not found here"
        hooks = f", hooks {row.hooks}" if row.hooks not in (None, "missing") else ""
        say(f"{row.name:<16}{row.title:<22}  {state}{hooks}")
