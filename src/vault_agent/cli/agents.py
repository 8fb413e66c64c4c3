"""`vault-agent agents`."""

from __future__ import annotations

from typing import get_args

import asyncclick as click

from vault_agent.cli.applying import still_changed
from vault_agent.cli.command import Group, Invocation
from vault_agent.cli.servers import restart_command, server_here
from vault_agent.cli.terminal import clean, envelope, say, tell
from vault_agent.config.keys import Toolset
from vault_agent.config.layers import config_path
from vault_agent.errors import Misconfigured


@click.group("agents", cls=Group)
def command() -> None:
    """Add and remove agents, with what they see and write."""


@command.command("add")
@click.argument("name")
@click.option(
    "--folder",
    metavar="FOLDER",
    required=True,
    help="The folder that it sees; . is the whole vault.",
)
@click.option("--deny", metavar="FOLDER", multiple=True, help="A folder that it never sees.")
@click.option(
    "--write",
    metavar="RIGHTS",
    default="",
    help="What it may write, such as create,append. More: edit, overwrite, move, delete,"
    " permanent. Default: nothing. Never more than write.allow, and only in write.folders.",
)
@click.option(
    "--toolset",
    type=click.Choice(get_args(Toolset)),
    help="Its tools: those of another server, with their names. Default: mcp.toolset.",
)
@click.pass_obj
async def add(
    invocation: Invocation,
    name: str,
    *,
    folder: str,
    deny: tuple[str, ...],
    write: str,
    toolset: str | None,
) -> None:
    """Add an agent and print its key, once.

    The folder of an agent that may create notes is made at its first write.
    """
    from vault_agent.config import build_config
    from vault_agent.config.edit_agents import add_agent

    config = build_config(invocation.layers())
    root = config.vault.root
    rights = tuple(right for each in write.split(",") if (right := each.strip()))
    if root is not None and root.is_dir() and not (root / folder).is_dir() and not rights:
        raise Misconfigured(
            "AGENT_FOLDER_NOT_FOUND", "The vault has no such folder. The agent was not added."
        )
    path = config_path(invocation.config)
    _show_key(invocation, name, add_agent(path, name, folder, deny, rights, toolset=toolset))
    if rights and not config.write.enabled:
        tell("Writing is off: `vault-agent enable write` turns it on.")


@command.command("rotate")
@click.argument("name")
@click.pass_obj
async def rotate(invocation: Invocation, name: str) -> None:
    """Give an agent a new key and print it, once."""
    from vault_agent.config.edit_agents import rotate_key

    _show_key(invocation, name, rotate_key(config_path(invocation.config), name))


@command.command("remove")
@click.argument("name")
@click.pass_obj
async def remove(invocation: Invocation, name: str) -> None:
    """Remove an agent."""
    from vault_agent.config.edit_agents import remove_agent

    remove_agent(config_path(invocation.config), name)
    if invocation.json:
        envelope({"removed": name})
    else:
        say(f"The agent {clean(name)} is removed.")
        _tell_if_unknown(invocation)


@command.command("list")
@click.pass_obj
async def list_agents(invocation: Invocation) -> None:
    """List the agents and what they see."""
    from vault_agent.config import build_config

    agents = build_config(invocation.layers()).agents
    if invocation.json:
        envelope(
            {
                "agents": [
                    {
                        "name": name,
                        "folder": each.folder,
                        "deny": each.deny,
                        "write": each.write,
                        "toolset": each.toolset,
                    }
                    for name, each in agents.items()
                ]
            }
        )
        return
    widest = max(map(len, agents), default=0)
    for name, each in agents.items():
        denied = f" without {', '.join(map(clean, each.deny))}" if each.deny else ""
        writes = f"; writes: {', '.join(each.write)}" if each.write else ""
        tools = f"; tools of {each.toolset}" if each.toolset is not None else ""
        sees = clean(each.folder) or "the whole vault"
        say(f"{clean(name):<{widest}}  {sees}{denied}{writes}{tools}")
    if not agents:
        tell("There are no agents. `vault-agent agents add NAME --folder FOLDER` adds one.")


def _show_key(invocation: Invocation, name: str, key: str) -> None:
    if invocation.json:
        envelope({"name": name, "key": key, "path": f"/mcp/{name}"})
        return
    say(key)
    tell(f"This key opens /mcp/{clean(name)} and nothing else. It is shown only now.")
    _tell_if_unknown(invocation)


def _tell_if_unknown(invocation: Invocation) -> None:
    """Say how a running server gets the change, if it does not follow by itself."""
    server = server_here(invocation.layers())
    if server is not None and "agents" in still_changed(invocation, server, ["agents"]):
        tell(f"To apply it to the running server: {restart_command(invocation.config)}")
