"""`vault-agent undo`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import asyncclick as click

from vault_agent.cli.changing import change, how, how_options
from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.here import client_here
from vault_agent.client import calls
from vault_agent.errors import NotFound

if TYPE_CHECKING:
    from vault_agent.client.client import Client


@click.command("undo", cls=Command)
@click.argument("write_id", metavar="[ID]", required=False)
@click.option(
    "--copy", is_flag=True, help="If the note has changed since, put the text before beside it."
)
@how_options()
@click.pass_obj
async def command(invocation: Invocation, /, write_id: str | None, **options: Any) -> int | None:
    """Take back a write: the last one, or the one with this ID.

    `vault-agent writes` lists them. An undo is a write too, so it can be undone.
    """
    chosen = how(options)
    body: dict[str, Any] = {"copy": True} if options["copy"] else {}
    if write_id is not None:
        body["writeId"] = write_id
    async with client_here(invocation) as client:
        if write_id is not None and invocation.vault is None and client.vault_name is not None:
            await _find_vault(client, write_id)
        return await change(invocation, client, calls.WRITE_UNDO, body, chosen)


async def _find_vault(client: Client, write_id: str) -> None:
    """Let the calls be about the default vault if the project's log does not have this write."""
    try:
        await client.call(calls.ONE_WRITE, write_id=write_id)
    except NotFound:
        client.vault_name = None
