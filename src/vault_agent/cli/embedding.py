"""`vault-agent embedding`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import asyncclick as click

from vault_agent.cli.command import Group, Invocation
from vault_agent.cli.terminal import clean, envelope, say
from vault_agent.errors import Misconfigured

if TYPE_CHECKING:
    from vault_agent.config.sections import EmbeddingSettings
    from vault_agent.models.embedder import Check


async def asked(settings: EmbeddingSettings) -> Check:
    """Request one vector from the endpoint of these settings. Raises as `check_endpoint`."""
    from vault_agent.config import endpoint_settings
    from vault_agent.models.embedder import check_endpoint
    from vault_agent.models.settings import EndpointSettings

    return await check_endpoint(EndpointSettings(**endpoint_settings(settings)))


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
    from vault_agent.config import build_config

    config = build_config(invocation.layers())
    if config.embedding.model is None:
        raise Misconfigured(
            "CONFIG_INVALID",
            "embedding.model is not set.",
            remedy="To choose one and to turn semantic search on: `vault-agent enable embedding`.",
        )
    found = await asked(config.embedding)
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
        say("Embeddings are off. Turn them on: vault-agent enable embedding")
