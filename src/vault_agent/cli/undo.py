"""`vault-agent undo`."""

from __future__ import annotations

from typing import Any

import asyncclick as click

from vault_agent.cli.changing import change, how, how_options
from vault_agent.cli.command import Command, Invocation


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
    async with invocation.client() as client:
        return await change(invocation, client, "undo", body, chosen)
