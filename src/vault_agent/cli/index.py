"""`vault-agent index`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import asyncclick as click

from vault_agent.cli import exits
from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.here import client_here
from vault_agent.cli.terminal import clean, pass_on, say, tell
from vault_agent.client import calls
from vault_agent.errors import Busy

if TYPE_CHECKING:
    from collections.abc import Callable

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
def command(invocation: Invocation, require_embeddings: bool, detach: bool) -> int:
    """Bring the index up to date with the notes. Inside a project, that of its vault.

    Shows the progress until the end, also of a job that runs already. Ctrl-C leaves the job
    running.
    """
    return run_job(
        invocation,
        lambda client: client.call(calls.INDEX, require_embeddings=require_embeddings),
        detach=detach,
        follows_other=True,
    )


def run_job(
    invocation: Invocation,
    submit: Callable[[Client], Reply[OneJob]],
    *,
    detach: bool,
    follows_other: bool = False,
) -> int:
    """Submit a job, and follow it unless `detach`.

    With `follows_other`, a job that runs already is followed in its place.
    """
    from vault_agent.cli.following import follow

    with client_here(invocation, changes_index=True) as client:
        try:
            reply = submit(client)
        except Busy as error:
            running = error.details.get("jobId")
            if detach or not follows_other or not isinstance(running, str):
                raise
            tell("An index job runs already. This is its progress.")
            return follow(client, running, as_json=invocation.json)
        job_id: str = reply.envelope["data"]["job"]["id"]
        if not detach:
            return follow(client, job_id, as_json=invocation.json)
    if invocation.json:
        pass_on(reply.body)
    else:
        say(f"{clean(job_id)}  follow it: vault-agent jobs follow {clean(job_id)}")
    return exits.SUCCESS


@click.command("reindex", cls=Command)
@job_options
@click.option(
    "--fresh-embeddings", is_flag=True, help="Embed every text again and reuse no vectors."
)
@click.pass_obj
def reindex(
    invocation: Invocation, require_embeddings: bool, fresh_embeddings: bool, detach: bool
) -> int:
    """Rebuild the whole index.

    The old index serves until the new one is complete. Shows the progress until the end. Ctrl-C
    leaves the job running.
    """
    return run_job(
        invocation,
        lambda client: client.call(
            calls.REINDEX, require_embeddings=require_embeddings, fresh_embeddings=fresh_embeddings
        ),
        detach=detach,
    )
