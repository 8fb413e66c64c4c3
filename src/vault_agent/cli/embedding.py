"""`vault-agent embedding`."""

from __future__ import annotations

import asyncclick as click

from vault_agent.cli.command import Group, Invocation
from vault_agent.cli.terminal import clean, envelope, say


@click.group("embedding", cls=Group)
def command() -> None:
    """Check the embedding endpoint."""


@command.command("check")
@click.pass_obj
async def check(invocation: Invocation) -> None:
    """Request one vector from the endpoint.

    Prints model, dimension and latency, or how to fix the problem. Needs no server, and works
    before embeddings are turned on.
    """
    from vault_agent.config import build_config, endpoint_settings
    from vault_agent.embedding.check import check_endpoint
    from vault_agent.embedding.client import EndpointSettings

    config = build_config(invocation.layers())
    settings = EndpointSettings(**endpoint_settings(config.embedding))
    found = await check_endpoint(settings)
    milliseconds = round(found.seconds * 1000)
    if invocation.json:
        envelope(
            {
                "model": found.model,
                "dimension": found.dimension,
                "latencyMs": milliseconds,
                "queryPrefix": found.prefixes.query,
                "documentPrefix": found.prefixes.document,
                "enabled": config.embedding.enabled,
            }
        )
        return
    say(f"{clean(found.model)} works: {found.dimension} dimensions, {milliseconds} ms a query")
    if found.prefixes.query or found.prefixes.document:
        say(f"  before a query     {clean(repr(found.prefixes.query))}")
        say(f"  before a document  {clean(repr(found.prefixes.document))}")
    if config.embedding.enabled:
        say("Embeddings are on. Bring them up to date: vault-agent index")
    else:
        say("Embeddings are off. Turn them on: vault-agent config set embedding.enabled true")
