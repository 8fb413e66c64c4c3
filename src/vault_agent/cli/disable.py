"""`vault-agent disable`."""

from __future__ import annotations

import asyncclick as click

from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.features import FEATURES, apply, overridden, switch, tell_applied
from vault_agent.cli.terminal import envelope, say_prose


@click.command("disable", cls=Command)
@click.argument("feature", metavar="FEATURE", type=click.Choice(tuple(FEATURES)))
@click.pass_obj
async def command(invocation: Invocation, feature: str) -> None:
    """Turn off a feature that `enable` turns on.

    FEATURE is write, memory, journal, vaults, mcp, web, watch, embedding or rerank.

    Its other settings stay. A running server follows.
    """
    settings = switch([feature], on=False)
    applied = apply(invocation, settings)
    if invocation.json:
        server = {"endpoint": applied.endpoint}
        envelope({"feature": feature, "settings": dict(settings), **server})
        return
    overridden(dict(settings))
    say_prose(FEATURES[feature].ended)
    tell_applied(applied, needs_server=False)
