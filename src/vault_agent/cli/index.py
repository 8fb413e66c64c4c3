"""`vault-agent index`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import asyncclick as click

from vault_agent.cli import exits
from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.here import client_here
from vault_agent.cli.terminal import clean, pass_on, say
from vault_agent.client import calls

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from vault_agent.client.client import Client, Reply
    from vault_agent.model.jobs import OneJob

_Function = TypeVar("_Function", bound="Callable[..., Any]")


def job_options(function: _Function) -> _Function:
    """Add the options that `index` and `reindex` share."""
    function = click.option(
        "--detach", is_flag=True, help="Print the job's ID and do not wait for its end."
    )(function)
    return click.option(
        "--require-embeddings", is_flag=True, help="Fail if embeddings cannot be made."
    )(function)


@click.command("index", cls=Command)
@job_options
@click.pass_obj
async def command(invocation: Invocation, require_embeddings: bool, detach: bool) -> int:
    """Bring the index up to date with the notes. Inside a project, that of its vault.

    Shows the progress until the end. Ctrl-C leaves the job running.
    """
    return await run_job(
        invocation,
        lambda client: client.call(calls.INDEX, require_embeddings=require_embeddings),
        detach=detach,
    )


async def run_job(
    invocation: Invocation,
    submit: Callable[[Client], Awaitable[Reply[OneJob]]],
    *,
    detach: bool,
) -> int:
    """Submit a job, and follow it unless `detach`."""
    from vault_agent.cli.following import follow

    async with client_here(invocation, changes_index=True) as client:
        reply = await submit(client)
        job_id: str = reply.envelope["data"]["job"]["id"]
        if not detach:
            return await follow(client, job_id, as_json=invocation.json)
    if invocation.json:
        pass_on(reply.body)
    else:
        say(f"{clean(job_id)}  follow it: vault-agent jobs follow {clean(job_id)}")
    return exits.SUCCESS
