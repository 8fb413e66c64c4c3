"""`vault-agent reindex`."""

from __future__ import annotations

import asyncclick as click

from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.index import job_options, run_job


@click.command("reindex", cls=Command)
@job_options
@click.option("--fresh-embeddings", is_flag=True, help="Ask the endpoint for every vector again.")
@click.pass_obj
async def command(
    invocation: Invocation, require_embeddings: bool, fresh_embeddings: bool, detach: bool
) -> int:
    """Build the whole index again.

    The old one serves until the end. Shows the progress until then. Ctrl-C leaves the
    job running.
    """
    return await run_job(
        invocation,
        lambda client: client.reindex(
            require_embeddings=require_embeddings, fresh_embeddings=fresh_embeddings
        ),
        detach=detach,
    )
