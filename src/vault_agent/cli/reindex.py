"""`vault-agent reindex`."""

from __future__ import annotations

import asyncclick as click

from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.index import job_options, run_job
from vault_agent.client import calls


@click.command("reindex", cls=Command)
@job_options
@click.option(
    "--fresh-embeddings", is_flag=True, help="Embed every text again and reuse no vectors."
)
@click.pass_obj
async def command(
    invocation: Invocation, require_embeddings: bool, fresh_embeddings: bool, detach: bool
) -> int:
    """Rebuild the whole index.

    The old index serves until the new one is complete. Shows the progress until the end. Ctrl-C
    leaves the job running.
    """
    return await run_job(
        invocation,
        lambda client: client.call(
            calls.REINDEX, require_embeddings=require_embeddings, fresh_embeddings=fresh_embeddings
        ),
        detach=detach,
    )
