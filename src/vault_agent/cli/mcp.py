"""`vault-agent mcp`."""

from __future__ import annotations

import asyncclick as click

from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.relay import Options, relay


@click.command("mcp", cls=Command)
@click.option("--agent", metavar="NAME", help="Act as this agent of the config file.")
@click.option("--vault-root", metavar="PATH", help="The folder of notes.")
@click.option("--no-start", is_flag=True, help="Do not start a server if none runs.")
@click.pass_obj
def command(
    invocation: Invocation, agent: str | None, vault_root: str | None, *, no_start: bool
) -> None:
    """Let an agent search and read the vault (MCP over stdio).

    Agents start this command themselves. It starts a server if none runs, and many agents share it.
    """
    config = None if invocation.config is None else str(invocation.config)
    relay(
        Options(
            config,
            invocation.endpoint,
            invocation.api_key,
            vault_root,
            agent,
            no_start=no_start,
        )
    )
