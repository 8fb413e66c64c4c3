"""`vault-agent disable`."""

from __future__ import annotations

import asyncclick as click

from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.features import FEATURES, apply, overridden, switch, tell_applied
from vault_agent.cli.terminal import envelope, say_prose


@click.command("disable", cls=Command)
@click.argument("feature", metavar="FEATURE", type=click.Choice(tuple(FEATURES)))
@click.option("--no-restart", is_flag=True, help="Do not restart the running server.")
@click.pass_obj
async def command(invocation: Invocation, feature: str, *, no_restart: bool) -> None:
    """Turn off a feature that `enable` turns on.

    FEATURE is write, memory, journal, vaults, mcp, web, watch, embedding or rerank.

    Its other settings stay. A server in the background is restarted.
    """
    settings = switch([feature], on=False)
    applied = await apply(invocation, settings, restart=not no_restart)
    if invocation.json:
        server = {"endpoint": applied.endpoint, "restarted": applied.restarted}
        envelope({"feature": feature, "settings": dict(settings), **server})
        return
    overridden(dict(settings))
    say_prose(FEATURES[feature].ended)
    tell_applied(applied, needs_server=False)
